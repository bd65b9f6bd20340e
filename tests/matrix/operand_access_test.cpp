// Declared accesses of fragments: the conflict counts that the literature gives for them, and a
// conflict-free layout for each kind of operand together with the writes that fill its tile.
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/matrix/accumulator.hpp>
#include <wavetile/matrix/lds_operand.hpp>

#include <gtest/gtest.h>

#include <set>

namespace wavetile {
namespace {

template <class T, bool Wide>
using operand_a = fragment<fragment_role::a, Wide ? shape_32x32<T> : shape_16x16<T>, T>;
template <class T, bool Wide>
using operand_b = fragment<fragment_role::b, Wide ? shape_32x32<T> : shape_16x16<T>, T>;

constexpr int clocks(const lds_access& what, int pitch) {
  return bank_conflicts(padded(64, 32, 2, pitch - 64), what, targets::gfx942).clocks;
}

// Clocks by row pitch of the 16-row fragment of 16-bit elements read with ds_read_b128 (8 without
// conflicts), and what the 32-row fragment and ds_read_b64 want instead.
TEST(lds_operand, costs_what_is_published_for_fragments) {
  constexpr lds_access rows16 = lds_operand<operand_a<bf16, false>>::access;
  static_assert(rows16.op == lds_op::read_b128);
  for (const auto& [pitch, expected] : {std::pair{64, 16},
                                        {80, 16},
                                        {96, 8},
                                        {128, 32},
                                        {144, 16},
                                        {160, 8},
                                        {256, 32},
                                        {272, 16},
                                        {288, 8}})
    EXPECT_EQ(clocks(rows16, pitch), expected) << pitch;
  constexpr lds_access rows32 = lds_operand<operand_b<fp16, true>>::access;
  for (const auto& [pitch, expected] : {std::pair{80, 8}, {112, 8}, {144, 8}, {96, 16}, {160, 16}})
    EXPECT_EQ(clocks(rows32, pitch), expected) << pitch;
  constexpr lds_access narrow = lds_operand<operand_a<bf16, false>, 1>::access;
  static_assert(narrow.op == lds_op::read_b64);
  for (const auto& [pitch, expected] : {std::pair{72, 4}, {136, 4}, {144, 8}, {128, 64}})
    EXPECT_EQ(clocks(narrow, pitch), expected) << pitch;
}

/// Every element of the fragments' rows and depth is read exactly once, and the same k by A and B.
template <class A, class B>
void check_cover() {
  static_assert(A::depth == B::depth && A::elements == B::elements);
  std::set<std::pair<int, int>> seen;
  for (int lane = 0; lane < 64; ++lane)
    for (int e = 0; e < A::elements; ++e) {
      const coordinate at = A::place(lane);
      EXPECT_TRUE(seen.insert({at.row, at.column + e}).second);
      EXPECT_EQ(at.column, B::place(lane).column);
    }
  EXPECT_EQ(static_cast<int>(seen.size()), A::rows * A::depth);
  EXPECT_EQ(seen.begin()->first, 0);
  EXPECT_EQ(seen.rbegin()->first, A::rows - 1);
  EXPECT_EQ(seen.rbegin()->second, A::depth - 1);
}

struct swap_bits_2_and_3 {
  WAVETILE_HD constexpr int operator()(int row) const {
    return (row & ~12) | (row & 4) << 1 | (row & 8) >> 1;
  }
};

/// A 64 x 128-byte tile that waves fill by 16 bytes a lane along rows has a layout in which neither
/// those writes nor the reads of the operand conflict, at any position.
template <class T, bool Wide>
void check_layout() {
  using read = lds_operand<operand_a<T, Wide>>;
  using permuted =
      lds_operand<operand_a<T, Wide>, 16 / (operand_a<T, Wide>::size * static_cast<int>(sizeof(T))),
                  swap_bits_2_and_3>;
  check_cover<read, lds_operand<operand_b<T, Wide>>>();
  check_cover<permuted, lds_operand<operand_b<T, Wide>>>();
  constexpr int size = static_cast<int>(sizeof(T));
  constexpr int columns = 128 / size;
  constexpr lds_access write = lds_write(16, [](int lane) {
    return coordinate{lane / 8, lane % 8 * 16 / static_cast<int>(sizeof(T))};
  });
  constexpr layout_choice found =
      choose_layout<T, 64, columns>(targets::gfx942, 65536, read::access, permuted::access, write);
  EXPECT_TRUE(found.conflict_free);
  EXPECT_EQ(read::bytes, 16);
  for (int row = 0; row < 64; row += read::rows)
    for (int k = 0; k < columns; k += read::depth) {
      EXPECT_TRUE(
          bank_conflicts(found.chosen, read::access_at(row, k), targets::gfx942).conflict_free());
      EXPECT_TRUE(bank_conflicts(found.chosen, permuted::access_at(row, k), targets::gfx942)
                      .conflict_free());
    }
}

TEST(lds_operand, has_layouts_without_conflicts) {
  check_layout<double, false>();
  check_layout<float, false>();
  check_layout<float, true>();
  check_layout<fp16, false>();
  check_layout<fp16, true>();
  check_layout<bf16, true>();
  check_layout<int8_t, false>();
  check_layout<int8_t, true>();
  check_layout<fp8_e4m3_fnuz, true>();
}

TEST(lds_operand_strided, reads_rows_of_k) {
  using read = lds_operand_strided<operand_b<float, true>, 4>;
  using dense = lds_operand<operand_b<float, true>>;
  for (int lane = 0; lane < 64; ++lane)
    for (int e = 0; e < read::elements; ++e) {
      EXPECT_EQ(read::place(lane, e).row, dense::place(lane).column + e);
      EXPECT_EQ(read::place(lane, e).column, dense::place(lane).row);
    }
  constexpr layout where = row_major(32, 32, 4);
  EXPECT_TRUE(bank_conflicts(where, read::access_at(0), targets::gfx942).conflict_free());
}

TEST(lds_accumulator, writes_without_conflicts) {
  using d = fragment<fragment_role::accumulator, shape_32x32<bf16>, float>;
  constexpr layout plain = row_major(32, 32, 4);
  for (int i = 0; i < d::size; ++i)
    EXPECT_TRUE(
        bank_conflicts(plain, lds_accumulator<d>::access_at(i), targets::gfx942).conflict_free());
  using narrow = fragment<fragment_role::accumulator, shape_32x32<bf16>, bf16, matrix_type::fp32>;
  using transposed = lds_accumulator_transposed<narrow>;
  static_assert(transposed::access.op == lds_op::write_b64);
  constexpr layout_choice found =
      choose_layout<bf16, 32, 32>(targets::gfx942, 65536, transposed::access);
  EXPECT_TRUE(found.conflict_free);
}

} // namespace
} // namespace wavetile
