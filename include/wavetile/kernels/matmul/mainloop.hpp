/// \file
/// The loop over k of the tiled matrix product.
#pragma once

#include <wavetile/group/barrier.hpp>
#include <wavetile/kernels/matmul/masked_copy.hpp>
#include <wavetile/matrix/mma.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// A workgroup's piece of D = A * B: for its `Config.tile_m` x `Config.tile_n` elements
///
///     D(i, j) += sum over k of A(row + i, k) * B(k, column + j)
///
/// - `A`, `B`: the library's own types, of one size: fp64, fp32, fp16, bf16, int8 twice, or any two
///   of the fnuz fp8 types. Accumulators are fp64, int32 (wrapping), else fp32.
/// - Operands are views of M x K and N x K elements. `k_contiguous`: stride[1] is 1, stride[0] the
///   leading dimension; `k_strided`: stride[0] is 1, stride[1] the leading dimension.
/// - Rows of A beyond M and of B beyond N are never read; what the accumulators hold for them means
///   nothing. Elements of k from `k_end` on are never read and count as zero in both operands.
/// - Any alignment of an element, any leading dimension.
///
/// The workgroup is one-dimensional, of `Config.threads()` work-items, all of which call.
/// LDS: `storage`, placed by the caller, which may use it for other things before and after, with a
/// barrier between.
template <class A, class B, operand_order OrderA, operand_order OrderB, matmul_config Config>
struct matmul_mainloop {
  static_assert(sizeof(A) == sizeof(B),
                "wavetile::kernels::matmul_mainloop: A and B differ in size");
  static_assert(Config.valid(), "wavetile::kernels::matmul_mainloop: the config does not divide");

  using operand_a = operand_tile<A, OrderA, fragment_role::a, Config>;
  using operand_b = operand_tile<B, OrderB, fragment_role::b, Config>;
  static constexpr matrix_shape shape = operand_a::shape;
  using accumulator = fragment<fragment_role::accumulator, shape, accumulator_t<A>>;
  static constexpr matmul_config config = Config;
  static constexpr int tile_k = operand_a::depth; ///< values of k in one step
  static constexpr int fragments_m = Config.wave_m() / Config.instruction; ///< of a wave
  static constexpr int fragments_n = Config.wave_n() / Config.instruction;

  /// LDS of a workgroup.
  struct storage {
    struct stage {
      typename operand_a::tile_type::storage a;
      typename operand_b::tile_type::storage b;
    } stages[2];
  };

  /// What a lane holds of the workgroup's piece.
  struct accumulators {
    accumulator at[fragments_m][fragments_n];

    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void clear() {
#pragma unroll
      for (int i = 0; i < fragments_m; ++i)
#pragma unroll
        for (int j = 0; j < fragments_n; ++j)
          at[i][j] = accumulator{};
    }
  };

  /// Place of the calling wave's first fragment inside the piece; uniform.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static coordinate wave_place() {
    const int wave = wave_id();
    return {wave / Config.waves_n * Config.wave_m(), wave % Config.waves_n * Config.wave_n()};
  }

  /// Calls `f(fragment, row, column)` for each fragment of the calling wave, with the place of its
  /// first element inside the workgroup's piece (uniform): element i of lane l is
  /// (row, column) + `accumulator::element(l, i)`.
  template <class F>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void for_each_fragment(accumulators& d, const F& f) {
    const coordinate first = wave_place();
#pragma unroll
    for (int i = 0; i < fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < fragments_n; ++j)
        f(d.at[i][j], first.row + i * Config.instruction, first.column + j * Config.instruction);
  }

  /// Adds the products for k_begin <= k < k_end; see above. Ends with a barrier behind the last
  /// access to `memory`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void run(accumulators& d, const view<const A, 2>& a,
                                                        const view<const B, 2>& b, int64_t row,
                                                        int64_t column, int64_t k_begin,
                                                        int64_t k_end, storage& memory) {
    const int thread = thread_id();
    const typename operand_a::tile_type lds_a(memory.stages[0].a);
    const typename operand_b::tile_type lds_b(memory.stages[0].b);
#pragma unroll 1
    for (int64_t k = k_begin; k < k_end; k += tile_k) {
      copy_masked<operand_a, OrderA, Config.threads()>(a, row, k, k_end, lds_a, thread);
      copy_masked<operand_b, OrderB, Config.threads()>(b, column, k, k_end, lds_b, thread);
      group::barrier();
      multiply(d, lds_a, lds_b);
      group::barrier();
    }
  }

private:
  static constexpr int reads_deep = tile_k / operand_a::reader::depth;

  /// D += what one stage of LDS holds.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void multiply(accumulators& d,
                                                             typename operand_a::tile_type lds_a,
                                                             typename operand_b::tile_type lds_b) {
    const coordinate first = wave_place();
    for (int s = 0; s < reads_deep; ++s) {
      typename operand_a::pack pack_a[fragments_m];
      typename operand_b::pack pack_b[fragments_n];
      for (int i = 0; i < fragments_m; ++i)
        pack_a[i] =
            operand_a::reader::load(lds_a, operand_a::lds_row(first.row + i * Config.instruction),
                                    s * operand_a::reader::depth);
      for (int j = 0; j < fragments_n; ++j)
        pack_b[j] = operand_b::reader::load(
            lds_b, operand_b::lds_row(first.column + j * Config.instruction),
            s * operand_b::reader::depth);
      for (int i = 0; i < fragments_m; ++i)
        for (int j = 0; j < fragments_n; ++j)
          mma(d.at[i][j], pack_a[i], pack_b[j]);
    }
  }
};

} // namespace wavetile::kernels

#endif
