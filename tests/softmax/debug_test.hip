// A few problems of every kernel; compiled without optimisation.
#include "softmax_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

TEST(softmax_unoptimised, agrees_with_the_reference) {
  for (const std::int64_t columns : {3, 100, 1000, 3000, 9000, 20000, 70000}) {
    softmax_case<float> c{.rows = 2, .columns = columns};
    c.chain = columns > 65536 ? static_cast<double>(columns) / 256 : 16;
    c.workspace_bytes = columns > 65536 ? 1 << 14 : 0;
    c.fill(3);
    c.x[1] = -__builtin_inff();
    c.run_and_check();
  }
}

} // namespace
