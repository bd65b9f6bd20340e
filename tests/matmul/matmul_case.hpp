/// \file
/// A matrix product run on the device and compared with fp64, element by element.
#pragma once

#include "device_buffer.hpp"
#include "random.hpp"
#include "verify.hpp"

#include <wavetile/matmul.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace wavetile::test {

/// Programs that test what does not depend on tile sizes leave out kernels: "compact" and "skinny"
/// are compiled, and "compact" stands for no name.
#ifdef WAVETILE_TEST_FEW_KERNELS
inline constexpr bool few_kernels = true;
#else
inline constexpr bool few_kernels = false;
#endif

/// Shape, layout and factors of a product.
struct matmul_case {
  std::int64_t m = 1, n = 1, k = 1, batches = 1;
  bool transpose_a = false, transpose_b = false;
  double alpha = 1, beta = 0;
  std::int64_t pad_a = 0, pad_b = 0, pad_c = 0, pad_d = 0; ///< elements behind each row
  std::size_t shift_a = 0, shift_b = 0, shift_d = 0;       ///< elements past a 256-byte boundary
  int splits = 0;
  const char* kernel = nullptr;
  bool rank_3 = false;

  std::string text() const {
    return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) + " " +
           (transpose_a ? "T" : "N") + (transpose_b ? "T" : "N") + " kernel " +
           (kernel ? kernel : "-") + " splits " + std::to_string(splits) + " batches " +
           std::to_string(batches);
  }
};

/// The 8-bit floats that devices of this build multiply.
#if WAVETILE_CUDA
using fp8_e4m3 = fp8_e4m3_ocp;
using fp8_e5m2 = fp8_e5m2_ocp;
#else
using fp8_e4m3 = fp8_e4m3_fnuz;
using fp8_e5m2 = fp8_e5m2_fnuz;
#endif
template <class T>
inline constexpr bool is_e4m3 = std::is_same_v<T, fp8_e4m3_fnuz> || std::is_same_v<T, fp8_e4m3_ocp>;
template <class T>
inline constexpr bool is_e5m2 = std::is_same_v<T, fp8_e5m2_fnuz> || std::is_same_v<T, fp8_e5m2_ocp>;

/// Half a unit in the last place of a normal number of T, relative, and the absolute rounding error
/// of denormals.
template <class T>
struct result_rounding {
  static constexpr double relative = std::is_same_v<T, double>  ? 0x1p-53
                                     : std::is_same_v<T, float> ? 0x1p-24
                                     : std::is_same_v<T, fp16>  ? 0x1p-11
                                     : std::is_same_v<T, bf16>  ? 0x1p-8
                                     : is_e4m3<T>               ? 0x1p-4
                                     : is_e5m2<T>               ? 0x1p-3
                                                                : 0.0;
  static constexpr double absolute = std::is_same_v<T, fp16>            ? 0x1p-25
                                     : std::is_same_v<T, fp8_e4m3_fnuz> ? 0x1p-11
                                     : std::is_same_v<T, fp8_e5m2_fnuz> ? 0x1p-18
                                     : std::is_same_v<T, fp8_e4m3_ocp>  ? 0x1p-10
                                     : std::is_same_v<T, fp8_e5m2_ocp>  ? 0x1p-17
                                     : std::is_same_v<T, std::int8_t>   ? 0.5
                                                                        : 0.0;
};

/// Matrices of a batch in one array: row-major, `pad` poisoned elements behind each row, the last
/// element of all right at the end of the buffer.
template <class T>
class stored_matrices {
public:
  stored_matrices(std::int64_t batches, std::int64_t rows, std::int64_t columns, std::int64_t pad,
                  std::size_t shift)
      : batches_(batches), rows_(rows), columns_(columns), leading_(columns + pad),
        buffer_(span(), shift) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t batch_stride() const { return rows_ * leading_; }
  std::size_t span() const {
    const std::int64_t last = (batches_ - 1) * batch_stride() + (rows_ - 1) * leading_ + columns_;
    return rows_ == 0 || columns_ == 0 || batches_ == 0 ? 0 : static_cast<std::size_t>(last);
  }
  std::size_t index(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(batch * batch_stride() + row * leading_ + column);
  }

  /// Everything poison, then element by element what `value` says.
  template <class F>
  void fill(F&& value) {
    std::vector<T> image(span());
    if (!image.empty())
      std::memset(static_cast<void*>(image.data()), poison<T>(), image.size() * sizeof(T));
    for (std::int64_t b = 0; b < batches_; ++b)
      for (std::int64_t r = 0; r < rows_; ++r)
        for (std::int64_t c = 0; c < columns_; ++c)
          image[index(b, r, c)] = value();
    buffer_.upload(std::span<const T>(image));
    host_ = image;
  }
  const T& host(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    return host_[index(batch, row, column)];
  }

  view<T, 3> as_batch() {
    return make_strided_view<T, 3>(buffer_.data(), {batches_, rows_, columns_},
                                   {batch_stride(), leading_, 1});
  }
  view<T, 2> as_matrix() {
    return make_strided_view<T, 2>(buffer_.data(), {rows_, columns_}, {leading_, 1});
  }
  device_buffer<T>& buffer() { return buffer_; }

  /// No element between the rows has changed since construction or `fill`.
  testing::AssertionResult padding_untouched(const std::vector<T>& now) const {
    const T* before = host_.empty() ? nullptr : host_.data();
    unsigned char poisoned[sizeof(T)];
    std::memset(poisoned, device_buffer<T>::poison_byte, sizeof(T));
    for (std::int64_t b = 0; b < batches_; ++b)
      for (std::int64_t r = 0; r < rows_; ++r)
        for (std::int64_t c = columns_; c < leading_; ++c) {
          const std::size_t i = index(b, r, c);
          if (i >= now.size())
            continue;
          const void* expected = before ? static_cast<const void*>(before + i) : poisoned;
          if (std::memcmp(&now[i], expected, sizeof(T)) != 0)
            return testing::AssertionFailure()
                   << "padding of row " << r << " was written, " << c - columns_ << " behind it";
        }
    return testing::AssertionSuccess();
  }

private:
  /// A NaN in every floating-point format; the FNUZ types have one at 0x80 only.
  template <class U>
  static constexpr int poison() {
    return std::is_same_v<U, fp8_e4m3_fnuz> || std::is_same_v<U, fp8_e5m2_fnuz> ? 0x80
           : std::is_same_v<U, std::int8_t>                                     ? 0x55
                                                                                : 0xFF;
  }

  std::int64_t batches_, rows_, columns_, leading_;
  device_buffer<T> buffer_;
  std::vector<T> host_;
};

/// Random elements: normals of deviation 1, whole bytes for int8.
template <class T>
T random_element(random_source& source) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(source.between(-128, 127));
  else if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(source.normal());
  else
    return T(static_cast<float>(source.normal()));
}

/// A product of `A` and `B` with result `D`, and its memory.
template <class A, class B, class D, class C = D>
struct matmul_run {
  matmul_case test;
  stored_matrices<A> a;
  stored_matrices<B> b;
  stored_matrices<C> c;
  stored_matrices<D> d;
  device_buffer<unsigned char> memory;
  matmul_options options;

  explicit matmul_run(const matmul_case& t, std::int64_t columns_per_output = 1,
                      std::int64_t workspace = 0)
      : test(t),
        a(t.batches, t.transpose_a ? t.k : t.m, t.transpose_a ? t.m : t.k, t.pad_a, t.shift_a),
        b(t.batches, t.transpose_b ? t.n : t.k, t.transpose_b ? t.k : t.n, t.pad_b, t.shift_b),
        c(t.beta != 0 ? t.batches : 0, t.m, t.n, t.pad_c, 0),
        d(t.batches, t.m, t.n / columns_per_output, t.pad_d, t.shift_d),
        memory(static_cast<std::size_t>(
            workspace > 0 ? workspace
                          : (t.splits > 1 ? t.splits * t.batches * t.m * t.n * 8 : 0))) {
    options.transpose_a = t.transpose_a;
    options.transpose_b = t.transpose_b;
    options.alpha = t.alpha;
    options.beta = t.beta;
    options.splits = t.splits;
    options.kernel = t.kernel;
    options.memory = {memory.data(), static_cast<std::int64_t>(memory.size())};
    random_source source(static_cast<std::uint64_t>(t.m * 1000003 + t.n * 1009 + t.k));
    a.fill([&] { return random_element<A>(source); });
    b.fill([&] { return random_element<B>(source); });
    if (t.beta != 0)
      c.fill([&] { return random_element<C>(source); });
  }

  double a_at(std::int64_t batch, std::int64_t row, std::int64_t k) const {
    return as_double(test.transpose_a ? a.host(batch, k, row) : a.host(batch, row, k));
  }
  double b_at(std::int64_t batch, std::int64_t k, std::int64_t column) const {
    return as_double(test.transpose_b ? b.host(batch, column, k) : b.host(batch, k, column));
  }

  /// With `Choice`, or the kernel that the case names; see `few_kernels`.
  template <matmul_choice Choice = matmul_choice::automatic, class Epilogue = epilogue::steps<>>
  status run(const Epilogue& steps = {}, hipStream_t stream = nullptr) {
    if constexpr (Choice == matmul_choice::automatic && few_kernels) {
      if (test.kernel != nullptr && std::string(test.kernel) == "skinny")
        return run_only<matmul_choice::skinny>(steps, stream);
      return run_only<matmul_choice::compact>(steps, stream);
    } else {
      return run_only<Choice>(steps, stream);
    }
  }

  template <matmul_choice Choice, class Epilogue>
  status run_only(const Epilogue& steps, hipStream_t stream) {
    if (test.rank_3 || test.batches != 1) {
      const view<const A, 3> in_a = a.as_batch();
      const view<const B, 3> in_b = b.as_batch();
      if (test.beta != 0)
        return matmul<Choice>(in_a, in_b, view<const C, 3>(c.as_batch()), d.as_batch(), options,
                              stream, steps);
      return matmul<Choice>(in_a, in_b, d.as_batch(), options, stream, steps);
    }
    const view<const A, 2> in_a = a.as_matrix();
    const view<const B, 2> in_b = b.as_matrix();
    if (test.beta != 0)
      return matmul<Choice>(in_a, in_b, view<const C, 2>(c.as_matrix()), d.as_matrix(), options,
                            stream, steps);
    return matmul<Choice>(in_a, in_b, d.as_matrix(), options, stream, steps);
  }

  /// alpha op(A) op(B) + beta C in fp64, and what bounds its error.
  struct element {
    double value = 0, magnitude = 0;
  };
  std::vector<element> reference() const {
    std::vector<element> result;
    std::vector<double> row(static_cast<std::size_t>(test.k));
    std::vector<double> columns(static_cast<std::size_t>(test.k * test.n));
    result.reserve(static_cast<std::size_t>(test.batches * test.m * test.n));
    for (std::int64_t batch = 0; batch < test.batches; ++batch) {
      for (std::int64_t j = 0; j < test.n; ++j)
        for (std::int64_t k = 0; k < test.k; ++k)
          columns[static_cast<std::size_t>(j * test.k + k)] = b_at(batch, k, j);
      for (std::int64_t i = 0; i < test.m; ++i) {
        for (std::int64_t k = 0; k < test.k; ++k)
          row[static_cast<std::size_t>(k)] = a_at(batch, i, k);
        for (std::int64_t j = 0; j < test.n; ++j) {
          const double* column = columns.data() + j * test.k;
          double sum = 0, magnitude = 0;
          for (std::size_t k = 0; k < row.size(); ++k) {
            sum += row[k] * column[k];
            magnitude += std::fabs(row[k] * column[k]);
          }
          const double of_c = test.beta != 0 ? test.beta * as_double(c.host(batch, i, j)) : 0;
          result.push_back(
              {test.alpha * sum + of_c, std::fabs(test.alpha) * magnitude + std::fabs(of_c)});
        }
      }
    }
    return result;
  }

  /// The result's elements, the padding of its rows checked.
  std::vector<D> result() {
    const auto image = d.buffer().download();
    EXPECT_TRUE(d.padding_untouched(image)) << test.text();
    std::vector<D> values;
    for (std::int64_t batch = 0; batch < test.batches; ++batch)
      for (std::int64_t i = 0; i < test.m; ++i)
        for (std::int64_t j = 0; j < d.columns(); ++j)
          values.push_back(image[d.index(batch, i, j)]);
    return values;
  }

  /// Error allowed without an epilogue: see `matmul_error_factor`. The reference's own error is
  /// that of fp64; where fp64 is what is tested, as large again.
  static double allowed(const element& e, std::int64_t k) {
    const double unit = std::is_same_v<A, double> ? 0x1p-53 : 0x1p-24;
    const bool exact = std::is_same_v<D, std::int32_t>;
    const double depth = static_cast<double>(k > 0 ? k : 1);
    return result_rounding<D>::relative * std::fabs(e.value) + result_rounding<D>::absolute +
           (exact ? 0 : matmul_error_factor * depth * unit * e.magnitude);
  }

  testing::AssertionResult agrees() {
    const auto expected = reference();
    const auto got = result();
    std::vector<double> values;
    for (const auto& e : expected)
      values.push_back(e.value);
    const verification outcome =
        verify_within(got, values, [&](std::size_t i) { return allowed(expected[i], test.k); });
    if (outcome)
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << test.text() << ": " << outcome.message;
  }
};

/// Whether devices of this build have the kernel that a case or a call names. NVIDIA's have no
/// `skinny` for some types; a plan refuses it.
template <class A>
bool has_kernel(const matmul_case& test, matmul_choice choice = matmul_choice::automatic) {
#if WAVETILE_CUDA
  if (choice == matmul_choice::automatic && !detail::find_choice(test.kernel, choice).ok())
    return false;
  return kernels::has_kernel(choice, targets::sm90, static_cast<int>(sizeof(A)));
#else
  (void)test, (void)choice;
  return true;
#endif
}

/// Runs a case and compares it with fp64; where there is no kernel, expects that to be said and the
/// result to be left alone.
template <class A, class B, class D, class C = D, matmul_choice Choice = matmul_choice::automatic>
testing::AssertionResult check_matmul(const matmul_case& test) {
  matmul_run<A, B, D, C> run(test);
  const status outcome = run.template run<Choice>();
  if (!has_kernel<A>(test, Choice)) {
    if (outcome.code() != status_code::unsupported_shape)
      return testing::AssertionFailure()
             << test.text() << ": not refused as a kernel that there is not: " << outcome.message();
    const std::vector<D> now = run.d.buffer().download();
    std::vector<unsigned char> before(now.size() * sizeof(D), device_buffer<D>::poison_byte);
    if (std::memcmp(now.data(), before.data(), before.size()) != 0)
      return testing::AssertionFailure() << test.text() << ": refused, but d was written";
    return testing::AssertionSuccess();
  }
  if (!outcome)
    return testing::AssertionFailure() << test.text() << ": " << outcome.message();
  return run.agrees();
}

/// The four ways to store the operands.
template <class F>
void for_each_order(matmul_case test, F&& f) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      test.transpose_a = transpose_a;
      test.transpose_b = transpose_b;
      f(test);
    }
}

} // namespace wavetile::test
