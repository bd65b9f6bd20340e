#include "model/bound.hpp"

#include "counters/grouped.hpp"
#include "counters/tally.hpp"
#include "isa/op.hpp"
#include "machine/dispatch.hpp"
#include "machine/occupancy.hpp"
#include "model/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string_view>

namespace wavesim {

namespace {

constexpr auto unit_count = static_cast<std::size_t>(BoundUnit::count);

/// Dwords a lane hands over with an LDS instruction: data of stores and atomics.
unsigned lds_store_dwords(const Op& op) {
  const std::string_view name = op.info->mnemonic;
  if ((op.info->flags & (op_store | op_atomic)) == 0)
    return 0;
  const unsigned pairs = name.starts_with("ds_write2") ? 2 : 1;
  for (const auto& [suffix, dwords] : {std::pair{"b128", 4u}, {"b96", 3u}, {"64", 2u}})
    if (name.ends_with(suffix))
      return pairs * dwords;
  return pairs;
}

double hbm_bytes_per_clock() {
  return 1000.0 * parameters::hbm_gigabytes / parameters::clock_mhz;
}

} // namespace

const char* bound_unit_name(BoundUnit unit) {
  constexpr std::array<const char*, unit_count> names{"matrix",        "vector", "scalar", "lds",
                                                      "vector_memory", "l2",     "hbm"};
  return names.at(static_cast<std::size_t>(unit));
}

void Bound::add_instruction(const Op& op, const OpTally& done) {
  const IssueCost cost = issue_cost(op);
  const std::uint64_t n = done.executions;
  switch (cost.pipe) {
  case Pipe::vector:
    vector_ += n * cost.clocks;
    break;
  case Pipe::matrix:
    matrix_ += n * cost.clocks;
    vector_ += n * parameters::vector;
    break;
  case Pipe::matrix_blocking:
    matrix_ += n * cost.clocks;
    vector_ += n * cost.clocks;
    break;
  case Pipe::slot:
    if (op.info->unit == Unit::salu || op.info->unit == Unit::smem)
      scalar_ += n * parameters::slot;
    break;
  case Pipe::front_end:
  case Pipe::unknown:
    break;
  }
  lds_banks_ += done.lds_clocks;
  if (op.info->unit == Unit::lds)
    lds_ports_ += n * (parameters::lds_port_address + 4u * lds_store_dwords(op));
  look_ups_ += done.tcp_accesses;
  vector_bytes_ +=
      done.bytes_read + done.bytes_written + done.scratch_bytes_read + done.scratch_bytes_written;
}

void Bound::add_dispatch(const Dispatch& d, const Tally& tally) {
  l2_lines_ += tally.group_lines_read + tally.group_lines_written;
  hbm_lines_ += tally.kernel_lines_read.size() + tally.kernel_lines_written.size();
  const std::uint64_t groups = std::uint64_t{d.grid[0]} * d.grid[1] * d.grid[2];
  groups_ += groups;
  // The workgroups that were not followed count as the average of those that were.
  const double alone = static_cast<double>(tally.alone_clocks) * static_cast<double>(groups) /
                       static_cast<double>(std::max<std::uint64_t>(tally.alone_groups, 1));
  alone_ += alone;
  const std::uint64_t threads = std::uint64_t{d.block[0]} * d.block[1] * d.block[2];
  residency_ = wavesim::residency(*d.kernel, static_cast<unsigned>(threads), d.dynamic_lds);
  latency_ += alone / std::max(residency_.groups, 1u);
  device_clocks_ = device_clocks();
}

Bound& Bound::operator+=(const Bound& o) {
  const double clocks = device_clocks_ + o.device_clocks_; // one dispatch after the other
  matrix_ += o.matrix_;
  vector_ += o.vector_;
  scalar_ += o.scalar_;
  lds_banks_ += o.lds_banks_;
  lds_ports_ += o.lds_ports_;
  look_ups_ += o.look_ups_;
  vector_bytes_ += o.vector_bytes_;
  l2_lines_ += o.l2_lines_;
  hbm_lines_ += o.hbm_lines_;
  groups_ += o.groups_;
  alone_ += o.alone_;
  latency_ += o.latency_;
  device_clocks_ = clocks;
  residency_ = o.residency_;
  return *this;
}

double Bound::total(BoundUnit unit) const {
  const auto clocks = [](std::uint64_t x) { return static_cast<double>(x); };
  switch (unit) {
  case BoundUnit::matrix:
    return clocks(matrix_) / device_limits::simds;
  case BoundUnit::vector:
    return clocks(vector_) / device_limits::simds;
  case BoundUnit::scalar:
    return clocks(scalar_) / device_limits::simds;
  case BoundUnit::lds:
    return std::max(clocks(lds_banks_), clocks(lds_ports_) / parameters::lds_ports);
  case BoundUnit::vector_memory:
    return std::max(clocks(look_ups_), clocks(vector_bytes_) / parameters::l1_bytes);
  case BoundUnit::l2:
    return clocks(l2_lines_ * line_bytes) / parameters::l2_bytes;
  case BoundUnit::hbm: // the share of a compute unit when all ask
    return clocks(hbm_lines_ * line_bytes) / hbm_bytes_per_clock() * device_limits::compute_units;
  case BoundUnit::count:
    break;
  }
  return 0;
}

double Bound::device_clocks() const {
  // A workgroup keeps to one compute unit; memory is the whole device's.
  const double used =
      static_cast<double>(std::clamp<std::uint64_t>(groups_, 1, device_limits::compute_units));
  double most = total(BoundUnit::hbm) / device_limits::compute_units;
  for (std::size_t i = 0; i < unit_count; ++i)
    if (static_cast<BoundUnit>(i) != BoundUnit::hbm)
      most = std::max(most, total(static_cast<BoundUnit>(i)) / used);
  return most;
}

double Bound::clocks(BoundUnit unit) const {
  return groups_ == 0 ? 0 : total(unit) / static_cast<double>(groups_);
}

BoundUnit Bound::binding() const {
  auto most = BoundUnit::matrix;
  for (std::size_t i = 1; i < unit_count; ++i)
    if (total(static_cast<BoundUnit>(i)) > total(most))
      most = static_cast<BoundUnit>(i);
  return most;
}

BoundUnit Bound::group_binding() const {
  auto most = BoundUnit::matrix;
  for (std::size_t i = 1; i < unit_count; ++i)
    if (const auto unit = static_cast<BoundUnit>(i);
        unit != BoundUnit::hbm && total(unit) > total(most))
      most = unit;
  return most;
}

double Bound::alone() const {
  return groups_ == 0 ? 0 : alone_ / static_cast<double>(groups_);
}

double Bound::latency() const {
  return groups_ == 0 ? 0 : latency_ / static_cast<double>(groups_);
}

double Bound::estimate() const {
  return std::max(clocks(group_binding()), latency());
}

double Bound::microseconds() const {
  return device_clocks_ / parameters::clock_mhz;
}

namespace {
std::uint64_t rounded(double x) {
  return static_cast<std::uint64_t>(std::llround(x));
}
} // namespace

std::string bound_text(const Bound& bound) {
  const auto label = [](BoundUnit unit) -> std::string_view {
    switch (unit) {
    case BoundUnit::lds:
      return "LDS";
    case BoundUnit::vector_memory:
      return "vector memory";
    case BoundUnit::l2:
      return "L2";
    case BoundUnit::hbm:
      return "HBM";
    default:
      return bound_unit_name(unit);
    }
  };
  std::string units;
  for (std::size_t i = 0; i < unit_count; ++i) {
    const auto unit = static_cast<BoundUnit>(i);
    if (const std::uint64_t clocks = rounded(bound.clocks(unit));
        clocks != 0 && unit != BoundUnit::hbm)
      units += fmt::format("{}{} {}", units.empty() ? "" : ", ", label(unit), grouped(clocks));
  }
  const auto line = [](const char* name, const std::string& text) {
    return fmt::format("  {:<13}{}\n", name, text);
  };
  const unsigned resident = bound.residency().groups;
  std::string out =
      line("bound", "clocks a workgroup takes of a compute unit: " + (units.empty() ? "0" : units));
  out += line("", fmt::format("{} binds: {} at least; of HBM {} when all compute units ask",
                              label(bound.group_binding()),
                              grouped(rounded(bound.clocks(bound.group_binding()))),
                              grouped(rounded(bound.clocks(BoundUnit::hbm)))));
  out += line("", fmt::format("whole device at least {:.2f} us at {} MHz, {} binding",
                              bound.microseconds(), parameters::clock_mhz, label(bound.binding())));
  out += line("latency",
              fmt::format("a workgroup alone {} clocks, global loads in L2; {} each with {} "
                          "resident; bound and latency {}",
                          grouped(rounded(bound.alone())), grouped(rounded(bound.latency())),
                          resident, grouped(rounded(bound.estimate()))));
  return out;
}

nlohmann::ordered_json bound_json(const Bound& bound) {
  nlohmann::ordered_json clocks = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < unit_count; ++i)
    clocks[bound_unit_name(static_cast<BoundUnit>(i))] = bound.clocks(static_cast<BoundUnit>(i));
  return {{"clocks_per_group", std::move(clocks)},
          {"binds", bound_unit_name(bound.group_binding())},
          {"bound", bound.clocks(bound.group_binding())},
          {"device_binds", bound_unit_name(bound.binding())},
          {"alone", bound.alone()},
          {"latency", bound.latency()},
          {"estimate", bound.estimate()},
          {"device_microseconds", bound.microseconds()}};
}

} // namespace wavesim
