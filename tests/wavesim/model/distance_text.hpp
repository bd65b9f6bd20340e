// Distances and residency as people and as programs read them.
#pragma once

#include "model/distances.hpp"
#include "model/residency.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace wavesim {

/// Lines "  label        text", as in the table of the counters.
std::string distance_text(const LoopNest& nest, const SteadyLoop& steady,
                          const Residency& residency, bool every_load);
std::string residency_text(const Residency& residency);

nlohmann::ordered_json steady_json(const LoopNest& nest, const SteadyLoop& steady);
nlohmann::ordered_json residency_json(const Residency& residency);

} // namespace wavesim
