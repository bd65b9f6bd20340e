/// \file
/// What benchmarks compute on: normally distributed numbers (zeros or small integers let a chip
/// clock higher than real data does).
#pragma once

#include "../../tests/support/random.hpp"

#include <cstdint>
#include <vector>

namespace bench {

/// `count` normals; past the first million they repeat with a period that no power of two divides.
template <class T>
std::vector<T> normals(std::int64_t count, std::uint64_t seed, double deviation = 1) {
  constexpr std::int64_t period = 1000003;
  const auto size = static_cast<std::size_t>(count);
  std::vector<T> values = wavetile::test::random_normals<T>(
      static_cast<std::size_t>(count < period ? count : period), seed, deviation);
  values.resize(size);
  for (std::size_t i = period; i < size; ++i)
    values[i] = values[i - period];
  return values;
}

} // namespace bench
