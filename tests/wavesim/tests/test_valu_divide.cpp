// The division helpers one by one, and the whole sequences clang emits for a/b and sqrt, which must
// give the correctly rounded result (denormals, overflow and special values included).
#include "tests/reference.hpp"

using namespace wavesim;
using namespace wavesim::test;

namespace {

// v0 numerator, v2 denominator (pairs for f64), result in v10.
const char* const divide_f32 = R"(
  v_div_scale_f32 v3, s[0:1], v2, v2, v0
  v_rcp_f32 v4, v3
  v_div_scale_f32 v5, vcc, v0, v2, v0
  v_fma_f32 v6, -v3, v4, 1.0
  v_fmac_f32 v4, v6, v4
  v_mul_f32 v6, v5, v4
  v_fma_f32 v7, -v3, v6, v5
  v_fmac_f32 v6, v7, v4
  v_fma_f32 v3, -v3, v6, v5
  v_div_fmas_f32 v3, v3, v4, v6
  v_div_fixup_f32 v10, v3, v2, v0
)";
const char* const divide_f64 = R"(
  v_div_scale_f64 v[4:5], s[0:1], v[2:3], v[2:3], v[0:1]
  v_rcp_f64 v[6:7], v[4:5]
  v_div_scale_f64 v[8:9], vcc, v[0:1], v[2:3], v[0:1]
  v_fma_f64 v[12:13], -v[4:5], v[6:7], 1.0
  v_fmac_f64 v[6:7], v[6:7], v[12:13]
  v_fma_f64 v[12:13], -v[4:5], v[6:7], 1.0
  v_fmac_f64 v[6:7], v[6:7], v[12:13]
  v_mul_f64 v[12:13], v[8:9], v[6:7]
  v_fma_f64 v[4:5], -v[4:5], v[12:13], v[8:9]
  v_div_fmas_f64 v[4:5], v[4:5], v[6:7], v[12:13]
  v_div_fixup_f64 v[10:11], v[4:5], v[2:3], v[0:1]
)";
const char* const root_f32 = R"(
  v_mov_b32 v3, 0x260
  s_mov_b32 s0, 0xf800000
  v_mul_f32 v2, 0x4f800000, v0
  v_cmp_gt_f32 vcc, s0, v0
  v_cndmask_b32 v1, v0, v2, vcc
  v_sqrt_f32 v2, v1
  v_add_u32 v4, -1, v2
  v_add_u32 v5, 1, v2
  v_fma_f32 v6, -v4, v2, v1
  v_fma_f32 v7, -v5, v2, v1
  v_cmp_ge_f32 s[0:1], 0, v6
  v_cndmask_b32 v2, v2, v4, s[0:1]
  v_cmp_lt_f32 s[0:1], 0, v7
  v_cndmask_b32 v2, v2, v5, s[0:1]
  v_mul_f32 v4, 0x37800000, v2
  v_cndmask_b32 v2, v2, v4, vcc
  v_cmp_class_f32 vcc, v1, v3
  v_cndmask_b32 v10, v2, v1, vcc
)";
const char* const root_f64 = R"(
  v_mov_b32 v2, 0x100
  v_mov_b32 v4, 0xffffff80
  v_mov_b32 v9, 0x260
  s_mov_b32 s0, 0
  s_brev_b32 s1, 8
  v_cmp_gt_f64 vcc, s[0:1], v[0:1]
  v_cndmask_b32 v2, 0, v2, vcc
  v_ldexp_f64 v[0:1], v[0:1], v2
  v_rsq_f64 v[2:3], v[0:1]
  v_cndmask_b32 v12, 0, v4, vcc
  v_cmp_class_f64 vcc, v[0:1], v9
  v_mul_f64 v[4:5], v[0:1], v[2:3]
  v_mul_f64 v[2:3], v[2:3], 0.5
  v_fma_f64 v[6:7], -v[2:3], v[4:5], 0.5
  v_fmac_f64 v[4:5], v[4:5], v[6:7]
  v_fmac_f64 v[2:3], v[2:3], v[6:7]
  v_fma_f64 v[6:7], -v[4:5], v[4:5], v[0:1]
  v_fmac_f64 v[4:5], v[6:7], v[2:3]
  v_fma_f64 v[6:7], -v[4:5], v[4:5], v[0:1]
  v_fmac_f64 v[4:5], v[6:7], v[2:3]
  v_ldexp_f64 v[2:3], v[4:5], v12
  v_cndmask_b32 v11, v3, v1, vcc
  v_cndmask_b32 v10, v2, v0, vcc
)";

TEST(VectorDivide, SequencesRoundCorrectly) {
  check<float, float, float>(divide_f32, [](float a, float b) { return a / b; }, {.limit = 20000});
  check<double, double, double>(divide_f64, [](double a, double b) { return a / b; },
                                {.limit = 20000});
  check<float, float>(root_f32, [](float a) { return std::sqrt(a); });
  check<double, double>(root_f64, [](double a) { return std::sqrt(a); });
}

/// Numerator and denominator whose quotient has the given binary exponent.
template <class T>
void check_quotients(const std::string& text, int lowest, int highest, int rounds) {
  for (const Simd level : levels()) {
    Machine m(level);
    const Program program(text, level);
    engine random(77);
    constexpr bool wide = sizeof(T) == 8;
    constexpr int exponents = wide ? 2046 : 254, bias = wide ? 1023 : 127,
                  mantissa = wide ? 52 : 23;
    for (int round = 0; round < rounds; ++round) {
      T n[lanes], d[lanes];
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const auto make = [&](int e) {
          const raw_t<T> m_bits = static_cast<raw_t<T>>(random()) & ((raw_t<T>{1} << mantissa) - 1);
          // Sparse mantissas now and then: exact quotients and ties.
          const raw_t<T> kept =
              random() % 3 ? m_bits : m_bits & ~((raw_t<T>{1} << (mantissa - 5)) - 1);
          if (e >= 1)
            return std::bit_cast<T>(
                static_cast<raw_t<T>>(static_cast<raw_t<T>>(e) << mantissa | kept));
          return std::ldexp(
              std::bit_cast<T>(static_cast<raw_t<T>>(raw_t<T>{bias} << mantissa | kept)), e - bias);
        };
        const int quotient =
            lowest + static_cast<int>(random() % static_cast<u64>(highest - lowest + 1));
        const int from = std::max(1 - mantissa, 1 - quotient),
                  to = std::min(exponents, exponents - quotient);
        const int e =
            from + static_cast<int>(random() % static_cast<u64>(std::max(1, to - from + 1)));
        d[lane] = make(e);
        n[lane] = make(std::min(exponents, std::max(1 - mantissa, e + quotient)));
        put(m, 0, lane, n[lane]);
        put(m, 2, lane, d[lane]);
      }
      m.run(program);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const T got = get<T>(m, 10, lane), want = n[lane] / d[lane];
        ASSERT_EQ(raw(got), raw(want))
            << name(level) << ": " << describe(n[lane]) << " / " << describe(d[lane]) << " gives "
            << describe(got) << ", not " << describe(want);
      }
    }
  }
}

TEST(VectorDivide, QuotientsAllOverTheRange) {
  check_quotients<float>(divide_f32, -20, 20, 300);
  check_quotients<float>(divide_f32, -152, -118, 1500); // denormal results
  check_quotients<float>(divide_f32, 90, 129, 500);     // up to overflow
  check_quotients<float>(divide_f32, -253, 253, 500);
  check_quotients<double>(divide_f64, -20, 20, 300);
  check_quotients<double>(divide_f64, -1077, -1010, 1500);
  check_quotients<double>(divide_f64, -1024, -1021, 1500); // one bit lost: the hardest roundings
  check_quotients<double>(divide_f64, 760, 1025, 500);
  check_quotients<double>(divide_f64, -2045, 2045, 500);
}

TEST(VectorDivide, IntegerDivision) {
  // clang's unsigned 32-bit division leans on v_rcp_iflag_f32 and the conversions.
  check_with<u32, u32, u32>(R"(
    v_cvt_f32_u32 v3, v2
    v_sub_u32 v4, 0, v2
    v_rcp_iflag_f32 v3, v3
    v_mul_f32 v3, 0x4f7ffffe, v3
    v_cvt_u32_f32 v3, v3
    v_mul_lo_u32 v4, v4, v3
    v_mul_hi_u32 v4, v3, v4
    v_add_u32 v3, v3, v4
    v_mul_hi_u32 v3, v0, v3
    v_mul_lo_u32 v4, v3, v2
    v_sub_u32 v6, v0, v4
    v_add_u32 v5, 1, v3
    v_cmp_ge_u32 vcc, v6, v2
    v_sub_u32 v4, v6, v2
    v_cndmask_b32 v3, v3, v5, vcc
    v_cndmask_b32 v6, v6, v4, vcc
    v_add_u32 v4, 1, v3
    v_cmp_ge_u32 vcc, v6, v2
    v_cndmask_b32 v10, v3, v4, vcc
  )",
                            [](u32 got, u32 a, u32 b) { return b == 0 || got == a / b; },
                            {.limit = 20000});
}

TEST(VectorDivide, FixupOfHalves) {
  const auto f = [](half q, half d, half n) {
    const double x = to_double(n), y = to_double(d);
    const bool sign = negative(n) != negative(d);
    if (x != x)
      return half{static_cast<u16>(n.bits | 0x200)};
    if (y != y)
      return half{static_cast<u16>(d.bits | 0x200)};
    if ((x == 0 && y == 0) || (std::isinf(x) && std::isinf(y)))
      return half{0xfe00};
    if (y == 0 || std::isinf(x))
      return half{static_cast<u16>(sign ? 0xfc00 : 0x7c00)};
    if (std::isinf(y) || x == 0)
      return half{static_cast<u16>(sign ? 0x8000 : 0)};
    return half{static_cast<u16>((q.bits & 0x7fff) | (sign ? 0x8000 : 0))};
  };
  check<half, half, half, half>("v_div_fixup_f16 $d, $a, $b, $c", f, {.upper = Upper::kept});
  check<half, half, half, half>("v_div_fixup_legacy_f16 $d, $a, $b, $c", f);
}

} // namespace
