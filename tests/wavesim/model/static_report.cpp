#include "model/static_report.hpp"

#include "loader/code_object.hpp"
#include "machine/fault.hpp"
#include "machine/occupancy.hpp"
#include "model/device_images.hpp"
#include "model/distance_text.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace wavesim {

namespace {

using nlohmann::ordered_json;

struct Kept {
  std::string name, mangled;
  Residency residency;
  LoopNest nest;
  SteadyLoop steady;
};

bool far_enough(const Kept& kernel, LoadKind kind, std::uint64_t least) {
  if (least == 0)
    return true;
  const LoadDistance* nearest = kernel.steady.least(kind);
  if (nearest && nearest->clocks >= least)
    return true;
  fmt::print(stderr, "wavesim: {}: {}\n", kernel.name,
             nearest ? fmt::format("a {} load is {} clocks from its wait, {} are asked for",
                                   load_kind_name(kind), nearest->clocks, least)
                     : fmt::format("no {} load in the steady loop", load_kind_name(kind)));
  return false;
}

std::string text_of(const Kept& kernel, bool every_load) {
  return fmt::format("kernel {}\n{}", kernel.name,
                     distance_text(kernel.nest, kernel.steady, kernel.residency, every_load));
}

ordered_json json_of(const Kept& kernel) {
  ordered_json one = {{"name", kernel.name}, {"mangled", kernel.mangled}};
  one["residency"] = residency_json(kernel.residency);
  one["steady_loop"] = steady_json(kernel.nest, kernel.steady);
  return one;
}

} // namespace

int report_distances(const wavesim_distance_request& request) {
  constexpr int below = 1, unusable = 2;
  const std::string file = request.file ? request.file : "";
  const std::string wanted = request.kernel ? request.kernel : "";
  std::string error;
  const auto images = device_images(file, error);
  if (images.empty()) {
    fmt::print(stderr, "wavesim: {}\n", error);
    return unusable;
  }
  bool good = true, any = false;
  ordered_json kernels = ordered_json::array();
  for (const auto& image : images) {
    const auto object = CodeObject::load(image, error);
    if (!object) {
      fmt::print(stderr, "wavesim: '{}': {}\n", file, error);
      return unusable;
    }
    for (const Kernel* kernel : object->kernels()) {
      Kept kept;
      kept.mangled = kernel->name;
      kept.name = demangled(kernel->name);
      if (kept.name.find(wanted) == std::string::npos &&
          kept.mangled.find(wanted) == std::string::npos)
        continue;
      any = true;
      kept.residency = residency(*kernel, kernel->max_workgroup, 0);
      kept.nest = find_loops(*kernel, true);
      kept.steady = static_distances(kept.nest);
      if (request.json && *request.json)
        kernels.push_back(json_of(kept));
      else
        fmt::print("{}", text_of(kept, request.every_load != 0));
      good &= far_enough(kept, LoadKind::global, request.least_global);
      good &= far_enough(kept, LoadKind::lds, request.least_lds);
    }
  }
  if (!any) {
    fmt::print(stderr, "wavesim: '{}': no kernel's name contains '{}'\n", file, wanted);
    return unusable;
  }
  if (request.json && *request.json) {
    const ordered_json document = {{"schema", "wavesim-distances"},
                                   {"version", 1},
                                   {"target", "gfx942"},
                                   {"kernels", std::move(kernels)}};
    std::ofstream out(request.json, std::ios::binary | std::ios::trunc);
    out << document.dump(1, ' ', false, ordered_json::error_handler_t::replace) << "\n";
    out.close();
    if (out.fail()) {
      fmt::print(stderr, "wavesim: cannot write '{}'\n", request.json);
      return unusable;
    }
  }
  std::fflush(stdout);
  return good ? 0 : below;
}

} // namespace wavesim
