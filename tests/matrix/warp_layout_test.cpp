// Fragments of NVIDIA's matrix instructions against the tables of the PTX manual, element by
// element, and the LDS layouts that their reads are free of conflicts in.
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/matrix/warp_operand.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace wavetile {
namespace {

using role = fragment_role;

TEST(warp_layout, sixteen_bits) {
  static_assert(warp_shape(2) == matrix_shape{16, 8, 16});
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2, thread = lane & 3;
    for (int i = 0; i < 8; ++i) {
      const bool upper = i < 2 || (i >= 4 && i < 6);
      const matrix_element expected{upper ? group : group + 8,
                                    i < 4 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8};
      EXPECT_EQ(warp_a<bf16>::element(lane, i), expected) << lane << " " << i;
    }
    for (int i = 0; i < 4; ++i) {
      const matrix_element expected{i < 2 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8, group};
      EXPECT_EQ(warp_b<bf16>::element(lane, i), expected) << lane << " " << i;
    }
  }
}

TEST(warp_layout, eight_bits) {
  static_assert(warp_shape(1) == matrix_shape{16, 8, 32});
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2, thread = lane & 3;
    for (int i = 0; i < 16; ++i) {
      const bool upper = i < 4 || (i >= 8 && i < 12);
      const matrix_element expected{upper ? group : group + 8,
                                    i < 8 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16};
      EXPECT_EQ(warp_a<int8_t>::element(lane, i), expected) << lane << " " << i;
    }
    for (int i = 0; i < 8; ++i) {
      const matrix_element expected{i < 4 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16,
                                    group};
      EXPECT_EQ(warp_b<int8_t>::element(lane, i), expected) << lane << " " << i;
    }
  }
}

TEST(warp_layout, fp64) {
  static_assert(warp_shape(8) == matrix_shape{8, 8, 4});
  static_assert(warp_a<double>::size == 1 && warp_b<double>::size == 1);
  static_assert(warp_accumulator<double>::size == 2);
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2, thread = lane & 3;
    EXPECT_EQ(warp_a<double>::element(lane, 0), (matrix_element{group, thread}));
    EXPECT_EQ(warp_b<double>::element(lane, 0), (matrix_element{thread, group}));
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(warp_accumulator<double>::element(lane, i),
                (matrix_element{group, thread * 2 + (i & 1)}));
  }
}

TEST(warp_layout, accumulators) {
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const matrix_element expected{i < 2 ? lane >> 2 : (lane >> 2) + 8, (lane & 3) * 2 + (i & 1)};
      EXPECT_EQ(warp_accumulator<bf16>::element(lane, i), expected);
      EXPECT_EQ(warp_accumulator<int8_t>::element(lane, i), expected);
    }
}

// Every element of a matrix is in exactly one place.
template <class Fragment>
void expect_bijection(int rows, int columns) {
  std::set<std::pair<int, int>> seen;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < Fragment::size; ++i) {
      const matrix_element at = Fragment::element(lane, i);
      EXPECT_TRUE(at.row >= 0 && at.row < rows && at.column >= 0 && at.column < columns);
      EXPECT_TRUE(seen.insert({at.row, at.column}).second);
    }
  EXPECT_EQ(static_cast<int>(seen.size()), rows * columns);
}
template <class T>
void expect_bijections() {
  constexpr matrix_shape shape = warp_shape(sizeof(T));
  expect_bijection<warp_a<T>>(shape.m, shape.k);
  expect_bijection<warp_b<T>>(shape.k, shape.n);
  expect_bijection<warp_accumulator<T>>(shape.m, shape.n);
}
TEST(warp_layout, is_a_bijection) {
  expect_bijections<fp16>();
  expect_bijections<fp8_e4m3_ocp>();
  expect_bijections<double>();
}

// ldmatrix as the manual says it: register i of lane l holds elements 2 (l mod 4), + 1 of row l / 4
// of matrix i, whose row r lane 8 i + r points to; of the transposed matrix with .trans. The
// fragments that come of it must be those of the instruction.
template <class T, warp_order Order, role Role>
void expect_fragments() {
  using operand = warp_operand<Role, T, Order>;
  constexpr bool strided = Order == warp_order::k_strided;
  constexpr int bytes = static_cast<int>(sizeof(T));
  for (int lane = 0; lane < 32; ++lane) {
    // {row of the operand, k} of each byte of each register
    std::pair<int, int> found[4][4];
    for (int reg = 0; reg < 4; ++reg)
      for (int byte = 0; byte < 4; ++byte) {
        const int pair = lane % 4 * 2 + byte / 2; // element of 16 bits
        const int source = 8 * reg + (strided ? pair : lane / 4);
        const int byte_in_row = (strided ? lane / 4 : pair) * 2 + byte % 2;
        const coordinate at = operand::place(source, 0, 0);
        const int element = at.column + byte_in_row / bytes;
        found[reg][byte] = strided ? std::pair{element, at.row} : std::pair{at.row, element};
      }
    if (strided && bytes == 1) { // sort_bytes, byte by byte
      std::pair<int, int> sorted[4][4];
      for (int half = 0; half < 2; ++half)
        for (int i = 0; i < 4; ++i)
          for (int odd = 0; odd < 2; ++odd)
            sorted[Role == role::a ? 2 * half + odd : 2 * odd + half][i] =
                found[2 * half + i / 2][i % 2 * 2 + odd];
      std::copy(&sorted[0][0], &sorted[0][0] + 16, &found[0][0]);
    }
    if (Role == role::a) {
      for (int i = 0; i < warp_a<T>::size; ++i) {
        const matrix_element at = warp_a<T>::element(lane, i);
        const std::pair expected{operand::row_of(at.row), at.column};
        EXPECT_EQ(found[i * bytes / 4][i * bytes % 4], expected) << lane << " " << i;
      }
    } else {
      for (int half = 0; half < 2; ++half)
        for (int i = 0; i < warp_b<T>::size; ++i) {
          const matrix_element at = warp_b<T>::element(lane, i);
          const std::pair expected{operand::row_of(at.column + 8 * half), at.row};
          EXPECT_EQ(found[2 * half + i * bytes / 4][i * bytes % 4], expected) << lane << " " << i;
        }
    }
  }
}
template <class T>
void expect_all_fragments() {
  expect_fragments<T, warp_order::k_contiguous, role::a>();
  expect_fragments<T, warp_order::k_contiguous, role::b>();
  expect_fragments<T, warp_order::k_strided, role::a>();
  expect_fragments<T, warp_order::k_strided, role::b>();
}
TEST(warp_operand, reads_fragments) {
  expect_all_fragments<fp16>();
  expect_all_fragments<int8_t>();
}

// Reads at every row and k of a tile, in the layout that is found for the first one and for writes
// of 16 bytes by lanes next to each other (cp.async).
template <class T, warp_order Order, int Rows, int Columns, role Role = role::a>
constexpr bool free_everywhere() {
  using operand = warp_operand<Role, T, Order>;
  constexpr int in_row = Columns * static_cast<int>(sizeof(T)) / 16;
  constexpr lds_access write = lds_write(16, [](int lane) {
    return lane < 32 ? coordinate{lane / in_row, lane % in_row * operand::run} : inactive_lane;
  });
  for (const target* device : {&targets::sm80, &targets::sm90}) {
    const layout_choice found =
        choose_layout<T, Rows, Columns>(*device, 65536, operand::access, write);
    if (!found.conflict_free || found.chosen.bytes() != Rows * Columns * int{sizeof(T)})
      return false;
    const bool contiguous = Order == warp_order::k_contiguous;
    const int rows = contiguous ? Rows : Columns, depth = contiguous ? Columns : Rows;
    for (int row = 0; row < rows; row += 16)
      for (int k = 0; k < depth; k += operand::depth)
        if (!conflict_free(found.chosen, *device, operand::access_at(row, k)))
          return false;
  }
  return true;
}
TEST(warp_operand, layouts_are_free_of_conflicts) {
  constexpr auto along = warp_order::k_contiguous, across = warp_order::k_strided;
  EXPECT_TRUE((free_everywhere<bf16, along, 128, 64>()));
  EXPECT_TRUE((free_everywhere<bf16, along, 64, 32>()));
  EXPECT_TRUE((free_everywhere<bf16, along, 256, 64, role::b>()));
  EXPECT_TRUE((free_everywhere<bf16, across, 64, 256, role::b>()));
  EXPECT_TRUE((free_everywhere<bf16, across, 64, 128>()));
  EXPECT_TRUE((free_everywhere<bf16, across, 32, 256>()));
  EXPECT_TRUE((free_everywhere<bf16, across, 32, 64>()));
  EXPECT_TRUE((free_everywhere<int8_t, along, 128, 128>()));
  EXPECT_TRUE((free_everywhere<int8_t, along, 128, 64>()));
  EXPECT_TRUE((free_everywhere<int8_t, across, 64, 128>()));
  EXPECT_TRUE((free_everywhere<int8_t, across, 128, 256>()));
}

// Without a swizzle eight rows of 128 bytes fall in the same banks.
TEST(warp_operand, plain_tiles_conflict) {
  using operand = warp_operand<role::a, bf16, warp_order::k_contiguous>;
  const conflict_count plain =
      bank_conflicts(row_major(128, 64, 2), operand::access, targets::sm90);
  EXPECT_TRUE(plain.known && plain.legal);
  EXPECT_EQ(plain.phases, 4);
  EXPECT_EQ(plain.clocks, 32);
}

} // namespace
} // namespace wavetile
