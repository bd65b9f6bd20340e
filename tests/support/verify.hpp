/// \file
/// Comparison of results with a reference that cannot be passed by a NaN, an infinity, a missing
/// element or an empty buffer.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace wavetile::test {

/// Allowed |got - reference| for one element: `absolute + relative * |reference|`.
struct tolerance {
  double absolute = 0;
  double relative = 0;
};

/// Outcome of a comparison; converts to bool and prints its message.
struct [[nodiscard]] verification {
  bool passed = false;
  double max_error = 0;        ///< largest |got - reference| over elements where both are finite
  std::size_t worst_index = 0; ///< where `max_error` occurred
  std::size_t failures = 0;    ///< elements out of tolerance
  std::string message;

  explicit operator bool() const { return passed; }
};

inline std::ostream& operator<<(std::ostream& out, const verification& v) {
  return out << v.message;
}

/// Any element type as double: small floats go through fp32, which holds all their values.
template <class T>
double as_double(const T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else
    return static_cast<double>(static_cast<float>(value));
}

/// Compares `got` with `reference`, element by element. `bound(i)` is the error allowed at element
/// i where both values are finite. A NaN matches a NaN only, an infinity only itself, whatever the
/// bound. Different sizes fail, and so does an empty comparison: nothing was checked.
template <class Got, class Reference, class Bound>
verification verify_within(const Got& got, const Reference& reference, Bound&& bound) {
  verification result;
  std::ostringstream text;
  if (std::size(got) != std::size(reference)) {
    text << "size mismatch: got " << std::size(got) << " elements, reference has "
         << std::size(reference);
    result.message = text.str();
    return result;
  }
  if (std::size(got) == 0) {
    result.message = "nothing checked: no elements";
    return result;
  }
  for (std::size_t i = 0; i < std::size(got); ++i) {
    const double g = as_double(got[i]);
    const double r = as_double(reference[i]);
    bool good;
    if (std::isnan(g) || std::isnan(r)) {
      good = std::isnan(g) && std::isnan(r);
    } else if (std::isinf(g) || std::isinf(r)) {
      good = g == r;
    } else {
      const double error = std::fabs(g - r);
      good = error <= bound(i); // a NaN bound fails
      if (error > result.max_error) {
        result.max_error = error;
        result.worst_index = i;
      }
    }
    if (!good && ++result.failures <= 5)
      text << "  element " << i << ": got " << g << ", reference " << r << '\n';
  }
  result.passed = result.failures == 0;
  std::ostringstream head;
  head.precision(9);
  if (result.passed)
    head << std::size(got) << " elements agree";
  else
    head << result.failures << " of " << std::size(got) << " elements differ";
  head << ", largest error " << result.max_error << " at " << result.worst_index << '\n';
  result.message = head.str() + text.str();
  return result;
}

/// As above with one tolerance for all elements.
template <class Got, class Reference>
verification verify(const Got& got, const Reference& reference, tolerance allowed) {
  return verify_within(got, reference, [&](std::size_t i) {
    return allowed.absolute + allowed.relative * std::fabs(as_double(reference[i]));
  });
}

/// Bit for bit, for integers, payloads and anything that must be reproduced exactly.
template <class T>
verification verify_bits(std::span<const T> got, std::span<const T> reference) {
  static_assert(std::is_trivially_copyable_v<T>);
  verification result;
  std::ostringstream text;
  if (got.size() != reference.size()) {
    text << "size mismatch: got " << got.size() << " elements, reference has " << reference.size();
    result.message = text.str();
    return result;
  }
  if (got.empty()) {
    result.message = "nothing checked: no elements";
    return result;
  }
  const auto hex = [&text](const T& value) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    text << "0x";
    for (std::size_t b = sizeof(T); b-- > 0;)
      text << "0123456789abcdef"[bytes[b] >> 4] << "0123456789abcdef"[bytes[b] & 15];
  };
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &reference[i], sizeof(T)) == 0)
      continue;
    if (++result.failures <= 5) {
      text << "  element " << i << ": got ";
      hex(got[i]);
      text << ", reference ";
      hex(reference[i]);
      text << '\n';
    }
  }
  result.passed = result.failures == 0;
  std::ostringstream head;
  if (result.passed)
    head << got.size() << " elements have the same bits\n";
  else
    head << result.failures << " of " << got.size() << " elements have other bits\n";
  result.message = head.str() + text.str();
  return result;
}

template <class T>
verification verify_bits(const std::vector<T>& got, const std::vector<T>& reference) {
  return verify_bits(std::span<const T>(got), std::span<const T>(reference));
}

} // namespace wavetile::test
