/// \file
/// What the matrix product kernels work on.
#pragma once

#include <wavetile/kernels/matmul/config.hpp>
#include <wavetile/kernels/matmul/epilogue.hpp>
#include <wavetile/kernels/matmul/order.hpp>
#include <wavetile/matrix/fragment.hpp>

namespace wavetile {

/// What a scale argument holds one number for.
enum class scale_kind : uint8_t {
  none,   ///< no scale
  tensor, ///< the whole matrix
  outer,  ///< each row of op(A), or each column of op(B)
};

constexpr const char* name_of(scale_kind kind) {
  constexpr const char* names[] = {"none", "tensor", "outer"};
  return detail::name_in(names, kind);
}

/// Values of k, and columns of op(B), that share a scale in `matmul_block_scaled`.
inline constexpr int scale_block = 128;

namespace kernels {

/// Types of a kernel: D = epilogue(alpha scales op(A) op(B) + beta C).
///
/// `compute` is what the product becomes before anything else happens to it: fp64 for fp64, int32
/// for int32 results, else fp32.
template <class A, class B, class C, class D, class Epilogue, bool BlockScaled = false>
struct matmul_types {
  using a = A;
  using b = B;
  using c = C;
  using d = D;
  using epilogue = Epilogue;
  using accumulator = accumulator_t<A>;
  using compute = wavetile::detail::conditional_t<
      wavetile::detail::is_same_v<A, double>, double,
      wavetile::detail::conditional_t<wavetile::detail::is_same_v<D, int32_t>, int32_t, float>>;
  /// Kernels of 8-bit inputs can have scales.
  static constexpr bool scaled =
      sizeof(A) == 1 && wavetile::detail::is_same_v<compute, float> && !BlockScaled;
  /// Every 128 values of k have scales of their own; see `matmul_block_scaled`.
  static constexpr bool block_scaled = BlockScaled;
};

/// One product: the matrices as stored, row-major. Leading dimensions count elements.
template <class Types>
struct matmul_task {
  const typename Types::a* a;
  const typename Types::b* b;
  const typename Types::c* c; ///< null: none, and beta is 0
  typename Types::d* d;
  int64_t lda, ldb, ldc, ldd;
  int64_t m, n, k;
};

/// A product of a list.
template <class Types>
struct matmul_listed_task {
  matmul_task<Types> task;
  int64_t first_tile;    ///< where its tiles start in the numbering of all, parts counted
  int64_t splits;        ///< parts of k
  int64_t split_k;       ///< as of `matmul_arguments`
  int64_t first_partial; ///< elements of `partials` before its own
  int64_t first_combine; ///< workgroups of `matmul_combine` before its own
};

/// Arguments of every kernel.
template <class Types>
struct matmul_arguments {
  matmul_task<Types> task;                    ///< of batch 0
  int64_t batch_a, batch_b, batch_c, batch_d; ///< elements from one matrix of a batch to the next
  const matmul_listed_task<Types>* list; ///< a list of products instead; their number is `batches`
  int64_t batches;
  typename Types::compute alpha, beta;
  const float* scale_a;
  const float* scale_b;
  scale_kind kind_a, kind_b;
  int64_t scale_step_a[2]; ///< block scales: elements to the next row, to the next block of k
  int64_t scale_step_b[2]; ///< to the next block of columns, to the next block of k
  int64_t scale_batch_a, scale_batch_b; ///< to the next matrix of the batch
  operand_order order_a;                ///< for kernels that serve both
#if WAVETILE_CUDA
  bool aligned;   ///< rows of A and B start at multiples of 16 bytes
  int64_t groups; ///< tiles in all, which the workgroups of the tiled kernels share
#endif
  xcd_order order; ///< of all workgroups
  tile_path path;  ///< of the tiles of one matrix
  divider tiles;   ///< tiles of one matrix, or of its parts when split
  divider splits;  ///< parts of k
  int64_t split_k; ///< values of k of a part, a multiple of the kernel's step
  void* partials;  ///< [batch][split][m][n] of the accumulator type; of a list in its order
  int64_t first_group;
  typename Types::epilogue epilogue;
};

} // namespace kernels
} // namespace wavetile
