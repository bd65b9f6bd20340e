#include "counters/grouped.hpp"
#include "counters/report.hpp"
#include "machine/occupancy.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace wavesim {

namespace {

constexpr std::size_t shown = 10;

/// Clocks of the units that the instructions of one source line took.
struct LineCost {
  std::string line;
  std::uint64_t vector = 0, matrix = 0, scalar = 0; ///< of a SIMD
  std::uint64_t lds = 0, conflicts = 0, memory = 0; ///< of a compute unit

  /// In clocks of a compute unit, as if its units worked one after the other.
  double all() const {
    return static_cast<double>(vector + matrix + scalar) / device_limits::simds +
           static_cast<double>(lds + memory);
  }
};

void add(LineCost& to, const InstructionCounts& i) {
  const std::uint64_t clocks = i.tally.executions * i.cost.clocks;
  if (i.cost.pipe == Pipe::vector)
    to.vector += clocks;
  if (i.cost.pipe == Pipe::matrix || i.cost.pipe == Pipe::matrix_blocking)
    to.matrix += clocks;
  if (i.unit == Unit::salu || i.unit == Unit::smem || i.unit == Unit::branch)
    to.scalar += clocks;
  to.lds += i.tally.lds_clocks;
  to.conflicts += i.tally.lds_conflicts;
  to.memory += i.tally.tcp_accesses;
}

/// The end of a path: "…/lds/tile.hpp:42" for a long one.
std::string short_line(const std::string& line) {
  constexpr std::size_t most = 44;
  if (line.size() <= most)
    return line;
  const auto slash = line.find('/', line.size() - most);
  return slash == std::string::npos ? line.substr(line.rfind('/') + 1) : "..." + line.substr(slash);
}

} // namespace

std::string lines_text(const KernelCounts& kernel) {
  std::map<std::string, LineCost> by_line;
  for (const auto& [offset, code] : kernel.code)
    if (!code.line.empty()) {
      by_line[code.line].line = code.line;
      add(by_line[code.line], code);
    }
  if (by_line.empty())
    return {};
  std::vector<LineCost> costs;
  for (auto& [line, cost] : by_line)
    costs.push_back(cost);
  std::sort(costs.begin(), costs.end(), [](const LineCost& a, const LineCost& b) {
    return a.all() != b.all() ? a.all() > b.all() : a.line < b.line;
  });
  std::string out = fmt::format("  {:<13}{:>13} {:>13} {:>13} {:>13} {:>13} {:>13}\n", "costliest",
                                "VALU", "MFMA", "LDS", "(conflicts)", "VMEM", "SALU");
  for (std::size_t i = 0; i < std::min(shown, costs.size()); ++i) {
    const LineCost& c = costs[i];
    out += fmt::format("  {:<13}{:>13} {:>13} {:>13} {:>13} {:>13} {:>13}  {}\n",
                       i == 0 ? "lines, clocks" : "", grouped(c.vector), grouped(c.matrix),
                       grouped(c.lds), grouped(c.conflicts), grouped(c.memory), grouped(c.scalar),
                       short_line(c.line));
  }
  return out;
}

} // namespace wavesim
