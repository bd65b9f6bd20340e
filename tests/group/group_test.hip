// Workgroup reductions, scans and broadcasts at every size, with partial last waves.
#include "lane_values.hpp"
#include "random.hpp"
#include "reference.hpp"
#include "sim_counters.hpp"
#include "verify.hpp"

#include <wavetile/group/broadcast.hpp>
#include <wavetile/group/reduce.hpp>
#include <wavetile/group/scan.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace {

using namespace wavetile;
using namespace wavetile::test;

// ---- reduce ------------------------------------------------------------------------------------

/// out[t]: the result of `to_all` in every work-item; out[size + t]: that of `to_first`.
template <int Block, class Op>
struct reduce_block {
  template <class T>
  WAVETILE_DEVICE void operator()(const T* in, T* out, int thread) const {
    using reducer = group::reduce<T, Block>;
    WAVETILE_SHARED typename reducer::storage memory;
    const T value = in[thread];
    out[thread] = reducer::to_all(value, Op{}, memory);
    group::barrier();
    out[workgroup_size() + thread] = reducer::to_first(value, Op{}, memory);
  }
};

template <int Block, class Op, class T>
void check_block(const std::vector<T>& in, const T& expected, int size, const char* what) {
  const auto count = static_cast<size_t>(size);
  const auto out = run_workgroup<reduce_block<Block, Op>, T>(in, size, 2 * count);
  for (size_t t = 0; t < count; ++t)
    ASSERT_EQ(std::memcmp(&out[t], &expected, sizeof(T)), 0)
        << what << ", " << size << " work-items, to_all in work-item " << t;
  ASSERT_EQ(std::memcmp(&out[count], &expected, sizeof(T)), 0)
      << what << ", " << size << " work-items, to_first in work-item 0";
}

template <int Block, class T>
void check_block_of_numbers(int size) {
  std::vector<T> in;
  for (int t = 0; t < size; ++t)
    in.push_back(static_cast<T>(t));
  check_block<Block, op::plus>(in, static_cast<T>(size * (size - 1) / 2), size, "sum");
  check_block<Block, op::maximum>(in, static_cast<T>(size - 1), size, "maximum");
  check_block<Block, op::minimum>(in, T{0}, size, "minimum");
}

template <int Block>
void check_block_size() {
  check_block_of_numbers<Block, float>(Block);
  check_block_of_numbers<Block, double>(Block);
  check_block_of_numbers<Block, std::int32_t>(Block);
  check_block_of_numbers<Block, std::int64_t>(Block);
  const auto maps = affine_maps(Block);
  affine expected = maps[0];
  for (unsigned t = 1; t < Block; ++t)
    expected = compose{}(expected, maps[t]);
  check_block<Block, compose>(maps, expected, Block, "composition");
}

TEST(group_reduce, sums_of_the_published_sizes) {
  // 64, 128, 256, 512, 1024 -> 2016, 8128, 32640, 130816, 523776
  check_block_size<64>();
  check_block_size<128>();
  check_block_size<192>(); // 18336
  check_block_size<256>();
  check_block_size<512>();
  check_block_size<1024>();
}

TEST(group_reduce, sizes_with_a_partial_wave) {
  // sums 0, 1, 528, 1128, 1953, 2080, 4950, 12720, 499500, 522753
  check_block_size<1>();
  check_block_size<2>();
  check_block_size<33>();
  check_block_size<48>();
  check_block_size<63>();
  check_block_size<65>();
  check_block_size<100>();
  check_block_size<160>();
  check_block_size<1000>();
  check_block_size<1023>();
}

TEST(group_reduce, every_size_known_at_run_time_only) {
  for (int size = 1; size <= 1024; size += size < 130 || size > 1010 ? 1 : 37) {
    std::vector<float> in;
    for (int t = 0; t < size; ++t)
      in.push_back(static_cast<float>(t));
    check_block<group::runtime_size, op::plus>(in, static_cast<float>(size * (size - 1) / 2), size,
                                               "sum");
    const auto maps = affine_maps(static_cast<unsigned>(size));
    affine expected = maps[0];
    for (size_t t = 1; t < maps.size(); ++t)
      expected = compose{}(expected, maps[t]);
    check_block<group::runtime_size, compose>(maps, expected, size, "composition");
  }
}

/// Small floats converted to fp32 on the way in.
template <class T>
struct reduce_converted {
  WAVETILE_DEVICE void operator()(const T* in, float* out, int thread) const {
    using reducer = group::reduce<float, 256>;
    WAVETILE_SHARED typename reducer::storage memory;
    out[thread] = reducer::to_all(convert<float>(in[thread]), op::plus{}, memory);
  }
};

template <class T>
void check_converted() {
  std::vector<T> in;
  for (int t = 0; t < 256; ++t)
    in.push_back(convert<T>(static_cast<float>(t)));
  const auto out = run_workgroup<reduce_converted<T>, float>(in, 256, 256);
  for (const float value : out)
    ASSERT_EQ(value, 32640.0f);
}

TEST(group_reduce, small_floats_summed_in_fp32) {
  check_converted<fp16>();
  check_converted<bf16>();
  check_converted<__half>();
  check_converted<__hip_bfloat16>();
}

// Rounded sums: the same bits everywhere, and near the exact sum. Any order of n additions errs by
// at most (n - 1) * 2^-24 * sum |x| to first order.
template <int Block>
void check_rounded_sum() {
  const auto in = random_normals<float>(Block, 21, 1000);
  const auto out = run_workgroup<reduce_block<Block, op::plus>, float>(in, Block, 2 * Block);
  double sum = 0, magnitude = 0;
  for (const float value : in) {
    sum += value;
    magnitude += std::fabs(value);
  }
  for (unsigned t = 0; t < Block; ++t) {
    ASSERT_EQ(std::memcmp(&out[t], &out[0], 4), 0) << Block;
    ASSERT_LE(std::fabs(out[t] - sum), Block * 0x1p-24 * magnitude) << Block;
  }
  ASSERT_EQ(std::memcmp(&out[Block], &out[0], 4), 0) << "to_first has the bits of to_all";
}

TEST(group_reduce, rounded_sums_have_the_same_bits_everywhere) {
  check_rounded_sum<64>();
  check_rounded_sum<192>();
  check_rounded_sum<256>();
  check_rounded_sum<1024>();
}

TEST(group_reduce, a_nan_and_its_payload_are_the_same_everywhere) {
  std::vector<float> in = random_normals<float>(1024, 22);
  const std::uint32_t payloads[] = {0x7FC12345u, 0xFFC54321u};
  std::memcpy(&in[3], &payloads[0], 4);
  std::memcpy(&in[700], &payloads[1], 4);
  const auto check = [](const std::vector<float>& out) {
    EXPECT_TRUE(std::isnan(out[0]));
    for (size_t t = 0; t < 1024; ++t)
      ASSERT_EQ(std::memcmp(&out[t], &out[0], 4), 0);
  };
  check(run_workgroup<reduce_block<1024, op::plus>, float>(in, 1024, 2048));
  check(run_workgroup<reduce_block<1024, op::maximum>, float>(in, 1024, 2048));
  check(run_workgroup<reduce_block<1024, op::minimum>, float>(in, 1024, 2048));
}

template <class T, class Index>
void check_arg_block() {
  using item = indexed<T, Index>;
  std::vector<item> in(500);
  std::memset(in.data(), 0, in.size() * sizeof(item));
  for (unsigned t = 0; t < 500; ++t)
    in[t] = {convert<T>(static_cast<float>(t * 37 % 101)), static_cast<Index>(499 - t)};
  const auto low = run_workgroup<reduce_block<500, op::arg_minimum>, item>(in, 500, 1000);
  const auto high = run_workgroup<reduce_block<500, op::arg_maximum>, item>(in, 500, 1000);
  item least = in[0], largest = in[0];
  for (const item& candidate : in) {
    const double x = as_double(candidate.value);
    if (x < as_double(least.value) ||
        (x == as_double(least.value) && candidate.index < least.index))
      least = candidate;
    if (x > as_double(largest.value) ||
        (x == as_double(largest.value) && candidate.index < largest.index))
      largest = candidate;
  }
  for (unsigned t = 0; t < 500; ++t) {
    ASSERT_EQ(low[t].index, least.index);
    ASSERT_EQ(as_double(low[t].value), as_double(least.value));
    ASSERT_EQ(high[t].index, largest.index);
    ASSERT_EQ(as_double(high[t].value), as_double(largest.value));
  }
}

TEST(group_reduce, arguments_of_minima_and_maxima) {
  check_arg_block<float, std::int32_t>();
  check_arg_block<float, std::int64_t>();
  check_arg_block<double, std::int64_t>();
  check_arg_block<fp16, std::int16_t>(); // its reduced form is larger than itself
  check_arg_block<std::int8_t, std::int32_t>();
}

/// A three-dimensional workgroup says who it is.
WAVETILE_KERNEL void reduce_3d(int* out) {
  using reducer = group::reduce<int, 4 * 5 * 6>;
  WAVETILE_SHARED reducer::storage memory;
  const int thread = flat_thread_id();
  out[thread] = reducer::to_all(thread, op::plus{}, memory, {thread, 120});
}

TEST(group_reduce, workgroups_of_three_dimensions) {
  device_buffer<int> out(120);
  ASSERT_TRUE(launch(reduce_3d, {.grid = 1, .block = {4, 5, 6}}, nullptr, out.data()).ok());
  for (const int value : out.download())
    EXPECT_EQ(value, 120 * 119 / 2);
}

// ---- scan --------------------------------------------------------------------------------------

/// out: inclusive prefixes, exclusive ones, both totals; `size` each. in[size] is the initial
/// value.
template <int Block, class Op>
struct scan_block {
  template <class T>
  WAVETILE_DEVICE void operator()(const T* in, T* out, int thread) const {
    using scanner = group::scan<T, Block>;
    WAVETILE_SHARED typename scanner::storage memory;
    const int size = workgroup_size();
    const auto inclusive = scanner::inclusive(in[thread], Op{}, memory);
    group::barrier();
    const auto exclusive = scanner::exclusive(in[thread], in[size], Op{}, memory);
    out[thread] = inclusive.prefix;
    out[size + thread] = exclusive.prefix;
    out[2 * size + thread] = inclusive.total;
    out[3 * size + thread] = exclusive.total;
  }
};

template <int Block, class Op, class T>
void check_scan(const std::vector<T>& in, int size, const char* what) {
  const auto count = static_cast<size_t>(size);
  const auto out = run_workgroup<scan_block<Block, Op>, T>(in, size, 4 * count);
  std::vector<T> inclusive, exclusive;
  T running = in[count];
  for (size_t t = 0; t < count; ++t) {
    inclusive.push_back(t == 0 ? in[0] : apply<Op>(inclusive.back(), in[t]));
    exclusive.push_back(running);
    running = apply<Op>(running, in[t]);
  }
  std::vector<T> expected = inclusive;
  expected.insert(expected.end(), exclusive.begin(), exclusive.end());
  expected.insert(expected.end(), 2 * count, inclusive.back());
  ASSERT_TRUE(verify_bits(out, expected)) << what << ", " << size << " work-items";
}

template <int Block>
void check_scans(int size) {
  const auto count = static_cast<size_t>(size) + 1;
  check_scan<Block, op::plus>(random_integers<std::int32_t>(count, 31, -1000000000, 1000000000),
                              size, "int32 sum");
  check_scan<Block, op::maximum>(random_normals<float>(count, 32), size, "float maximum");
  check_scan<Block, op::plus>(random_integers<double>(count, 33, -1000, 1000), size, "double sum");
  check_scan<Block, compose>(affine_maps(static_cast<unsigned>(count)), size, "composition");
}

template <int... Block>
void check_scans_of(std::integer_sequence<int, Block...>) {
  (check_scans<Block>(Block), ...);
}

TEST(group_scan, sizes_known_at_compile_time) {
  check_scans_of(std::integer_sequence<int, 1, 2, 33, 48, 63, 64, 65, 100, 128, 160, 192, 256, 512,
                                       1000, 1023, 1024>{});
}

TEST(group_scan, sizes_known_at_run_time_only) {
  for (const int size : {1, 2, 31, 63, 64, 65, 127, 128, 129, 191, 192, 320, 500, 960, 1000, 1024})
    check_scans<group::runtime_size>(size);
}

// ---- broadcast ---------------------------------------------------------------------------------

template <int Block>
struct broadcast_block {
  template <class T>
  WAVETILE_DEVICE void operator()(const T* in, T* out, int thread) const {
    using broadcaster = group::broadcast<T, Block>;
    WAVETILE_SHARED typename broadcaster::storage memory;
    const int size = workgroup_size();
    out[thread] = broadcaster::from(in[thread], size - 1, memory);
    group::barrier();
    out[size + thread] = broadcaster::from(in[thread], size / 3, memory);
  }
};

template <int Block, class T>
void check_broadcast(int size) {
  const auto in = lane_payloads<T>(static_cast<unsigned>(size));
  const auto count = static_cast<size_t>(size);
  const auto out = run_workgroup<broadcast_block<Block>, T>(in, size, 2 * count);
  std::vector<T> expected(count, in[count - 1]);
  expected.insert(expected.end(), count, in[count / 3]);
  ASSERT_TRUE(verify_bits(out, expected)) << size << " work-items";
}

TEST(group_broadcast, any_type_and_size) {
  check_broadcast<1, float>(1);
  check_broadcast<64, double>(64);
  check_broadcast<100, std::int8_t>(100);
  check_broadcast<256, words3>(256);
  check_broadcast<1000, mixed24>(1000);
  check_broadcast<1024, bytes3>(1024);
  check_broadcast<group::runtime_size, float>(7);
  check_broadcast<group::runtime_size, words3>(777);
}

// ---- cost --------------------------------------------------------------------------------------

template <int Block, class T>
void expect_no_conflicts() {
  std::vector<T> in(Block + 1, T{});
  device_buffer<T> input(in);
  device_buffer<T> output(4 * Block);
  const auto counts = count_kernels([&] {
    const T* from = input.data();
    ASSERT_TRUE(launch(run_each<reduce_block<Block, op::plus>, T, T>, {.grid = 3, .block = Block},
                       nullptr, from, output.data())
                    .ok());
    ASSERT_TRUE(launch(run_each<scan_block<Block, op::plus>, T, T>, {.grid = 3, .block = Block},
                       nullptr, from, output.data())
                    .ok());
  });
  if (!counts)
    GTEST_SKIP() << "needs wavesim's counters";
  EXPECT_EQ(counts->lds_conflicts, 0u) << Block;
  if (Block > wave_size) {
    EXPECT_GT(counts->lds_clocks, 0u) << Block;
  } else {
    EXPECT_EQ(counts->instructions[wavesim_unit_lds], 0u) << "one wave needs no LDS";
  }
}

TEST(group_cost, no_bank_conflicts) {
  expect_no_conflicts<64, float>();
  expect_no_conflicts<100, float>();
  expect_no_conflicts<256, float>();
  expect_no_conflicts<1024, float>();
  expect_no_conflicts<1024, double>();
}

static_assert(sizeof(group::reduce<float, 256>::storage) == 4 * wave_count(256));
static_assert(sizeof(group::reduce<float, 1024>::storage) == 4 * wave_count(1024));
static_assert(sizeof(group::reduce<double>::storage) == 8 * wave_count(1024));

} // namespace
