/// \file
/// Elements that matrix products are made of: calls and plans refuse all others in the same words.
#pragma once

#include <wavetile/core/data_type.hpp>

namespace wavetile::detail {

/// The 8-bit floats that devices multiply: FNUZ on AMD's, OCP on NVIDIA's.
constexpr bool is_matmul_fp8(data_type type, bool nvidia) {
  return nvidia ? type == data_type::fp8_e4m3_ocp || type == data_type::fp8_e5m2_ocp
                : type == data_type::fp8_e4m3_fnuz || type == data_type::fp8_e5m2_fnuz;
}
constexpr const char* matmul_fp8_names(bool nvidia) {
  return nvidia ? "fp8_e4m3_ocp, fp8_e5m2_ocp" : "fp8_e4m3_fnuz, fp8_e5m2_fnuz";
}

constexpr bool is_float_up_to_32_bits(data_type type) {
  return type == data_type::fp32 || type == data_type::fp16 || type == data_type::bf16;
}

/// Inputs that are multiplied with each other.
constexpr bool are_matmul_inputs(data_type a, data_type b, bool nvidia) {
  const bool plain = is_float_up_to_32_bits(a) || a == data_type::fp64 || a == data_type::int8;
  return (a == b && plain) || (is_matmul_fp8(a, nvidia) && is_matmul_fp8(b, nvidia));
}
constexpr const char* matmul_input_names(bool nvidia) {
  return nvidia ? "fp64, fp32, fp16, bf16, int8, fp8_e4m3_ocp, fp8_e5m2_ocp"
                : "fp64, fp32, fp16, bf16, int8, fp8_e4m3_fnuz, fp8_e5m2_fnuz";
}

/// Results that products of `a` have.
constexpr bool is_matmul_result(data_type a, data_type d, bool nvidia) {
  if (a == data_type::fp64 || a == data_type::fp32)
    return d == a;
  if (is_float_up_to_32_bits(d) || d == data_type::int8)
    return true;
  return a == data_type::int8 ? d == data_type::int32 : is_matmul_fp8(d, nvidia);
}
constexpr const char* matmul_result_names(data_type a, bool nvidia) {
  if (a == data_type::fp64 || a == data_type::fp32)
    return name_of(a);
  if (a == data_type::int8)
    return "int32, fp32, fp16, bf16, int8";
  return nvidia ? "fp32, fp16, bf16, int8, fp8_e4m3_ocp, fp8_e5m2_ocp"
                : "fp32, fp16, bf16, int8, fp8_e4m3_fnuz, fp8_e5m2_fnuz";
}

/// What beta multiplies, for results `d`.
constexpr bool is_matmul_addend(data_type c, data_type d) {
  return c == d || (is_float_up_to_32_bits(c) && d != data_type::fp64 && d != data_type::int32);
}

} // namespace wavetile::detail
