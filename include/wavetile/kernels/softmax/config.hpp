/// \file
/// The ways the softmax kernels are cut, and what each can hold.
#pragma once

#include <wavetile/arch/device_target.hpp>
#include <wavetile/core/enumerator.hpp>

namespace wavetile {

/// Forward and backward operators that share the row kernels.
enum class softmax_form : uint8_t { softmax, log_softmax, softmax_backward, log_softmax_backward };

constexpr const char* name_of(softmax_form form) {
  constexpr const char* names[] = {"softmax", "log_softmax", "softmax_backward",
                                   "log_softmax_backward"};
  return detail::name_in(names, form);
}

constexpr bool is_backward(softmax_form form) {
  return form >= softmax_form::softmax_backward;
}

/// What a mask argument holds for each element.
enum class mask_kind : uint8_t {
  none,
  keep,     ///< one byte: 0 hides the element
  additive, ///< a number added to the scaled input; -infinity hides the element
};

constexpr const char* name_of(mask_kind kind) {
  constexpr const char* names[] = {"none", "keep", "additive"};
  return detail::name_in(names, kind);
}

/// Who works on a row, and where the row is between its readings.
enum class softmax_method : uint8_t {
  lanes,     ///< 1 to 64 lanes of a wave, in registers; several rows a wave
  workgroup, ///< one workgroup, in registers
  split,     ///< several workgroups, in memory: statistics to the workspace, then a second reading
  stream,    ///< one workgroup, in memory: two readings
  cluster,   ///< NVIDIA: several workgroups, in LDS
};

/// One cut of the kernels. A template argument.
struct softmax_config {
  softmax_method method = softmax_method::lanes;
  int waves = 4; ///< of a workgroup
  int slots = 1; ///< chunks of a row each lane holds in registers, or has in flight at a time

  constexpr int threads() const { return waves * wave_size; }

  /// Whole chunks of the longest row it takes; no limit for `split` and `stream`. Not of clusters.
  constexpr int64_t chunk_capacity() const {
    return int64_t{slots} * (method == softmax_method::lanes ? wave_size : threads());
  }
  constexpr bool keeps_row() const {
    return method == softmax_method::lanes || method == softmax_method::workgroup;
  }

  friend constexpr bool operator==(const softmax_config&, const softmax_config&) = default;
};

/// The cuts in the order they are preferred, each by its name; where `cluster` serves, it is
/// preferred to all that it serves rows of.
enum class softmax_kernel : uint8_t {
  short_rows,
  wave_rows,
  small_workgroup,
  workgroup,
  large_workgroup,
  split,
  stream,
  cluster,
};
inline constexpr int softmax_kernel_count = 8;

constexpr const char* name_of(softmax_kernel kernel) {
  constexpr const char* names[] = {"short_rows",      "wave_rows", "small_workgroup", "workgroup",
                                   "large_workgroup", "split",     "stream",          "cluster"};
  return detail::name_in(names, kernel);
}

namespace kernels {

/// Chunks a lane can hold of the longest rows a workgroup of 1024 takes: 128 registers a lane are
/// all there are, 64 of them for the row as stored (x, or y and its gradient). A mask is held
/// beside the row, so it halves what fits.
constexpr int large_slots(softmax_form form, mask_kind mask, int chunk, int held_bytes) {
  int slots = 16;
  while (slots * held_bytes > 64 * 4)
    slots /= 2;
  if (mask == mask_kind::additive && !is_backward(form))
    return slots / 2;
  if (mask == mask_kind::additive && chunk > 4 && slots > 4)
    return 4; // two rows of 16 bits and a mask that may be fp32
  return mask == mask_kind::keep && chunk > 4 && slots > 8 ? 8 : slots;
}

/// The cut behind a name, the same on all targets unless they have their own. `chunk` is the number
/// of elements of which the smallest type fills one 16-byte access, `held_bytes` what a chunk of
/// the arrays takes that stay in registers.
constexpr softmax_config common_config_of(softmax_kernel kernel, softmax_form form, mask_kind mask,
                                          int chunk, int held_bytes) {
  switch (kernel) {
  case softmax_kernel::short_rows:
    return {softmax_method::lanes, 4, 1};
  case softmax_kernel::wave_rows:
    return {softmax_method::lanes, 4, 4};
  case softmax_kernel::small_workgroup:
    return {softmax_method::workgroup, 4, 4};
  case softmax_kernel::workgroup:
    return {softmax_method::workgroup, 16, 4};
  case softmax_kernel::large_workgroup:
    return {softmax_method::workgroup, 16, large_slots(form, mask, chunk, held_bytes)};
  case softmax_kernel::split:
    return {softmax_method::split, 4, 4};
  case softmax_kernel::stream:
  case softmax_kernel::cluster: // see kernels/rows/cluster.hpp
    break;
  }
  return {softmax_method::stream, 16, 4};
}

} // namespace kernels

} // namespace wavetile

#if WAVETILE_CUDA
// nvcc 13.0 names the type of a template argument by its mangled name in the host's stubs
using _ZN8wavetile14softmax_configE = wavetile::softmax_config;
#endif
