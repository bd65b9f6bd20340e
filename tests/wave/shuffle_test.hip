// Shuffles move bits exactly, for every type, distance and width.
#include "lane_values.hpp"
#include "verify.hpp"

#include <wavetile/wave/broadcast.hpp>
#include <wavetile/wave/shuffle.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace {

using namespace wavetile;
using namespace wavetile::test;

constexpr int block = 128; // two waves: nothing may cross between them
constexpr unsigned items = 128;
constexpr unsigned lanes = wave_size;
constexpr unsigned half = lanes / 2;

/// Expected outputs, `row` after `row` of one value per work-item: the value of work-item
/// `source(t)`.
template <class T, class Source>
void append_moved(std::vector<T>& expected, const std::vector<T>& in, Source source) {
  for (unsigned t = 0; t < items; ++t)
    expected.push_back(in[source(t)]);
}

// ---- every payload type ------------------------------------------------------------------------

template <class T>
struct move_payload {
  static constexpr unsigned rows = 10;
  WAVETILE_DEVICE void operator()(const T* in, T* out, int thread) const {
    const T value = in[thread];
    int row = 0;
    const auto store = [&](const T& moved) { out[row++ * block + thread] = moved; };
    store(wave::shuffle_xor<half>(value));
    store(wave::shuffle_xor<1>(value));
    store(wave::shuffle_xor<20>(value));
    store(wave::shuffle_xor(value, half + 1));
    store(wave::shuffle_up<1>(value));
    store(wave::shuffle_down<7>(value));
    store(wave::shuffle(value, wave_size - 1 - lane_id()));
    store(wave::shuffle<16>(value, lane_id() * 5));
    store(wave::broadcast(value, half + 9));
    store(wave::broadcast_first(value));
  }
};

template <class T>
void check_payload() {
  const auto in = lane_payloads<T>(items);
  const auto out = run_workgroup<move_payload<T>, T>(in, block, items * move_payload<T>::rows);
  std::vector<T> expected;
  append_moved(expected, in, [](unsigned t) { return t ^ half; });
  append_moved(expected, in, [](unsigned t) { return t ^ 1; });
  append_moved(expected, in, [](unsigned t) { return t ^ 20; });
  append_moved(expected, in, [](unsigned t) { return t ^ (half + 1); });
  append_moved(expected, in, [](unsigned t) { return t % lanes == 0 ? t : t - 1; });
  append_moved(expected, in, [](unsigned t) { return t % lanes + 7 < lanes ? t + 7 : t; });
  append_moved(expected, in, [](unsigned t) { return t / lanes * lanes + lanes - 1 - t % lanes; });
  append_moved(expected, in, [](unsigned t) { return t / 16 * 16 + t % lanes * 5 % 16; });
  append_moved(expected, in, [](unsigned t) { return t / lanes * lanes + half + 9; });
  append_moved(expected, in, [](unsigned t) { return t / lanes * lanes; });
  EXPECT_TRUE(verify_bits(out, expected));
}

template <class T>
struct payload : testing::Test {};
using payload_types =
    testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t, float, double, fp16, bf16,
                   fp8_e4m3_fnuz, fp8_e5m2_ocp, __half, __hip_bfloat16, __hip_fp8_e4m3, bytes3,
                   words3, mixed24, float4>;
TYPED_TEST_SUITE(payload, payload_types);

TYPED_TEST(payload, moves_bit_for_bit) {
  check_payload<TypeParam>();
}

#if WAVETILE_HIP
// No typed test: libraries of before C++23 have no type information for it.
TEST(shuffle, moves_the_compilers_half) {
  check_payload<_Float16>();
}
#endif

// ---- every distance of the exclusive-or --------------------------------------------------------

template <class Distances>
struct move_xor;
template <int... Distance>
struct move_xor<std::integer_sequence<int, Distance...>> {
  template <class T>
  WAVETILE_DEVICE void operator()(const T* in, T* out, int thread) const {
    const T value = in[thread];
    ((out[Distance * block + thread] = wave::shuffle_xor<Distance>(value)), ...);
  }
};

template <class T>
void check_all_distances() {
  const auto in = lane_payloads<T>(items);
  const auto out = run_workgroup<move_xor<std::make_integer_sequence<int, wave_size>>, T>(
      in, block, items * lanes);
  std::vector<T> expected;
  for (unsigned distance = 0; distance < lanes; ++distance)
    append_moved(expected, in, [=](unsigned t) { return t ^ distance; });
  EXPECT_TRUE(verify_bits(out, expected));
}

TEST(shuffle, xor_by_every_distance) {
  check_all_distances<std::uint32_t>();
  check_all_distances<words3>();
}

// ---- every width and distance of up and down ---------------------------------------------------

template <int Width, class Distances>
struct move_by;
template <int Width, int... Distance>
struct move_by<Width, std::integer_sequence<int, Distance...>> {
  WAVETILE_DEVICE void operator()(const std::uint32_t* in, std::uint32_t* out, int thread) const {
    const std::uint32_t value = in[thread];
    ((out[4 * Distance * block + thread] = wave::shuffle_up<Distance, Width>(value)), ...);
    ((out[(4 * Distance + 1) * block + thread] = wave::shuffle_down<Distance, Width>(value)), ...);
    ((out[(4 * Distance + 2) * block + thread] = wave::shuffle_up<Width>(value, Distance)), ...);
    ((out[(4 * Distance + 3) * block + thread] = wave::shuffle_down<Width>(value, Distance)), ...);
  }
};

template <int Width>
void check_up_and_down() {
  const auto in = lane_payloads<std::uint32_t>(items);
  const auto out =
      run_workgroup<move_by<Width, std::make_integer_sequence<int, Width>>, std::uint32_t>(
          in, block, items * 4 * Width);
  std::vector<std::uint32_t> expected;
  for (unsigned distance = 0; distance < Width; ++distance)
    for (int twice = 0; twice < 2; ++twice) {
      append_moved(expected, in,
                   [=](unsigned t) { return t % Width >= distance ? t - distance : t; });
      append_moved(expected, in,
                   [=](unsigned t) { return t % Width + distance < Width ? t + distance : t; });
    }
  EXPECT_TRUE(verify_bits(out, expected)) << "width " << Width;
}

TEST(shuffle, up_and_down_at_every_width) {
  check_up_and_down<1>();
  check_up_and_down<2>();
  check_up_and_down<4>();
  check_up_and_down<8>();
  check_up_and_down<16>();
  check_up_and_down<32>();
  check_up_and_down<wave_size>();
}

template <int Width>
struct move_indexed {
  WAVETILE_DEVICE void operator()(const std::uint32_t* in, std::uint32_t* out, int thread) const {
    out[thread] = wave::shuffle<Width>(in[thread], static_cast<int>(in[block + thread]));
  }
};

template <int Width>
void check_indexed() {
  auto in = lane_payloads<std::uint32_t>(items);
  for (unsigned t = 0; t < items; ++t)
    in.push_back(t * 37 % 64);
  const auto out = run_workgroup<move_indexed<Width>, std::uint32_t>(in, block, items);
  std::vector<std::uint32_t> expected;
  append_moved(expected, in, [&](unsigned t) { return t / Width * Width + in[items + t] % Width; });
  EXPECT_TRUE(verify_bits(out, expected)) << "width " << Width;
}

TEST(shuffle, by_index_at_every_width) {
  check_indexed<2>();
  check_indexed<4>();
  check_indexed<8>();
  check_indexed<16>();
  check_indexed<32>();
  check_indexed<wave_size>();
}

// ---- broadcasts --------------------------------------------------------------------------------

template <int Width, class Sources>
struct broadcast_from;
template <int Width, int... Source>
struct broadcast_from<Width, std::integer_sequence<int, Source...>> {
  template <class T>
  WAVETILE_DEVICE void operator()(const T* in, T* out, int thread) const {
    const T value = in[thread];
    ((out[Source * block + thread] = wave::broadcast<Width, Source>(value)), ...);
  }
};

template <int Width, class T>
void check_broadcasts() {
  const auto in = lane_payloads<T>(items);
  const auto out = run_workgroup<broadcast_from<Width, std::make_integer_sequence<int, Width>>, T>(
      in, block, items * Width);
  std::vector<T> expected;
  for (unsigned source = 0; source < Width; ++source)
    append_moved(expected, in, [=](unsigned t) { return t / Width * Width + source; });
  EXPECT_TRUE(verify_bits(out, expected)) << "width " << Width;
}

TEST(broadcast, from_every_lane_at_every_width) {
  check_broadcasts<1, float>();
  check_broadcasts<2, float>();
  check_broadcasts<4, float>();
  check_broadcasts<8, float>();
  check_broadcasts<16, float>();
  check_broadcasts<32, float>();
  check_broadcasts<wave_size, float>();
  check_broadcasts<8, words3>();
  check_broadcasts<16, double>();
  check_broadcasts<32, bytes3>();
}

struct broadcast_any {
  WAVETILE_DEVICE void operator()(const double* in, double* out, int thread) const {
    const double value = in[thread];
    for (int source = 0; source < wave_size; ++source)
      out[source * block + thread] = wave::broadcast(value, source);
  }
};

TEST(broadcast, from_a_lane_known_at_run_time) {
  const auto in = lane_payloads<double>(items);
  const auto out = run_workgroup<broadcast_any, double>(in, block, items * lanes);
  std::vector<double> expected;
  for (unsigned source = 0; source < lanes; ++source)
    append_moved(expected, in, [=](unsigned t) { return t / lanes * lanes + source; });
  EXPECT_TRUE(verify_bits(out, expected));
}

} // namespace
