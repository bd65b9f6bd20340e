/// \file
/// What wavesim counted, as the ladders print it.
#pragma once

#include "counters/api.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace example {

/// Heads of the columns of `print_clocks`.
inline void print_clock_heads(const char* last) {
  std::printf("%-34s %10s %10s %10s %9s %9s %9s %8s %11s %-6s %8s\n", "step", "conflicts",
              "LDS clocks", "LDS instr", "vector", "matrix", "barriers", "MB read", "bound", "by",
              last);
}

/// What a step costs at least: each unit's clocks, all workgroups on one compute unit. A vector
/// instruction takes a SIMD 4 clocks; there are four SIMDs. `flops`: of the problem, whoever
/// does them.
inline void print_clocks(const wavesim_counts& counts, double flops) {
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  const auto print = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  const double vector =
      number(counts.instructions[wavesim_unit_valu] + counts.instructions[wavesim_unit_trans]);
  const double matrix = number(counts.mfma_clocks) / 4;
  const double lds = number(counts.lds_clocks);
  const double bound = std::max({vector, matrix, lds});
  std::printf(
      "%10llu %10llu %10llu %9llu %9llu %9llu %8.2f %11.0f %-6s %8.0f\n",
      print(counts.lds_conflicts), print(counts.lds_clocks),
      print(counts.instructions[wavesim_unit_lds]), print(counts.instructions[wavesim_unit_valu]),
      print(counts.instructions[wavesim_unit_mfma]),
      print(counts.instructions[wavesim_unit_barrier]), number(counts.bytes_read) * 1e-6, bound,
      bound == lds      ? "LDS"
      : bound == matrix ? "matrix"
                        : "vector",
      flops / bound);
}

} // namespace example
