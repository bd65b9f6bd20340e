/// \file
/// Other libraries' matrix products, for the same benchmark: those that were found when this was
/// configured (WAVETILE_BENCH_ROCBLAS, WAVETILE_BENCH_HIPBLASLT); of a build for NVIDIA GPUs
/// cuBLAS, where the program finds its library when it runs.
#pragma once

#include <wavetile/core/bf16.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace bench {

/// d = a bᵀ: a of m x k, b of n x k, d of m x n elements, row-major, on the null stream. Throws.
using bf16_product =
    std::function<void(const wavetile::bf16* a, const wavetile::bf16* b, wavetile::bf16* d,
                       std::int64_t m, std::int64_t n, std::int64_t k)>;

/// Calls `each(name, product)` for every library there is, with products of a b instead, b of k x n
/// elements, where `b_transposed` is false (of cuBLAS only).
void for_each_matmul_peer(
    bool b_transposed,
    const std::function<void(const std::string& name, const bf16_product& product)>& each);

} // namespace bench
