// The conflict rule against numbers measured on MI300: hardware counters of a transpose, the
// proportions of a stride sweep, counters of a 2-byte transpose.
#include "fragment_accesses.hpp"

#include <wavetile/lds/bank_conflicts.hpp>

#include <gtest/gtest.h>

namespace wavetile {
namespace {

using test::dword_stride;

conflict_count on_gfx942(const layout& where, const lds_access& what) {
  return bank_conflicts(where, what, targets::gfx942);
}

TEST(published, dword_strides) {
  // clocks in the proportions 2 : 4 : 8 : 16 : 32 : 64 that timing shows from stride 2 on
  const layout row = row_major(1, 64 * 32, 4);
  int expected = 2;
  for (int stride = 1; stride <= 32; stride *= 2, expected *= 2) {
    EXPECT_EQ(on_gfx942(row, dword_stride(stride)).clocks, expected) << stride;
    EXPECT_EQ(on_gfx942(row, dword_stride(stride, true)).clocks, expected) << stride;
    EXPECT_EQ(on_gfx942(row, dword_stride(stride)).worst, stride);
  }
  for (int stride = 3; stride < 32; stride += 2)
    EXPECT_EQ(on_gfx942(row, dword_stride(stride)).clocks, 2) << "odd stride " << stride;
  EXPECT_EQ(on_gfx942(row, dword_stride(0)).clocks, 2) << "one dword for all lanes";
}

TEST(published, transpose_counters) {
  // A 32 x 32 transpose of dwords: rows written without conflict, columns read 32-way, 16384 of
  // each. SQ_LDS_IDX_ACTIVE 1081344, SQ_LDS_BANK_CONFLICT 1015808; with one column of padding
  // 65536 and 0. (Equal numbers of clean and 32-way accesses are the natural reading of the
  // published program, whose source was not seen.)
  const lds_access write = lds_write(4, [](int lane) { return coordinate{lane / 32, lane % 32}; });
  const lds_access read = lds_read(4, [](int lane) { return coordinate{lane % 32, lane / 32}; });
  const int64_t each = 16384;
  const layout plain = row_major(32, 32, 4);
  const conflict_count w = on_gfx942(plain, write);
  const conflict_count r = on_gfx942(plain, read);
  EXPECT_EQ(each * (w.clocks + r.clocks), 1081344);
  EXPECT_EQ(each * (w.conflicts() + r.conflicts()), 1015808);
  EXPECT_EQ(r.worst, 32);

  const layout better = padded(32, 32, 4, 4);
  const int clocks = on_gfx942(better, write).clocks + on_gfx942(better, read).clocks;
  EXPECT_EQ(each * clocks, 65536);
  EXPECT_TRUE(conflict_free(better, targets::gfx942, write, read));
}

TEST(published, two_byte_transpose) {
  // 262144 accesses: 3670016 conflict clocks of ds_read_u16 and 1572864 of ds_write_b16, that is 14
  // and 6 an access: two phases of 8 and of 4 clocks
  const lds_access read = lds_read(2, [](int lane) { return coordinate{lane, 0}; });
  const layout eight_way = row_major(64, 16, 2); // 8 dwords a row: 4 banks, 8 rows in each
  EXPECT_EQ(on_gfx942(eight_way, read).conflicts(), 14);
  EXPECT_EQ(int64_t{262144} * on_gfx942(eight_way, read).conflicts(), 3670016);
  const lds_access write = lds_write(2, [](int lane) { return coordinate{lane, 0}; });
  const layout four_way = row_major(64, 8, 2);
  EXPECT_EQ(on_gfx942(four_way, write).conflicts(), 6);
  EXPECT_EQ(int64_t{262144} * on_gfx942(four_way, write).conflicts(), 1572864);
}

TEST(published, lanes_in_one_dword_share_it) {
  // bytes and halves of a row: several lanes a dword, one clock a phase
  const layout row = row_major(1, 256, 1);
  EXPECT_TRUE(on_gfx942(row, lds_read(1,
                                      [](int lane) {
                                        return coordinate{0, lane};
                                      }))
                  .conflict_free());
  EXPECT_TRUE(on_gfx942(row, lds_write(2,
                                       [](int lane) {
                                         return coordinate{0, 2 * lane};
                                       }))
                  .conflict_free());
}

TEST(rule, two_address_forms_are_two_sequences) {
  const layout tile = row_major(64, 32, 4);
  const lds_access one = lds_read(4, [](int lane) { return coordinate{lane, 0}; }); // 32-way
  const lds_access other = lds_read(4, [](int lane) { return coordinate{0, lane % 32}; });
  const lds_access both = lds_read2(4, [](int lane, int which) {
    return which == 0 ? coordinate{lane, 0} : coordinate{0, lane % 32};
  });
  const conflict_count sum = on_gfx942(tile, both);
  EXPECT_EQ(sum.clocks, on_gfx942(tile, one).clocks + on_gfx942(tile, other).clocks);
  EXPECT_EQ(sum.phases, 4);
  EXPECT_EQ(sum.tag, evidence::assumed);
  const lds_access wide = lds_write2(8, [](int lane, int which) {
    return coordinate{lane / 16 + 4 * which, lane % 16 * 2};
  });
  EXPECT_EQ(on_gfx942(tile, wide).phases, 8);
  EXPECT_TRUE(on_gfx942(tile, wide).conflict_free());
  EXPECT_EQ(on_gfx942(tile, wide).tag, evidence::derived);
}

TEST(rule, b96_counts_three_dwords_a_lane) {
  // lane l at 16 l: groups of 8 lanes cover 8 x 16 bytes, each bank at most once
  const lds_access dense = lds_read(12, [](int lane) {
    return coordinate{lane / 8, lane % 8 * 4};
  });
  const conflict_count count = on_gfx942(row_major(8, 32, 4), dense);
  EXPECT_EQ(count.phases, 8);
  EXPECT_TRUE(count.legal);
  // all lanes of a phase in one column: the same three banks, each lane another dword
  const lds_access column = lds_read(12, [](int lane) { return coordinate{lane, 0}; });
  EXPECT_EQ(on_gfx942(row_major(64, 32, 4), column).clocks, 64);
  EXPECT_EQ(on_gfx942(row_major(64, 32, 4), column).tag, evidence::assumed);
  // rows of 28 bytes: not a multiple of 16, no b96
  EXPECT_FALSE(on_gfx942(row_major(64, 7, 4), column).legal);
}

TEST(rule, inactive_lanes_ask_for_nothing) {
  const layout tile = row_major(64, 32, 4);
  const lds_access half = lds_read(4, [](int lane) {
    return lane % 2 == 0 ? coordinate{lane, 0} : inactive_lane;
  });
  EXPECT_EQ(on_gfx942(tile, half).clocks, 32);
  const lds_access one = lds_read(4, [](int lane) {
    return lane == 5 ? coordinate{5, 5} : inactive_lane;
  });
  EXPECT_EQ(on_gfx942(tile, one).clocks, 2) << "a phase without an active lane takes its clock";
}

TEST(rule, accesses_outside_the_tile_are_not_legal) {
  const layout tile = row_major(32, 32, 4);
  EXPECT_FALSE(on_gfx942(tile, lds_read(4, [](int lane) { return coordinate{lane, 0}; })).legal);
  EXPECT_FALSE(on_gfx942(tile, lds_read(16,
                                        [](int lane) {
                                          return coordinate{lane / 2, 29};
                                        }))
                   .legal);
  EXPECT_FALSE(on_gfx942(tile, lds_read(16,
                                        [](int lane) {
                                          return coordinate{lane / 2, 2};
                                        }))
                   .legal);
  EXPECT_TRUE(on_gfx942(tile, lds_read(16,
                                       [](int lane) {
                                         return coordinate{lane / 2, 28};
                                       }))
                  .legal);
  // 16 bytes over a swizzle of 8-byte chunks fall apart
  const layout fine = xor_swizzled(32, 32, 4, 8, 7);
  EXPECT_FALSE(on_gfx942(fine, lds_read(16,
                                        [](int lane) {
                                          return coordinate{lane / 2, 0};
                                        }))
                   .legal);
}

TEST(rule, unknown_lane_groups_prove_nothing) {
  const lds_access read = test::fragment_read(16, 16, 2);
  const conflict_count count =
      bank_conflicts(xor_swizzled(128, 64, 2, 16, 7), read, targets::gfx950);
  EXPECT_FALSE(count.known);
  EXPECT_FALSE(count.conflict_free());
  EXPECT_FALSE(conflict_free(xor_swizzled(128, 64, 2, 16, 7), targets::gfx950, read));
}

TEST(rule, gfx950_has_more_banks) {
  // stride of 32 dwords: 32-way on 32 banks; b64 reads on 64 banks
  const lds_access read = lds_read(8, [](int lane) { return coordinate{lane, 0}; });
  const layout pitch128 = row_major(64, 64, 2);
  EXPECT_EQ(bank_conflicts(pitch128, read, targets::gfx942).worst, 16);
  EXPECT_EQ(bank_conflicts(pitch128, read, targets::gfx950).clocks, 32);
}

// The same cost from byte addresses, without a layout, and against a second, plain implementation.
int clocks_by_definition(const lane_addresses& addresses, lds_op op, const target& device) {
  const lds_service& service = device.service(op);
  int total = 0;
  for (int phase = 0; phase < service.phases; ++phase) {
    int most = 1;
    for (int bank = 0; bank < service.banks; ++bank) {
      int dwords = 0;
      for (int dword = bank; dword < 16384; dword += service.banks) {
        bool wanted = false;
        for (int lane = 0; lane < 64; ++lane)
          wanted = wanted || ((service.lanes[phase] >> lane & 1) != 0 &&
                              addresses.byte[lane] >= 0 && addresses.byte[lane] / 4 <= dword &&
                              (addresses.byte[lane] + bytes_of(op) - 1) / 4 >= dword);
        dwords += wanted;
      }
      most = dwords > most ? dwords : most;
    }
    total += most;
  }
  return total;
}

TEST(rule, agrees_with_its_definition_on_random_addresses) {
  uint64_t state = 88172645463325252u;
  const auto random = [&state] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  for (int round = 0; round < 12; ++round) {
    for (lds_op op : {lds_op::read_b8, lds_op::read_b16, lds_op::write_b32, lds_op::read_b64,
                      lds_op::read_b96, lds_op::read_b128, lds_op::write_b128}) {
      const int granule = round % 3 == 0 ? 4 : bytes_of(op); // misaligned as well
      lane_addresses addresses{};
      for (int& address : addresses.byte)
        address = random() % 9 == 0 ? -1 : static_cast<int>(random() % 2048) * granule;
      EXPECT_EQ(bank_conflicts(addresses, op, targets::gfx942).clocks,
                clocks_by_definition(addresses, op, targets::gfx942))
          << name_of(op) << " round " << round;
    }
  }
}

} // namespace
} // namespace wavetile
