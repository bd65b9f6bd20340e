/// \file
/// The kernels that there are for matrix products.
#pragma once

#include <wavetile/kernels/matmul/config.hpp>
#include <wavetile/kernels/matmul/cuda/config.hpp>

namespace wavetile {

/// The ways to compute a product. `automatic` leaves it to the plan.
enum class matmul_choice : uint8_t {
  automatic,
  large,      ///< tiles of 256 x 256, eight waves; four where 8-bit A and B both have strided k
  ping_pong,  ///< as large, waves taking turns at memory and matrix cores; on request only
  large_four, ///< tiles of 192 x 256, or as large, four waves; on request only
  wide,       ///< tiles of 128 x 256 or 256 x 128, two waves; on request only
  middle,     ///< tiles of 128 x 128
  compact,    ///< tiles of 64 x 64
  skinny,     ///< at most 16 rows: op(B) streams past, no LDS on its way. NVIDIA: 32, with `wgmma`
              ///< through LDS
};
inline constexpr int matmul_choice_count = 8;

constexpr const char* name_of(matmul_choice choice) {
  constexpr const char* names[] = {"automatic", "large",  "ping_pong", "large_four",
                                   "wide",      "middle", "compact",   "skinny"};
  return detail::name_in(names, choice);
}

/// Whether a call for which no choice is made at compile time has code for this one.
constexpr bool in_every_call(matmul_choice choice) {
  return choice == matmul_choice::large || choice == matmul_choice::middle ||
         choice == matmul_choice::compact || choice == matmul_choice::skinny;
}

/// Most rows of op(A) that `skinny` takes on AMD's GPUs, and on those of this device.
inline constexpr int64_t skinny_rows = 16;
constexpr int64_t skinny_rows_of(const target& facts) {
  return facts.is_nvidia() ? kernels::warp_skinny_rows : skinny_rows;
}

namespace kernels {

/// The cut behind a choice other than automatic and skinny, for A and B that lie so: the kernel
/// computes the transpose, whose first operand is B. Of fp64, eight waves cannot share half
/// of 256 x 256, nor four half of 128 x 128: `large` and `ping_pong` are 128 x 128 on four waves,
/// as `wide`, and `middle` is `compact`.
constexpr matmul_config tile_config(matmul_choice choice, int element_bytes,
                                    operand_order order_a = operand_order::k_contiguous,
                                    operand_order order_b = operand_order::k_contiguous) {
  if (element_bytes == 8 && (choice == matmul_choice::large || choice == matmul_choice::ping_pong))
    choice = matmul_choice::wide;
  if (element_bytes == 8 && choice == matmul_choice::middle)
    choice = matmul_choice::compact;
  return config_of(static_cast<matmul_kernel>(static_cast<int>(choice) - 1), element_bytes, order_b,
                   order_a);
}

/// Whether there is code for a choice on a device of these facts.
constexpr bool has_kernel(matmul_choice choice, const target& facts, int element_bytes) {
  if (!facts.is_nvidia() || choice == matmul_choice::automatic)
    return true;
  if (choice == matmul_choice::skinny)
    return has_warp_skinny(element_bytes);
  return has_warp_cut(static_cast<matmul_kernel>(static_cast<int>(choice) - 1));
}

/// How `skinny` is cut: a wave takes `columns` columns of op(B) and a quarter of k, in steps of
/// `step`; what is left at the end, in pieces.
struct skinny_cut {
  int columns, step, piece;
};
constexpr skinny_cut skinny_cut_of(operand_order order_b, int element_bytes) {
  const int wide = 16 / element_bytes;                        // elements of one load
  const int run = element_bytes >= 4 ? 1 : 8 / element_bytes; // of k, in one matrix instruction
  if (order_b == operand_order::k_contiguous)
    return {16, 4 * 4 * wide, 4 * wide};
  return {16 * wide, 4 * run * (element_bytes >= 4 ? 4 : 1), 4 * run};
}
inline constexpr int skinny_waves = 4;

} // namespace kernels

} // namespace wavetile
