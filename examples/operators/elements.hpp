/// \file
/// From the elements of a file to those of the device and back.
#pragma once

#include "common/npy.hpp"

#include <wavetile/core/convert.hpp>

#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace operators {

/// What --dtype calls an integer type.
template <class T>
std::string integer_name() {
  return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T));
}

/// The elements of the file at `path` as T. Floats are rounded to nearest even from fp32; an
/// integer T takes the elements of an integer array only.
template <class T>
std::vector<T> elements_as(const npy::array& values, const std::string& path) {
  if (std::is_integral_v<T> && npy::is_float(values.type))
    throw npy::error(path + ": elements of " + npy::name_of(values.type) + ", where " +
                     integer_name<T>() + " is asked for; allowed: int8, int32, int64, uint8, bool");
  std::vector<T> result(static_cast<std::size_t>(values.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    if constexpr (std::is_integral_v<T>) {
      const std::int64_t value = values.integer(index);
      if (!std::in_range<T>(value))
        throw npy::error(path + ": element " + std::to_string(index) + " = " +
                         std::to_string(value) + " does not fit in " + integer_name<T>() +
                         ", allowed: " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                         std::to_string(std::numeric_limits<T>::max()));
      result[i] = static_cast<T>(value);
    } else if constexpr (std::is_same_v<T, double>)
      result[i] = values.number(index);
    else
      result[i] = wavetile::convert<T>(static_cast<float>(values.number(index)));
  }
  return result;
}

/// An array for a file: integers and fp64 as they are, other floats as float32.
template <class T>
npy::array to_npy(std::span<const T> values, std::vector<std::int64_t> shape) {
  const auto as = [&]<class File>(npy::element type, File) {
    npy::array result{type, std::move(shape), {}};
    result.data.resize(values.size() * sizeof(File));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const File value = wavetile::convert<File>(values[i]);
      std::memcpy(result.data.data() + i * sizeof(File), &value, sizeof(File));
    }
    return result;
  };
  if constexpr (std::is_same_v<T, double>)
    return as(npy::element::float64, double{});
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return as(npy::element::int32, std::int32_t{});
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return as(npy::element::int64, std::int64_t{});
  else
    return as(npy::element::float32, float{});
}

} // namespace operators
