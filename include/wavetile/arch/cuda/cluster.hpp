/// \file
/// What code for sm_90 has beyond that for sm_80 and rows in LDS are made with: bulk copies that
/// LDS counts the bytes of, and clusters, workgroups that run at a time on neighbouring SMs and
/// write to each other's LDS. Call only in passes where `has_clusters`.
///
/// Addresses in LDS are 32-bit, as `cp_async.hpp` has them. Source: NVIDIA, PTX ISA 9.0,
/// "mbarrier", "cp.async.bulk", "barrier.cluster", "mapa", "st.async".
#pragma once

#include <wavetile/arch/device_target.hpp>

#if WAVETILE_CUDA

namespace wavetile {

/// Whether this pass of the compiler makes code for a device with clusters.
inline constexpr bool has_clusters = device_target.arch == architecture::sm90;

namespace instruction {

/// A barrier in LDS (8 bytes, aligned to them) for so many arrivals; others may use it after
/// `publish_barriers` and a barrier or, within a wave, `__syncwarp`.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void start_barrier(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;" ::
                   : "memory");
}

/// Arrives, and makes the barrier wait for so many bytes of copies, too.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void arrive_with_bytes(uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Arrives after everything that this lane has read before.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Arrives when all copies of `cp.async` that this lane has started before are done.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void arrive_after_copies(uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
/// Waits until the phase of this parity (the first has 0) is complete.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait_for_phase(uint32_t barrier, uint32_t parity) {
  asm volatile("{\n\t.reg .pred done;\nagain_%=:\n\t"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
               "@!done bra again_%=;\n\t}" ::"r"(barrier),
               "r"(parity)
               : "memory");
}
/// The same for what other workgroups of the cluster have sent.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait_for_phase_in_cluster(uint32_t barrier,
                                                                     uint32_t parity) {
  asm volatile("{\n\t.reg .pred done;\nagain_%=:\n\t"
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n\t"
               "@!done bra again_%=;\n\t}" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

/// How long what is read is worth keeping in L2: not at all, or longer than other lines.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint64_t read_once() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint64_t read_again() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// Copies `bytes` from global memory to LDS; both addresses and `bytes` are multiples of 16.
/// `barrier` counts the bytes.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void copy_bulk(uint32_t to, const void* from, int bytes,
                                                     uint32_t barrier, uint64_t policy) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
               "[%0], [%1], %2, [%3], %4;" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
               : "memory");
}

/// Says that this lane's workgroup has started; the cluster's barrier then counts as arrived at.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void arrive_at_cluster() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait_for_cluster() {
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
/// A barrier of all work-items of the cluster; what they wrote to any LDS before is there after it.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\t"
               "barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}
/// Writes to the LDS of workgroup `number` of the cluster, where this one has `to`.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_in_cluster(uint32_t to, uint32_t number,
                                                            const float4& value) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(to), "r"(number));
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(there), "f"(value.x),
               "f"(value.y), "f"(value.z), "f"(value.w)
               : "memory");
}

/// The same without waiting: the barrier at `barrier` there counts the 16 bytes when they are
/// there.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void send_in_cluster(uint32_t to, uint32_t number,
                                                           const float4& value, uint32_t barrier) {
  uint32_t there, counter;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(to), "r"(number));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(counter) : "r"(barrier), "r"(number));
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 "
               "[%0], {%1, %2, %3, %4}, [%5];" ::"r"(there),
               "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w), "r"(counter)
               : "memory");
}
/// What this lane wrote to LDS comes before bulk copies to it that follow a barrier of its wave.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void order_before_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

} // namespace instruction

} // namespace wavetile

#endif
