// The tile on the host, where it is plain memory: reads find what writes stored, at every width and
// in every layout.
#include <wavetile/core/bf16.hpp>
#include <wavetile/lds/tile.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace wavetile {
namespace {

template <class T, layout Where, int Width>
void check_round_trip() {
  using tile_type = tile<T, Where>;
  typename tile_type::storage memory;
  const tile_type t(memory);
  for (int row = 0; row < Where.rows; ++row)
    for (int column = 0; column < Where.columns; column += Width) {
      vec<T, Width> value{};
      for (int i = 0; i < Width; ++i)
        value[i] = static_cast<T>(row * Where.columns + column + i);
      t.write_vec(row, column, value);
    }
  for (int row = 0; row < Where.rows; ++row)
    for (int column = 0; column < Where.columns; ++column) {
      ASSERT_EQ(t.read(row, column), static_cast<T>(row * Where.columns + column));
      ASSERT_EQ(t.data() + t.offset(row, column), memory.bytes + Where.offset(row, column));
    }
  // and the other way round
  for (int row = 0; row < Where.rows; ++row)
    for (int column = 0; column < Where.columns; ++column)
      t.write(row, column, static_cast<T>(row + 3 * column));
  for (int row = 0; row < Where.rows; ++row)
    for (int column = 0; column < Where.columns; column += Width) {
      const vec<T, Width> value = t.template read_vec<Width>(row, column);
      for (int i = 0; i < Width; ++i)
        ASSERT_EQ(value[i], static_cast<T>(row + 3 * (column + i)));
    }
}

template <class T, layout Where>
void check_widths() {
  check_round_trip<T, Where, 1>();
  check_round_trip<T, Where, 2>();
  check_round_trip<T, Where, static_cast<int>(16 / sizeof(T))>();
}

template <class T>
void check_layouts() {
  constexpr int size = static_cast<int>(sizeof(T));
  check_widths<T, row_major(16, 64, size)>();
  check_widths<T, padded(16, 64, size, 16)>();
  check_widths<T, xor_swizzled(16, 64, size, 16, 3)>();
  check_widths<T, xor_swizzled(16, 64, size, 16, 3, 0, 3)>();
  check_widths<T, xor_swizzled(16, 64, size, 32, 1, 2)>();
}

TEST(tile, reads_what_was_written) {
  check_layouts<int8_t>();
  check_layouts<int16_t>();
  check_layouts<int32_t>();
  check_layouts<int64_t>();
  check_layouts<float>();
}

TEST(tile, two_16_byte_accesses_for_32_bytes) {
  constexpr layout where = xor_swizzled(16, 64, 4, 32, 3);
  check_round_trip<float, where, 8>();
}

TEST(tile, storage_is_what_the_layout_says) {
  using swizzled = tile<bf16, xor_swizzled(128, 64, 2, 16, 7)>;
  static_assert(sizeof(swizzled::storage) == 16384 && alignof(swizzled::storage) == 16);
  static_assert(std::is_trivial_v<swizzled::storage>);
  static_assert(sizeof(swizzled) == sizeof(void*), "a tile is a pointer");
  using largest = tile<float, row_major(128, 128, 4)>;
  static_assert(sizeof(largest::storage) == 65536);
  using larger = tile<float, row_major(160, 128, 4), 163840>;
  static_assert(sizeof(larger::storage) == 81920, "with a limit of its own");
}

TEST(tile, storage_may_be_shared) {
  using a = tile<float, row_major(8, 32, 4)>;
  using b = tile<int32_t, row_major(16, 16, 4)>;
  struct members {
    union {
      a::storage first;
      b::storage second;
    };
    a::storage stages[2];
  };
  static_assert(sizeof(lds_storage<members>) == 3 * 1024);
  lds_storage<members> memory;
  const b ints(memory.second);
  ints.write(3, 5, 77);
  EXPECT_EQ(b(static_cast<void*>(&memory)).read(3, 5), 77);
  const a stage(memory.stages[1]);
  stage.write(0, 0, 2.0f);
  EXPECT_EQ(ints.read(3, 5), 77);
}

} // namespace
} // namespace wavetile
