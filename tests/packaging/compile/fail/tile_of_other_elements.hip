// A layout made for one element size does not hold elements of another.
// expect: wavetile::tile: the layout was made for elements of another size
#include <wavetile/wavetile.hpp>

namespace {
using namespace wavetile;
#ifdef WAVETILE_TEST_VALID
using element = bf16;
#else
using element = float;
#endif
using narrow = tile<element, row_major(16, 64, 2)>;
[[maybe_unused]] constexpr int bytes = sizeof(narrow::storage);
} // namespace
