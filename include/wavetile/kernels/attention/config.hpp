/// \file
/// How the attention kernels are cut, and the head dimensions they exist for.
#pragma once

#include <wavetile/arch/targets.hpp>
#include <wavetile/integers.hpp>

namespace wavetile {

/// Elements of a head: of q and k, and of v and the output.
struct attention_head {
  int qk = 0;
  int v = 0;
  friend constexpr bool operator==(const attention_head&, const attention_head&) = default;
};

/// Heads that there are kernels for; 64 and 128 are tuned, the others correct.
inline constexpr attention_head attention_heads[] = {
    {32, 32}, {64, 64}, {80, 80}, {96, 96}, {128, 128}, {192, 128}, {192, 192}, {256, 256}};
inline constexpr int attention_head_count = 8;
/// The same, for messages.
inline constexpr const char* attention_heads_text =
    "32, 64, 80, 96, 128, 192 or 256 for both, or 192 with 128";

/// One cut of the kernel. A template argument.
struct attention_config {
  int waves = 4;       ///< of a workgroup, each with `wave_rows` rows of queries
  int keys = 64;       ///< keys of one step
  int occupancy = 2;   ///< waves of a SIMD that the registers must leave room for
  int reads_ahead = 4; ///< LDS reads in flight before their matrix instructions
  attention_head head;

  static constexpr int wave_rows = 32; ///< columns of the matrix instruction
  constexpr int rows() const { return waves * wave_rows; }
  constexpr int threads() const { return waves * targets::gfx942.wave_size; }
  friend constexpr bool operator==(const attention_config&, const attention_config&) = default;
};

namespace kernels {

/// The cut for a head. Up to 128 elements two workgroups or more share a CU, each with 64 keys in
/// LDS at a time, so that one computes while the other loads or waits; larger heads take most
/// registers.
constexpr attention_config attention_config_of(attention_head head) {
  const bool large = head.qk > 128;
  const bool narrow = head.qk <= 64;
  return {4, large ? 32 : 64, large ? 1 : narrow ? 3 : 2, narrow ? 2 : 4, head};
}

} // namespace kernels

} // namespace wavetile
