/// \file
/// Reference for small floating-point formats, by enumeration: every code is turned into its value
/// by the definition of the format in long double arithmetic, and a number is encoded by looking
/// for the nearest of these values. Shares no code and no bit tricks with the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace wavetile::test {

class small_float_oracle {
public:
  enum class kind { ieee, no_infinity, fnuz };

  small_float_oracle(int exponent_bits, int mantissa_bits, int bias, kind specials, bool saturates)
      : exponent_bits_(exponent_bits), mantissa_bits_(mantissa_bits), bias_(bias),
        specials_(specials), saturates_(saturates) {
    for (unsigned code = 0; code < sign(); ++code)
      if (std::isfinite(decode(code)))
        finite_.push_back(decode(code));
  }

  unsigned sign() const { return 1u << (exponent_bits_ + mantissa_bits_); }
  unsigned codes() const { return 2 * sign(); }

  /// Value of a code; NaN and infinity as such.
  long double decode(unsigned code) const {
    const bool negative = code >= sign();
    const unsigned magnitude = code % sign();
    const unsigned field = magnitude >> mantissa_bits_;
    const unsigned mantissa = magnitude % (1u << mantissa_bits_);
    const unsigned top = (1u << exponent_bits_) - 1;
    if (specials_ == kind::fnuz && negative && magnitude == 0)
      return std::numeric_limits<long double>::quiet_NaN();
    if (specials_ == kind::no_infinity && magnitude == sign() - 1)
      return std::numeric_limits<long double>::quiet_NaN();
    if (specials_ == kind::ieee && field == top)
      return mantissa != 0 ? std::numeric_limits<long double>::quiet_NaN()
                           : (negative ? -1 : 1) * std::numeric_limits<long double>::infinity();
    const long double fraction =
        static_cast<long double>(mantissa) / static_cast<long double>(1u << mantissa_bits_);
    const long double value = field == 0
                                  ? std::ldexp(fraction, 1 - bias_)
                                  : std::ldexp(1.0L + fraction, static_cast<int>(field) - bias_);
    return negative ? -value : value;
  }

  /// Code of the finite value nearest to `value`, ties to the even code; -1 for NaN.
  int encode(long double value) const {
    if (std::isnan(value))
      return -1;
    const long double magnitude = std::fabs(value);
    const auto above = std::lower_bound(finite_.begin(), finite_.end(), magnitude);
    unsigned code = 0;
    if (above == finite_.end()) {
      // where the next value of the grid would lie if there were one more code
      const std::size_t last = finite_.size() - 1;
      const long double step = finite_[last] - finite_[last - 1];
      const bool beyond = magnitude >= finite_[last] + step / 2;
      code = static_cast<unsigned>(last) + (beyond && !saturates_ ? 1u : 0u);
    } else {
      code = static_cast<unsigned>(above - finite_.begin());
      if (*above != magnitude) {
        const long double up = *above - magnitude;
        const long double down = magnitude - finite_[code - 1];
        if (down < up || (down == up && (code - 1) % 2 == 0))
          --code;
      }
    }
    const bool negative = std::signbit(value) && !(specials_ == kind::fnuz && code == 0);
    return static_cast<int>(code + (negative ? sign() : 0u));
  }

  /// Numbers where an encoder can go wrong: every value, every midpoint between neighbours, and the
  /// fp32 numbers next to both, of either sign; and the ends of fp32.
  std::vector<float> edges() const {
    std::vector<float> result = {0.0f,
                                 std::numeric_limits<float>::denorm_min(),
                                 std::numeric_limits<float>::min(),
                                 std::numeric_limits<float>::max(),
                                 std::numeric_limits<float>::infinity(),
                                 std::numeric_limits<float>::quiet_NaN()};
    const auto around = [&](long double value) {
      const float center = static_cast<float>(value);
      result.push_back(center);
      result.push_back(std::nextafter(center, 0.0f));
      result.push_back(std::nextafter(center, std::numeric_limits<float>::infinity()));
    };
    for (std::size_t i = 0; i < finite_.size(); ++i) {
      around(finite_[i]);
      const long double next =
          i + 1 < finite_.size() ? finite_[i + 1] : 2 * finite_[i] - finite_[i - 1];
      around((finite_[i] + next) / 2);
    }
    const std::size_t positive = result.size();
    for (std::size_t i = 0; i < positive; ++i)
      result.push_back(-result[i]);
    return result;
  }

private:
  int exponent_bits_;
  int mantissa_bits_;
  int bias_;
  kind specials_;
  bool saturates_;
  std::vector<long double> finite_; // of the codes without sign, in order
};

inline small_float_oracle fp16_oracle() {
  return {5, 10, 15, small_float_oracle::kind::ieee, false};
}
inline small_float_oracle bf16_oracle() {
  return {8, 7, 127, small_float_oracle::kind::ieee, false};
}
inline small_float_oracle e4m3_fnuz_oracle() {
  return {4, 3, 8, small_float_oracle::kind::fnuz, true};
}
inline small_float_oracle e5m2_fnuz_oracle() {
  return {5, 2, 16, small_float_oracle::kind::fnuz, true};
}
inline small_float_oracle e4m3_ocp_oracle() {
  return {4, 3, 7, small_float_oracle::kind::no_infinity, true};
}
inline small_float_oracle e5m2_ocp_oracle() {
  return {5, 2, 15, small_float_oracle::kind::ieee, true};
}

} // namespace wavetile::test
