// A tile larger than LDS stops with the limit in bytes.
// expect: the tile is larger than the 65536 bytes of LDS that a workgroup can have on gfx942
#include <wavetile/lds/tile.hpp>

#ifdef WAVETILE_TEST_VALID
using large = wavetile::tile<float, wavetile::row_major(128, 128, 4)>; // exactly 65536
#else
using large = wavetile::tile<float, wavetile::row_major(129, 128, 4)>;
#endif

int size() {
  return static_cast<int>(sizeof(large::storage));
}
