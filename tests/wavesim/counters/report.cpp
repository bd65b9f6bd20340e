#include "counters/report.hpp"

#include "isa/mfma_facts.hpp"
#include "loader/code_object.hpp"
#include "machine/dispatch.hpp"
#include "machine/fault.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

namespace wavesim {

namespace {

static_assert(static_cast<int>(Unit::count) == static_cast<int>(wavesim_unit_count));
static_assert(static_cast<int>(Unit::lds) == static_cast<int>(wavesim_unit_lds));
static_assert(static_cast<int>(Unit::other) == static_cast<int>(wavesim_unit_other));

int width_index(std::uint32_t bytes) {
  constexpr std::array<std::uint32_t, wavesim_width_count> widths{1, 2, 4, 8, 12, 16};
  const auto at = std::find(widths.begin(), widths.end(), bytes);
  return at == widths.end() ? -1 : static_cast<int>(at - widths.begin());
}

/// Compilers write down paths with "..", as the build had them.
std::string without_detours(const std::string& line) {
  return line.empty() ? line : std::filesystem::path(line).lexically_normal().string();
}

/// Adds what one instruction of the code did to the sums.
void add_instruction(Counts& to, const OpInfo& info, const OpTally& tally) {
  wavesim_counts& t = to.total;
  t.instructions[static_cast<int>(info.unit)] += tally.executions;
  t.bytes_read += tally.bytes_read;
  t.bytes_written += tally.bytes_written;
  if (const int width = width_index(info.aux); width >= 0) {
    t.read_by_width[width] += tally.bytes_read;
    t.written_by_width[width] += tally.bytes_written;
  }
  t.scratch_bytes_read += tally.scratch_bytes_read;
  t.scratch_bytes_written += tally.scratch_bytes_written;
  t.tcp_accesses += tally.tcp_accesses;
  t.lds_clocks += tally.lds_clocks;
  t.lds_conflicts += tally.lds_conflicts;
  if (info.unit == Unit::lds)
    to.lds[info.mnemonic] += tally;
  if (info.unit == Unit::mfma)
    if (const MfmaFact* fact = find_mfma(info.mnemonic)) {
      t.mfma_flops += tally.executions * fact->ops();
      t.mfma_clocks += tally.executions * fact->clocks();
    }
}

} // namespace

Counts& Counts::operator+=(const Counts& other) {
  // The struct is 64-bit counters from end to end.
  static_assert(sizeof(wavesim_counts) % sizeof(std::uint64_t) == 0);
  auto* to = reinterpret_cast<std::uint64_t*>(&total);
  const auto* from = reinterpret_cast<const std::uint64_t*>(&other.total);
  for (std::size_t i = 0; i < sizeof(wavesim_counts) / sizeof(std::uint64_t); ++i)
    to[i] += from[i];
  for (const auto& [mnemonic, tally] : other.lds)
    lds[mnemonic] += tally;
  return *this;
}

void Report::add(const Dispatch& dispatch, const Tally& tally, const ReportOptions& options) {
  const Kernel& kernel = *dispatch.kernel;
  KernelCounts& entry = kernels_[kernel.name];
  if (entry.mangled.empty()) {
    entry.mangled = kernel.name;
    entry.name = demangled(kernel.name);
  }
  Counts counts;
  wavesim_counts& total = counts.total;
  const std::uint64_t items =
      std::uint64_t{dispatch.block[0]} * dispatch.block[1] * dispatch.block[2];
  total.dispatches = 1;
  total.workgroups = std::uint64_t{dispatch.grid[0]} * dispatch.grid[1] * dispatch.grid[2];
  total.waves = total.workgroups * ((items + lanes - 1) / lanes);
  total.lines_read = tally.kernel_lines_read.size();
  total.lines_written = tally.kernel_lines_written.size();
  total.group_lines_read = tally.group_lines_read;
  total.group_lines_written = tally.group_lines_written;
  Bound bound;
  const auto decoded = kernel.object->decoded();
  std::vector<std::uint32_t> number_of(decoded.size()); // by Op::id
  for (const Op* op : decoded) {
    const std::uint64_t offset = op->pc - kernel.object->text_begin();
    number_of[op->id] = static_cast<std::uint32_t>(offset / 4);
    if (op->id >= tally.ops.size() || tally.ops[op->id].executions == 0 || !op->info)
      continue;
    const OpTally& done = tally.ops[op->id];
    add_instruction(counts, *op->info, done);
    InstructionCounts& code = entry.code[offset];
    if (code.mnemonic.empty()) {
      code.mnemonic = op->info->mnemonic;
      code.unit = op->info->unit;
      code.cost = issue_cost(*op);
      if (options.lines)
        code.line = without_detours(kernel.object->source_line(op->pc));
    }
    code.tally += done;
    bound.add_instruction(*op, done);
  }
  entry.counts += counts;
  if (options.model) {
    bound.add_dispatch(dispatch, tally);
    entry.bound += bound;
    if (entry.loops.code.empty())
      entry.loops = find_loops(kernel, true);
    tally.waits.add_to(entry.waits, [&](std::uint32_t id) { return number_of[id]; });
  }
  if (options.dispatches) {
    DispatchCounts one;
    one.serial = dispatch.serial;
    one.mangled = kernel.name;
    std::copy_n(dispatch.grid, 3, one.grid);
    std::copy_n(dispatch.block, 3, one.block);
    one.counts = std::move(counts);
    dispatches_.push_back(std::move(one));
  }
}

SteadyLoop KernelCounts::steady() const {
  const int loop = steady_loop(loops, [&](const LoopNest::Instruction& i) {
    const auto found = code.find(i.offset);
    return found == code.end() ? std::uint64_t{0} : found->second.tally.executions;
  });
  return steady_distances(loops, loop, waits);
}

void Report::clear() {
  kernels_.clear();
  dispatches_.clear();
}

Counts Report::total() const {
  Counts sum;
  for (const auto& [name, kernel] : kernels_)
    sum += kernel.counts;
  return sum;
}

const char* unit_name(Unit unit) {
  switch (unit) {
  case Unit::valu:
    return "valu";
  case Unit::trans:
    return "trans";
  case Unit::mfma:
    return "mfma";
  case Unit::salu:
    return "salu";
  case Unit::smem:
    return "smem";
  case Unit::lds:
    return "lds";
  case Unit::vmem:
    return "vmem";
  case Unit::flat:
    return "flat";
  case Unit::branch:
    return "branch";
  case Unit::wait:
    return "wait";
  case Unit::barrier:
    return "barrier";
  case Unit::message:
    return "message";
  case Unit::other:
    return "other";
  case Unit::count:
    break;
  }
  return "";
}

} // namespace wavesim
