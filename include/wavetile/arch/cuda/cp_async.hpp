/// \file
/// `cp.async`: global memory to LDS without registers, waited for in groups.
///
///     copy_async(a, from);  copy_async(b, from + 8);
///     close_copies();           // a group
///     …
///     wait_copies<0>();         // then a barrier: a lane waits for its own copies only
#pragma once

#include <wavetile/config.hpp>
#include <wavetile/integers.hpp>

#if WAVETILE_CUDA

namespace wavetile::instruction {

/// Copies 16 bytes past the L1 cache; both addresses are multiples of 16.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void copy_async(uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
}

/// The same, of which the last `16 - bytes` are not read and become zero; with 0 `from` is not
/// looked at.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void copy_async(uint32_t to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(to), "l"(from), "r"(bytes)
               : "memory");
}

/// The same through the L1 cache, for what other workgroups of the multiprocessor read, too.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void copy_async_shared(uint32_t to, const void* from,
                                                             int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(to), "l"(from), "r"(bytes)
               : "memory");
}

/// The same for `Bytes` of 4 or 8, through the L1 cache.
template <int Bytes>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void copy_async_narrow(uint32_t to, const void* from,
                                                             int bytes = Bytes) {
  static_assert(Bytes == 4 || Bytes == 8, "cp.async copies 4, 8 or 16 bytes");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
               :
               : "r"(to), "l"(from), "n"(Bytes), "r"(bytes)
               : "memory");
}

/// Ends a group of copies, which may be empty.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void close_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most the `Groups` newest groups of this lane are under way.
template <int Groups>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}

} // namespace wavetile::instruction

#endif
