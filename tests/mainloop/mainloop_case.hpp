/// \file
/// The tiled product alone: a kernel around the main loop, and its result against fp64.
#pragma once

#include "device_buffer.hpp"
#include "random.hpp"
#include "verify.hpp"

#include <wavetile/kernels/matmul/mainloop.hpp>
#include <wavetile/matrix/global_operand.hpp>

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstring>

namespace wavetile::test {

/// D = A B over k_begin <= k < k_end.
template <class A, class B, operand_order OrderA, operand_order OrderB, matmul_config Config>
WAVETILE_KERNEL
    __attribute__((amdgpu_flat_work_group_size(Config.threads(), Config.threads()))) void
    multiply(view<const A, 2> a, view<const B, 2> b, view<accumulator_t<A>, 2> d, int64_t k_begin,
             int64_t k_end) {
  using loop = kernels::matmul_mainloop<A, B, OrderA, OrderB, Config>;
  WAVETILE_SHARED typename loop::storage memory;
  typename loop::accumulators sums;
  sums.clear();
  const int64_t row = static_cast<int64_t>(blockIdx.y) * Config.tile_m;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * Config.tile_n;
  loop::run(sums, a, b, row, column, k_begin, k_end, memory);
  loop::for_each_fragment(sums, [&](const auto& fragment, int r, int c) {
    store_accumulator(d, fragment, row + r, column + c);
  });
}

struct product_shape {
  int64_t m, n, k;
  int64_t padding = 0;      ///< of the rows of A and B, elements
  int64_t misalignment = 0; ///< of A and B, elements
  int64_t k_begin = 0;
  int64_t k_end = -1;  ///< k
  bool powers = false; ///< powers of two near 1, whose sums no format here rounds
};

/// An operand in memory: NaN (int8: -128) wherever no element of the product lies. It ends with its
/// allocation, where reading on is a fault.
template <class T>
class operand_buffer {
public:
  operand_buffer(int64_t rows, int64_t k, const product_shape& shape, operand_order order,
                 int64_t k_begin, int64_t k_end, std::uint64_t seed)
      : rows_(rows), k_(k), order_(order) {
    const bool dense = order == operand_order::k_contiguous;
    pitch_ = (dense ? k : rows) + shape.padding;
    const int64_t count = (dense ? rows : k) * pitch_ - shape.padding + shape.misalignment;
    std::vector<T> image(static_cast<std::size_t>(count > 0 ? count : 1));
    constexpr int nan = sizeof(T) == 1 ? 0x80 : 0xFF;
    std::memset(static_cast<void*>(image.data()), nan, image.size() * sizeof(T));
    values.resize(static_cast<std::size_t>(rows * k));
    random_source source(seed);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = k_begin; i < k_end; ++i) {
        T value;
        const double power =
            std::ldexp(source.between(0, 1) == 0 ? 1 : -1, static_cast<int>(source.between(0, 3)));
        if constexpr (std::is_same_v<T, int8_t>)
          value = static_cast<int8_t>(source.between(-128, 127));
        else if constexpr (std::is_arithmetic_v<T>)
          value = static_cast<T>(shape.powers ? power : source.normal());
        else
          value = T(static_cast<float>(shape.powers ? power : source.normal()));
        image[static_cast<std::size_t>(shape.misalignment +
                                       (dense ? r * pitch_ + i : i * pitch_ + r))] = value;
        values[static_cast<std::size_t>(r * k + i)] = as_double(value);
      }
    WAVETILE_TEST_HIP(hipMalloc(reinterpret_cast<void**>(&memory_), image.size() * sizeof(T)));
    WAVETILE_TEST_HIP(
        hipMemcpy(memory_, image.data(), image.size() * sizeof(T), hipMemcpyHostToDevice));
    data_ = memory_ + shape.misalignment;
  }
  ~operand_buffer() { (void)hipFree(memory_); }
  operand_buffer(const operand_buffer&) = delete;
  operand_buffer& operator=(const operand_buffer&) = delete;

  view<const T, 2> matrix() const {
    const bool dense = order_ == operand_order::k_contiguous;
    return make_strided_view<const T, 2>(data_, {rows_, k_},
                                         {dense ? pitch_ : 1, dense ? 1 : pitch_});
  }

  std::vector<double> values; ///< rows x k; 0 outside the k of the product

private:
  int64_t rows_, k_, pitch_;
  operand_order order_;
  T* memory_ = nullptr;
  T* data_ = nullptr;
};

/// |error| <= c K u sum |a| |b| with u = 2^-24 (fp64: 2^-53) and c = 2: each product, and each sum
/// it enters, is rounded or cut off at u of the terms so far at most once. Integers are exact.
template <class A, class B, operand_order OrderA, operand_order OrderB, matmul_config Config>
void check_product(const product_shape& shape) {
  using D = accumulator_t<A>;
  const int64_t k_end = shape.k_end < 0 ? shape.k : shape.k_end;
  const operand_buffer<A> a(shape.m, shape.k, shape, OrderA, shape.k_begin, k_end, 1);
  const operand_buffer<B> b(shape.n, shape.k, shape, OrderB, shape.k_begin, k_end, 2);
  const int64_t pitch = shape.n + 3;
  device_buffer<D> d(static_cast<std::size_t>(shape.m * pitch));
  const dim3 grid(static_cast<unsigned>((shape.n + Config.tile_n - 1) / Config.tile_n),
                  static_cast<unsigned>((shape.m + Config.tile_m - 1) / Config.tile_m));
  multiply<A, B, OrderA, OrderB, Config><<<grid, Config.threads()>>>(
      a.matrix(), b.matrix(), make_strided_view<D, 2>(d.data(), {shape.m, shape.n}, {pitch, 1}),
      shape.k_begin, k_end);
  WAVETILE_TEST_HIP(hipGetLastError());
  const std::vector<D> got = d.download();

  std::vector<D> result;
  std::vector<double> reference, bound;
  std::vector<D> padding;
  for (int64_t i = 0; i < shape.m; ++i) {
    const double* row = &a.values[static_cast<std::size_t>(i * shape.k)];
    for (int64_t j = 0; j < shape.n; ++j) {
      const double* column = &b.values[static_cast<std::size_t>(j * shape.k)];
      double sum = 0, magnitude = 0;
      for (int64_t k = shape.k_begin; k < k_end; ++k) {
        sum += row[k] * column[k];
        magnitude += std::fabs(row[k] * column[k]);
      }
      reference.push_back(sum);
      bound.push_back(2.0 * static_cast<double>(k_end - shape.k_begin) * magnitude *
                      (sizeof(D) == 8 ? 0x1p-53 : 0x1p-24));
      result.push_back(got[static_cast<std::size_t>(i * pitch + j)]);
    }
    for (int64_t j = shape.n; j < pitch; ++j)
      padding.push_back(got[static_cast<std::size_t>(i * pitch + j)]);
  }
  const bool exact = std::is_integral_v<D> || shape.powers;
  EXPECT_TRUE(verify_within(result, reference, [&](std::size_t i) { return exact ? 0 : bound[i]; }))
      << name_of(OrderA) << ' ' << name_of(OrderB) << ", " << shape.m << " x " << shape.n << " x "
      << shape.k << ", padding " << shape.padding << ", misalignment " << shape.misalignment
      << ", k from " << shape.k_begin << " to " << k_end;
  std::vector<D> poison(padding.size());
  std::memset(static_cast<void*>(poison.data()), 0xFF, poison.size() * sizeof(D));
  EXPECT_TRUE(verify_bits(padding, poison));
}

} // namespace wavetile::test
