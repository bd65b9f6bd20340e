// LDS tiles of the matrix product: every access of every wave, at every place, is free of bank
// conflicts, and what is written is what is read.
#include <wavetile/kernels/matmul/tiles.hpp>

#include <gtest/gtest.h>

#include <set>

namespace wavetile::kernels {
namespace {

using enum operand_order;

template <class T, operand_order Order, fragment_role Role, matmul_config Config>
void check_tile() {
  using operand = operand_tile<T, Order, Role, Config>;
  using reader = typename operand::reader;
  constexpr layout where = operand::tile_type::where;
  constexpr int bytes = static_cast<int>(sizeof(T));
  constexpr int waves = Role == fragment_role::a ? Config.waves_m : Config.waves_n;
  const auto expect_free = [&](const lds_access& access, const char* what, int a, int b) {
    const conflict_count count = bank_conflicts(where, access, targets::gfx942);
    EXPECT_TRUE(count.conflict_free())
        << what << ' ' << a << ' ' << b << ": " << count.clocks << " clocks, legal " << count.legal;
  };

  // rows and their places
  std::set<int> places;
  for (int m = 0; m < operand::rows; ++m) {
    EXPECT_EQ(operand::row_of_lds(operand::lds_row(m)), m);
    places.insert(operand::lds_row(m));
  }
  EXPECT_EQ(static_cast<int>(places.size()), operand::rows);
  EXPECT_EQ(*places.rbegin(), operand::rows - 1);

  // fragments: element (m, k) of the operand is read from the LDS row that holds m
  for (int m = 0; m < operand::rows; m += Config.instruction) {
    for (int k = 0; k < operand::depth; k += reader::depth) {
      expect_free(reader::access_at(operand::lds_row(m), k), "read", m, k);
      for (int lane = 0; lane < 64; ++lane)
        EXPECT_EQ(operand::row_of_lds(reader::place(lane, operand::lds_row(m), k).row),
                  m + lane % Config.instruction);
    }
  }
  EXPECT_EQ(operand::rows % (waves * Config.instruction), 0);

  // writes along rows cover the tile once
  std::set<std::pair<int, int>> written;
  using pieces = typename operand::pieces;
  for (int i = 0; i < pieces::count; ++i)
    for (int wave = 0; wave < Config.waves(); ++wave) {
      expect_free(lds_write(16, [&](int lane) { return pieces::place(wave * 64 + lane, i); }),
                  "piece", wave, i);
      for (int lane = 0; lane < 64; ++lane)
        for (int e = 0; e < pieces::width; ++e) {
          const coordinate at = pieces::place(wave * 64 + lane, i);
          EXPECT_TRUE(written.insert({at.row, at.column + e}).second);
        }
    }
  EXPECT_EQ(static_cast<int>(written.size()), operand::rows * operand::depth);
  if (Order == k_contiguous)
    return;

  // and so do the transposed ones
  written.clear();
  using blocks = typename operand::blocks;
  for (int i = 0; i < blocks::count; ++i)
    for (int wave = 0; wave < Config.waves(); ++wave)
      for (int j = 0; j < blocks::rows; ++j) {
        const auto place = [&](int lane) {
          const coordinate at = blocks::place(wave * 64 + lane, i);
          return coordinate{operand::lds_row(at.row + j), at.column};
        };
        expect_free(lds_write(blocks::depth * bytes, place), "block", wave, j);
        for (int lane = 0; lane < 64; ++lane)
          for (int e = 0; e < blocks::depth; ++e)
            EXPECT_TRUE(written.insert({place(lane).row, place(lane).column + e}).second);
      }
  EXPECT_EQ(static_cast<int>(written.size()), operand::rows * operand::depth);

  // as well when all move back together at the edge, by any number of rows that is not a block
  for (int back = 1; back < blocks::rows; ++back)
    for (int i = 0; i < blocks::count; ++i)
      for (int wave = 0; wave < Config.waves(); ++wave)
        for (int j = 0; j < blocks::rows; ++j)
          expect_free(lds_write(blocks::depth * bytes,
                                [&](int lane) {
                                  const coordinate at = blocks::place(wave * 64 + lane, i);
                                  const int row =
                                      (at.row - back + j + operand::rows) % operand::rows;
                                  return coordinate{operand::lds_row(row), at.column};
                                }),
                      "moved block", wave, j);
}

template <class T, matmul_config Config>
void check_config() {
  static_assert(Config.valid());
  check_tile<T, k_contiguous, fragment_role::a, Config>();
  check_tile<T, k_contiguous, fragment_role::b, Config>();
  check_tile<T, k_strided, fragment_role::a, Config>();
  check_tile<T, k_strided, fragment_role::b, Config>();
}

template <class T>
void check_shipped() {
  constexpr int bytes = static_cast<int>(sizeof(T));
  check_config<T, config_of(matmul_kernel::large, bytes)>();
  check_config<T, config_of(matmul_kernel::large_four, bytes)>();
  check_config<T, config_of(matmul_kernel::wide, bytes)>();
  check_config<T, config_of(matmul_kernel::wide, bytes, k_strided)>();
  check_config<T, config_of(matmul_kernel::middle, bytes)>();
  check_config<T, config_of(matmul_kernel::compact, bytes)>();
}

TEST(matmul_tiles, shipped_configs_of_16_bits) {
  check_shipped<bf16>();
}
TEST(matmul_tiles, shipped_configs_of_8_bits) {
  check_shipped<fp8_e4m3_fnuz>();
  check_config<int8_t, config_of(matmul_kernel::large, 1, k_strided, k_strided)>();
}
TEST(matmul_tiles, shipped_configs_of_32_bits) {
  check_shipped<float>();
}
TEST(matmul_tiles, shipped_configs_of_64_bits) {
  check_shipped<double>();
}

TEST(matmul_tiles, instructions_of_16_rows) {
  check_config<fp16, matmul_config{128, 128, 64, 2, 2, 16}>();
  check_config<fp16, matmul_config{64, 64, 128, 2, 2, 16}>();
  check_config<int8_t, matmul_config{128, 128, 64, 2, 2, 16}>();
  check_config<int8_t, matmul_config{64, 64, 128, 2, 2, 16}>();
  check_config<float, matmul_config{128, 128, 64, 2, 2, 16}>();
  check_config<float, matmul_config{64, 64, 128, 2, 2, 16}>();
}

// The proof is about these instructions; a naive tile would not pass it.
TEST(matmul_tiles, row_major_tiles_would_conflict) {
  constexpr matmul_config config = config_of(matmul_kernel::large, 2);
  using dense = operand_tile<bf16, k_contiguous, fragment_role::a, config>;
  using strided = operand_tile<bf16, k_strided, fragment_role::a, config>;
  constexpr layout plain = row_major(256, 32, 2);
  EXPECT_EQ(bank_conflicts(plain, dense::reader::access, targets::gfx942).clocks, 32);
  EXPECT_GT(bank_conflicts(plain, strided::blocks::write, targets::gfx942).clocks, 4);
}

TEST(matmul_config, costs) {
  constexpr matmul_config large = config_of(matmul_kernel::large, 2);
  EXPECT_EQ(large.threads(), 512);
  EXPECT_EQ(large.lds_bytes(), 65536);
  EXPECT_EQ(large.tile_k(2), 32);
  EXPECT_EQ(large.tile_k(1), 64);
  EXPECT_EQ(large.accumulator_registers(4), 128);
  EXPECT_FALSE((matmul_config{256, 256, 128, 2, 4, 32}.valid())); // 128 KiB of LDS
  EXPECT_FALSE((matmul_config{96, 128, 64, 2, 2, 32}.valid()));
}

} // namespace
} // namespace wavetile::kernels
