/// \file
/// Seeded random data, the same on every platform (the standard's distributions are not).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <type_traits>
#include <vector>

namespace wavetile::test {

/// A counter-based generator with a 64-bit state (the splitmix64 mixing function).
class random_source {
public:
  explicit random_source(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  /// Uniform in (0, 1): never 0, never 1.
  double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }

  /// Uniform integer in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    const std::uint64_t step = count == ~std::uint64_t{0} ? bits() : bits() % (count + 1);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + step);
  }

  /// Standard normal (Box-Muller; both values of a pair are used).
  double normal() {
    if (have_spare_) {
      have_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    have_spare_ = true;
    return radius * std::cos(angle);
  }

private:
  std::uint64_t state_;
  double spare_ = 0;
  bool have_spare_ = false;
};

/// `count` normals of the given deviation and mean, rounded to `T` (through fp32 for small floats).
template <class T>
std::vector<T> random_normals(std::size_t count, std::uint64_t seed, double deviation = 1,
                              double mean = 0) {
  random_source source(seed);
  std::vector<T> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = mean + deviation * source.normal();
    if constexpr (std::is_arithmetic_v<T>)
      values.push_back(static_cast<T>(value));
    else
      values.push_back(T(static_cast<float>(value)));
  }
  return values;
}

/// `count` integers in [low, high].
template <class T>
std::vector<T> random_integers(std::size_t count, std::uint64_t seed, std::int64_t low,
                               std::int64_t high) {
  random_source source(seed);
  std::vector<T> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(source.between(low, high)));
  return values;
}

} // namespace wavetile::test
