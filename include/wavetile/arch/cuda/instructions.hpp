/// \file
/// The same functions on NVIDIA GPUs, where a wave is a warp of 32 lanes. Meanings:
/// arch/instructions.hpp.
///
/// Moves between lanes are made for whole waves: all lanes that exist take part, as the layers
/// above ask for. Votes ask the lanes that execute them.
#pragma once

#include <wavetile/arch/device_target.hpp>
#include <wavetile/arch/dpp_source.hpp>

#if WAVETILE_CUDA

namespace wavetile::instruction {

inline constexpr uint32_t all_lanes = ~0u;

WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workitem_x() {
  return threadIdx.x;
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workitem_y() {
  return threadIdx.y;
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workitem_z() {
  return threadIdx.z;
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workgroup_x() {
  return blockIdx.x;
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workgroup_size_x() {
  return blockDim.x;
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workgroup_size_y() {
  return blockDim.y;
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workgroup_size_z() {
  return blockDim.z;
}

WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t lane() {
  uint32_t result;
  asm("mov.u32 %0, %%laneid;" : "=r"(result));
  return result;
}

WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t count_below(uint64_t mask) {
  uint32_t below;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  return static_cast<uint32_t>(__popc(static_cast<uint32_t>(mask) & below));
}

WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint64_t ballot(bool predicate) {
  return __ballot_sync(__activemask(), predicate);
}

WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t in_mask(uint64_t mask) {
  return static_cast<uint32_t>(mask) >> lane() & 1u;
}

WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t read_lane(uint32_t word, int source) {
  return __shfl_sync(all_lanes, word, source);
}

WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t read_uniform_lane(uint32_t word, int source) {
  return __shfl_sync(all_lanes, word, source);
}

WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t read_first_lane(uint32_t word) {
  const uint32_t active = __activemask();
  return __shfl_sync(active, word, __ffs(static_cast<int>(active)) - 1);
}

template <int And, int Or, int Xor>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t swizzle(uint32_t word) {
  if constexpr (And == 31 && Or == 0)
    return __shfl_xor_sync(all_lanes, word, Xor);
  else
    return __shfl_sync(all_lanes, word, ((static_cast<int>(lane()) & And) | Or) ^ Xor);
}

/// One shfl, with a constant lane mask where the control is an exclusive-or of lanes.
template <int Control>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t dpp_move(uint32_t word) {
  constexpr int mask = dpp_xor_mask(Control);
  if constexpr (mask >= 0) {
    return __shfl_xor_sync(all_lanes, word, mask);
  } else {
    const int source = dpp_source(Control, static_cast<int>(lane()));
    const uint32_t moved = __shfl_sync(all_lanes, word, source < 0 ? 0 : source);
    return source < 0 || source >= wave_size ? 0u : moved;
  }
}

template <int Control, int RowMask, int BankMask>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t dpp_move_or(uint32_t word, uint32_t otherwise) {
  const int own = static_cast<int>(lane());
  const int source = dpp_source(Control, own);
  const uint32_t moved = __shfl_sync(all_lanes, word, source < 0 ? 0 : source);
  const bool enabled = (RowMask >> (own / 16) & 1) != 0 && (BankMask >> (own % 16 / 4) & 1) != 0;
  return enabled && source >= 0 && source < wave_size ? moved : otherwise;
}

template <int Control, int RowMask>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float dpp_add_where_reached(float value) {
  const int own = static_cast<int>(lane());
  const int source = dpp_source(Control, own);
  const float moved = __shfl_sync(all_lanes, value, source < 0 ? 0 : source);
  const bool reached = (RowMask >> (own / 16) & 1) != 0 && source >= 0 && source < wave_size;
  return reached ? moved + value : value;
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float after_dpp_add(float value) {
  return value;
}

WAVETILE_DEVICE WAVETILE_FORCE_INLINE void barrier() {
  __syncthreads();
}

} // namespace wavetile::instruction

#endif
