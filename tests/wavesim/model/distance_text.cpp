#include "model/distance_text.hpp"

#include "counters/grouped.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace wavesim {

namespace {

using nlohmann::ordered_json;

constexpr std::array watched{LoadKind::global, LoadKind::lds, LoadKind::scalar, LoadKind::scratch};

std::string line(const char* label, const std::string& text) {
  return fmt::format("  {:<13}{}\n", label, text);
}

std::string place(const LoopNest::Instruction& i) {
  const auto slash = i.line.rfind('/');
  return fmt::format("{:#x} {}{}", i.offset, i.mnemonic,
                     i.line.empty() ? "" : fmt::format(" ({})", i.line.substr(slash + 1)));
}

std::string pair_text(const LoopNest& nest, const LoadDistance& d) {
  return fmt::format("{} -> {}", place(nest.code[d.load]), place(nest.code[d.wait]));
}

} // namespace

std::string residency_text(const Residency& r) {
  if (r.groups == 0)
    return fmt::format("{} registers allocated ({} used), {} B LDS: not even one workgroup of {} "
                       "waves fits",
                       r.registers, r.used_registers, grouped(r.lds), r.waves);
  return fmt::format("{} registers allocated ({} used), {} B LDS: {} workgroup{} of {} wave{} a "
                     "compute unit, {} wave{} a SIMD (limit: {})",
                     r.registers, r.used_registers, grouped(r.lds), r.groups,
                     r.groups == 1 ? "" : "s", r.waves, r.waves == 1 ? "" : "s", r.waves_per_simd(),
                     r.waves_per_simd() == 1 ? "" : "s", limit_name(r.limit));
}

std::string distance_text(const LoopNest& nest, const SteadyLoop& steady, const Residency& r,
                          bool every_load) {
  std::string out = line("residency", residency_text(r));
  const LoopWork work = loop_work(nest, steady.loop);
  std::string where = "none: the whole kernel";
  if (steady.loop >= 0) {
    const auto& code = nest.loops[static_cast<unsigned>(steady.loop)].code;
    where = fmt::format("{:#x} to {:#x}", nest.code[code.front()].offset,
                        nest.code[code.back()].offset);
  }
  out += line("steady loop",
              fmt::format("{}: {} instructions a pass, {} matrix; {} clocks of work, {} of the "
                          "matrix unit",
                          where, work.instructions, work.matrix_instructions, grouped(work.clocks),
                          grouped(work.matrix_clocks)));
  for (const LoadKind kind : watched) {
    const LoadDistance* least = steady.least(kind);
    if (!least)
      continue;
    const auto loads = std::count_if(steady.loads.begin(), steady.loads.end(),
                                     [&](const LoadDistance& d) { return d.kind == kind; });
    const unsigned waves = std::max(r.waves_per_simd(), 1u);
    out += line(fmt::format("{} loads", load_kind_name(kind)).c_str(),
                fmt::format("{}; least distance to the wait {} clocks, x {} wave{} a SIMD = {}",
                            loads, grouped(least->clocks), waves, waves == 1 ? "" : "s",
                            grouped(least->clocks * waves)));
    if (!every_load)
      out += line("", pair_text(nest, *least));
    for (const LoadDistance& d : steady.loads)
      if (every_load && d.kind == kind)
        out += line("", fmt::format("{:>7} {}", grouped(d.clocks), pair_text(nest, d)));
  }
  return out;
}

ordered_json residency_json(const Residency& r) {
  return {{"registers", r.registers},
          {"registers_used", r.used_registers},
          {"lds_bytes", r.lds},
          {"waves_per_group", r.waves},
          {"groups_per_compute_unit", r.groups},
          {"waves_per_simd", r.waves_per_simd()},
          {"limit", limit_name(r.limit)}};
}

ordered_json steady_json(const LoopNest& nest, const SteadyLoop& steady) {
  const LoopWork work = loop_work(nest, steady.loop);
  ordered_json out = ordered_json::object();
  if (steady.loop >= 0) {
    const auto& code = nest.loops[static_cast<unsigned>(steady.loop)].code;
    out["begin"] = nest.code[code.front()].offset;
    out["end"] = nest.code[code.back()].offset;
  }
  out["instructions"] = work.instructions;
  out["clocks"] = work.clocks;
  out["matrix_instructions"] = work.matrix_instructions;
  out["matrix_clocks"] = work.matrix_clocks;
  out["vector_clocks"] = work.vector_clocks;
  ordered_json least = ordered_json::object();
  for (const LoadKind kind : watched)
    if (const LoadDistance* nearest = steady.least(kind))
      least[load_kind_name(kind)] = nearest->clocks;
  out["least_distance"] = std::move(least);
  ordered_json loads = ordered_json::array();
  for (const LoadDistance& d : steady.loads) {
    const auto& load = nest.code[d.load];
    const auto& wait = nest.code[d.wait];
    ordered_json one = {{"kind", load_kind_name(d.kind)}, {"offset", load.offset},
                        {"mnemonic", load.mnemonic},      {"wait", wait.offset},
                        {"distance", d.clocks},           {"times", d.times}};
    if (!load.line.empty())
      one["line"] = load.line;
    if (!wait.line.empty())
      one["wait_line"] = wait.line;
    loads.push_back(std::move(one));
  }
  out["loads"] = std::move(loads);
  return out;
}

} // namespace wavesim
