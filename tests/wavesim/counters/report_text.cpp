#include "counters/grouped.hpp"
#include "counters/report.hpp"
#include "model/distance_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace wavesim {

namespace {

std::string plural(std::uint64_t n, const char* noun) {
  return fmt::format("{} {}{}", grouped(n), noun, n == 1 ? "" : "s");
}

/// "read 4,096 B (16-byte accesses)" or "read 4,096 B (4-byte 25 %, 16-byte 75 %)".
std::string bytes_text(const char* verb, std::uint64_t bytes, const std::uint64_t* by_width) {
  constexpr int widths[wavesim_width_count] = {1, 2, 4, 8, 12, 16};
  std::string parts;
  for (int i = 0; i < wavesim_width_count; ++i) {
    if (by_width[i] == 0)
      continue;
    if (by_width[i] == bytes)
      return fmt::format("{} {} B (all in {}-byte accesses)", verb, grouped(bytes), widths[i]);
    parts += fmt::format("{}{}-byte {:.1f} %", parts.empty() ? "" : ", ", widths[i],
                         100.0 * static_cast<double>(by_width[i]) / static_cast<double>(bytes));
  }
  if (parts.empty())
    return fmt::format("{} {} B", verb, grouped(bytes));
  return fmt::format("{} {} B ({})", verb, grouped(bytes), parts);
}

std::string instructions_text(const wavesim_counts& t, bool pipes) {
  std::string out;
  for (int i = 0; i < wavesim_unit_count; ++i) {
    const auto unit = static_cast<Unit>(i);
    const bool front_end = unit == Unit::wait || unit == Unit::barrier;
    if (front_end == pipes || t.instructions[i] == 0)
      continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", unit_name(unit),
                       grouped(t.instructions[i]));
  }
  return out.empty() ? "none" : out;
}

class Block {
public:
  void line(const char* label, const std::string& text) {
    fmt::format_to(std::back_inserter(out_), "  {:<13}{}\n", label, text);
  }
  std::string text() && { return std::move(out_); }

private:
  std::string out_;
};

void lds_lines(Block& block, const Counts& counts) {
  const wavesim_counts& t = counts.total;
  if (t.lds_clocks == 0 && counts.lds.empty())
    return;
  block.line("LDS", fmt::format("{} clocks, of these {} lost to bank conflicts",
                                grouped(t.lds_clocks), grouped(t.lds_conflicts)));
  for (const auto& [mnemonic, tally] : counts.lds)
    block.line("", fmt::format("{:<22} {:>15} x {:>17} clocks {:>15} conflicts", mnemonic,
                               grouped(tally.executions), grouped(tally.lds_clocks),
                               grouped(tally.lds_conflicts)));
}

std::string counts_text(const Counts& counts) {
  const wavesim_counts& t = counts.total;
  Block block;
  block.line("launched",
             fmt::format("{}, {}, {}",
                         t.dispatches == 1 ? "1 dispatch" : grouped(t.dispatches) + " dispatches",
                         plural(t.workgroups, "workgroup"), plural(t.waves, "wave")));
  block.line("instructions", instructions_text(t, true));
  block.line("front end", instructions_text(t, false));
  block.line("global", bytes_text("read", t.bytes_read, t.read_by_width));
  block.line("", bytes_text("written", t.bytes_written, t.written_by_width));
  block.line("128-B lines", fmt::format("read {} (per workgroup, summed: {}), written {} ({})",
                                        grouped(t.lines_read), grouped(t.group_lines_read),
                                        grouped(t.lines_written), grouped(t.group_lines_written)));
  block.line("vector L1", fmt::format("{} accesses", grouped(t.tcp_accesses)));
  if (t.scratch_bytes_read != 0 || t.scratch_bytes_written != 0)
    block.line("scratch", fmt::format("read {} B, written {} B", grouped(t.scratch_bytes_read),
                                      grouped(t.scratch_bytes_written)));
  lds_lines(block, counts);
  if (t.mfma_clocks != 0)
    block.line("matrix", fmt::format("{} operations, {} clocks busy", grouped(t.mfma_flops),
                                     grouped(t.mfma_clocks)));
  return std::move(block).text();
}

} // namespace

std::string to_text(const Report& report) {
  std::string out = "wavesim counters (gfx942)\n";
  for (const DispatchCounts& d : report.dispatches()) {
    const auto kernel = report.kernels().find(d.mangled);
    fmt::format_to(std::back_inserter(out), "\ndispatch {} of {}, grid {}x{}x{}, block {}x{}x{}\n",
                   d.serial, kernel == report.kernels().end() ? d.mangled : kernel->second.name,
                   d.grid[0], d.grid[1], d.grid[2], d.block[0], d.block[1], d.block[2]);
    out += counts_text(d.counts);
  }
  for (const auto& [mangled, kernel] : report.kernels()) {
    fmt::format_to(std::back_inserter(out), "\nkernel {}\n", kernel.name);
    out += counts_text(kernel.counts);
    out += bound_text(kernel.bound);
    out += distance_text(kernel.loops, kernel.steady(), kernel.bound.residency(), false);
    out += lines_text(kernel);
  }
  if (report.kernels().size() > 1) {
    out += "\nall kernels\n";
    out += counts_text(report.total());
  }
  if (report.kernels().empty())
    out += "no kernel was launched\n";
  return out;
}

} // namespace wavesim
