// Two double-buffered fp32 tiles, 128 x 64 and 64 x 128: 131072 bytes together.
// expect: the members need more than the 65536 bytes of LDS that a workgroup can have on gfx942
#include <wavetile/lds/tile.hpp>

using tile_a = wavetile::tile<float, wavetile::row_major(128, 64, 4)>;
using tile_b = wavetile::tile<float, wavetile::row_major(64, 128, 4)>;

struct members {
#ifdef WAVETILE_TEST_VALID
  tile_a::storage a[1];
  tile_b::storage b[1];
#else
  tile_a::storage a[2];
  tile_b::storage b[2];
#endif
};

int size() {
  return static_cast<int>(sizeof(wavetile::lds_storage<members>));
}
