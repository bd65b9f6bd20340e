/// \file
/// Random arrays of a dtype, as the device gets them and as the reference sees them.
#pragma once

#include <wavetile/core/convert.hpp>
#include <wavetile/core/numeric_traits.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace quickstart {

/// `count` normally distributed numbers of deviation 3, rounded to T.
template <class T>
std::vector<T> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0f, 3.0f);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values)
    value = wavetile::convert<T>(normal(engine));
  return values;
}

template <class T>
double as_double(T value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else
    return static_cast<double>(wavetile::convert<float>(value));
}

template <class T>
constexpr const char* dtype_name = std::is_same_v<T, float>            ? "fp32"
                                   : std::is_same_v<T, wavetile::fp16> ? "fp16"
                                   : std::is_same_v<T, wavetile::bf16> ? "bf16"
                                                                       : "int64";

/// Half a unit in the last place of T, relative: the error of rounding a normal result to T.
template <class T>
constexpr double rounding = std::is_same_v<T, float>            ? 0x1p-24
                            : std::is_same_v<T, wavetile::fp16> ? 0x1p-11
                                                                : 0x1p-8;

inline std::string shape_of(std::int64_t rows, std::int64_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

} // namespace quickstart
