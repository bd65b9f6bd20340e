// Every kernel without optimisation, with assertions of the standard library.
#include "norm_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

TEST(norm_debug, agrees_with_the_reference) {
  for (const std::int64_t columns : {3, 300, 3000, 9000, 20000, 70000}) {
    norm_case<norm_kind::layer, float, float, bf16> layer{.rows = 2, .columns = columns};
    layer.run_and_check();
  }
  for (const std::int64_t columns : {5, 700}) {
    norm_case<norm_kind::rms, bf16, fp8_e4m3_fnuz, float, bf16, true> rms{.rows = 3,
                                                                          .columns = columns};
    rms.run_and_check();
  }
}

} // namespace
