/// \file
/// NVIDIA architectures as targets: a wave is a warp, a compute unit a streaming multiprocessor,
/// LDS its shared memory.
///
/// Source, unless said otherwise: NVIDIA, CUDA C++ Programming Guide 13.0, "Compute Capabilities".
#pragma once

#include <wavetile/arch/target.hpp>

namespace wavetile::detail {

/// Compute capability 8.0: A100.
constexpr target make_sm80() {
  target value{};
  value.arch = architecture::sm80;
  value.name = "sm_80";
  value.wave_size = 32;
  value.max_workgroup_size = 1024;
  value.simds_per_cu = 4;
  value.max_waves_per_simd = 16;
  value.vgprs = 255;
  value.agprs = 0;
  value.register_file = 512; // 65,536 registers for four schedulers of 32 lanes
  value.register_granule = 8;
  value.accumulator_alignment = 1;
  value.lds_bytes = 163 * 1024;
  value.lds_granule = 128;
  value.fp8 = fp8_support::none;
  value.direct_to_lds = 1u << 4 | 1u << 8 | 1u << 16; // cp.async
  value.cache_line_bytes = 128;

  // 32 banks of a dword. An access of 8 bytes a lane is two transactions of half a warp, one of 16
  // bytes four of a quarter: the guide of compute capability 3.x says so for 8 bytes, profilers
  // report it for both
  const auto serve = [&value](lds_op op, int phases) {
    value.lds[static_cast<int>(op)] = consecutive_lanes(phases, 32, evidence::derived, 32);
  };
  serve(lds_op::read_b8, 1);
  serve(lds_op::read_b16, 1);
  serve(lds_op::read_b32, 1);
  serve(lds_op::write_b8, 1);
  serve(lds_op::write_b16, 1);
  serve(lds_op::write_b32, 1);
  serve(lds_op::read_b64, 2);
  serve(lds_op::write_b64, 2);
  serve(lds_op::read_b128, 4);
  serve(lds_op::write_b128, 4);
  return value; // 12-byte and two-address accesses do not exist: their service stays unknown
}

/// Compute capability 9.0: H100, H200.
constexpr target make_sm90() {
  target value = make_sm80();
  value.arch = architecture::sm90;
  value.name = "sm_90";
  value.lds_bytes = 227 * 1024;
  value.fp8 = fp8_support::ocp;
  return value;
}

} // namespace wavetile::detail
