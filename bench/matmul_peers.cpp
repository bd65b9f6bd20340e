#include "matmul_peers.hpp"

#include "common/device_run.hpp"

#include <memory>

#if WAVETILE_BENCH_CUBLAS
#include <dlfcn.h>
#endif
#if WAVETILE_BENCH_ROCBLAS
#include <rocblas/rocblas.h>
#endif
#if WAVETILE_BENCH_HIPBLASLT
#include <hipblaslt/hipblaslt.h>
#endif

namespace bench {

#if WAVETILE_BENCH_ROCBLAS
namespace {

bf16_product rocblas_product() {
  rocblas_handle raw = nullptr;
  if (rocblas_create_handle(&raw) != rocblas_status_success)
    throw std::runtime_error("rocblas_create_handle failed");
  const std::shared_ptr<_rocblas_handle> handle(
      raw, [](rocblas_handle h) { (void)rocblas_destroy_handle(h); });
  return [handle](const wavetile::bf16* a, const wavetile::bf16* b, wavetile::bf16* d,
                  std::int64_t m, std::int64_t n, std::int64_t k) {
    const float one = 1, zero = 0;
    const auto size = [](std::int64_t value) { return static_cast<rocblas_int>(value); };
    // Column-major, so it computes dᵀ = b aᵀ.
    const rocblas_status outcome = rocblas_gemm_ex(
        handle.get(), rocblas_operation_transpose, rocblas_operation_none, size(n), size(m),
        size(k), &one, b, rocblas_datatype_bf16_r, size(k), a, rocblas_datatype_bf16_r, size(k),
        &zero, d, rocblas_datatype_bf16_r, size(n), d, rocblas_datatype_bf16_r, size(n),
        rocblas_datatype_f32_r, rocblas_gemm_algo_standard, 0, 0);
    if (outcome != rocblas_status_success)
      throw std::runtime_error(std::string("rocblas_gemm_ex: ") +
                               rocblas_status_to_string(outcome));
  };
}

} // namespace
#endif

#if WAVETILE_BENCH_HIPBLASLT
namespace {

void check_lt(hipblasStatus_t outcome, const char* what) {
  if (outcome != HIPBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": status " + std::to_string(outcome));
}

/// One shape's problem with the library's first choice of kernel.
class lt_problem {
public:
  lt_problem(hipblasLtHandle_t handle, std::int64_t m, std::int64_t n, std::int64_t k)
      : handle_(handle), workspace_(workspace_bytes) {
    check_lt(hipblasLtMatmulDescCreate(&product_, HIPBLAS_COMPUTE_32F, HIP_R_32F),
             "hipblasLtMatmulDescCreate");
    const hipblasOperation_t transposed = HIPBLAS_OP_T;
    check_lt(hipblasLtMatmulDescSetAttribute(product_, HIPBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                             sizeof transposed),
             "hipblasLtMatmulDescSetAttribute");
    const auto layout = [](hipblasLtMatrixLayout_t& made, std::int64_t rows, std::int64_t columns) {
      check_lt(hipblasLtMatrixLayoutCreate(&made, HIP_R_16BF, static_cast<std::uint64_t>(rows),
                                           static_cast<std::uint64_t>(columns), rows),
               "hipblasLtMatrixLayoutCreate");
    };
    layout(b_, k, n); // column-major: dᵀ = b aᵀ
    layout(a_, k, m);
    layout(d_, n, m);
    hipblasLtMatmulPreference_t preference{};
    check_lt(hipblasLtMatmulPreferenceCreate(&preference), "hipblasLtMatmulPreferenceCreate");
    const std::uint64_t bytes = workspace_bytes;
    check_lt(hipblasLtMatmulPreferenceSetAttribute(
                 preference, HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
             "hipblasLtMatmulPreferenceSetAttribute");
    int found = 0;
    check_lt(hipblasLtMatmulAlgoGetHeuristic(handle_, product_, b_, a_, d_, d_, preference, 1,
                                             &chosen_, &found),
             "hipblasLtMatmulAlgoGetHeuristic");
    (void)hipblasLtMatmulPreferenceDestroy(preference);
    if (found == 0)
      throw std::runtime_error("hipBLASLt has no kernel for this product");
  }
  ~lt_problem() {
    for (const hipblasLtMatrixLayout_t layout : {a_, b_, d_})
      (void)hipblasLtMatrixLayoutDestroy(layout);
    (void)hipblasLtMatmulDescDestroy(product_);
  }
  lt_problem(const lt_problem&) = delete;
  lt_problem& operator=(const lt_problem&) = delete;

  void run(const wavetile::bf16* a, const wavetile::bf16* b, wavetile::bf16* d) const {
    const float one = 1, zero = 0;
    check_lt(hipblasLtMatmul(handle_, product_, &one, b, b_, a, a_, &zero, d, d_, d, d_,
                             &chosen_.algo, workspace_.at(0), workspace_bytes, nullptr),
             "hipblasLtMatmul");
  }

private:
  static constexpr std::int64_t workspace_bytes = std::int64_t{64} << 20;
  hipblasLtHandle_t handle_;
  rotating_array<unsigned char> workspace_;
  hipblasLtMatmulDesc_t product_{};
  hipblasLtMatrixLayout_t a_{}, b_{}, d_{};
  hipblasLtMatmulHeuristicResult_t chosen_{};
};

bf16_product hipblaslt_product() {
  hipblasLtHandle_t handle{};
  check_lt(hipblasLtCreate(&handle), "hipblasLtCreate"); // kept until the program ends
  const auto last = std::make_shared<std::unique_ptr<lt_problem>>();
  const auto extents = std::make_shared<std::array<std::int64_t, 3>>();
  return
      [handle, last, extents](const wavetile::bf16* a, const wavetile::bf16* b, wavetile::bf16* d,
                              std::int64_t m, std::int64_t n, std::int64_t k) {
        const std::array<std::int64_t, 3> wanted{m, n, k};
        if (!*last || *extents != wanted) {
          *last = std::make_unique<lt_problem>(handle, m, n, k);
          *extents = wanted;
        }
        (*last)->run(a, b, d);
      };
}

} // namespace
#endif

#if WAVETILE_BENCH_CUBLAS
namespace {

/// cuBLAS as it is at run time: its headers and library need not be there to build.
bf16_product cublas_product(bool b_transposed) {
  void* library = nullptr;
  for (const char* name : {"libcublas.so", "libcublas.so.13", "libcublas.so.12"})
    if (library == nullptr)
      library = dlopen(name, RTLD_NOW);
  if (library == nullptr)
    return {};
  using create_function = int (*)(void**);
  using product_function =
      int (*)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int,
              int, const void*, void*, int, int, int, int);
  const auto create = reinterpret_cast<create_function>(dlsym(library, "cublasCreate_v2"));
  const auto product = reinterpret_cast<product_function>(dlsym(library, "cublasGemmEx"));
  void* handle = nullptr; // kept until the program ends
  if (create == nullptr || product == nullptr || create(&handle) != 0)
    throw std::runtime_error("cuBLAS has no cublasCreate_v2 or cublasGemmEx, or does not start");
  return [=](const wavetile::bf16* a, const wavetile::bf16* b, wavetile::bf16* d, std::int64_t m,
             std::int64_t n, std::int64_t k) {
    constexpr int bf16 = 14, compute_fp32 = 68, any_algorithm = -1; // cublas_api.h, library_types.h
    const float one = 1, zero = 0;
    const auto size = [](std::int64_t value) { return static_cast<int>(value); };
    // column-major, so it computes dᵀ = op(b)ᵀ aᵀ
    const int outcome = product(handle, b_transposed ? 1 : 0, 0, size(n), size(m), size(k), &one, b,
                                bf16, size(b_transposed ? k : n), a, bf16, size(k), &zero, d, bf16,
                                size(n), compute_fp32, any_algorithm);
    if (outcome != 0)
      throw std::runtime_error("cublasGemmEx: status " + std::to_string(outcome));
  };
}

} // namespace
#endif

void for_each_matmul_peer(
    [[maybe_unused]] bool b_transposed,
    [[maybe_unused]] const std::function<void(const std::string&, const bf16_product&)>& each) {
#if WAVETILE_BENCH_CUBLAS
  if (const bf16_product product = cublas_product(b_transposed))
    each("cublas", product);
#endif
#if WAVETILE_BENCH_HIPBLASLT
  if (b_transposed)
    each("hipblaslt", hipblaslt_product());
#endif
#if WAVETILE_BENCH_ROCBLAS
  if (b_transposed)
    each("rocblas", rocblas_product());
#endif
}

} // namespace bench
