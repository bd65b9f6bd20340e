// Layouts are one-to-one, keep 16-byte chunks together and spread columns over the banks.
#include "fragment_accesses.hpp"

#include <wavetile/core/bf16.hpp>
#include <wavetile/lds/choose_layout.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace wavetile {
namespace {

// Every element has bytes of its own inside the declared size.
void expect_one_to_one(const layout& where) {
  ASSERT_TRUE(where.valid());
  std::vector<bool> taken(static_cast<size_t>(where.bytes()));
  for (int row = 0; row < where.rows; ++row)
    for (int column = 0; column < where.columns; ++column) {
      const int first = where.offset(row, column);
      ASSERT_GE(first, 0);
      ASSERT_LE(first + where.element_bytes, where.bytes());
      for (int byte = 0; byte < where.element_bytes; ++byte) {
        ASSERT_FALSE(taken[static_cast<size_t>(first + byte)]) << row << "," << column;
        taken[static_cast<size_t>(first + byte)] = true;
      }
    }
}

TEST(layout, every_family_is_one_to_one) {
  for (int element : {1, 2, 4, 8})
    for (int columns : {16, 32, 64, 96, 128}) {
      expect_one_to_one(row_major(33, columns, element));
      expect_one_to_one(padded(33, columns, element, 16));
      for (int chunk : {8, 16, 32})
        for (int mask : {1, 3, 7, 15})
          for (int second : {layout::no_shift, 1, 3}) {
            const layout where = xor_swizzled(70, columns, element, chunk, mask, 0, second);
            if (where.valid())
              expect_one_to_one(where);
          }
    }
}

TEST(layout, refuses_what_is_not_one_to_one) {
  EXPECT_FALSE(padded(4, 32, 2, -16).valid()) << "rows overlap";
  EXPECT_FALSE(xor_swizzled(4, 24, 2, 16, 3).valid()) << "three chunks, a group of four";
  EXPECT_FALSE(xor_swizzled(4, 64, 2, 12, 3).valid()) << "chunk is no power of two";
  EXPECT_FALSE(xor_swizzled(4, 64, 8, 4, 3).valid()) << "half an element moves";
  EXPECT_FALSE(xor_swizzled(4, 64, 2, 16, 5).valid()) << "mask with a gap";
  EXPECT_FALSE(row_major(0, 64, 2).valid());
  EXPECT_FALSE(row_major(1 << 20, 1 << 12, 2).valid()) << "more bytes than an int counts";
}

TEST(layout, offsets) {
  EXPECT_EQ(row_major(4, 8, 4).offset(3, 7), 3 * 32 + 28);
  EXPECT_EQ(padded(4, 8, 4, 4).offset(3, 7), 3 * 36 + 28);
  const layout swizzled = xor_swizzled(64, 64, 2, 16, 7, 0, 3);
  EXPECT_EQ(swizzled.offset(0, 0), 0);
  EXPECT_EQ(swizzled.offset(1, 0), 128 + 16);
  EXPECT_EQ(swizzled.offset(9, 9), 9 * 128 + (18 ^ ((9 ^ 1) & 7) * 16));
  EXPECT_EQ(swizzled.bytes(), 64 * 128);
}

// 16 lanes read 16 bytes at rows 0..15 of one chunk column. Count the dwords in each bank.
int most_hits(const layout& where, int column) {
  int hits[32] = {};
  for (int row = 0; row < 16; ++row)
    for (int byte = 0; byte < 16; byte += 4)
      ++hits[(where.offset(row, column) + byte) / 4 % 32];
  return *std::max_element(hits, hits + 32);
}

template <int Columns>
void check_spreading(int unpadded) {
  EXPECT_EQ(most_hits(row_major(16, Columns, 2), 0), unpadded);
  // 16 lanes x 4 dwords over 32 banks: two hits is the least there can be. A read alone may do
  // with less: its phases take 4 rows of one chunk and 4 of another. A write down a column takes 8
  // rows of one chunk at a time.
  constexpr lds_access read = test::fragment_read(16, 16, 2);
  constexpr lds_access column = lds_write(16, [](int lane) {
    return coordinate{lane % 16, lane / 16 * 8};
  });
  constexpr int rows = 64;
  constexpr layout_choice choice =
      choose_layout<bf16, rows, Columns>(targets::gfx942, 65536, read, column);
  static_assert(choice.conflict_free);
  static_assert(choice.chosen.pitch % 16 == 0);
  expect_one_to_one(choice.chosen);
  for (int chunk = 0; chunk < Columns; chunk += 8)
    EXPECT_EQ(most_hits(choice.chosen, chunk), 2) << Columns << " at column " << chunk;
}

TEST(layout, spreads_columns_at_every_width) {
  check_spreading<64>(16);
  check_spreading<80>(4);
  check_spreading<96>(8);
  check_spreading<128>(16);
  check_spreading<192>(16);
  check_spreading<256>(16);
}

// The map that writes is the map that reads, by construction: there is one. What a kernel stores
// by rows it finds again by columns.
TEST(layout, distinct_offsets_survive_a_round_trip) {
  const layout where = xor_swizzled(64, 64, 2, 16, 7, 0, 3);
  std::vector<int> memory(static_cast<size_t>(where.bytes()) / 2, -1);
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < 64; ++column)
      memory[static_cast<size_t>(where.offset(row, column)) / 2] = row * 64 + column;
  for (int column = 0; column < 64; ++column)
    for (int row = 0; row < 64; ++row)
      ASSERT_EQ(memory[static_cast<size_t>(where.offset(row, column)) / 2], row * 64 + column);
}

} // namespace
} // namespace wavetile
