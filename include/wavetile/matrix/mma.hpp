/// \file
/// One matrix instruction.
#pragma once

#include <wavetile/matrix/plain_mma.hpp>

#if WAVETILE_HIP

namespace wavetile {

namespace detail {

/// Eight bytes as the integer that the builtins of the 8-bit types take.
template <class Fragment>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE long packed_bytes(const Fragment& f) {
  return bit_cast<long>(f.registers);
}

template <class D, class A, class B>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void mma_instruction(D& d, const A& a, const B& b) {
  using ta = typename A::element_type;
  using tb = typename B::element_type;
  constexpr bool wide = D::shape.m == 32;
  constexpr bool fp8_a = is_same_v<ta, fp8_e4m3_fnuz>, fp8_b = is_same_v<tb, fp8_e4m3_fnuz>;
  auto& r = d.registers;
  if constexpr (is_same_v<ta, double>) {
    r = __builtin_amdgcn_mfma_f64_16x16x4f64(a.registers, b.registers, r, 0, 0, 0);
  } else if constexpr (is_same_v<ta, float>) {
    if constexpr (wide)
      r = __builtin_amdgcn_mfma_f32_32x32x2f32(a.registers, b.registers, r, 0, 0, 0);
    else
      r = __builtin_amdgcn_mfma_f32_16x16x4f32(a.registers, b.registers, r, 0, 0, 0);
  } else if constexpr (is_same_v<ta, fp16>) {
    if constexpr (wide)
      r = __builtin_amdgcn_mfma_f32_32x32x8f16(a.registers, b.registers, r, 0, 0, 0);
    else
      r = __builtin_amdgcn_mfma_f32_16x16x16f16(a.registers, b.registers, r, 0, 0, 0);
  } else if constexpr (is_same_v<ta, bf16>) {
    if constexpr (wide)
      r = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a.registers, b.registers, r, 0, 0, 0);
    else
      r = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a.registers, b.registers, r, 0, 0, 0);
  } else if constexpr (is_same_v<ta, int8_t>) {
    if constexpr (wide)
      r = __builtin_amdgcn_mfma_i32_32x32x16_i8(packed_bytes(a), packed_bytes(b), r, 0, 0, 0);
    else
      r = __builtin_amdgcn_mfma_i32_16x16x32_i8(packed_bytes(a), packed_bytes(b), r, 0, 0, 0);
  } else if constexpr (wide) {
    if constexpr (fp8_a && fp8_b)
      r = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(packed_bytes(a), packed_bytes(b), r, 0, 0, 0);
    else if constexpr (fp8_a)
      r = __builtin_amdgcn_mfma_f32_32x32x16_fp8_bf8(packed_bytes(a), packed_bytes(b), r, 0, 0, 0);
    else if constexpr (fp8_b)
      r = __builtin_amdgcn_mfma_f32_32x32x16_bf8_fp8(packed_bytes(a), packed_bytes(b), r, 0, 0, 0);
    else
      r = __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(packed_bytes(a), packed_bytes(b), r, 0, 0, 0);
  } else {
    if constexpr (fp8_a && fp8_b)
      r = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(packed_bytes(a), packed_bytes(b), r, 0, 0, 0);
    else if constexpr (fp8_a)
      r = __builtin_amdgcn_mfma_f32_16x16x32_fp8_bf8(packed_bytes(a), packed_bytes(b), r, 0, 0, 0);
    else if constexpr (fp8_b)
      r = __builtin_amdgcn_mfma_f32_16x16x32_bf8_fp8(packed_bytes(a), packed_bytes(b), r, 0, 0, 0);
    else
      r = __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8(packed_bytes(a), packed_bytes(b), r, 0, 0, 0);
  }
}

} // namespace detail

/// D += A * B: one matrix instruction of a wave, whatever lanes are active (all must be, for the
/// fragments to mean anything). On targets without the instruction `plain_mma`.
///
/// Shapes and types on gfx942: `shape_16x16<T>` and `shape_32x32<T>` for fp32, fp16, bf16, int8 and
/// any pair of the two fnuz fp8 types, `shape_16x16<double>`. fp32 and fp64 are chains of fused
/// multiply-adds over k; the narrow types add up to eight (8-bit floats sixteen) exact products,
/// cut at 24 bits below the largest, before they round once to fp32 (MMA-Sim, arXiv 2511.10909);
/// int8 sums wrap at 32 bits. Denormals count, except where MODE flushes fp32 inputs.
///
/// D must not be read by other instructions for some clocks; the compiler sees to it.
template <class D, class A, class B>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void mma(D& d, const A& a, const B& b) {
  detail::check_product<D, A, B>();
  constexpr auto type_a = detail::matrix_type_of<typename A::element_type>();
  constexpr auto type_b = detail::matrix_type_of<typename B::element_type>();
  static_assert(has_matrix_instruction(architecture::gfx942, D::shape, type_a, type_b),
                "wavetile::mma: no matrix instruction has this shape and these types; see "
                "shape_16x16 and shape_32x32");
  if constexpr (has_matrix_instruction(device_target.arch, D::shape, type_a, type_b))
    detail::mma_instruction(d, a, b);
  else
    plain_mma(d, a, b);
}

/// The steps of two packs, one after the other.
template <class D, class A, class B, int Steps>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void mma(D& d, const fragment_pack<A, Steps>& a,
                                               const fragment_pack<B, Steps>& b) {
  for (int s = 0; s < Steps; ++s)
    mma(d, a.step[s], b.step[s]);
}

} // namespace wavetile

#endif
