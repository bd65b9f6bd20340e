// Vectors and their loads and stores on the host.
#include <wavetile/core/vec.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <type_traits>
#include <vector>

namespace wavetile {
namespace {

static_assert(sizeof(vec<float, 4>) == 16 && alignof(vec<float, 4>) == 16);
static_assert(sizeof(vec<fp16, 8>) == 16 && alignof(vec<fp16, 8>) == 16);
static_assert(sizeof(vec<float, 8>) == 32 && alignof(vec<float, 8>) == 16);
static_assert(sizeof(vec<float, 3>) == 12 && alignof(vec<float, 3>) == 4);
static_assert(sizeof(vec<bf16, 6>) == 12 && alignof(vec<bf16, 6>) == 4);
static_assert(sizeof(vec<double, 1>) == 8 && alignof(vec<double, 1>) == 8);
static_assert(sizeof(vec<int8_t, 16>) == 16 && alignof(vec<int8_t, 16>) == 16);
static_assert(std::is_trivial_v<vec<bf16, 8>> && std::is_aggregate_v<vec<bf16, 8>>);
static_assert(vec_width<bf16> == 8 && vec_width<double> == 2 && vec_width<fp8_e4m3_fnuz> == 16);

template <class T, int N>
void check_round_trip() {
  alignas(16) T from[N + 4];
  alignas(16) T to[N + 4];
  for (int i = 0; i < N + 4; ++i) {
    from[i] = static_cast<T>(i + 1);
    to[i] = static_cast<T>(-7);
  }
  const vec<T, N> value = load_vec<N>(static_cast<const T*>(from));
  store_vec(to, value);
  for (int i = 0; i < N; ++i) {
    EXPECT_EQ(value[i], static_cast<T>(i + 1));
    EXPECT_EQ(to[i], static_cast<T>(i + 1));
  }
  for (int i = N; i < N + 4; ++i)
    EXPECT_EQ(to[i], static_cast<T>(-7)) << "written past the end";

  const vec<T, N> unaligned = load_vec_unaligned<N>(from + 1);
  store_vec_unaligned(to + 2, unaligned);
  for (int i = 0; i < N; ++i)
    EXPECT_EQ(to[i + 2], static_cast<T>(i + 2));
}

TEST(vec, round_trip) {
  check_round_trip<float, 1>();
  check_round_trip<float, 2>();
  check_round_trip<float, 3>();
  check_round_trip<float, 4>();
  check_round_trip<float, 8>();
  check_round_trip<double, 2>();
  check_round_trip<double, 3>();
  check_round_trip<int8_t, 16>();
  check_round_trip<int8_t, 5>();
  check_round_trip<int16_t, 8>();
  check_round_trip<int64_t, 4>();
}

TEST(vec, moves_bits_unchanged) {
  alignas(16) uint16_t from[8];
  for (int i = 0; i < 8; ++i)
    from[i] = static_cast<uint16_t>(0x7C01 + i * 0x1111); // signalling NaNs among them
  alignas(16) uint16_t to[8] = {};
  store_vec(reinterpret_cast<fp16*>(to), load_vec<8>(reinterpret_cast<const fp16*>(from)));
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(to[i], from[i]);
}

TEST(vec, is_usable_in_constant_expressions) {
  constexpr vec<float, 4> v{{1, 2, 3, 4}};
  static_assert(v[2] == 3.0f);
  static_assert(make_vec<8>(2.5f)[7] == 2.5f);
  static_assert(convert<bf16>(v)[3].bits == 0x4080);
  static_assert(convert<fp8_e4m3_fnuz>(v)[0].bits == 0x40);
}

TEST(vec, alignment_test) {
  alignas(16) char memory[32];
  EXPECT_TRUE(is_aligned(memory, 16));
  EXPECT_FALSE(is_aligned(memory + 2, 4));
  EXPECT_TRUE(is_aligned(memory + 2, 2));
}

} // namespace
} // namespace wavetile
