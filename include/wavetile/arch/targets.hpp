/// \file
/// The architectures the library knows.
///
/// Sources. [guide] shark-ai, AMDGPU kernel optimisation guide. [blog] ROCm blogs, "LDS bank
/// conflict". [CK] Composable Kernel documentation, LDS bank conflicts. [LLVM] LLVM's AMDGPU usage
/// guide and subtarget tables. [RPC] ROCm Compute Profiler documentation. [HK] HipKittens,
/// measurements on gfx950.
#pragma once

#include <wavetile/arch/cuda/targets.hpp>
#include <wavetile/arch/target.hpp>

namespace wavetile {

namespace detail {

constexpr target make_gfx942() {
  target value{};
  value.arch = architecture::gfx942;
  value.name = "gfx942";
  value.wave_size = 64;
  value.max_workgroup_size = 1024;
  value.simds_per_cu = 4;
  value.max_waves_per_simd = 8; // [RPC]; ten, which older guides say, was true of GCN
  value.vgprs = 256;            // [LLVM], as all register facts
  value.agprs = 256;
  value.register_file = 512;
  value.register_granule = 8;
  value.accumulator_alignment = 4;
  value.lds_bytes = 65536;
  value.lds_granule = 512; // [LLVM]
  value.fp8 = fp8_support::fnuz;
  value.direct_to_lds = 1u << 1 | 1u << 2 | 1u << 4; // [LLVM]: no wider form assembles
  value.cache_line_bytes = 128;

  constexpr int banks = 32;
  const auto set = [&value](lds_op op, const lds_service& service) {
    value.lds[static_cast<int>(op)] = service;
  };
  // Up to a dword: [guide]; hardware counters of a 32-way transpose fit exactly.
  set(lds_op::read_b32, consecutive_lanes(2, banks, evidence::measured));
  set(lds_op::write_b32, consecutive_lanes(2, banks, evidence::measured));
  // Published conflict counts of u16 transposes (14 and 6 clocks an access, both even) fit the
  // same two phases, but name no device.
  set(lds_op::read_b8, consecutive_lanes(2, banks, evidence::assumed));
  set(lds_op::read_b16, consecutive_lanes(2, banks, evidence::assumed));
  set(lds_op::write_b8, consecutive_lanes(2, banks, evidence::assumed));
  set(lds_op::write_b16, consecutive_lanes(2, banks, evidence::assumed));
  // [guide] and timing tests on MI300.
  set(lds_op::read_b64, consecutive_lanes(4, banks, evidence::measured));
  set(lds_op::write_b64, consecutive_lanes(4, banks, evidence::measured));
  // [guide], [blog], [CK] agree on the groups; those of reads were confirmed by timing on MI300.
  set(lds_op::read_b128, crossed_lanes(banks, evidence::measured));
  set(lds_op::write_b128, consecutive_lanes(8, banks, evidence::derived));
  // As b128; the groups of reads were measured on gfx950 [HK], here nobody has looked.
  set(lds_op::read_b96, crossed_lanes(banks, evidence::assumed));
  set(lds_op::write_b96, consecutive_lanes(8, banks, evidence::assumed));
  // Two sequences of the single form: [guide] for b64, by analogy for b32.
  set(lds_op::read2_b64, consecutive_lanes(4, banks, evidence::derived));
  set(lds_op::write2_b64, consecutive_lanes(4, banks, evidence::derived));
  set(lds_op::read2_b32, consecutive_lanes(2, banks, evidence::assumed));
  set(lds_op::write2_b32, consecutive_lanes(2, banks, evidence::assumed));
  return value;
}

/// The same LDS as gfx942 as far as anyone says; nothing measured here.
constexpr target with_assumed_lds(target value) {
  for (lds_service& service : value.lds)
    service.tag = evidence::assumed;
  return value;
}

constexpr target make_gfx90a() {
  target value = with_assumed_lds(make_gfx942());
  value.arch = architecture::gfx90a;
  value.name = "gfx90a";
  value.fp8 = fp8_support::none;
  value.direct_to_lds = 1u << 1 | 1u << 2 | 1u << 4; // [LLVM]
  return value;
}

constexpr target make_gfx950() {
  target value = with_assumed_lds(make_gfx942());
  value.arch = architecture::gfx950;
  value.name = "gfx950";
  value.lds_bytes = 163840;
  value.lds_granule = 1280; // [LLVM]
  value.fp8 = fp8_support::ocp;
  value.direct_to_lds = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 12 | 1u << 16; // [LLVM]
  // [HK] measured 64 banks for reads. Which lanes form the four phases of a b128 read, and how wide
  // writes are served, is not known here: those stay unknown (phases 0) rather than guessed
  const auto set = [&value](lds_op op, const lds_service& service) {
    value.lds[static_cast<int>(op)] = service;
  };
  set(lds_op::read_b64, consecutive_lanes(2, 64, evidence::measured));
  set(lds_op::write_b64, consecutive_lanes(4, 32, evidence::measured));
  set(lds_op::read_b96, crossed_lanes(32, evidence::measured));
  set(lds_op::write_b96, {0, 64, evidence::assumed, {}});
  set(lds_op::read_b128, {0, 64, evidence::assumed, {}});
  set(lds_op::write_b128, {0, 64, evidence::assumed, {}});
  return value;
}

/// Code for gfx9-4-generic runs on gfx942 and gfx950; it may use what both have.
constexpr target make_gfx9_4_generic() {
  target value = with_assumed_lds(make_gfx942());
  value.arch = architecture::gfx9_4_generic;
  value.name = "gfx9-4-generic";
  value.fp8 = fp8_support::none;
  return value;
}

/// What code is checked against where no architecture is known: the host pass, and device passes
/// for architectures without a description. Only what all described architectures share.
constexpr target make_unknown() {
  target value = with_assumed_lds(make_gfx942());
  value.arch = architecture::unknown;
  value.name = "unknown";
  value.fp8 = fp8_support::none;
  value.direct_to_lds = 0;
  return value;
}

} // namespace detail

/// One value per architecture.
namespace targets {

inline constexpr target gfx90a = detail::make_gfx90a();
inline constexpr target gfx942 = detail::make_gfx942(); ///< MI300A, MI300X, MI325X
inline constexpr target gfx950 = detail::make_gfx950();
inline constexpr target gfx9_4_generic = detail::make_gfx9_4_generic();
inline constexpr target sm80 = detail::make_sm80();
inline constexpr target sm90 = detail::make_sm90();
inline constexpr target unknown = detail::make_unknown();

} // namespace targets

/// The facts of an architecture.
constexpr const target& target_of(architecture arch) {
  switch (arch) {
  case architecture::gfx90a:
    return targets::gfx90a;
  case architecture::gfx942:
    return targets::gfx942;
  case architecture::gfx9_4_generic:
    return targets::gfx9_4_generic;
  case architecture::gfx950:
    return targets::gfx950;
  case architecture::sm80:
    return targets::sm80;
  case architecture::sm90:
    return targets::sm90;
  case architecture::unknown:
    break;
  }
  return targets::unknown;
}

/// The architecture a runtime or compiler names, features and all: "gfx942:sramecc+:xnack-".
/// `unknown` for every name without a description and for null.
constexpr architecture find_architecture(const char* name) {
  constexpr architecture all[] = {architecture::gfx90a,         architecture::gfx942,
                                  architecture::gfx9_4_generic, architecture::gfx950,
                                  architecture::sm80,           architecture::sm90};
  if (name == nullptr)
    return architecture::unknown;
  for (architecture candidate : all) {
    const char* expected = target_of(candidate).name;
    int i = 0;
    while (expected[i] != '\0' && name[i] == expected[i])
      ++i;
    if (expected[i] == '\0' && (name[i] == '\0' || name[i] == ':'))
      return candidate;
  }
  return architecture::unknown;
}

/// Facts of the architecture a runtime names; `targets::unknown`, whose `known()` is false, for
/// every name without a description.
constexpr const target& find_target(const char* name) {
  return target_of(find_architecture(name));
}

/// Names of the devices that kernels of the library can run on, for messages.
#if WAVETILE_CUDA
inline constexpr const char* supported_architectures = "sm_80, sm_90";
#else
inline constexpr const char* supported_architectures = "gfx90a, gfx942, gfx950";
#endif

} // namespace wavetile
