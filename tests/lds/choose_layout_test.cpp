// The search finds the cheapest layout without conflicts, for reads and writes together.
#include "../support/random.hpp"
#include "fragment_accesses.hpp"

#include <wavetile/core/bf16.hpp>
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/lds/report.hpp>

#include <gtest/gtest.h>

#include <string>

namespace wavetile {
namespace {

using test::fragment_read;
using test::row_copy;

TEST(choose_layout, prefers_no_padding) {
  constexpr lds_access read = fragment_read(16, 16, 2);
  constexpr lds_access write = row_copy(128, 16, 2, true);
  constexpr layout_choice choice =
      choose_layout<bf16, 128, 64>(targets::gfx942, 65536, read, write);
  static_assert(choice.conflict_free && choice.clocks == 16 && choice.minimum == 16);
  static_assert(choice.chosen.bytes() == 128 * 64 * 2, "swizzled: no byte lost");
  static_assert(choice.chosen.second_shift == layout::no_shift, "the simplest swizzle suffices");
  static_assert(choice.tag == evidence::derived, "the weaker of the two");
  static_assert(conflict_free(choice.chosen, targets::gfx942, read, write));
  EXPECT_GT(choice.tried, 1);
}

TEST(choose_layout, serves_rows_and_columns_at_once) {
  // fragment reads of 16 and of 32 rows, row copies, and writes of a transposed operand, whose
  // lanes each put four bytes in another row: one layout for all, the one worked out by hand
  constexpr lds_access read16 = fragment_read(16, 16, 2);
  constexpr lds_access read32 = fragment_read(32, 16, 2);
  constexpr lds_access write = row_copy(128, 16, 2, true);
  constexpr lds_access transposed = lds_write(4, [](int lane) {
    return coordinate{lane % 8 * 8, lane / 8 * 2};
  });
  constexpr layout_choice choice =
      choose_layout<bf16, 128, 64>(targets::gfx942, 65536, read16, read32, write, transposed);
  static_assert(choice.conflict_free);
  static_assert(choice.chosen == xor_swizzled(128, 64, 2, 16, 7, 0, 3));
}

TEST(choose_layout, finds_permuted_rows) {
  // rows whose index bits 2 and 3 are exchanged by the reader
  constexpr lds_access read = lds_read(16, [](int lane) {
    const int row = lane % 32;
    const int swapped = (row & ~12) | (row & 4) << 1 | (row & 8) >> 1;
    return coordinate{swapped, lane / 32 * 8};
  });
  constexpr lds_access write = row_copy(256, 16, 2, true);
  constexpr layout_choice choice =
      choose_layout<bf16, 64, 128>(targets::gfx942, 65536, read, write);
  static_assert(choice.conflict_free && choice.chosen.bytes() == 64 * 256);
}

TEST(choose_layout, pads_where_no_swizzle_fits) {
  // 17 floats a row: chunks do not come in powers of two
  constexpr lds_access column = lds_read(4, [](int lane) {
    return coordinate{lane % 32, lane / 32};
  });
  constexpr lds_access row = lds_write(4, [](int lane) {
    return coordinate{lane / 17, lane % 17};
  });
  constexpr layout_choice odd = choose_layout<float, 32, 17>(targets::gfx942, 65536, column, row);
  static_assert(odd.conflict_free && odd.chosen == row_major(32, 17, 4),
                "17 is odd: nothing to do");
  constexpr lds_access column24 = lds_read(16, [](int lane) { return coordinate{lane, 0}; });
  constexpr layout_choice padded24 = choose_layout<float, 64, 24>(targets::gfx942, 65536, column24);
  static_assert(padded24.conflict_free);
  EXPECT_TRUE(padded24.chosen.chunk != 0 || padded24.chosen.pitch > 96);
}

TEST(choose_layout, keeps_to_the_size_limit) {
  constexpr lds_access read = lds_read(4, [](int lane) { return coordinate{lane, 0}; });
  // one float a row: only padding spreads nothing here, 64 rows of one dword are free as they are
  static_assert(choose_layout<float, 64, 1>(targets::gfx942, 256, read).conflict_free);
  // 24 floats a row with b128 columns, no byte to spare: no padded layout may be taken
  constexpr lds_access column = lds_read(16, [](int lane) { return coordinate{lane, 0}; });
  constexpr layout_choice tight = choose_layout<float, 64, 24>(targets::gfx942, 64 * 96, column);
  static_assert(tight.chosen.bytes() <= 64 * 96);
  // not even the plain tile fits
  constexpr layout_choice none = choose_layout<float, 64, 24>(targets::gfx942, 1000, column);
  static_assert(!none.conflict_free && none.tried == 0);
}

TEST(choose_layout, says_when_there_is_none) {
  // every lane of a phase in a row of its own at the same dword, and in one row at a stride that no
  // layout of one row can mend
  constexpr lds_access stride = lds_read(4, [](int lane) { return coordinate{0, lane * 32}; });
  constexpr layout_choice choice = choose_layout<float, 1, 2048>(targets::gfx942, 65536, stride);
  static_assert(!choice.conflict_free);
  static_assert(choice.clocks == 64 && choice.minimum == 2);
}

TEST(choose_layout, takes_the_least_bad) {
  constexpr lds_access columns = lds_read(4, [](int lane) {
    return coordinate{lane % 32, lane / 32};
  });
  // column reads could be mended, the strided row not: the mended one remains cheaper
  constexpr lds_access stride = lds_read(4, [](int lane) { return coordinate{0, lane % 2 * 32}; });
  constexpr layout_choice choice =
      choose_layout<float, 32, 64>(targets::gfx942, 65536, columns, stride);
  static_assert(!choice.conflict_free);
  EXPECT_EQ(choice.clocks, 2 + 4);
  EXPECT_EQ(choice.clocks, bank_conflicts(choice.chosen, columns, targets::gfx942).clocks +
                               bank_conflicts(choice.chosen, stride, targets::gfx942).clocks);
  EXPECT_LT(choice.clocks, bank_conflicts(row_major(32, 64, 4), columns, targets::gfx942).clocks);
}

TEST(choose_layout, agrees_with_the_full_count_on_random_accesses) {
  test::random_source random(1);
  int free_ones = 0;
  for (int round = 0; round < 400; ++round) {
    const int bytes = 4 << random.bits() % 3;
    const int per_row = 256 / bytes;
    // affine in the bits of the lane, as real accesses are, and now and then not
    int row_of[6];
    int chunk_of[6];
    for (int bit = 0; bit < 6; ++bit) {
      row_of[bit] = static_cast<int>(random.bits() % 64);
      chunk_of[bit] = static_cast<int>(random.bits() % static_cast<unsigned>(per_row));
    }
    const bool odd_one = random.bits() % 4 == 0;
    const auto map = [&](int lane) {
      int row = 0;
      int chunk = 0;
      for (int bit = 0; bit < 6; ++bit)
        if (lane >> bit & 1) {
          row ^= row_of[bit];
          chunk ^= chunk_of[bit];
        }
      if (lane == 40)
        return inactive_lane;
      if (odd_one && lane % 8 == 5)
        return coordinate{(row * 37 + lane) % 64, (chunk + lane) % per_row * bytes / 4};
      return coordinate{row % 64, chunk % per_row * bytes / 4};
    };
    const lds_access first = round % 2 == 0 ? lds_read(bytes, map) : lds_write(bytes, map);
    const lds_access copy = test::row_copy(256, 16, 4, true);
    const layout_choice choice = choose_layout<float, 64, 64>(targets::gfx942, 65536, first, copy);
    const conflict_count a = bank_conflicts(choice.chosen, first, targets::gfx942);
    const conflict_count b = bank_conflicts(choice.chosen, copy, targets::gfx942);
    ASSERT_TRUE(a.legal && b.legal);
    EXPECT_EQ(choice.clocks, a.clocks + b.clocks);
    EXPECT_EQ(choice.minimum, a.phases + b.phases);
    EXPECT_EQ(choice.conflict_free, a.conflict_free() && b.conflict_free());
    free_ones += choice.conflict_free;
  }
  EXPECT_GT(free_ones, 40) << "the cases are too hard to tell anything";
  EXPECT_LT(free_ones, 360) << "the cases are too easy to tell anything";
}

TEST(choose_layout, refuses_accesses_that_are_no_instruction) {
  constexpr lds_access outside = lds_read(4, [](int lane) { return coordinate{lane, 0}; });
  static_assert(!choose_layout<float, 32, 32>(targets::gfx942, 65536, outside).conflict_free);
  constexpr lds_access misaligned = lds_read(16, [](int) { return coordinate{0, 1}; });
  static_assert(!choose_layout<float, 32, 32>(targets::gfx942, 65536, misaligned).conflict_free);
  constexpr lds_access read = fragment_read(16, 16, 2);
  static_assert(!choose_layout<bf16, 64, 64>(targets::gfx950, 65536, read).conflict_free,
                "nothing is proved where the lane groups are not known");
}

TEST(choose_layout, finds_layouts_for_b96) {
  constexpr lds_access read = lds_read(12, [](int lane) {
    return coordinate{lane % 16, lane / 16 * 4};
  });
  constexpr layout_choice choice = choose_layout<float, 16, 16>(targets::gfx942, 65536, read);
  static_assert(choice.conflict_free && choice.tag == evidence::assumed);
}

TEST(report, names_what_costs) {
  const lds_access read = fragment_read(16, 16, 2);
  const lds_access write = row_copy(128, 16, 2, true);
  const std::string bad =
      report(row_major(128, 64, 2), targets::gfx942, {{"fragment", read}, {"copy", write}}).c_str();
  EXPECT_EQ(bad, "layout 128 x 64 x 2 B, pitch 128 B, 16384 B on gfx942\n"
                 "  fragment: ds_read_b128, 32 clocks, minimum 8, 4-way conflict (measured)\n"
                 "  copy: ds_write_b128, 8 clocks, minimum 8, no conflict (derived)\n");
  const std::string good =
      report(xor_swizzled(128, 64, 2, 16, 7, 0, 3), targets::gfx942, {{"fragment", read}}).c_str();
  EXPECT_NE(good.find("chunk 16 B ^ (row ^ row >> 3) & 7"), std::string::npos) << good;
  const std::string padded_text =
      report(padded(16, 64, 2, 32), targets::gfx942, {{"fragment", read}}).c_str();
  EXPECT_NE(padded_text.find("pitch 160 B (32 B pad)"), std::string::npos) << padded_text;
  const std::string unknown =
      report(row_major(128, 64, 2), targets::gfx950, {{"fragment", read}}).c_str();
  EXPECT_NE(unknown.find("lane groups unknown"), std::string::npos) << unknown;
}

} // namespace
} // namespace wavetile
