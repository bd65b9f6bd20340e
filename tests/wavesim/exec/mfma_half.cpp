// Matrix instructions with f16 and bf16 inputs: groups of min(8, k) products.
#include "exec/mfma_fused_kernel.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

template <MatrixType Type>
MatrixKernel find(const MfmaFact& f) {
  const auto is = [&](unsigned m, unsigned k, unsigned blocks) {
    return f.m == m && f.k == k && f.blocks == blocks;
  };
  if (is(32, 4, 2))
    return multiply_fused<MatrixShape<32, 32, 4, 2>, Type, Type, 4, false>;
  if (is(16, 4, 4))
    return multiply_fused<MatrixShape<16, 16, 4, 4>, Type, Type, 4, false>;
  if (is(4, 4, 16))
    return multiply_fused<MatrixShape<4, 4, 4, 16>, Type, Type, 4, false>;
  if (is(32, 8, 1))
    return multiply_fused<MatrixShape<32, 32, 8>, Type, Type, 8, false>;
  if (is(16, 16, 1))
    return multiply_fused<MatrixShape<16, 16, 16>, Type, Type, 8, false>;
  return nullptr;
}

} // namespace

MatrixKernel find_half_kernel(const MfmaFact& f) {
  if (f.sparse)
    return nullptr;
  return f.a == MatrixType::f16    ? find<MatrixType::f16>(f)
         : f.a == MatrixType::bf16 ? find<MatrixType::bf16>(f)
                                   : nullptr;
}

} // namespace wavesim::WAVESIM_SIMD_NS
