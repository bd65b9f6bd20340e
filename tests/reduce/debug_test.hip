// A few problems of every kernel; compiled without optimisation.
#include "reduce_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

TEST(reduce_unoptimised, agrees_with_the_reference) {
  for (const std::int64_t workspace : {0, 1 << 14})
    for (const auto& [extent, axis] : std::vector<std::pair<std::vector<std::int64_t>, int>>{
             {{3, 7}, 1}, {{2, 40000}, 1}, {{500, 9}, 0}, {{900}, all_axes}}) {
      SCOPED_TRACE(shape_text(extent, axis));
      reduce_case<op::plus, float, float> c{.extent = extent, .axis = axis};
      c.workspace_bytes = workspace;
      c.fill();
      c.run_and_check();
    }
}

} // namespace
