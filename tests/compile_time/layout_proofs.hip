// What a matrix kernel proves about its LDS: two operand tiles, each read as fragments, written by
// a row-wise copy and by a transposing one, with a layout searched for all of it at once.
#include <wavetile/wavetile.hpp>

#include <wavetile/lds/choose_layout.hpp>

namespace {
using namespace wavetile;

constexpr lds_access fragment = lds_read(16, [](int lane) {
  return coordinate{lane % 32, lane / 32 * 8};
});
constexpr lds_access row_copy = lds_write(16, [](int lane) {
  return coordinate{lane / 8, lane % 8 * 8};
});
constexpr lds_access transposed_copy = lds_write(16, [](int lane) {
  return coordinate{lane % 8 * 8, lane / 8 * 8};
});

constexpr layout_choice tile_a =
    choose_layout<bf16, 128, 64>(targets::gfx942, 32768, fragment, row_copy, transposed_copy);
static_assert(tile_a.conflict_free);
static_assert(bank_conflicts(tile_a.chosen, fragment, targets::gfx942).conflict_free());
static_assert(bank_conflicts(tile_a.chosen, transposed_copy, targets::gfx942).conflict_free());

constexpr layout_choice tile_b =
    choose_layout<bf16, 256, 64>(targets::gfx942, 32768, fragment, transposed_copy);
static_assert(tile_b.conflict_free);
static_assert(bank_conflicts(tile_b.chosen, fragment, targets::gfx942).conflict_free());
} // namespace
