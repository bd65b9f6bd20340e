#pragma once

#include "model/static_report.h"

namespace wavesim {

/// wavesim_distances().
int report_distances(const wavesim_distance_request& request);

} // namespace wavesim
