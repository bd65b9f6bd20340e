// A layout made for 2-byte elements does not serve 4-byte ones.
// expect: the layout was made for elements of another size
#include <wavetile/core/bf16.hpp>
#include <wavetile/lds/tile.hpp>

#ifdef WAVETILE_TEST_VALID
using tile = wavetile::tile<wavetile::bf16, wavetile::row_major(64, 32, 2)>;
#else
using tile = wavetile::tile<float, wavetile::row_major(64, 32, 2)>;
#endif

int size() {
  return static_cast<int>(sizeof(tile::storage));
}
