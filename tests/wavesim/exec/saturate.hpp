// Saturating integer arithmetic, and other integer helpers of lane functions.
#pragma once

#include "exec/lane_math.hpp"

#include <algorithm>

namespace wavesim::WAVESIM_SIMD_NS {

/// x limited to what T holds.
template <class T, class Wide>
constexpr T saturated(Wide x) {
  constexpr Wide low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return static_cast<T>(x < low ? low : x > high ? high : x);
}

constexpr u32 saturated_add(u32 a, u32 b) {
  const u32 sum = a + b;
  return sum < a ? ~u32{0} : sum;
}
constexpr u32 saturated_subtract(u32 a, u32 b) {
  return a < b ? 0 : a - b;
}

constexpr u32 low_24(u32 x) {
  return x & 0xffffff;
}
constexpr i32 signed_24(u32 x) {
  return static_cast<i32>(x << 8) >> 8;
}

template <class T>
constexpr T lower(T a, T b) {
  return a < b ? a : b;
}
template <class T>
constexpr T higher(T a, T b) {
  return a > b ? a : b;
}
template <class T>
constexpr T middle(T a, T b, T c) {
  return higher(lower(a, b), lower(higher(a, b), c));
}

} // namespace wavesim::WAVESIM_SIMD_NS
