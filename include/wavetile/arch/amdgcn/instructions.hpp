/// \file
/// Instructions of gfx9 that the layers above are made of, under names all targets share.
/// Meanings: arch/instructions.hpp.
#pragma once

#include <wavetile/arch/device_target.hpp>
#include <wavetile/arch/dpp_source.hpp>

#if WAVETILE_HIP

namespace wavetile::instruction {

WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workitem_x() {
  return __builtin_amdgcn_workitem_id_x();
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workitem_y() {
  return __builtin_amdgcn_workitem_id_y();
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workitem_z() {
  return __builtin_amdgcn_workitem_id_z();
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workgroup_x() {
  return __builtin_amdgcn_workgroup_id_x();
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workgroup_size_x() {
  return __builtin_amdgcn_workgroup_size_x();
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workgroup_size_y() {
  return __builtin_amdgcn_workgroup_size_y();
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workgroup_size_z() {
  return __builtin_amdgcn_workgroup_size_z();
}

/// v_mbcnt_lo, v_mbcnt_hi.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t count_below(uint64_t mask) {
  const uint32_t low = __builtin_amdgcn_mbcnt_lo(static_cast<uint32_t>(mask), 0u);
  return __builtin_amdgcn_mbcnt_hi(static_cast<uint32_t>(mask >> 32), low);
}

/// One v_cmp.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint64_t ballot(bool predicate) {
  return __builtin_amdgcn_ballot_w64(predicate);
}

/// Not a bool: clang 22 stores the built-in's result one bit wide, and nothing later removes that
/// store. Costs a scalar register pair. Compilers of ROCm 6.4 do not have the built-in.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t in_mask(uint64_t mask) {
#if __has_builtin(__builtin_amdgcn_inverse_ballot_w64)
  return __builtin_amdgcn_inverse_ballot_w64(mask) ? 1u : 0u;
#else
  return static_cast<uint32_t>(mask >> count_below(~uint64_t{0})) & 1u;
#endif
}

/// ds_bpermute_b32: no LDS memory or banks, but its latency.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t read_lane(uint32_t word, int lane) {
  return static_cast<uint32_t>(__builtin_amdgcn_ds_bpermute(lane * 4, static_cast<int>(word)));
}

/// v_readlane_b32.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t read_uniform_lane(uint32_t word, int lane) {
  return static_cast<uint32_t>(__builtin_amdgcn_readlane(static_cast<int>(word), lane));
}

/// v_readfirstlane_b32.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t read_first_lane(uint32_t word) {
  return static_cast<uint32_t>(__builtin_amdgcn_readfirstlane(static_cast<int>(word)));
}

/// ds_swizzle_b32 in its bit-mask mode.
template <int And, int Or, int Xor>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t swizzle(uint32_t word) {
  return static_cast<uint32_t>(
      __builtin_amdgcn_ds_swizzle(static_cast<int>(word), And | Or << 5 | Xor << 10));
}

/// A DPP move, which the compiler folds into the instruction that uses it where it can.
template <int Control>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t dpp_move(uint32_t word) {
  return static_cast<uint32_t>(
      __builtin_amdgcn_update_dpp(0, static_cast<int>(word), Control, 0xF, 0xF, true));
}
template <int Control, int RowMask, int BankMask>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t dpp_move_or(uint32_t word, uint32_t otherwise) {
  return static_cast<uint32_t>(__builtin_amdgcn_update_dpp(
      static_cast<int>(otherwise), static_cast<int>(word), Control, RowMask, BankMask, false));
}

/// `value` of the lane that `Control` (row_shr or row_bcast) names plus the lane's own, in lanes
/// that have such a lane and whose row is in `RowMask`; else their own. One instruction, where the
/// compiler makes two of it: it does not fold a DPP move into an fp32 sum that must leave lanes as
/// they are. It does not look for hazards in there either. The two wait states of DPP are included,
/// but `value` must not come from a matrix instruction directly, and the last result must go
/// through `after_dpp_add`.
template <int Control, int RowMask>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float dpp_add_where_reached(float value) {
  static_assert(Control == dpp::row_bcast_15 || Control == dpp::row_bcast_31 ||
                (Control > dpp::row_shr(0) && Control <= dpp::row_shr(15)));
  if constexpr (Control == dpp::row_bcast_15)
    asm("s_nop 1\n\tv_add_f32_dpp %0, %0, %0 row_bcast:15 row_mask:%1 bank_mask:0xf"
        : "+v"(value)
        : "n"(RowMask));
  else if constexpr (Control == dpp::row_bcast_31)
    asm("s_nop 1\n\tv_add_f32_dpp %0, %0, %0 row_bcast:31 row_mask:%1 bank_mask:0xf"
        : "+v"(value)
        : "n"(RowMask));
  else
    asm("s_nop 1\n\tv_add_f32_dpp %0, %0, %0 row_shr:%1 row_mask:%2 bank_mask:0xf"
        : "+v"(value)
        : "n"(Control - dpp::row_shr(0)), "n"(RowMask));
  return value;
}

/// The wait states that a lane read (one) or a matrix instruction (two) needs behind a VALU
/// instruction that the compiler does not see.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float after_dpp_add(float value) {
  asm("s_nop 1" : "+v"(value));
  return value;
}

/// Waits for LDS operations in flight; global loads in flight stay so. In a workgroup of one wave
/// no s_barrier is emitted.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

} // namespace wavetile::instruction

#endif
