// How many workgroups of a kernel an MI300X would hold at once.
#pragma once

#include <cstdint>

namespace wavesim {

struct Kernel;

/// Facts of the simulated device that bound residency (AMD CDNA3 ISA and LLVM's AMDGPU usage
/// guide).
namespace device_limits {
inline constexpr unsigned compute_units = 304;
inline constexpr unsigned simds = 4; ///< per compute unit
inline constexpr unsigned simd_waves = 8;
inline constexpr unsigned vector_registers = 512; ///< per lane: VGPRs and AGPRs share one file
inline constexpr unsigned register_granule = 8;
inline constexpr unsigned lds_bytes = 65536;
inline constexpr unsigned lds_granule = 512;
inline constexpr unsigned workgroup_threads = 1024;
} // namespace device_limits

/// Registers of one lane as allocated: VGPRs rounded to 4, then AGPRs, together rounded to 8.
unsigned allocated_registers(const Kernel& kernel);

unsigned waves_per_simd(const Kernel& kernel);

/// LDS of one workgroup as allocated.
std::uint32_t allocated_lds(const Kernel& kernel, std::uint32_t dynamic_lds);

/// Workgroups of `threads` work-items that fit one compute unit; 0 if not even one does.
unsigned groups_per_compute_unit(const Kernel& kernel, unsigned threads, std::uint32_t dynamic_lds);

} // namespace wavesim
