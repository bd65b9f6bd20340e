// Packed 16-bit integers. Clamp saturates; shifts take the low four bits of the first source.
#include "exec/saturate.hpp"
#include "exec/vop3p_halves.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

void register_vop3p_integer(OpTable& t) {
  t.add(half_op<[](i16 a, i16 b) -> i16 { return static_cast<i16>(a + b); },
                [](i16 a, i16 b) -> i16 { return saturated<i16>(a + b); }>("v_pk_add_i16"));
  t.add(half_op<[](i16 a, i16 b) -> i16 { return static_cast<i16>(a - b); },
                [](i16 a, i16 b) -> i16 { return saturated<i16>(a - b); }>("v_pk_sub_i16"));
  t.add(half_op<[](u16 a, u16 b) -> u16 { return static_cast<u16>(a + b); },
                [](u16 a, u16 b) -> u16 { return saturated<u16>(a + b); }>("v_pk_add_u16"));
  t.add(half_op<[](u16 a, u16 b) -> u16 { return static_cast<u16>(a - b); },
                [](u16 a, u16 b) -> u16 { return saturated<u16>(a - b); }>("v_pk_sub_u16"));
  t.add(
      half_op<[](u16 a, u16 b) -> u16 { return static_cast<u16>(u32{a} * b); }>("v_pk_mul_lo_u16"));
  t.add(half_op<[](i16 a, i16 b, i16 c) -> i16 { return static_cast<i16>(a * b + c); },
                [](i16 a, i16 b, i16 c) -> i16 { return saturated<i16>(a * b + c); }>(
      "v_pk_mad_i16"));
  t.add(half_op<[](u16 a, u16 b, u16 c) -> u16 { return static_cast<u16>(u32{a} * b + c); },
                [](u16 a, u16 b, u16 c) -> u16 { return saturated<u16>(u32{a} * b + c); }>(
      "v_pk_mad_u16"));
  t.add(half_op<[](i16 a, i16 b) -> i16 { return lower(a, b); }>("v_pk_min_i16"));
  t.add(half_op<[](i16 a, i16 b) -> i16 { return higher(a, b); }>("v_pk_max_i16"));
  t.add(half_op<[](u16 a, u16 b) -> u16 { return lower(a, b); }>("v_pk_min_u16"));
  t.add(half_op<[](u16 a, u16 b) -> u16 { return higher(a, b); }>("v_pk_max_u16"));
  t.add(half_op<[](u16 a, u16 b) -> u16 { return static_cast<u16>(u32{b} << (a & 15)); }>(
      "v_pk_lshlrev_b16"));
  t.add(half_op<[](u16 a, u16 b) -> u16 { return static_cast<u16>(b >> (a & 15)); }>(
      "v_pk_lshrrev_b16"));
  t.add(half_op<[](i16 a, i16 b) -> i16 { return static_cast<i16>(b >> (a & 15)); }>(
      "v_pk_ashrrev_i16"));
}

} // namespace wavesim::WAVESIM_SIMD_NS
