// 32- and 64-bit float arithmetic. 32-bit references are computed in double and rounded once more,
// which is harmless for sums and products; 64-bit ones on the host's own arithmetic.
#include "tests/reference.hpp"

#include <algorithm>

using namespace wavesim;
using namespace wavesim::test;

namespace {

template <class T>
bool signaling(T x) {
  constexpr raw_t<T> quiet = sizeof(T) == 4 ? u64{0x400000} : u64{0x8000000000000};
  return x != x && !(raw(x) & quiet);
}
template <class T>
T quieted(T x) {
  constexpr raw_t<T> quiet = sizeof(T) == 4 ? u64{0x400000} : u64{0x8000000000000};
  return std::bit_cast<T>(static_cast<raw_t<T>>(raw(x) | quiet));
}

// The manual's rules, case by case.
template <class T>
T minimum(T a, T b, bool ieee) {
  if (ieee && signaling(a))
    return quieted(a);
  if (ieee && signaling(b))
    return quieted(b);
  if (a != a)
    return b;
  if (b != b)
    return a;
  if (a == 0 && b == 0)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T maximum(T a, T b, bool ieee) {
  if (ieee && signaling(a))
    return quieted(a);
  if (ieee && signaling(b))
    return quieted(b);
  if (a != a)
    return b;
  if (b != b)
    return a;
  if (a == 0 && b == 0)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <class T>
T median(T a, T b, T c, bool ieee) {
  if (a != a || b != b || c != c)
    return minimum(minimum(a, b, ieee), c, ieee);
  const T top = maximum(maximum(a, b, ieee), c, ieee);
  return top == a ? maximum(b, c, ieee) : top == b ? maximum(a, c, ieee) : maximum(a, b, ieee);
}

template <class R, class... A, class F>
void check_bits(const std::string& text, F reference, CheckOptions options = {}) {
  check_with<R, A...>(
      text,
      [&](R got, A... x) {
        const R want = reference(x...);
        if (raw(got) != raw(want))
          ADD_FAILURE() << "expected " << describe(want);
        return raw(got) == raw(want);
      },
      options);
}

TEST(VectorFloat, SumsAndProducts) {
  const auto f = [](double x) { return static_cast<float>(x); };
  check<float, float, float>("v_add_f32 $d, $a, $b",
                             [=](float a, float b) { return f(double{a} + b); });
  check<float, float, float>("v_sub_f32 $d, $a, $b",
                             [=](float a, float b) { return f(double{a} - b); });
  check<float, float, float>("v_subrev_f32 $d, $a, $b",
                             [=](float a, float b) { return f(double{b} - a); });
  check<float, float, float>("v_mul_f32 $d, $a, $b",
                             [=](float a, float b) { return f(double{a} * b); });
  check<float, float, float>("v_mul_legacy_f32 $d, $a, $b", [=](float a, float b) {
    return a == 0 || b == 0 ? 0.0f : f(double{a} * b);
  });
  check<double, double, double>("v_add_f64 $d, $a, $b", [](double a, double b) { return a + b; });
  check<double, double, double>("v_mul_f64 $d, $a, $b", [](double a, double b) { return a * b; });
}

TEST(VectorFloat, FusedMultiplyAdd) {
  const auto fma = [](float a, float b, float c) { return std::fmaf(a, b, c); };
  const auto wide = [](double a, double b, double c) { return std::fma(a, b, c); };
  const CheckOptions many{.limit = 40000}, accumulates{.accumulates = true, .limit = 40000};
  check<float, float, float, float>("v_fma_f32 $d, $a, $b, $c", fma, many);
  check<float, float, float, float>("v_fmac_f32 $d, $a, $b", fma, accumulates);
  check<float, float, float, float>("v_fmac_f32_e64 $d, $a, $b", fma, accumulates);
  check<float, float, float>("v_fmamk_f32 $d, $a, 0x40490fdb, $b", [=](float a, float b) {
    return fma(a, std::bit_cast<float>(0x40490fdbu), b);
  });
  check<float, float, float>("v_fmaak_f32 $d, $a, $b, 0x40490fdb", [=](float a, float b) {
    return fma(a, b, std::bit_cast<float>(0x40490fdbu));
  });
  check<double, double, double, double>("v_fma_f64 $d, $a, $b, $c", wide, many);
  check<double, double, double, double>("v_fmac_f64 $d, $a, $b", wide, accumulates);
}

TEST(VectorFloat, NanOfTheFirstSource) {
  // Quieted, payload kept, the first source before the others.
  const u32 a = 0x7f812345, b = 0xffc54321, c = 0x7fa00001;
  for (const Simd level : levels()) {
    Machine m(level);
    m.vgpr(0, [=](unsigned) { return a; });
    m.vgpr(1, [=](unsigned) { return b; });
    m.vgpr(2, [=](unsigned) { return c; });
    m.vgpr(3, [](unsigned) { return 0x3f800000u; });
    m.run("v_add_f32 v4, v0, v1\nv_add_f32 v5, v1, v0\nv_mul_f32 v6, v3, v0\nv_fma_f32 v7, v3, v1, "
          "v2\n"
          "v_fma_f32 v8, v3, v3, v2\nv_fma_f32 v9, v2, v1, v0\nv_add_f32 v10, v3, v1");
    const u32 want[] = {a | 0x400000, b, a | 0x400000, b, c | 0x400000, c | 0x400000, b};
    for (unsigned i = 0; i < 7; ++i)
      for (unsigned lane = 0; lane < lanes; ++lane)
        ASSERT_EQ(m.wave.v[4 + i][lane], want[i]) << i;
    // Invalid operations give the default NaN, which has its sign set.
    m.vgpr(0, [](unsigned) { return 0x7f800000u; });
    m.run("v_sub_f32 v4, v0, v0\nv_mul_f32 v5, v0, 0");
    EXPECT_EQ(m.wave.v[4][0], 0xffc00000u);
    EXPECT_EQ(m.wave.v[5][0], 0xffc00000u);
  }
}

template <class T>
void check_order(const std::string& type, u32 mode) {
  const bool ieee = mode & 0x200;
  const CheckOptions o{.mode = mode};
  check_bits<T, T, T>(
      "v_min_" + type + " $d, $a, $b", [=](T a, T b) { return minimum(a, b, ieee); }, o);
  check_bits<T, T, T>(
      "v_max_" + type + " $d, $a, $b", [=](T a, T b) { return maximum(a, b, ieee); }, o);
}

TEST(VectorFloat, MinMaxMedian) {
  for (const u32 mode : {Machine::default_mode, 0x1f0u}) {
    check_order<float>("f32", mode);
    check_order<double>("f64", mode);
    const bool ieee = mode & 0x200;
    const CheckOptions o{.mode = mode, .limit = 30000};
    check_bits<float, float, float, float>(
        "v_min3_f32 $d, $a, $b, $c",
        [=](float a, float b, float c) { return minimum(minimum(a, b, ieee), c, ieee); }, o);
    check_bits<float, float, float, float>(
        "v_max3_f32 $d, $a, $b, $c",
        [=](float a, float b, float c) { return maximum(maximum(a, b, ieee), c, ieee); }, o);
    check_bits<float, float, float, float>(
        "v_med3_f32 $d, $a, $b, $c",
        [=](float a, float b, float c) { return median(a, b, c, ieee); }, o);
  }
}

template <class T>
T nearest_even(T x) {
  if (!(std::fabs(x) < (sizeof(T) == 4 ? T(8388608) : T(4503599627370496))))
    return x;
  const T low = std::floor(x), rest = x - low;
  T r = rest < T(0.5) ? low : rest > T(0.5) ? low + 1 : std::fmod(low, T(2)) == 0 ? low : low + 1;
  return std::copysign(r, x);
}

template <class T>
void check_parts(const std::string& type) {
  check<T, T>("v_floor_" + type + " $d, $a", [](T x) { return std::floor(x); });
  check<T, T>("v_ceil_" + type + " $d, $a", [](T x) { return std::ceil(x); });
  check<T, T>("v_trunc_" + type + " $d, $a", [](T x) { return std::trunc(x); });
  check<T, T>("v_rndne_" + type + " $d, $a", [](T x) { return nearest_even(x); });
  check<T, T>("v_fract_" + type + " $d, $a", [](T x) {
    const T r = x - std::floor(x);
    return r < 1 || r != r ? r : std::nextafter(T(1), T(0));
  });
  check<T, T>("v_frexp_mant_" + type + " $d, $a", [](T x) {
    int e;
    return std::isfinite(x) ? std::frexp(x, &e) : x;
  });
  check<i32, T>("v_frexp_exp_i32_" + type + " $d, $a", [](T x) {
    int e = 0;
    if (std::isfinite(x))
      std::frexp(x, &e);
    return e;
  });
  check<T, T, i32>("v_ldexp_" + type + " $d, $a, $b", [](T x, i32 e) { return std::ldexp(x, e); });
}

TEST(VectorFloat, RoundingAndParts) {
  check_parts<float>("f32");
  check_parts<double>("f64");
}

TEST(VectorFloat, LdexpRoundsOnce) {
  // Around the denormal boundary, where two roundings would show.
  for (const Simd level : levels()) {
    Machine m(level);
    engine random(5);
    for (int round = 0; round < 400; ++round) {
      for (unsigned lane = 0; lane < lanes; ++lane) {
        m.wave.v[0][lane] = static_cast<u32>(0x3f800000 | (random() & 0x807fffff));
        m.wave.v[1][lane] = static_cast<u32>(-120 - static_cast<int>(random() % 40));
        m.set_u64(2, lane, 0x3ff0000000000000 | (random() & 0x800fffffffffffff));
        m.wave.v[4][lane] = static_cast<u32>(-1010 - static_cast<int>(random() % 80));
      }
      m.run("v_ldexp_f32 v6, v0, v1\nv_ldexp_f64 v[8:9], v[2:3], v4");
      for (unsigned lane = 0; lane < lanes; ++lane) {
        ASSERT_EQ(m.f32(6, lane), std::ldexp(m.f32(0, lane), static_cast<i32>(m.wave.v[1][lane])));
        ASSERT_EQ(m.f64(8, lane), std::ldexp(m.f64(2, lane), static_cast<i32>(m.wave.v[4][lane])));
      }
    }
  }
}

TEST(VectorFloat, CubeMap) {
  const auto face = [](float x, float y, float z) {
    if (std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y))
      return z < 0 ? 5 : 4;
    if (std::fabs(y) >= std::fabs(x))
      return y < 0 ? 3 : 2;
    return x < 0 ? 1 : 0;
  };
  check<float, float, float, float>("v_cubeid_f32 $d, $a, $b, $c", [=](float x, float y, float z) {
    return static_cast<float>(face(x, y, z));
  });
  check<float, float, float, float>("v_cubesc_f32 $d, $a, $b, $c", [=](float x, float y, float z) {
    const float by_face[] = {-z, z, x, x, x, -x};
    return by_face[face(x, y, z)];
  });
  check<float, float, float, float>("v_cubetc_f32 $d, $a, $b, $c", [=](float x, float y, float z) {
    const float by_face[] = {-y, -y, z, -z, -y, -y};
    return by_face[face(x, y, z)];
  });
  check<float, float, float, float>("v_cubema_f32 $d, $a, $b, $c", [=](float x, float y, float z) {
    const float by_face[] = {x, x, y, y, z, z};
    return 2 * by_face[face(x, y, z)];
  });
}

} // namespace
