// The fused dot product of the 16-bit, 8-bit and xf32 matrix instructions, in the order of
// operations published for CDNA3 (MMA-Sim, arXiv 2511.10909). For one output element and one group
// of k:
//
//   1. Products are exact. The exponent of a product is the sum of its factors' exponents, taken
//      without normalising: a denormal has its type's least exponent, a zero has -126.
//   2. Products are cut toward zero at 24 fractional bits below the largest exponent e and added.
//      8-bit inputs do this for even and odd k apart; the two sums are cut downward to the larger
//      exponent and added.
//   3. With m = max(e, exponent of C), the sum is cut downward at 31 fractional bits below m and C
//      at 24 (8-bit inputs: a C below 2^(m-25) counts as 0). Their sum is rounded once to f32, to
//      nearest even.
//
// Infinities and NaN: the IEEE result of the sum; a product of 2^128 or more counts as an infinity.
// A NaN result is 0x7fc00000 (the publication does not give its bits). A zero result is +0.
#pragma once

#include "exec/mfma_vector.hpp"

#include <cmath>
#include <limits>

namespace wavesim::WAVESIM_SIMD_NS {

/// Exponent that stands for infinities and NaN: it lifts every sum of exponents out of the range
/// of the vector path.
inline constexpr int exponent_nonfinite = 400;

// Sums of exponents the vector path handles: with e in this range every scale below is a normal
// float, products that a float cannot hold exactly are cut to zero anyway, and no result is
// denormal.
inline constexpr int least_exponent = -102, largest_exponent = 125;

/// One output element, any values: the reference the vector path leaves its rare lanes to.
/// `Even/odd` halves apart when Halves. Element k of A is a[k], with exponent ae[k].
template <unsigned Group, bool Halves>
float fused_dot_scalar(const float* a, const int* ae, const float* b, const int* be, float c) {
  double products[Group], sum = static_cast<double>(c);
  bool above = false, below = false;
  for (unsigned k = 0; k < Group; ++k) {
    products[k] = static_cast<double>(a[k]) * static_cast<double>(b[k]);
    sum += products[k];
    above |= products[k] >= 0x1p128;
    below |= products[k] <= -0x1p128;
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  if (std::isnan(sum) || (above && below && !std::isinf(sum)))
    return nan;
  if (std::isinf(sum))
    return sum > 0 ? infinity : -infinity;
  if (above || below)
    return above ? infinity : -infinity;

  constexpr unsigned halves = Halves ? 2 : 1;
  double part[halves]; // in units of 2^(e - 24)
  int e[halves];
  for (unsigned h = 0; h < halves; ++h) {
    e[h] = std::numeric_limits<int>::min();
    for (unsigned k = h; k < Group; k += halves)
      e[h] = std::max(e[h], ae[k] + be[k]);
    part[h] = 0;
    for (unsigned k = h; k < Group; k += halves)
      part[h] += std::trunc(std::ldexp(products[k], 24 - e[h]));
  }
  int top = e[0];
  double total = part[0];
  if constexpr (Halves) {
    top = std::max(e[0], e[1]);
    total =
        std::floor(std::ldexp(part[0], e[0] - top)) + std::floor(std::ldexp(part[1], e[1] - top));
  }
  const int ec = c == 0 ? -126 : std::max(std::ilogb(c), -126);
  const int m = std::max(top, ec);
  const double s = std::floor(std::ldexp(total, 7 + top - m)); // units of 2^(m - 31)
  double t = std::floor(std::ldexp(static_cast<double>(c), 24 - m));
  if (Halves && ec < m - 25)
    t = 0;
  return static_cast<float>(std::ldexp(s + t * 128, m - 31)); // both exact; the cast rounds
}

/// Adds C to the sum of products `s` (units of 2^(e-24), |s| < 2^30) and rounds. `e` must be inside
/// the vector path's range. Lanes whose C is infinite or NaN are reported in `slow`.
template <bool Halves>
WAVESIM_INLINE F32x16 fused_add(I32x16 s, I32x16 e, F32x16 c, I32x16& slow) {
  F32x16 scaled = c * power_of_two(24 - e);
  const F32x16 size = __builtin_elementwise_abs(scaled);
  const I32x16 large = ~(size < 0x1p30f); // C's exponent is e + 6 or more, or C is not finite
  if constexpr (Halves)
    scaled = size < 0.5f ? F32x16{} : scaled;
  else // a negative C far below e is cut to -1, also when scaling underflowed to zero
    scaled = c < 0 ? __builtin_elementwise_min(scaled, F32x16{} - 0x1p-10f) : scaled;
  // C at most 2^5 above e: in units of 2^(e-24) both addends are exact integers of 31 bits.
  const F32x16 near = __builtin_convertvector(floor_to_int(large ? F32x16{} : scaled) + s, F32x16) *
                      power_of_two(e - 24);
  if (lane_bits(large) == 0) [[likely]]
    return near;

  // C further above: in units of 2^(ec-29), bits of the sum below the unit kept as one sticky bit.
  // The result has at least 27 bits then, so that rounding sees them rightly.
  const I32x16 word = bits_as<I32x16>(c);
  const I32x16 field = (word >> 23) & 255;
  const I32x16 magnitude = ((word & 0x7fffff) | 0x800000) << 6;
  const I32x16 addend = word < 0 ? -magnitude : magnitude;
  const I32x16 distance = __builtin_elementwise_max(field - 127 - e - 6, I32x16{});
  const I32x16 t = (s << 1) >> __builtin_elementwise_min(distance, I32x16{} + 31);
  const I32x16 sticky = ((t & 3) != 0) & 1;
  const F32x16 far = __builtin_convertvector(addend + ((t >> 2) | sticky), F32x16) *
                     bits_as<F32x16>((field - 29) << 23);
  slow |= large & (field == 255);
  return large ? far : near;
}

/// The lane's element by the scalar reference. Not inlined: it is rare.
template <unsigned Group, bool Halves, class A, class B>
__attribute__((noinline)) float fused_dot_lane(const A& a, const B& b, float c, unsigned lane) {
  float av[Group], bv[Group];
  int ae[Group], be[Group];
  for (unsigned k = 0; k < Group; ++k) {
    av[k] = a.value(k)[lane];
    bv[k] = b.value(k)[lane];
    ae[k] = a.exponent(k)[lane];
    be[k] = b.exponent(k)[lane];
  }
  return fused_dot_scalar<Group, Halves>(av, ae, bv, be, c);
}

/// Of the lanes whose largest exponent is outside the vector path's range, those it gets wrong.
/// Where all products are zero and C is zero or not tiny it gives C, which is right.
template <unsigned Group, class A, class B>
__attribute__((noinline)) std::uint32_t fused_outside(const A& a, const B& b, const F32x16& c,
                                                      const I32x16& top) {
  I32x16 live = (__builtin_elementwise_abs(c) < 0x1p-102f) & (c != 0);
  for (unsigned k = 0; k < Group; ++k)
    live |= (a.value(k) != 0) & (b.value(k) != 0);
  return lane_bits(((top < least_exponent) & live) | (top > largest_exponent));
}

/// D = A·B + C for 16 output elements and one group of k. `A` and `B` give value(k) and
/// exponent(k), a vector each.
template <unsigned Group, bool Halves, class A, class B>
WAVESIM_INLINE F32x16 fused_dot(const A& a, const B& b, F32x16 c) {
  constexpr unsigned halves = Halves ? 2 : 1;
  const auto bound = [](I32x16 x) __attribute__((always_inline)) {
    return __builtin_elementwise_min(__builtin_elementwise_max(x, I32x16{} + least_exponent),
                                     I32x16{} + largest_exponent);
  };
  I32x16 e[halves], sum[halves];
#pragma clang loop unroll(full)
  for (unsigned h = 0; h < halves; ++h) {
    I16x16 most = a.exponent(h) + b.exponent(h);
#pragma clang loop unroll(full)
    for (unsigned k = h + halves; k < Group; k += halves)
      most = __builtin_elementwise_max(most, a.exponent(k) + b.exponent(k));
    e[h] = __builtin_convertvector(most, I32x16);
  }
  const I32x16 top = Halves ? __builtin_elementwise_max(e[0], e[halves - 1]) : e[0];
  const std::uint32_t outside =
      lane_bits(bits_as<U32x16>(top - least_exponent) >
                static_cast<std::uint32_t>(largest_exponent - least_exponent));
#pragma clang loop unroll(full)
  for (unsigned h = 0; h < halves; ++h) {
    e[h] = bound(e[h]);
    const F32x16 scale = power_of_two(24 - e[h]);
    sum[h] = I32x16{};
#pragma clang loop unroll(full)
    for (unsigned k = h; k < Group; k += halves)
      sum[h] += truncate_to_int((a.value(k) * b.value(k)) * scale);
  }
  const I32x16 m = bound(top);
  if constexpr (Halves) {
    for (unsigned h = 0; h < halves; ++h)
      sum[h] >>= __builtin_elementwise_min(m - e[h], I32x16{} + 31);
    sum[0] += sum[1];
  }
  I32x16 nonfinite{};
  F32x16 d = fused_add<Halves>(sum[0], m, c, nonfinite);

  std::uint32_t rest = lane_bits(nonfinite);
  if (outside != 0) [[unlikely]]
    rest |= fused_outside<Group>(a, b, c, top);
  while (rest != 0)
    [[unlikely]] {
      const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
      rest &= rest - 1;
      d[lane] = fused_dot_lane<Group, Halves>(a, b, c[lane], lane);
    }
  return d;
}

} // namespace wavesim::WAVESIM_SIMD_NS
