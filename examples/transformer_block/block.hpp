/// \file
/// A transformer block of operators of the library: shapes, weights, and the calls.
#pragma once

#include "common/device_array.hpp"

#include <wavetile/attention_append.hpp>
#include <wavetile/matmul.hpp>
#include <wavetile/rms_norm.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace block {

using wavetile::bf16;
using wavetile::make_strided_view;
using wavetile::make_view;
using wavetile::view;

inline constexpr std::int64_t width = 256, q_heads = 4, kv_heads = 2, elements = 64, hidden = 384;
inline constexpr std::int64_t qkv_width = (q_heads + 2 * kv_heads) * elements;
inline constexpr std::int64_t page_rows = 16, sequence_pages = 4;
inline constexpr std::int64_t positions = page_rows * sequence_pages; ///< a sequence may have
inline constexpr float epsilon = 1e-5f;

inline double as_double(bf16 x) {
  return double{static_cast<float>(x)};
}

/// The same numbers on host and device.
template <class T>
struct array {
  std::vector<T> host;
  example::device_array<T> device;

  explicit array(std::vector<T> values)
      : host(std::move(values)), device(std::span<const T>(host)) {}
  const T* data() const { return device.data(); }
  std::vector<double> doubles() const {
    std::vector<double> result;
    for (const T& each : host)
      if constexpr (sizeof(T) == 2)
        result.push_back(as_double(each));
      else
        result.push_back(double{each});
    return result;
  }
};

inline std::vector<bf16> normals(std::int64_t count, double mean, double deviation,
                                 std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(static_cast<float>(mean), static_cast<float>(deviation));
  std::vector<bf16> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(bf16(normal(engine)));
  return values;
}

/// Cosine or sine of position x pair.
template <class F>
std::vector<float> angles(const F& f) {
  std::vector<float> result;
  for (std::int64_t p = 0; p < positions; ++p)
    for (std::int64_t j = 0; j < elements / 2; ++j)
      result.push_back(static_cast<float>(
          f(static_cast<double>(p) * std::pow(10000.0, -2.0 * static_cast<double>(j) / elements))));
  return result;
}

/// Matrices of output x input elements. Rows of `gate_up` are those of the gate and the value in
/// turn, as `epilogue::swiglu` has it.
struct weights {
  array<bf16> norm_1{normals(width, 1, 0.2, 1)}, norm_2{normals(width, 1, 0.2, 2)};
  array<bf16> qkv{normals(qkv_width * width, 0, 1 / 16.0, 3)};
  array<bf16> out{normals(width * q_heads * elements, 0, 1 / 16.0, 4)};
  array<bf16> gate_up{normals(2 * hidden * width, 0, 1 / 16.0, 5)};
  array<bf16> down{normals(width * hidden, 0, 1 / 20.0, 6)};
  array<float> cosine{angles([](double x) { return std::cos(x); })},
      sine{angles([](double x) { return std::sin(x); })};

  wavetile::rotary_embedding rotary() const {
    return {wavetile::rotary_pairs::halves, 0, make_view(cosine.data(), positions, elements / 2),
            make_view(sine.data(), positions, elements / 2)};
  }
};

/// What a pass over `rows` tokens needs between its calls.
struct buffers {
  example::device_array<bf16> normed, qkv, turned, attended, projected, sum, gated;
  explicit buffers(std::int64_t rows)
      : normed(size(rows * width)), qkv(size(rows * qkv_width)),
        turned(size(rows * q_heads * elements)), attended(size(rows * q_heads * elements)),
        projected(size(rows * width)), sum(size(rows * width)), gated(size(rows * hidden)) {}
  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
};

/// Queries, keys and values of `batch` x `n` tokens, side by side in the rows of one product.
struct qkv_views {
  view<const bf16, 4> q, k, v;
  qkv_views(const bf16* rows, std::int64_t batch, std::int64_t n) {
    const auto heads = [&](std::int64_t first, std::int64_t count) {
      return make_strided_view(rows + first * elements, {batch, n, count, elements},
                               {n * qkv_width, qkv_width, elements, 1});
    };
    q = heads(0, q_heads);
    k = heads(q_heads, kv_heads);
    v = heads(q_heads + kv_heads, kv_heads);
  }
};

/// y = x' + swiglu MLP of norm(x'), x' = x + projection of attention over norm(x), for `batch` x
/// `n` tokens. `attend(qkv, turned, attended)` is what prefill and decode do differently. `Product`
/// is the one kernel of `matmul` that is compiled in.
template <wavetile::matmul_choice Product, class Attend>
void run(const weights& w, const bf16* x, bf16* y, std::int64_t batch, std::int64_t n,
         const buffers& b, const Attend& attend, hipStream_t stream) {
  using namespace wavetile;
  using example::check;
  const std::int64_t rows = batch * n;
  const auto tokens = [&](auto* data, std::int64_t columns) {
    return make_view(data, rows, columns);
  };
  const auto constant = [](const example::device_array<bf16>& a) {
    return static_cast<const bf16*>(a.data());
  };
  const auto in = tokens(x, width), normed = tokens(constant(b.normed), width);
  const auto heads = [&](bf16* data) { return make_view(data, batch, n, q_heads, elements); };
  const matmul_options product{.transpose_b = true};

  check(rms_norm(norm_arrays{.x = in,
                             .y = tokens(b.normed.data(), width),
                             .weight = make_view(w.norm_1.data(), width)},
                 {.epsilon = epsilon}, stream));
  check(matmul<Product>(normed, make_view(w.qkv.data(), qkv_width, width),
                        tokens(b.qkv.data(), qkv_width), product, stream));
  attend(qkv_views(b.qkv.data(), batch, n), heads(b.turned.data()), heads(b.attended.data()));
  check(matmul<Product>(tokens(constant(b.attended), q_heads * elements),
                        make_view(w.out.data(), width, q_heads * elements),
                        tokens(b.projected.data(), width), product, stream));
  check(rms_norm(norm_arrays{.x = tokens(constant(b.projected), width),
                             .y = tokens(b.normed.data(), width),
                             .weight = make_view(w.norm_2.data(), width),
                             .residual = in,
                             .sum = tokens(b.sum.data(), width)},
                 {.epsilon = epsilon}, stream));
  check(matmul<Product>(normed, make_view(w.gate_up.data(), 2 * hidden, width),
                        tokens(b.gated.data(), hidden), product, stream,
                        epilogue::chain(epilogue::swiglu{})));
  check(matmul<Product>(tokens(constant(b.gated), hidden), make_view(w.down.data(), width, hidden),
                        tokens(y, width), product, stream,
                        epilogue::chain(epilogue::residual{tokens(constant(b.sum), width)})));
}

} // namespace block
