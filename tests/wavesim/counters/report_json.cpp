#include "counters/report.hpp"
#include "counters/rules.hpp"
#include "model/distance_text.hpp"
#include "model/parameters.hpp"

#include <nlohmann/json.hpp>

namespace wavesim {

namespace {

using nlohmann::ordered_json;

constexpr const char* width_names[wavesim_width_count] = {"1", "2", "4", "8", "12", "16"};

ordered_json by_width(const std::uint64_t* bytes) {
  ordered_json out = ordered_json::object();
  for (int i = 0; i < wavesim_width_count; ++i)
    out[width_names[i]] = bytes[i];
  return out;
}

ordered_json counts_json(const Counts& counts) {
  const wavesim_counts& t = counts.total;
  ordered_json instructions = ordered_json::object();
  for (int i = 0; i < wavesim_unit_count; ++i)
    instructions[unit_name(static_cast<Unit>(i))] = t.instructions[i];
  ordered_json opcodes = ordered_json::object();
  for (const auto& [mnemonic, tally] : counts.lds)
    opcodes[mnemonic] = {{"executions", tally.executions},
                         {"lanes", tally.lanes},
                         {"clocks", tally.lds_clocks},
                         {"conflicts", tally.lds_conflicts}};
  return {{"dispatches", t.dispatches},
          {"workgroups", t.workgroups},
          {"waves", t.waves},
          {"instructions", instructions},
          {"global",
           {{"bytes_read", t.bytes_read},
            {"bytes_written", t.bytes_written},
            {"read_by_width", by_width(t.read_by_width)},
            {"written_by_width", by_width(t.written_by_width)},
            {"lines_read", t.lines_read},
            {"lines_written", t.lines_written},
            {"group_lines_read", t.group_lines_read},
            {"group_lines_written", t.group_lines_written},
            {"tcp_accesses", t.tcp_accesses}}},
          {"scratch",
           {{"bytes_read", t.scratch_bytes_read}, {"bytes_written", t.scratch_bytes_written}}},
          {"lds", {{"clocks", t.lds_clocks}, {"conflicts", t.lds_conflicts}, {"opcodes", opcodes}}},
          {"mfma", {{"flops", t.mfma_flops}, {"clocks", t.mfma_clocks}}}};
}

ordered_json code_json(const KernelCounts& kernel) {
  ordered_json out = ordered_json::array();
  for (const auto& [offset, code] : kernel.code) {
    const OpTally& t = code.tally;
    ordered_json one = {
        {"offset", offset}, {"mnemonic", code.mnemonic}, {"executions", t.executions}};
    const auto put = [&](const char* name, std::uint64_t value) {
      if (value != 0)
        one[name] = value;
    };
    if (!code.line.empty())
      one["line"] = code.line;
    put("lanes", t.lanes);
    put("lds_clocks", t.lds_clocks);
    put("lds_conflicts", t.lds_conflicts);
    put("bytes_read", t.bytes_read);
    put("bytes_written", t.bytes_written);
    put("scratch_bytes_read", t.scratch_bytes_read);
    put("scratch_bytes_written", t.scratch_bytes_written);
    put("tcp_accesses", t.tcp_accesses);
    out.push_back(std::move(one));
  }
  return out;
}

ordered_json rules_json() {
  ordered_json out = ordered_json::array();
  for (const Rule& rule : rules) {
    ordered_json one = {{"counter", rule.counter},
                        {"rule", rule.rule},
                        {"evidence", evidence_name(rule.evidence)},
                        {"source", rule.source}};
    if (!rule.hardware.empty())
      one["hardware_counter"] = rule.hardware;
    out.push_back(std::move(one));
  }
  return out;
}

} // namespace

namespace {

ordered_json parameters_json() {
  ordered_json out = ordered_json::array();
  for (const parameters::Parameter& p : parameters::all)
    out.push_back({{"name", p.name},
                   {"value", p.value},
                   {"unit", p.unit},
                   {"evidence", evidence_name(p.evidence)},
                   {"source", p.source}});
  return out;
}

} // namespace

std::string to_json(const Report& report) {
  ordered_json kernels = ordered_json::array();
  for (const auto& [mangled, kernel] : report.kernels()) {
    ordered_json one = {{"name", kernel.name}, {"mangled", mangled}};
    one.update(counts_json(kernel.counts));
    one["residency"] = residency_json(kernel.bound.residency());
    one["bound"] = bound_json(kernel.bound);
    one["steady_loop"] = steady_json(kernel.loops, kernel.steady());
    one["code"] = code_json(kernel);
    kernels.push_back(std::move(one));
  }
  ordered_json document = {{"schema", "wavesim-counters"},
                           {"version", report_version},
                           {"target", "gfx942"},
                           {"total", counts_json(report.total())},
                           {"kernels", std::move(kernels)}};
  if (!report.dispatches().empty()) {
    ordered_json dispatches = ordered_json::array();
    for (const DispatchCounts& d : report.dispatches()) {
      ordered_json one = {{"serial", d.serial},
                          {"kernel", d.mangled},
                          {"grid", {d.grid[0], d.grid[1], d.grid[2]}},
                          {"block", {d.block[0], d.block[1], d.block[2]}}};
      one.update(counts_json(d.counts));
      dispatches.push_back(std::move(one));
    }
    document["dispatches"] = std::move(dispatches);
  }
  document["rules"] = rules_json();
  document["parameters"] = parameters_json();
  // Names come from other people's binaries: replace what is not UTF-8 rather than throw.
  return document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace wavesim
