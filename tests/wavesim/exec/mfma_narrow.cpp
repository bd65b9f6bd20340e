// Matrix instructions with 8-bit float inputs (groups of 16 products in halves) and xf32 inputs
// (groups of 4).
#include "exec/mfma_fused_kernel.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

template <MatrixType A, MatrixType B>
MatrixKernel find(const MfmaFact& f) {
  if (f.a != A || f.b != B)
    return nullptr;
  return f.m == 32 ? multiply_fused<MatrixShape<32, 32, 16>, A, B, 16, true>
                   : multiply_fused<MatrixShape<16, 16, 32>, A, B, 16, true>;
}

} // namespace

MatrixKernel find_narrow_kernel(const MfmaFact& f) {
  using enum MatrixType;
  if (f.sparse)
    return nullptr;
  if (f.a == xf32)
    return f.m == 32 ? multiply_fused<MatrixShape<32, 32, 4>, xf32, xf32, 4, false>
                     : multiply_fused<MatrixShape<16, 16, 8>, xf32, xf32, 4, false>;
  for (const MatrixKernel k :
       {find<fp8, fp8>(f), find<fp8, bf8>(f), find<bf8, fp8>(f), find<bf8, bf8>(f)})
    if (k)
      return k;
  return nullptr;
}

} // namespace wavesim::WAVESIM_SIMD_NS
