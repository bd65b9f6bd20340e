// Wave and workgroup reductions and scans, beside rocPRIM's and hipCUB's in the same frame where
// their headers are there, and copies through LDS by layout.
#include "primitives_lanes.hpp"
#include "primitives_lds.hpp"

int main(int argc, char** argv) {
  return bench::run_main(argc, argv, [] {
    bench::register_lane_primitives();
    bench::register_lds_copies();
  });
}
