/// \file
/// The head dimensions that attention exists for, and its forms.
#pragma once

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

/// How the waves of a workgroup share its time. The result of a query is the same, bit for bit.
enum class attention_choice : uint8_t {
  automatic,   ///< left to the plan
  independent, ///< tiles of 128 rows; several workgroups on a CU, of which one computes while
               ///< others load or do softmax. On compute capability 9.0, heads of 64 and 128: the
               ///< only kernel there is, of warpgroups that take turns.
  alternating, ///< tiles of 256 rows; of the two waves of a SIMD one multiplies while the other
               ///< does softmax and loads. On gfx942, heads of 128 without a mask by array.
};

namespace kernels {

/// Where K and V lie, and whether the keys of a tile may be taken in parts, by a workgroup each or,
/// on NVIDIA GPUs, by one in turn.
enum class attention_form : uint8_t {
  prefill, ///< in arrays; all together
  cache,   ///< in an array or in pages; perhaps in parts
};

} // namespace kernels

} // namespace wavetile
