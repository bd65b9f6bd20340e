// Reciprocal, roots, exponential, logarithm, sine and cosine of 32 and 64 bits.
#include "tests/reference.hpp"

using namespace wavesim;
using namespace wavesim::test;

namespace {

constexpr double tolerance = 0.51; // ulps; v_exp_f32 … promise 1 ulp on the device

float flushed(float x) {
  return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
}

template <class F>
void check_close(const std::string& instruction, F exact) {
  check_with<float, float>(instruction + " $d, $a", [=](float got, float x) {
    const long double want = exact(static_cast<long double>(flushed(x)));
    // A result that is denormal before or after rounding is flushed.
    if (std::fabs(want) < 0x1.fffffep-127L && want != 0)
      return got == 0 && std::signbit(got) == (want < 0);
    if (want == 0)
      return got == 0 && std::signbit(got) == std::signbit(want);
    return ulps_f32(got, want) <= tolerance;
  });
}

TEST(VectorTranscendental, Single) {
  check_close("v_rcp_f32", [](long double x) { return 1 / x; });
  check_close("v_rcp_iflag_f32", [](long double x) { return 1 / x; });
  check_close("v_sqrt_f32", [](long double x) { return std::sqrt(x); });
  check_close("v_rsq_f32", [](long double x) { return 1 / std::sqrt(x); });
  check_close("v_exp_f32", [](long double x) { return std::exp2(x); });
  check_close("v_exp_legacy_f32", [](long double x) { return std::exp2(x); });
  check_close("v_log_f32", [](long double x) { return std::log2(x); });
  check_close("v_log_legacy_f32", [](long double x) { return std::log2(x); });
}

long double turns(long double x, bool cosine) {
  if (!std::isfinite(x))
    return std::numeric_limits<long double>::quiet_NaN();
  constexpr long double tau = 6.283185307179586476925286766559L;
  if (x != 0 && std::fabs(x) < 0.25L)
    return cosine ? std::cos(x * tau) : std::sin(x * tau);
  const long double r = x - std::floor(x), q = r * 4;
  if (q == std::floor(q)) {
    const int i = (static_cast<int>(q) + (cosine ? 1 : 0)) & 3;
    return i == 1 ? 1.0L : i == 3 ? -1.0L : !cosine && x == 0 ? x : 0.0L;
  }
  // Reduced to an eighth of a turn around the nearest quarter, where sine and cosine are accurate.
  const long double n = std::nearbyint(q), f = (q - n) / 4 * tau;
  const int i = (static_cast<int>(n) + (cosine ? 1 : 0)) & 3;
  return i == 0 ? std::sin(f) : i == 1 ? std::cos(f) : i == 2 ? -std::sin(f) : -std::cos(f);
}

TEST(VectorTranscendental, SineAndCosine) {
  for (const bool cosine : {false, true})
    check_with<float, float>(cosine ? "v_cos_f32 $d, $a" : "v_sin_f32 $d, $a",
                             [=](float got, float x) {
                               const long double want = turns(static_cast<long double>(x), cosine);
                               if (want == 0)
                                 return got == 0 && (x == 0 || !std::signbit(got));
                               return ulps_f32(got, want) <= tolerance;
                             });
}

TEST(VectorTranscendental, ManualExamples) {
  struct Example {
    const char* text;
    u32 in, out;
  };
  const Example examples[] = {
      {"v_exp_f32", 0xff800000, 0x00000000},  {"v_exp_f32", 0x80000000, 0x3f800000},
      {"v_exp_f32", 0x7f800000, 0x7f800000},  {"v_log_f32", 0xff800000, 0xffc00000},
      {"v_log_f32", 0xbf800000, 0xffc00000},  {"v_log_f32", 0x80000000, 0xff800000},
      {"v_log_f32", 0x00000000, 0xff800000},  {"v_log_f32", 0x3f800000, 0x00000000},
      {"v_log_f32", 0x7f800000, 0x7f800000},  {"v_rcp_f32", 0xff800000, 0x80000000},
      {"v_rcp_f32", 0xc0000000, 0xbf000000},  {"v_rcp_f32", 0x80000000, 0xff800000},
      {"v_rcp_f32", 0x00000000, 0x7f800000},  {"v_rcp_f32", 0x7f800000, 0x00000000},
      {"v_rsq_f32", 0xff800000, 0xffc00000},  {"v_rsq_f32", 0x80000000, 0xff800000},
      {"v_rsq_f32", 0x00000000, 0x7f800000},  {"v_rsq_f32", 0x40800000, 0x3f000000},
      {"v_rsq_f32", 0x7f800000, 0x00000000},  {"v_sqrt_f32", 0xff800000, 0xffc00000},
      {"v_sqrt_f32", 0x80000000, 0x80000000}, {"v_sqrt_f32", 0x40800000, 0x40000000},
      {"v_sqrt_f32", 0x7f800000, 0x7f800000}, {"v_sin_f32", 0xff800000, 0xffc00000},
      {"v_sin_f32", 0xff7fffff, 0x00000000},  {"v_sin_f32", 0x80000000, 0x80000000},
      {"v_sin_f32", 0x3e800000, 0x3f800000},  {"v_sin_f32", 0x7f800000, 0xffc00000},
      {"v_cos_f32", 0xff800000, 0xffc00000},  {"v_cos_f32", 0xff7fffff, 0x3f800000},
      {"v_cos_f32", 0x80000000, 0x3f800000},  {"v_cos_f32", 0x3e800000, 0x00000000},
      {"v_cos_f32", 0x7f800000, 0xffc00000}};
  for (const Simd level : levels())
    for (const Example& e : examples) {
      Machine m(level);
      m.vgpr(0, [&](unsigned) { return e.in; });
      m.run(std::string(e.text) + " v1, v0");
      for (unsigned lane = 0; lane < lanes; ++lane)
        ASSERT_EQ(m.wave.v[1][lane], e.out) << e.text << " " << e.in;
    }
}

TEST(VectorTranscendental, Double) {
  check<double, double>("v_rcp_f64 $d, $a", [](double x) { return 1 / x; });
  check<double, double>("v_sqrt_f64 $d, $a", [](double x) { return std::sqrt(x); });
  check_with<double, double>("v_rsq_f64 $d, $a", [](double got, double x) {
    const long double want = 1 / std::sqrt(static_cast<long double>(x));
    if (want != want || std::isinf(want) || want == 0)
      return same(got, static_cast<double>(want));
    return std::fabs(static_cast<long double>(got) / want - 1) < 0x1p-52L;
  });
}

TEST(VectorTranscendental, ReductionSegments) {
  // Segments of 2/π put together give 2/π: three of them carry 159 bits.
  Machine m;
  m.set_u64(0, 0, std::bit_cast<u64>(1e10));
  m.wave.set_exec(1);
  long double sum = 0;
  for (int i = 2; i >= 0; --i) {
    m.run("v_trig_preop_f64 v[2:3], v[0:1], " + std::to_string(i));
    sum += static_cast<long double>(m.f64(2, 0));
  }
  EXPECT_EQ(sum, 0.636619772367581343075535053490057448L);
  m.run("v_trig_preop_f64 v[2:3], v[0:1], 0");
  // 2/π = 0.A2F9836E 4E441529 FC27…: the first 53 bits.
  EXPECT_EQ(m.f64(2, 0), 0x1.45F306DC9C882p-1);
  m.run("v_trig_preop_f64 v[2:3], v[0:1], 1");
  EXPECT_EQ(m.f64(2, 0), 0x1.4a7f09d5f47d4p-54);
  // A large argument starts further down: 2^1000 skips 1000 + 1023 − 1077 = 946 bits. From 2^945 on
  // segments come 2^128 larger, so that they are no denormals.
  m.set_u64(0, 0, std::bit_cast<u64>(0x1p1000));
  m.run("v_trig_preop_f64 v[2:3], v[0:1], 0");
  const double first = m.f64(2, 0);
  EXPECT_LT(first, 0x1p-818);
  EXPECT_GT(first, 0x1p-818 * 0x1p-20);
}

} // namespace
