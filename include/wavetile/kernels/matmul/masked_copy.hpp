/// \file
/// One step's operand from global memory to LDS, elements beyond it left out: for the end of k, and
/// for operands that wide loads cannot address.
#pragma once

#include <wavetile/core/view.hpp>
#include <wavetile/kernels/matmul/global_load.hpp>
#include <wavetile/kernels/matmul/scalar.hpp>
#include <wavetile/kernels/matmul/tiles.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// Fills the LDS tile of an operand with rows `row`, `row` + 1, … and k from `k` on. Elements
/// outside the operand's rows or from `k_end` on are zero, in both operands alike, so that nothing
/// beyond them counts, a NaN neither; they are not read. Any leading dimension and alignment.
/// `from` is rows x k with one of the strides 1. Whole pieces of a contiguous k are one load.
template <class Operand, operand_order Order, int Threads, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void copy_masked(const view<const T, 2>& from, int64_t row,
                                                       int64_t k, int64_t k_end,
                                                       typename Operand::tile_type to, int thread) {
  using pieces = typename Operand::pieces;
#pragma unroll 1
  for (int i = 0; i < pieces::count; ++i) {
    const coordinate at = pieces::place(thread, i);
    const int64_t r = row + Operand::row_of_lds(at.row);
    const int64_t first = k + at.column;
    int64_t step = 1;
    if constexpr (Order == operand_order::k_strided) {
      // one multiple of it for each element would be kept through the loop
      uint64_t pitch = static_cast<uint64_t>(from.stride[1]);
      detail::keep_scalar(pitch);
      step = static_cast<int64_t>(pitch);
    }
    const int64_t pitch = Order == operand_order::k_contiguous ? from.stride[0] : 1;
    vec<T, pieces::width> piece{};
    if (r < from.extent[0]) {
      const auto source = reinterpret_cast<uint64_t>(from.data + (r * pitch + first * step));
      constexpr int words = Order == operand_order::k_contiguous
                                ? pieces::width * static_cast<int>(sizeof(T)) / 4
                                : 0;
      bool whole = false;
      if constexpr (words > 0) {
        whole = first + pieces::width <= k_end &&
                (WAVETILE_AMDGCN || source % (uint64_t{words} * 4) == 0);
        if (whole)
          piece =
              wavetile::detail::bit_cast<vec<T, pieces::width>>(detail::load_words<words>(source));
      }
      if (!whole) {
#pragma unroll
        for (int e = 0; e < pieces::width; ++e)
          if (first + e < k_end)
            piece[e] =
                detail::load_element<T>(source + static_cast<uint64_t>(e * step) * sizeof(T));
      }
    }
    to.write_vec(at.row, at.column, piece);
  }
}

} // namespace wavetile::kernels

#endif
