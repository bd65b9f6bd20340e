// A swizzle that would move chunks out of the row is no layout.
// expect: the layout does not map elements one-to-one
#include <wavetile/core/bf16.hpp>
#include <wavetile/lds/tile.hpp>

#ifdef WAVETILE_TEST_VALID
using tile = wavetile::tile<wavetile::bf16, wavetile::xor_swizzled(64, 32, 2, 16, 3)>;
#else
using tile = wavetile::tile<wavetile::bf16, wavetile::xor_swizzled(64, 24, 2, 16, 3)>;
#endif

int size() {
  return static_cast<int>(sizeof(tile::storage));
}
