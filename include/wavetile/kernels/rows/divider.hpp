/// \file
/// Division by a number known on the host: a multiplication and a shift on the device.
#pragma once

#include <wavetile/core/math.hpp>

namespace wavetile::kernels {

/// Upper 64 bits of the 128-bit product.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr uint64_t multiply_high(uint64_t a, uint64_t b) {
  const uint64_t a_low = a & 0xFFFFFFFFull, a_high = a >> 32;
  const uint64_t b_low = b & 0xFFFFFFFFull, b_high = b >> 32;
  const uint64_t middle = a_high * b_low + ((a_low * b_low) >> 32);
  const uint64_t cross = a_low * b_high + (middle & 0xFFFFFFFFull);
  return a_high * b_high + (middle >> 32) + (cross >> 32);
}

/// Exact quotient and remainder for every dividend 0 <= n < 2^63 and a divisor 1 <= d < 2^63 that
/// the host knew.
///
/// With l = ceil(log2 d) and m = ceil(2^(63+l) / d), which has 64 bits, n/d = floor(n m /
/// 2^(63+l)): m exceeds 2^(63+l)/d by less than 1, so the product by less than n < 2^63 <=
/// 2^(63+l)/d (Granlund and Montgomery, "Division by invariant integers using multiplication").
class divider {
public:
  constexpr divider() : divider(1) {}

  /// A divisor below 1, which no array has that is not empty, is taken for 1.
  explicit constexpr divider(int64_t divisor)
      : multiplier_(uint64_t{1} << 63), divisor_(divisor < 1 ? 1 : static_cast<uint64_t>(divisor)),
        shift_(0) {
    while ((uint64_t{1} << shift_) < divisor_)
      ++shift_;
    if ((uint64_t{1} << shift_) == divisor_)
      return;
    // 2^(63 + shift), whose upper half is less than the divisor, over it, rounded up: by digits of
    // 32 bits where remainders have no more, else bit by bit
    uint64_t rest = uint64_t{1} << (shift_ - 1);
    const int digit = divisor_ >> 32 == 0 ? 32 : 1;
    for (int bits = 0; bits < 64; bits += digit) {
      rest <<= digit;
      multiplier_ = multiplier_ << digit | rest / divisor_;
      rest %= divisor_;
    }
    ++multiplier_;
  }

  WAVETILE_HD constexpr int64_t divisor() const { return static_cast<int64_t>(divisor_); }

  WAVETILE_HD WAVETILE_FORCE_INLINE constexpr int64_t quotient(int64_t n) const {
    return static_cast<int64_t>(multiply_high(2 * static_cast<uint64_t>(n), multiplier_) >> shift_);
  }

  /// n = quotient * divisor + remainder.
  WAVETILE_HD WAVETILE_FORCE_INLINE constexpr int64_t remainder(int64_t n) const {
    return static_cast<int64_t>(static_cast<uint64_t>(n) -
                                static_cast<uint64_t>(quotient(n)) * divisor_);
  }

private:
  uint64_t multiplier_;
  uint64_t divisor_;
  int32_t shift_;
};

} // namespace wavetile::kernels
