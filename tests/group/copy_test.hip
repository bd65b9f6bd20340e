// Cooperative copies to LDS: whole tiles, edges, corners, unaligned rows, layouts.
#include "device_buffer.hpp"
#include "random.hpp"
#include "sim_counters.hpp"
#include "verify.hpp"

#include <wavetile/group/copy.hpp>
#include <wavetile/group/direct_copy.hpp>
#include <wavetile/launch/launch.hpp>
#include <wavetile/lds/bank_conflicts.hpp>

#include <gtest/gtest.h>

namespace {

using namespace wavetile;
using namespace wavetile::test;

/// Copies the tile at (row, column), then writes it out densely, element by element.
/// `Width` 0 copies without registers.
template <class Tile, int Block, int Width>
WAVETILE_KERNEL void copy_out(view<const typename Tile::element_type, 2> from, std::int64_t row,
                              std::int64_t column, typename Tile::element_type fill,
                              typename Tile::element_type* out) {
  WAVETILE_SHARED typename Tile::storage memory;
  Tile to(memory);
  if constexpr (Width == 0) {
    group::direct_copy<Tile, Block>::start(from, row, column, to, fill);
    group::direct_copy<Tile, Block>::wait();
  } else {
    group::tile_copy<Tile, Block, Width>::copy(from, row, column, to, fill);
  }
  group::barrier();
  for (int i = thread_id(); i < Tile::rows * Tile::columns; i += Block)
    out[i] = to.read(i / Tile::columns, i % Tile::columns);
}

template <class T, layout Where, int Block, int Width>
void check_copy(std::int64_t rows, std::int64_t columns, std::int64_t stride, std::int64_t row,
                std::int64_t column, std::size_t misalignment = 0) {
  using test_tile = tile<T, Where>;
  // what lies between rows must not be read into the tile
  std::vector<T> memory(static_cast<std::size_t>(rows * stride), static_cast<T>(-77));
  random_source source(5);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      memory[static_cast<std::size_t>(r * stride + c)] = static_cast<T>(source.between(0, 100));
  const T fill = static_cast<T>(55);
  std::vector<T> expected;
  for (std::int64_t r = row; r < row + Where.rows; ++r)
    for (std::int64_t c = column; c < column + Where.columns; ++c)
      expected.push_back(r < rows && c < columns ? memory[static_cast<std::size_t>(r * stride + c)]
                                                 : fill);
  device_buffer<T> input(memory, misalignment);
  device_buffer<T> output(expected.size());
  const auto from = make_strided_view<const T, 2>(input.data(), {rows, columns}, {stride, 1});
  const status outcome = launch(copy_out<test_tile, Block, Width>, {.grid = 1, .block = Block},
                                nullptr, from, row, column, fill, output.data());
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  EXPECT_TRUE(verify_bits(output.download(), expected))
      << rows << " x " << columns << " stride " << stride << " at " << row << ", " << column;
}

template <class T, layout Where, int Block, int Width>
void check_places() {
  // stride a multiple of Width, so that pieces stay aligned
  constexpr int width = Width == 0 ? 4 / static_cast<int>(sizeof(T)) : Width;
  const std::int64_t stride = 5 * Where.columns + 4 * width;
  const std::int64_t rows = 3 * Where.rows - 5;
  const std::int64_t columns = 3 * Where.columns - 3;
  for (const std::int64_t row : {std::int64_t{0}, rows - Where.rows, rows - 1, rows - 7})
    for (const std::int64_t column :
         {std::int64_t{0}, std::int64_t{Where.columns}, std::int64_t{2 * Where.columns}})
      check_copy<T, Where, Block, Width>(rows, columns, stride, row, column);
  // a matrix smaller than the tile, down to one element
  check_copy<T, Where, Block, Width>(1, 1, width, 0, 0);
  check_copy<T, Where, Block, Width>(3, Where.columns - 1, stride, 0, 0);
}

constexpr layout plain = row_major(64, 64, 2);
constexpr layout swizzled = xor_swizzled(64, 64, 2, 16, 7);
constexpr layout padded_rows = padded(32, 48, 4, 16);
constexpr layout odd_rows = row_major(7, 24, 4);

TEST(tile_copy, wide_pieces) {
  check_places<std::int16_t, plain, 256, 8>();
  check_places<std::int16_t, swizzled, 256, 8>();
  check_places<float, padded_rows, 128, 4>();
}

TEST(tile_copy, more_work_items_than_pieces_and_uneven_shares) {
  check_places<float, odd_rows, 256, 4>();
  check_places<float, odd_rows, 32, 4>();
  check_places<std::int16_t, swizzled, 192, 8>();
}

TEST(tile_copy, narrow_pieces_for_what_is_aligned_to_elements_only) {
  check_places<std::int16_t, plain, 256, 1>();
  check_copy<std::int16_t, plain, 256, 1>(100, 131, 133, 3, 5, 1);
  check_copy<float, padded_rows, 64, 2>(40, 50, 52, 0, 2, 2);
  check_copy<std::int8_t, row_major(16, 64, 1), 64, 16>(20, 70, 80, 4, 0);
}

TEST(tile_copy, moves_nothing_twice_and_16_bytes_at_a_time) {
  std::vector<std::int16_t> memory(64 * 64, 1);
  device_buffer<std::int16_t> input(memory);
  device_buffer<std::int16_t> output(64 * 64);
  const auto from = make_view(static_cast<const std::int16_t*>(input.data()), 64, 64);
  const auto counts = count_kernels([&] {
    ASSERT_TRUE(launch(copy_out<tile<std::int16_t, swizzled>, 256, 8>, {.grid = 1, .block = 256},
                       nullptr, from, 0, 0, std::int16_t{0}, output.data())
                    .ok());
  });
  if (!counts)
    GTEST_SKIP() << "needs wavesim's counters";
  EXPECT_EQ(counts->bytes_read, 64u * 64 * 2);
  EXPECT_EQ(counts->read_by_width[wavesim_width_16], 64u * 64 * 2);
  for (const wavesim_instruction& instruction : counted_instructions())
    if (std::string(instruction.mnemonic).rfind("ds_write", 0) == 0) {
      EXPECT_STREQ(instruction.mnemonic, "ds_write_b128");
      EXPECT_EQ(instruction.lds_conflicts, 0u);
    }
}

TEST(direct_copy, every_layout_and_edge) {
  check_places<std::int16_t, plain, 256, 0>();
  // loads of a lane in one column, in several, and some without a place
  check_places<std::int16_t, swizzled, 256, 0>();
  check_places<std::int16_t, swizzled, 64, 0>();
  check_places<std::int16_t, swizzled, 192, 0>();
  check_places<float, padded_rows, 128, 0>();
  check_places<float, odd_rows, 256, 0>();
  check_places<std::int8_t, xor_swizzled(16, 64, 1, 16, 3), 64, 0>();
}

// Inside a matrix nothing passes through registers.
TEST(direct_copy, writes_lds_itself) {
  std::vector<std::int16_t> memory(64 * 64, 1);
  device_buffer<std::int16_t> input(memory);
  device_buffer<std::int16_t> output(64 * 64);
  const auto from = make_view(static_cast<const std::int16_t*>(input.data()), 64, 64);
  const auto counts = count_kernels([&] {
    ASSERT_TRUE(launch(copy_out<tile<std::int16_t, swizzled>, 256, 0>, {.grid = 1, .block = 256},
                       nullptr, from, 0, 0, std::int16_t{0}, output.data())
                    .ok());
  });
  if (!counts)
    GTEST_SKIP() << "needs wavesim's counters";
  EXPECT_EQ(counts->bytes_read, 64u * 64 * 2);
  std::uint64_t direct = 0;
  for (const wavesim_instruction& instruction : counted_instructions()) {
    const std::string mnemonic = instruction.mnemonic;
    if (mnemonic.rfind("global_load_lds_dword", 0) == 0)
      direct += instruction.executions;
    if (mnemonic.rfind("ds_write", 0) == 0 || mnemonic.rfind("global_load_dword", 0) == 0)
      EXPECT_EQ(instruction.executions, 0u) << mnemonic;
  }
  EXPECT_EQ(direct, 64u * 64 * 2 / 4 / 64);
}

template <class Tile, int Block>
WAVETILE_KERNEL void copy_in(view<const typename Tile::element_type, 2> from,
                             typename Tile::element_type* out) {
  WAVETILE_SHARED typename Tile::storage memory;
  Tile to(memory);
  group::direct_copy<Tile, Block>::start(from, 0, 0, to);
  group::direct_copy<Tile, Block>::wait();
  group::barrier();
  if (thread_id() == 0)
    *out = to.read(Tile::rows - 1, Tile::columns - 1);
}

// The address of a load is that of the one before and a step that all lanes share.
TEST(direct_copy, costs_a_vector_instruction_a_load) {
  std::vector<std::int16_t> memory(64 * 64, 3);
  device_buffer<std::int16_t> input(memory);
  device_buffer<std::int16_t> output(1);
  const auto from = make_view(static_cast<const std::int16_t*>(input.data()), 64, 64);
  const auto counts = count_kernels([&] {
    ASSERT_TRUE(launch(copy_in<tile<std::int16_t, swizzled>, 256>, {.grid = 1, .block = 256},
                       nullptr, from, output.data())
                    .ok());
  });
  if (!counts)
    GTEST_SKIP() << "needs wavesim's counters";
  EXPECT_EQ(output.download()[0], 3);
  constexpr std::uint64_t waves = 4,
                          loads = group::direct_copy<tile<std::int16_t, swizzled>, 256>::loads;
  static_assert(loads == 8);
  EXPECT_LE(counts->instructions[wavesim_unit_valu], waves * (loads + 24)); // 24: around the loads
}

using swizzled_tile = tile<std::int16_t, swizzled>;
static_assert(conflict_free(swizzled, targets::gfx942,
                            group::tile_copy<swizzled_tile, 256, 8>::access));
static_assert(group::tile_copy<swizzled_tile, 256, 8>::pieces == 2);

} // namespace
