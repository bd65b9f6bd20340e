/// \file
/// The ways the normalisation kernels are cut, and what each can hold.
#pragma once

#include <wavetile/arch/device_target.hpp>
#include <wavetile/core/enumerator.hpp>

namespace wavetile {

/// Which normalisation.
enum class norm_kind : uint8_t {
  rms,   ///< h / sqrt(mean of h^2 + epsilon)
  layer, ///< (h - mean) / sqrt(variance + epsilon)
};

constexpr const char* name_of(norm_kind kind) {
  return kind == norm_kind::rms ? "rms_norm" : "layer_norm";
}

/// How results become fp8 or int8.
enum class norm_scaling : uint8_t {
  none,    ///< they do not
  given,   ///< divided by a scale of the caller
  per_row, ///< divided by the row's largest magnitude over the largest number of the type
};

/// Who works on a row, and where the row is between its readings.
enum class norm_method : uint8_t {
  lanes,     ///< 1 to 64 lanes of a wave, in registers; several rows a wave
  workgroup, ///< one workgroup, in registers
  stream,    ///< one workgroup, in memory
  split,     ///< several workgroups, in memory
  cluster,   ///< NVIDIA: several workgroups, in LDS
};

/// One cut of the kernels. A template argument.
struct norm_config {
  norm_method method = norm_method::lanes;
  int waves = 4; ///< of a workgroup
  int slots = 1; ///< chunks of a row each lane holds in registers, or has in flight at a time

  constexpr int threads() const { return waves * wave_size; }

  /// Whole chunks of the longest row it takes; no limit for `stream` and `split`.
  constexpr int64_t chunk_capacity() const {
    return int64_t{slots} * (method == norm_method::lanes ? wave_size : threads());
  }
  constexpr bool keeps_row() const { return method < norm_method::stream; }

  friend constexpr bool operator==(const norm_config&, const norm_config&) = default;
};

/// The cuts in the order they are preferred, each by its name; where `cluster` serves, it is
/// preferred to all that it serves rows of.
enum class norm_kernel : uint8_t {
  short_rows,
  wave_rows,
  small_workgroup,
  workgroup,
  wide_workgroup,
  large_workgroup,
  stream,
  split,
  cluster,
};
inline constexpr int norm_kernel_count = 9;

constexpr const char* name_of(norm_kernel kernel) {
  constexpr const char* names[] = {"short_rows", "wave_rows",      "small_workgroup",
                                   "workgroup",  "wide_workgroup", "large_workgroup",
                                   "stream",     "split",          "cluster"};
  return detail::name_in(names, kernel);
}

namespace kernels {

/// Chunks of `bytes` that so many vector registers of a lane hold: a power of two, up to 16.
constexpr int slots_within(int registers, int bytes) {
  int slots = 16;
  while (slots > 1 && slots * bytes > registers * 4)
    slots /= 2;
  return slots;
}

/// The cut behind a name, the same on all targets unless they have their own. `chunk_bytes` is what
/// a chunk of the row takes as it is held, `loaded_bytes` what it takes while it arrives: the same,
/// or x and residual.
constexpr norm_config common_norm_config_of(norm_kernel kernel, int chunk_bytes, int loaded_bytes) {
  constexpr int usual = 16; // registers for the row, where rows are short enough
  constexpr int few_waves = 256 / wave_size;
  constexpr int alone = wave_size == 64 ? 1 : 4; // a CU takes 32 workgroups: as many as waves
  switch (kernel) {
  case norm_kernel::short_rows:
    return {norm_method::lanes, 4, 1};
  case norm_kernel::wave_rows:
    return {norm_method::lanes, alone, slots_within(usual, chunk_bytes)};
  case norm_kernel::small_workgroup:
    return {norm_method::workgroup, few_waves, slots_within(usual, chunk_bytes)};
  case norm_kernel::workgroup:
    return {norm_method::workgroup, 16, slots_within(usual, chunk_bytes)};
  case norm_kernel::wide_workgroup: // with as many for weight and bias
    return {norm_method::workgroup, 16, slots_within(32, loaded_bytes)};
  case norm_kernel::large_workgroup: // 128 registers a lane are all there are
    return {norm_method::workgroup, 16, slots_within(64, loaded_bytes)};
  case norm_kernel::split: // four workgroups or more share a CU
    return {norm_method::split, few_waves, 4};
  case norm_kernel::stream:
  case norm_kernel::cluster: // see kernels/rows/cluster.hpp
    break;
  }
  return {norm_method::stream, 16, 2};
}

} // namespace kernels

} // namespace wavetile

#if WAVETILE_CUDA
// nvcc 13.0 names the type of a template argument by its mangled name in the host's stubs
using _ZN8wavetile11norm_configE = wavetile::norm_config;
#endif
