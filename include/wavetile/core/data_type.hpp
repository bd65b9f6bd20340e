/// \file
/// Element types as values.
#pragma once

#include <wavetile/core/enumerator.hpp>

namespace wavetile {

/// Element types as run-time values, for plans and messages.
enum class data_type : uint8_t {
  fp64,
  fp32,
  fp16,
  bf16,
  fp8_e4m3_fnuz,
  fp8_e5m2_fnuz,
  fp8_e4m3_ocp,
  fp8_e5m2_ocp,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
};

/// Name as written in code: "fp32", "fp8_e4m3_fnuz", …
constexpr const char* name_of(data_type type) {
  constexpr const char* names[] = {"fp64",          "fp32",          "fp16",         "bf16",
                                   "fp8_e4m3_fnuz", "fp8_e5m2_fnuz", "fp8_e4m3_ocp", "fp8_e5m2_ocp",
                                   "int8",          "int16",         "int32",        "int64",
                                   "uint8",         "uint16",        "uint32",       "uint64"};
  return detail::name_in(names, type);
}

/// Bytes of one element; 0 of a number that is no type's.
constexpr int size_of(data_type type) {
  constexpr uint8_t sizes[] = {8, 4, 2, 2, 1, 1, 1, 1, 1, 2, 4, 8, 1, 2, 4, 8};
  return type <= data_type::uint64 ? sizes[static_cast<int>(type)] : 0;
}

} // namespace wavetile
