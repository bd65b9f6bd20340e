/// \file
/// The architectures the library knows.
///
/// Sources. [guide] shark-ai, AMDGPU kernel optimisation guide. [blog] ROCm blogs, "LDS bank
/// conflict". [CK] Composable Kernel documentation, LDS bank conflicts. [LLVM] LLVM's AMDGPU usage
/// guide and subtarget tables. [RPC] ROCm Compute Profiler documentation. [HK] HipKittens,
/// measurements on gfx950.
#pragma once

#include <wavetile/arch/target.hpp>

namespace wavetile {

namespace targets {

/// MI300A, MI300X, MI325X.
inline constexpr target gfx942 = {
    .arch = architecture::gfx942,
    .name = "gfx942",
    .wave_size = 64,
    .max_workgroup_size = 1024,
    .simds_per_cu = 4,
    .max_waves_per_simd = 8, // [RPC]; ten, which older guides say, was true of GCN
    .vgprs = 256,            // [LLVM], as all register facts
    .agprs = 256,
    .register_file = 512,
    .register_granule = 8,
    .accumulator_alignment = 4,
    .lds_bytes = 65536,
    .lds_granule = 512, // [LLVM]
    .lds =
        {
            // sub-dword: as b32. Published conflict counts of u16 transposes (14 and 6 clocks an
            // access, both even) fit two phases, but name no device
            detail::consecutive_lanes(2, 32, evidence::assumed), // read_b8
            detail::consecutive_lanes(
                2, 32,
                evidence::assumed), // read_b16
                                    // [guide]; MI300X counters of a 32-way transpose fit exactly
            detail::consecutive_lanes(2, 32, evidence::measured), // read_b32
                                                                  // [guide]; timing tests on MI300
            detail::consecutive_lanes(4, 32,
                                      evidence::measured), // read_b64
                                                           // by analogy with b128: the groups were
                                                           // measured on gfx950 only [HK]
            detail::crossed_lanes(32, evidence::assumed),  // read_b96
                                                          // [guide] [blog] [CK] and timing tests on
                                                          // MI300 agree on these groups
            detail::crossed_lanes(
                32, evidence::measured), // read_b128
                                         // as two b32 reads; by analogy with read2_b64
            detail::consecutive_lanes(2, 32, evidence::assumed),  // read2_b32
                                                                  // as two b64 reads [guide]
            detail::consecutive_lanes(4, 32, evidence::derived),  // read2_b64
            detail::consecutive_lanes(2, 32, evidence::assumed),  // write_b8
            detail::consecutive_lanes(2, 32, evidence::assumed),  // write_b16
            detail::consecutive_lanes(2, 32, evidence::measured), // write_b32: as read_b32
            detail::consecutive_lanes(4, 32, evidence::measured), // write_b64: as read_b64
            detail::consecutive_lanes(8, 32, evidence::assumed),  // write_b96: as write_b128
            detail::consecutive_lanes(8, 32, evidence::measured), // write_b128 [guide] [blog] [CK]
            detail::consecutive_lanes(2, 32, evidence::assumed),  // write2_b32
            detail::consecutive_lanes(4, 32, evidence::derived),  // write2_b64 [guide]
        },
    .fp8 = fp8_support::fnuz,
    .direct_to_lds = 1u << 1 | 1u << 2 | 1u << 4, // [LLVM]: no wider form assembles
    .cache_line_bytes = 128,
};

namespace detail_targets {

/// The same LDS as gfx942 as far as anyone says; nothing measured here.
constexpr target with_assumed_lds(target value) {
  for (lds_service& service : value.lds)
    service.tag = evidence::assumed;
  return value;
}

constexpr target make_gfx90a() {
  target value = with_assumed_lds(gfx942);
  value.arch = architecture::gfx90a;
  value.name = "gfx90a";
  value.fp8 = fp8_support::none;
  value.direct_to_lds = 1u << 1 | 1u << 2 | 1u << 4; // [LLVM]
  return value;
}

constexpr target make_gfx950() {
  target value = gfx942;
  value.arch = architecture::gfx950;
  value.name = "gfx950";
  value.lds_bytes = 163840;
  value.lds_granule = 1280; // [LLVM]
  value.fp8 = fp8_support::ocp;
  value.direct_to_lds = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 12 | 1u << 16; // [LLVM]
  // [HK] measured 64 banks for reads. Which lanes form the four phases of a b128 read, and how wide
  // writes are served, is not known here: those stay unknown (phases 0) rather than guessed
  for (lds_service& service : value.lds)
    service.tag = evidence::assumed;
  const auto set = [&value](lds_op op, lds_service service) {
    value.lds[static_cast<int>(op)] = service;
  };
  set(lds_op::read_b64, detail::consecutive_lanes(2, 64, evidence::measured));
  set(lds_op::write_b64, detail::consecutive_lanes(4, 32, evidence::measured));
  set(lds_op::read_b96, detail::crossed_lanes(32, evidence::measured));
  set(lds_op::write_b96, {0, 64, evidence::assumed, {}});
  set(lds_op::read_b128, {0, 64, evidence::assumed, {}});
  set(lds_op::write_b128, {0, 64, evidence::assumed, {}});
  return value;
}

/// Code for gfx9-4-generic runs on gfx942 and gfx950; it may use what both have.
constexpr target make_gfx9_4_generic() {
  target value = with_assumed_lds(gfx942);
  value.arch = architecture::gfx9_4_generic;
  value.name = "gfx9-4-generic";
  value.fp8 = fp8_support::none;
  return value;
}

/// What code is checked against where no architecture is known: the host pass, and device passes
/// for architectures without a description. Only what all described architectures share.
constexpr target make_unknown() {
  target value = with_assumed_lds(gfx942);
  value.arch = architecture::unknown;
  value.name = "unknown";
  value.fp8 = fp8_support::none;
  value.direct_to_lds = 0;
  return value;
}

} // namespace detail_targets

inline constexpr target gfx90a = detail_targets::make_gfx90a();
inline constexpr target gfx950 = detail_targets::make_gfx950();
inline constexpr target gfx9_4_generic = detail_targets::make_gfx9_4_generic();
inline constexpr target unknown = detail_targets::make_unknown();

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
  case architecture::unknown:
    break;
  }
  return targets::unknown;
}

/// The architecture a runtime or compiler names, features and all: "gfx942:sramecc+:xnack-".
/// `unknown` for every name without a description and for null.
constexpr architecture find_architecture(const char* name) {
  constexpr architecture all[] = {architecture::gfx90a, architecture::gfx942,
                                  architecture::gfx9_4_generic, architecture::gfx950};
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
inline constexpr const char* supported_architectures = "gfx90a, gfx942, gfx950";

} // namespace wavetile
