// Tiles in device code: what lies in LDS is what the layout says, every access width reads and
// writes it, and the clocks that wavesim counts for each instruction are those predicted at compile
// time. On a GPU the values are checked and the clocks left out.
#include "../support/device_buffer.hpp"
#include "../support/random.hpp"
#include "../wavesim/counters/api.h"

#include <wavetile/arch/device_target.hpp>
#include <wavetile/core/bf16.hpp>
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/lds/tile.hpp>

#include <hip/hip_runtime.h>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace wavetile {
namespace {

using test::device_buffer;

// Fills a tile element by element, lays its raw bytes open, and reads it back by vectors.
template <class T, layout Where, int Width>
__global__ void dump_kernel(const T* in, unsigned char* image, T* out) {
  using tile_type = tile<T, Where>;
  __shared__ typename tile_type::storage memory;
  const tile_type t(memory);
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  for (int i = thread; i < Where.bytes(); i += threads)
    memory.bytes[i] = 0xEE;
  __syncthreads();
  for (int i = thread; i < Where.rows * Where.columns; i += threads)
    t.write(i / Where.columns, i % Where.columns, in[i]);
  __syncthreads();
  for (int i = thread; i < Where.bytes(); i += threads)
    image[i] = memory.bytes[i];
  for (int i = thread * Width; i < Where.rows * Where.columns; i += threads * Width)
    store_vec(out + i, t.template read_vec<Width>(i / Where.columns, i % Where.columns));
}

template <class T, layout Where, int Width>
void check_dump() {
  std::vector<T> values(static_cast<size_t>(Where.rows * Where.columns));
  test::random_source random(5);
  for (T& value : values)
    value = static_cast<T>(random.bits());
  device_buffer<T> in(values);
  device_buffer<unsigned char> image(static_cast<size_t>(Where.bytes()));
  device_buffer<T> out(values.size());
  dump_kernel<T, Where, Width><<<1, 128>>>(in.data(), image.data(), out.data());
  WAVETILE_TEST_HIP(hipGetLastError());
  EXPECT_EQ(out.download(), values);
  std::vector<unsigned char> expected(static_cast<size_t>(Where.bytes()), 0xEE);
  for (int row = 0; row < Where.rows; ++row)
    for (int column = 0; column < Where.columns; ++column)
      std::memcpy(&expected[static_cast<size_t>(Where.offset(row, column))],
                  &values[static_cast<size_t>(row * Where.columns + column)], sizeof(T));
  EXPECT_EQ(image.download(), expected);
}

template <class T>
void check_layouts() {
  constexpr int size = static_cast<int>(sizeof(T));
  constexpr int wide = 16 / size;
  check_dump<T, row_major(16, 32, size), wide>();
  check_dump<T, padded(16, 32, size, 16), wide>();
  check_dump<T, xor_swizzled(32, 64, size, 16, 3, 0, 3), wide>();
  check_dump<T, xor_swizzled(32, 64, size, 16, 3, 1), 1>();
  check_dump<T, xor_swizzled(32, 64, size, 32, 1), (wide > 1 ? 2 * wide : 2)>();
  check_dump<T, row_major(16, 32, size), (wide > 1 ? wide / 2 : 1)>();
}

TEST(device_tile, lies_where_the_layout_says) {
  check_layouts<uint8_t>();
  check_layouts<uint16_t>();
  check_layouts<uint32_t>();
  check_layouts<uint64_t>();
}

// Lane maps, one function for the proof and for the device. Tiles of `Where`, `Bytes` a lane.
enum class pattern { rows16, rows32, copy, column, transposed, strided, same };

template <pattern Pattern>
__host__ __device__ constexpr coordinate place(int lane, int bytes, int element, int columns) {
  const int width = bytes / element > 0 ? bytes / element : 1;
  switch (Pattern) {
  case pattern::rows16:
    return {lane % 16, lane / 16 * width};
  case pattern::rows32:
    return {lane % 32, lane / 32 * width};
  case pattern::copy:
    return {lane * width / columns, lane * width % columns};
  case pattern::column:
    return {lane, 0};
  case pattern::transposed:
    return {lane % 8 * 8, lane / 8 * width};
  case pattern::strided:
    return {lane / 2, lane % 2 * (columns / 2)};
  case pattern::same:
    return {3, 4 * width};
  }
  return {0, 0};
}

template <class T, layout Where, pattern Pattern, int Width>
__global__ void read_kernel(const T* in, T* out) {
  using tile_type = tile<T, Where>;
  __shared__ typename tile_type::storage memory;
  const tile_type t(memory);
  const int lane = static_cast<int>(threadIdx.x);
  for (int row = 0; row < Where.rows; ++row)
    for (int column = lane; column < Where.columns; column += wave_size)
      t.write(row, column, in[row * Where.columns + column]);
  __syncthreads();
  constexpr int element = static_cast<int>(sizeof(T));
  const coordinate at = place<Pattern>(lane, Width * element, element, Where.columns);
  store_vec(out + lane * Width, t.template read_vec<Width>(at.row, at.column));
}

template <class T, layout Where, pattern Pattern, int Width>
__global__ void write_kernel(const T* in, T* out) {
  using tile_type = tile<T, Where>;
  __shared__ typename tile_type::storage memory;
  const tile_type t(memory);
  const int lane = static_cast<int>(threadIdx.x);
  constexpr int element = static_cast<int>(sizeof(T));
  const coordinate at = place<Pattern>(lane, Width * element, element, Where.columns);
  t.write_vec(at.row, at.column, load_vec<Width>(in + lane * Width));
  __syncthreads();
  vec<T, Width> back;
  for (int i = 0; i < Width; ++i)
    back[i] = t.read(at.row, at.column + i);
  store_vec(out + lane * Width, back);
}

// Clocks of one execution of the instruction in the last counted launch; -1 on a GPU.
class lds_clocks {
public:
  lds_clocks() { running_ = wavesim_counters_find(&counters_) != 0 && counters_.begin() == 0; }

  int of(lds_op op) {
    if (!running_)
      return -1;
    EXPECT_EQ(hipDeviceSynchronize(), hipSuccess); // the launch may still be on its way
    counters_.end(nullptr);
    std::vector<wavesim_instruction> all(counters_.instructions(nullptr, 0));
    counters_.instructions(all.data(), all.size());
    int clocks = 0;
    for (const wavesim_instruction& one : all)
      if (std::string(one.mnemonic).rfind(name_of(op), 0) == 0 && one.executions > 0) {
        EXPECT_EQ(clocks, 0) << "the access became several instructions: " << one.mnemonic;
        EXPECT_EQ(one.lds_clocks % one.executions, 0u);
        clocks = static_cast<int>(one.lds_clocks / one.executions);
      }
    EXPECT_NE(clocks, 0) << "no " << name_of(op) << " was executed";
    return clocks;
  }

private:
  wavesim_counters counters_{};
  bool running_ = false;
};

template <class T, layout Where, pattern Pattern, int Width, bool Write>
void check_clocks() {
  constexpr int element = static_cast<int>(sizeof(T));
  constexpr int bytes = Width * element;
  constexpr auto map = [](int lane) { return place<Pattern>(lane, bytes, element, Where.columns); };
  constexpr lds_access what = Write ? lds_write(bytes, map) : lds_read(bytes, map);
  constexpr conflict_count predicted = bank_conflicts(Where, what, targets::gfx942);
  static_assert(predicted.legal);

  std::vector<T> values(static_cast<size_t>(Where.rows * Where.columns));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(i * 2654435761u >> 7);
  device_buffer<T> in(values);
  device_buffer<T> out(64 * Width);
  lds_clocks clocks;
  if constexpr (Write)
    write_kernel<T, Where, Pattern, Width><<<1, 64>>>(in.data(), out.data());
  else
    read_kernel<T, Where, Pattern, Width><<<1, 64>>>(in.data(), out.data());
  WAVETILE_TEST_HIP(hipGetLastError());
  const int counted = clocks.of(what.op);
  if (counted >= 0)
    EXPECT_EQ(counted, predicted.clocks) << name_of(what.op) << ", pitch " << Where.pitch;

  const std::vector<T> results = out.download();
  for (int lane = 0; lane < 64; ++lane)
    for (int i = 0; i < Width; ++i) {
      const coordinate at = map(lane);
      const size_t source = Write ? static_cast<size_t>(lane * Width + i)
                                  : static_cast<size_t>(at.row * Where.columns + at.column + i);
      if (!Write || Pattern != pattern::same)
        EXPECT_EQ(results[static_cast<size_t>(lane * Width + i)], values[source]);
    }
}

template <layout Where>
void check_fragments() {
  check_clocks<uint16_t, Where, pattern::rows16, 8, false>();
  check_clocks<uint16_t, Where, pattern::rows32, 8, false>();
  check_clocks<uint16_t, Where, pattern::rows16, 4, false>();
  check_clocks<uint16_t, Where, pattern::rows32, 2, false>();
  check_clocks<uint16_t, Where, pattern::copy, 8, true>();
  check_clocks<uint16_t, Where, pattern::copy, 4, true>();
  check_clocks<uint16_t, Where, pattern::transposed, 8, true>();
  check_clocks<uint16_t, Where, pattern::transposed, 2, true>();
  check_clocks<uint16_t, Where, pattern::column, 1, true>();
  check_clocks<uint16_t, Where, pattern::column, 8, false>();
}

TEST(device_tile, costs_what_was_predicted) {
  check_fragments<row_major(64, 64, 2)>();
  check_fragments<padded(64, 64, 2, 16)>();
  check_fragments<padded(64, 64, 2, 32)>();
  check_fragments<xor_swizzled(64, 64, 2, 16, 7)>();
  check_fragments<xor_swizzled(64, 64, 2, 16, 7, 0, 3)>();
  check_fragments<xor_swizzled(64, 64, 2, 32, 3, 1)>();
}

TEST(device_tile, dword_accesses_cost_what_was_predicted) {
  check_clocks<uint32_t, row_major(64, 32, 4), pattern::column, 1, true>();
  check_clocks<uint32_t, padded(64, 32, 4, 4), pattern::column, 1, true>();
  check_clocks<uint32_t, row_major(64, 32, 4), pattern::strided, 1, true>();
  check_clocks<uint32_t, row_major(64, 32, 4), pattern::same, 4, false>();
  check_clocks<uint32_t, padded(64, 32, 4, 16), pattern::column, 4, true>();
  check_clocks<uint64_t, row_major(64, 16, 8), pattern::column, 1, true>();
  check_clocks<uint64_t, row_major(64, 16, 8), pattern::column, 2, false>();
}

// A searched layout, used by a kernel as a real one would: rows written by 16 bytes, read back as
// fragments; no clock is lost to conflicts in the whole dispatch.
constexpr lds_access searched_write =
    lds_write(16, [](int lane) { return place<pattern::copy>(lane, 16, 2, 64); });
constexpr lds_access searched_read =
    lds_read(16, [](int lane) { return place<pattern::rows16>(lane, 16, 2, 64); });
constexpr layout_choice searched =
    choose_layout<bf16, 64, 64>(targets::gfx942, 8192, searched_write, searched_read);
static_assert(searched.conflict_free && searched.chosen.bytes() == 8192);

__global__ void searched_kernel(const bf16* in, bf16* out) {
  using tile_type = tile<bf16, searched.chosen>;
  __shared__ tile_type::storage memory;
  const tile_type t(memory);
  const int lane = static_cast<int>(threadIdx.x);
  for (int step = 0; step < 8; ++step) {
    const coordinate at = place<pattern::copy>(lane, 16, 2, 64);
    t.write_vec(at.row + 8 * step, at.column,
                load_vec<8>(in + (at.row + 8 * step) * 64 + at.column));
  }
  __syncthreads();
  for (int block = 0; block < 4; ++block)
    for (int half = 0; half < 2; ++half) {
      const coordinate at = place<pattern::rows16>(lane, 16, 2, 64);
      const int row = at.row + 16 * block;
      const int column = at.column + 32 * half;
      store_vec(out + row * 64 + column, t.read_vec<8>(row, column));
    }
}

TEST(device_tile, searched_layout_loses_no_clock) {
  std::vector<bf16> values;
  for (int i = 0; i < 64 * 64; ++i)
    values.push_back(bf16::from_bits(static_cast<uint16_t>(i)));
  device_buffer<bf16> in(values);
  device_buffer<bf16> out(values.size());
  wavesim_counters counters;
  const bool simulated = wavesim_counters_find(&counters) != 0 && counters.begin() == 0;
  searched_kernel<<<1, 64>>>(in.data(), out.data());
  WAVETILE_TEST_HIP(hipGetLastError());
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess); // the launch may still be on its way
  if (simulated) {
    wavesim_counts counts{};
    counts.size = sizeof counts;
    ASSERT_EQ(counters.end(&counts), 0);
    EXPECT_EQ(counts.lds_conflicts, 0u);
    EXPECT_EQ(counts.lds_clocks, 16u * 8u) << "eight b128 writes and eight b128 reads";
#ifdef __OPTIMIZE__ // without, the layout itself is read from memory
    EXPECT_EQ(counts.bytes_read, 8192u);
#endif
    EXPECT_EQ(counts.bytes_written, 8192u);
  }
  const std::vector<bf16> results = out.download();
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(results[i].bits, values[i].bits) << i;
}

} // namespace
} // namespace wavetile
