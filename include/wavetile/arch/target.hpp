/// \file
/// What a kernel must know about the architecture it runs on, as one value.
#pragma once

#include <wavetile/arch/lds_service.hpp>

namespace wavetile {

/// Architectures by name. `unknown` is every other one, and the host.
enum class architecture : uint8_t { unknown, gfx90a, gfx942, gfx9_4_generic, gfx950, sm80, sm90 };

/// Which fp8 formats the conversion and matrix instructions use.
enum class fp8_support : uint8_t { none, fnuz, ocp };

/// Facts of one architecture. They are facts of the instruction set and of one compute unit; how
/// many units a device has (CUs, XCDs) differs between products and partitions, is never a constant
/// here, and is asked of the device: see `device_info`.
struct target {
  architecture arch;
  const char* name; ///< as the compiler spells it

  int wave_size;             ///< lanes of a wavefront
  int max_workgroup_size;    ///< work-items of a workgroup
  int simds_per_cu;          ///< vector units of a compute unit
  int max_waves_per_simd;    ///< wavefronts resident on one of them
  int vgprs;                 ///< architectural vector registers a lane can have
  int agprs;                 ///< accumulation registers a lane can have
  int register_file;         ///< both together, for all waves of a SIMD, per lane
  int register_granule;      ///< registers are handed out in multiples of this
  int accumulator_alignment; ///< the first AGPR lies at a multiple of this

  int lds_bytes;   ///< LDS of a compute unit, all of which one workgroup can have
  int lds_granule; ///< LDS is handed out in multiples of this many bytes
  lds_service lds[lds_op_count];

  fp8_support fp8;
  uint32_t direct_to_lds; ///< bit n set: a load can write n bytes per lane straight to LDS
  int cache_line_bytes;   ///< of the vector L1 cache and L2

  /// NVIDIA's, for which there are kernels of their own.
  constexpr bool is_nvidia() const {
    return arch == architecture::sm80 || arch == architecture::sm90;
  }

  /// False for architectures the library has no description of: nothing may be launched there.
  constexpr bool known() const { return arch != architecture::unknown; }

  constexpr const lds_service& service(lds_op op) const { return lds[static_cast<int>(op)]; }

  constexpr bool has_direct_to_lds(int bytes) const { return (direct_to_lds >> bytes & 1u) != 0; }

  /// Registers that `vgprs` and `agprs` of a kernel occupy in the file.
  constexpr int allocated_registers(int kernel_vgprs, int kernel_agprs = 0) const {
    const int arch_part =
        (kernel_vgprs + accumulator_alignment - 1) / accumulator_alignment * accumulator_alignment;
    const int total = arch_part + kernel_agprs;
    return (total + register_granule - 1) / register_granule * register_granule;
  }

  /// Waves of a kernel that its registers let reside on one SIMD; 0 when it cannot run.
  constexpr int waves_per_simd(int kernel_vgprs, int kernel_agprs = 0) const {
    if (kernel_vgprs > vgprs || kernel_agprs > agprs)
      return 0;
    const int total = allocated_registers(kernel_vgprs, kernel_agprs);
    const int by_registers = total > 0 ? register_file / total : max_waves_per_simd;
    return by_registers < max_waves_per_simd ? by_registers : max_waves_per_simd;
  }

  /// Workgroups of a kernel that reside on one compute unit, by registers, LDS and waves; 0 when
  /// it cannot run.
  constexpr int workgroups_per_cu(int workgroup_size, int kernel_vgprs, int kernel_agprs,
                                  int kernel_lds_bytes) const {
    if (workgroup_size < 1 || workgroup_size > max_workgroup_size || kernel_lds_bytes > lds_bytes)
      return 0;
    const int waves = (workgroup_size + wave_size - 1) / wave_size;
    const int by_waves = waves_per_simd(kernel_vgprs, kernel_agprs) * simds_per_cu / waves;
    const int allocated = (kernel_lds_bytes + lds_granule - 1) / lds_granule * lds_granule;
    const int by_lds = allocated > 0 ? lds_bytes / allocated : by_waves;
    return by_waves < by_lds ? by_waves : by_lds;
  }
};

} // namespace wavetile
