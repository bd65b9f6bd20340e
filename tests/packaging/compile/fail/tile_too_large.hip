// A tile that no workgroup can have is refused by its size, not by a later launch.
// expect: the tile is larger than the 65536 bytes of LDS that a workgroup can have on gfx942
#include <wavetile/wavetile.hpp>

namespace {
using namespace wavetile;
#ifdef WAVETILE_TEST_VALID
constexpr layout where = row_major(128, 128, 4);
#else
constexpr layout where = row_major(128, 132, 4);
#endif
using large = tile<float, where>;
[[maybe_unused]] constexpr int bytes = sizeof(large::storage);
} // namespace
