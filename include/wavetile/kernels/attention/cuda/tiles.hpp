/// \file
/// Q, K and V in LDS on NVIDIA GPUs: all as they are in memory, because `ldmatrix` transposes V on
/// the way to the registers.
#pragma once

#include <wavetile/kernels/attention/config.hpp>
#include <wavetile/lds/bank_conflicts.hpp>
#include <wavetile/matrix/warp_operand.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// A tile of rows of a head: see `attention_config::pitch`.
constexpr layout head_layout(int rows, int elements) {
  const int chunks = elements / 8;
  if (chunks % 8 == 0)
    return xor_swizzled(rows, elements, 2, 16, 7);
  if (chunks == 4)
    return xor_swizzled(rows, elements, 2, 16, 3, 1);
  return padded(rows, elements, 2, attention_config::pitch(elements) - 2 * elements);
}

/// Byte offset of an element. nvcc takes the layout as a template argument only: a static member
/// would have to exist in device memory.
template <layout Where>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t offset_in(int row, int column) {
  return static_cast<uint32_t>(Where.offset(row, column));
}

/// Addresses of the reads of a `warp_operand`, from one offset a lane: what depends on the lane and
/// what on the place touches different bits of rows and columns, so the swizzle is the exclusive-or
/// of both swizzles. What of the place lies outside the bits that a swizzle changes is an addition,
/// which the instruction's offset takes.
template <layout Where, class Operand>
struct lane_address {
  static constexpr int swizzled = Where.mask * Where.chunk;
  uint32_t own;

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE explicit lane_address(int lane)
      : own(static_cast<uint32_t>(
            Where.offset(Operand::place(lane).row, Operand::place(lane).column))) {
    // computed here, not once more before each use
    asm volatile("" : "+r"(own));
  }

  /// The same in the tile at `base`, a multiple of 128.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE lane_address in(uint32_t base) const {
    lane_address result = *this;
    result.own += base;
    return result;
  }

  /// At tile row `row`, a multiple of 16, and tile column `column`, a multiple of 16 elements.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t at(int row, int column) const {
    const int place = (column * Where.element_bytes) ^ (Where.swizzle(row) * Where.chunk);
    return (own ^ static_cast<uint32_t>(place & swizzled)) +
           static_cast<uint32_t>(row * Where.pitch + (place & ~swizzled));
  }
};

/// Where a lane's pairs of an accumulator are: for `lane_address`, at rows a multiple of 8 and
/// columns a multiple of 8.
struct accumulator_pairs {
  WAVETILE_HD static constexpr coordinate place(int lane) { return {lane / 4, lane % 4 * 2}; }
};

/// The tiles of a cut for 16-bit `T`.
template <class T, attention_config Config>
struct attention_warp_tiles {
  using query_operand = warp_operand<fragment_role::a, T, warp_order::k_contiguous>;
  using key_operand = warp_operand<fragment_role::b, T, warp_order::k_contiguous>;
  using value_operand = warp_operand<fragment_role::b, T, warp_order::k_strided>;

  static constexpr layout query_layout = head_layout(Config.rows(), Config.head.qk);
  static constexpr layout key_layout = head_layout(Config.keys, Config.head.qk);
  static constexpr layout value_layout = head_layout(Config.keys, Config.head.v);

  /// Chunks of 16 bytes that a copy of the workgroup brings: neighbouring threads neighbouring
  /// chunks of a row, then those of the next row.
  static constexpr coordinate chunk_of(int number, int elements) {
    return {number / (elements / 8), number % (elements / 8) * 8};
  }
  template <layout Where>
  static constexpr lds_access chunk_write = lds_write(16, [](int lane) {
    return lane < 32 ? chunk_of(lane, Where.columns) : inactive_lane;
  });
  static_assert(conflict_free(query_layout, targets::sm80, query_operand::access) &&
                conflict_free(key_layout, targets::sm80, key_operand::access) &&
                conflict_free(value_layout, targets::sm80, value_operand::access));

  static constexpr int query_pitch = query_layout.pitch;
  using query_address = lane_address<query_layout, query_operand>;
  using key_address = lane_address<key_layout, key_operand>;
  using value_address = lane_address<value_layout, value_operand>;

  static constexpr int query_bytes = query_layout.bytes();
  static constexpr int key_bytes = key_layout.bytes();
  static constexpr int value_bytes = value_layout.bytes();
  static constexpr int stage_bytes = !Config.shares_rows       ? key_bytes + value_bytes
                                     : key_bytes > value_bytes ? key_bytes
                                                               : value_bytes;
  static constexpr int shared_bytes = Config.shares_rows ? 4 * Config.rows() * Config.keys : 0;
  static_assert(query_bytes + Config.stages * stage_bytes + shared_bytes == Config.lds_bytes());
  static_assert(query_bytes % 128 == 0 && key_bytes % 128 == 0 && value_bytes % 128 == 0);
};

} // namespace wavetile::kernels

#endif
