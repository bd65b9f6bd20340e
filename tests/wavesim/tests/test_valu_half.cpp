// Half-precision arithmetic against integer fixed-point arithmetic; one-operand instructions over
// all 65,536 codes.
#include "tests/reference.hpp"

using namespace wavesim;
using namespace wavesim::test;

namespace {

using Round = wavesim::test::Round;

half add(half a, half b, Round round = Round::nearest) {
  if (!finite(a) || !finite(b))
    return half_from_special(to_double(a) + to_double(b));
  const i64 sum = fixed_point(a) + fixed_point(b);
  const bool negative_zero = sum == 0 && ((negative(a) && negative(b)) ||
                                          (negative(a) != negative(b) && round == Round::down));
  return test::to_half(sum, 24, round, negative_zero);
}
half multiply(half a, half b, Round round = Round::nearest) {
  if (!finite(a) || !finite(b))
    return half_from_special(to_double(a) * to_double(b));
  return test::to_half(i128{fixed_point(a)} * fixed_point(b), 48, round,
                       negative(a) != negative(b));
}
half fused(half a, half b, half c, Round round = Round::nearest) {
  if (!finite(a) || !finite(b) || !finite(c))
    return half_from_special(to_double(a) * to_double(b) + to_double(c));
  const i128 sum = i128{fixed_point(a)} * fixed_point(b) + (i128{fixed_point(c)} << 24);
  const bool product_negative = negative(a) != negative(b);
  const bool negative_zero = (product_negative && negative(c)) ||
                             (product_negative != negative(c) && round == Round::down);
  return test::to_half(sum, 48, round, negative_zero);
}
half minus(half a) {
  return half{static_cast<u16>(a.bits ^ 0x8000)};
}
half flush(half a) {
  return (a.bits & 0x7c00) ? a : half{static_cast<u16>(a.bits & 0x8000)};
}

TEST(VectorHalf, SumsAndProducts) {
  check<half, half, half>("v_add_f16 $d, $a, $b", [](half a, half b) { return add(a, b); });
  check<half, half, half>("v_sub_f16 $d, $a, $b", [](half a, half b) { return add(a, minus(b)); });
  check<half, half, half>("v_subrev_f16 $d, $a, $b",
                          [](half a, half b) { return add(b, minus(a)); });
  check<half, half, half>("v_mul_f16 $d, $a, $b", [](half a, half b) { return multiply(a, b); });
}

TEST(VectorHalf, FusedMultiplyAdd) {
  const auto f = [](half a, half b, half c) { return fused(a, b, c); };
  check<half, half, half, half>("v_fma_f16 $d, $a, $b, $c", f,
                                {.upper = Upper::kept, .limit = 200000});
  check<half, half, half, half>("v_fma_legacy_f16 $d, $a, $b, $c", f);
}

TEST(VectorHalf, MultiplyAddInTwoSteps) {
  const auto f = [](half a, half b, half c) {
    return flush(add(flush(multiply(flush(a), flush(b))), flush(c)));
  };
  check<half, half, half, half>("v_mad_f16 $d, $a, $b, $c", f, {.upper = Upper::kept});
  check<half, half, half, half>("v_mad_legacy_f16 $d, $a, $b, $c", f);
  check<half, half, half, half>("v_mac_f16 $d, $a, $b", f, {.accumulates = true});
  check<half, half, half>("v_madmk_f16 $d, $a, 0x4248, $b",
                          [=](half a, half b) { return f(a, half{0x4248}, b); });
  check<half, half, half>("v_madak_f16 $d, $a, $b, 0x4248",
                          [=](half a, half b) { return f(a, b, half{0x4248}); });
}

TEST(VectorHalf, RoundingModes) {
  const std::pair<u32, Round> modes[] = {
      {0x3f4, Round::up}, {0x3f8, Round::down}, {0x3fc, Round::zero}};
  for (const auto& [mode, round] : modes) {
    const Round r = round;
    check<half, half, half>("v_add_f16 $d, $a, $b", [=](half a, half b) { return add(a, b, r); },
                            {.mode = mode});
    check<half, half, half>("v_mul_f16 $d, $a, $b",
                            [=](half a, half b) { return multiply(a, b, r); }, {.mode = mode});
    check<half, half, half, half>("v_fma_f16 $d, $a, $b, $c",
                                  [=](half a, half b, half c) { return fused(a, b, c, r); },
                                  {.mode = mode, .upper = Upper::kept, .limit = 60000});
  }
}

TEST(VectorHalf, OverflowToLargest) {
  // FP16_OVFL: an overflow gives ±65504, infinities of the sources stay.
  const CheckOptions o{.mode = Machine::default_mode | 1u << 23};
  const auto limit = [](half r, bool from_infinity) {
    return (r.bits & 0x7fff) == 0x7c00 && !from_infinity
               ? half{static_cast<u16>((r.bits & 0x8000) | 0x7bff)}
               : r;
  };
  check<half, half, half>(
      "v_add_f16 $d, $a, $b",
      [=](half a, half b) { return limit(add(a, b), !finite(a) || !finite(b)); }, o);
  check<half, half, half>(
      "v_mul_f16 $d, $a, $b",
      [=](half a, half b) { return limit(multiply(a, b), !finite(a) || !finite(b)); }, o);
}

half lesser(half a, half b) {
  const bool na = not_a_number(a), nb = not_a_number(b);
  if (na && !(a.bits & 0x200))
    return half{static_cast<u16>(a.bits | 0x200)};
  if (nb && !(b.bits & 0x200))
    return half{static_cast<u16>(b.bits | 0x200)};
  if (na)
    return b;
  if (nb)
    return a;
  const double x = to_double(a), y = to_double(b);
  if (x == 0 && y == 0)
    return negative(a) ? a : b;
  return x < y ? a : b;
}
half greater(half a, half b) {
  const bool na = not_a_number(a), nb = not_a_number(b);
  if (na && !(a.bits & 0x200))
    return half{static_cast<u16>(a.bits | 0x200)};
  if (nb && !(b.bits & 0x200))
    return half{static_cast<u16>(b.bits | 0x200)};
  if (na)
    return b;
  if (nb)
    return a;
  const double x = to_double(a), y = to_double(b);
  if (x == 0 && y == 0)
    return negative(a) ? b : a;
  return x > y ? a : b;
}

TEST(VectorHalf, MinMaxMedian) {
  check<half, half, half>("v_min_f16 $d, $a, $b", lesser);
  check<half, half, half>("v_max_f16 $d, $a, $b", greater);
  const CheckOptions kept{.upper = Upper::kept, .limit = 30000};
  check<half, half, half, half>(
      "v_min3_f16 $d, $a, $b, $c", [](half a, half b, half c) { return lesser(lesser(a, b), c); },
      kept);
  check<half, half, half, half>(
      "v_max3_f16 $d, $a, $b, $c", [](half a, half b, half c) { return greater(greater(a, b), c); },
      kept);
  check<half, half, half, half>(
      "v_med3_f16 $d, $a, $b, $c",
      [](half a, half b, half c) {
        if (not_a_number(a) || not_a_number(b) || not_a_number(c))
          return lesser(lesser(a, b), c);
        const double top = to_double(greater(greater(a, b), c));
        return top == to_double(a)   ? greater(b, c)
               : top == to_double(b) ? greater(a, c)
                                     : greater(a, b);
      },
      kept);
}

/// Every code through a one-operand instruction; `accept` sees the code and the result's low dword.
template <class Accept>
void all_codes(const std::string& instruction, Accept accept) {
  for (const Simd level : levels()) {
    SCOPED_TRACE(std::string(name(level)) + ": " + instruction);
    Machine m(level);
    const Program program(instruction + " v1, v0", level);
    unsigned failures = 0;
    for (unsigned base = 0; base < 65536 && failures < 5; base += lanes) {
      m.vgpr(0, [=](unsigned lane) { return base + lane; });
      m.run(program);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const half x{static_cast<u16>(base + lane)};
        if (accept(x, m.wave.v[1][lane]))
          continue;
        ADD_FAILURE() << "code " << describe(x) << " gives " << describe(m.wave.v[1][lane]);
        ++failures;
      }
    }
  }
}
/// The result as a half, upper bits clear, equal to the nearest half of an exact double.
template <class F>
void all_codes_exact(const std::string& instruction, F exact) {
  all_codes(instruction, [=](half x, u32 got) {
    if (got > 0xffff)
      return false;
    const double want = exact(to_double(x));
    const half g{static_cast<u16>(got)};
    if (want != want || std::isinf(want))
      return same(g, half_from_special(want));
    // 2^60 scales every half and every rounding decision into a 128-bit integer.
    const half nearest = test::to_half(static_cast<i128>(std::ldexp(want, 60)), 60, Round::nearest,
                                       std::signbit(want));
    return same(g, nearest);
  });
}

TEST(VectorHalf, AllCodesRounding) {
  all_codes_exact("v_floor_f16", [](double x) { return std::floor(x); });
  all_codes_exact("v_ceil_f16", [](double x) { return std::ceil(x); });
  all_codes_exact("v_trunc_f16", [](double x) { return std::trunc(x); });
  all_codes_exact("v_rndne_f16", [](double x) { return std::nearbyint(x); });
  all_codes("v_fract_f16", [](half x, u32 got) {
    const double f = to_double(x) - std::floor(to_double(x));
    if (f != f)
      return not_a_number(half{static_cast<u16>(got)});
    const half want = test::to_half(static_cast<i128>(std::ldexp(f, 60)), 60, Round::nearest);
    return got == (want.bits < 0x3bff ? want.bits : 0x3bffu);
  });
}

TEST(VectorHalf, AllCodesParts) {
  all_codes_exact("v_frexp_mant_f16", [](double x) {
    int e;
    return std::isfinite(x) ? std::frexp(x, &e) : x;
  });
  all_codes("v_frexp_exp_i16_f16", [](half x, u32 got) {
    int e = 0;
    if (finite(x))
      std::frexp(to_double(x), &e);
    return got == static_cast<u16>(e);
  });
}

TEST(VectorHalf, AllCodesConversions) {
  all_codes("v_cvt_f32_f16", [](half x, u32 got) {
    return same(std::bit_cast<float>(got), static_cast<float>(to_double(x)));
  });
  const auto integer = [](double x, double low, double high) {
    return x != x ? 0.0 : std::trunc(x < low ? low : x > high ? high : x);
  };
  all_codes("v_cvt_i16_f16", [=](half x, u32 got) {
    return got == static_cast<u16>(static_cast<i16>(integer(to_double(x), -32768, 32767)));
  });
  all_codes("v_cvt_u16_f16", [=](half x, u32 got) {
    return got == static_cast<u16>(integer(to_double(x), 0, 65535));
  });
  all_codes("v_cvt_f16_u16",
            [](half x, u32 got) { return got == test::to_half(x.bits, 0, Round::nearest).bits; });
  all_codes("v_cvt_f16_i16", [](half x, u32 got) {
    return got == test::to_half(static_cast<i16>(x.bits), 0, Round::nearest).bits;
  });
  all_codes("v_cvt_norm_i16_f16", [](half x, u32 got) {
    const double d = to_double(x);
    const double y = d != d ? 0 : std::nearbyint(std::fmin(std::fmax(d, -1), 1) * 32767);
    return got == static_cast<u16>(static_cast<i16>(y));
  });
  all_codes("v_cvt_norm_u16_f16", [](half x, u32 got) {
    const double d = to_double(x);
    const double y = d != d ? 0 : std::nearbyint(std::fmin(std::fmax(d, 0), 1) * 65535);
    return got == static_cast<u16>(y);
  });
}

TEST(VectorHalf, AllCodesTranscendental) {
  // Correctly rounded: the exact value is never so near a tie that long double could not tell.
  const auto nearest = [](half x, u32 got, long double want) {
    const half g{static_cast<u16>(got)};
    if (got > 0xffff)
      return false;
    if (want != want || std::isinf(want))
      return same(g, half_from_special(static_cast<double>(want)));
    static_cast<void>(x);
    return same(g, test::to_half(static_cast<i128>(std::ldexp(want, 60)), 60, Round::nearest,
                                 std::signbit(want)));
  };
  all_codes("v_rcp_f16", [=](half x, u32 got) {
    return nearest(x, got, 1.0L / static_cast<long double>(to_double(x)));
  });
  all_codes("v_sqrt_f16", [=](half x, u32 got) {
    return nearest(x, got, std::sqrt(static_cast<long double>(to_double(x))));
  });
  all_codes("v_rsq_f16", [=](half x, u32 got) {
    return nearest(x, got, 1.0L / std::sqrt(static_cast<long double>(to_double(x))));
  });
  all_codes("v_log_f16", [=](half x, u32 got) {
    return nearest(x, got, std::log2(static_cast<long double>(to_double(x))));
  });
  all_codes("v_exp_f16", [=](half x, u32 got) {
    const long double e = std::exp2(static_cast<long double>(to_double(x)));
    return nearest(x, got, e >= 65520 ? std::numeric_limits<long double>::infinity() : e);
  });
  const auto turn = [](half x, bool cosine) {
    const long double d = static_cast<long double>(to_double(x));
    if (!finite(x))
      return std::numeric_limits<long double>::quiet_NaN();
    const long double r = d - std::floor(d), q = r * 4;
    if (q == std::floor(q)) { // quarter turns are exact
      const int i = (static_cast<int>(q) + (cosine ? 1 : 0)) & 3;
      return i == 1 ? 1.0L : i == 3 ? -1.0L : !cosine && d == 0 ? d : 0.0L;
    }
    constexpr long double tau = 6.283185307179586476925286766559L;
    return cosine ? std::cos(r * tau) : std::sin((r > 0.5L ? r - 1 : r) * tau);
  };
  all_codes("v_sin_f16", [=](half x, u32 got) { return nearest(x, got, turn(x, false)); });
  all_codes("v_cos_f16", [=](half x, u32 got) { return nearest(x, got, turn(x, true)); });
}

TEST(VectorHalf, LdexpAndPack) {
  check<half, half, i16>("v_ldexp_f16 $d, $a, $b", [](half x, i16 e) {
    if (!finite(x))
      return x;
    const double y = std::ldexp(to_double(x), std::max<int>(std::min<int>(e, 60), -60));
    if (std::fabs(y) >= 65520)
      return half{static_cast<u16>((x.bits & 0x8000) | 0x7c00)};
    return test::to_half(static_cast<i128>(std::ldexp(y, 90)), 90, Round::nearest, negative(x));
  });
  check<u32, half, half>("v_pack_b32_f16 $d, $a, $b",
                         [](half a, half b) { return a.bits | u32{b.bits} << 16; });
}

TEST(VectorHalf, PackedMultiplyAccumulate) {
  const auto part = [](u32 x, unsigned i) { return half{static_cast<u16>(x >> 16 * i)}; };
  check_with<u32, u32, u32, u32>(
      "v_pk_fmac_f16 $d, $a, $b",
      [=](u32 got, u32 a, u32 b, u32 c) {
        for (unsigned i = 0; i < 2; ++i)
          if (!same(part(got, i), fused(part(a, i), part(b, i), part(c, i))))
            return false;
        return true;
      },
      {.accumulates = true});
}

TEST(VectorHalf, DotAccumulate) {
  // One element after the other in f32, denormals flushed.
  const auto part = [](u32 x, unsigned i) {
    return static_cast<float>(to_double(flush(half{static_cast<u16>(x >> 16 * i)})));
  };
  const auto flushed = [](float x) {
    return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
  };
  check<float, u32, u32, float>("v_dot2c_f32_f16 $d, $a, $b",
                                [=](u32 a, u32 b, float c) {
                                  const float first = std::fmaf(part(a, 0), part(b, 0), flushed(c));
                                  return flushed(std::fmaf(part(a, 1), part(b, 1), flushed(first)));
                                },
                                {.accumulates = true});
}

} // namespace
