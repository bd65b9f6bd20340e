/// \file
/// The steps an epilogue is made of.
#pragma once

#include <wavetile/core/view.hpp>
#include <wavetile/kernels/matmul/activation.hpp>
#include <wavetile/kernels/matmul/epilogue.hpp>
#include <wavetile/kernels/matmul/run_access.hpp>
#include <wavetile/wave/reduce.hpp>

namespace wavetile::epilogue {

namespace detail {

template <class T>
inline constexpr bool is_float_v = wavetile::detail::is_any_of_v<T, float>;

/// Element by element.
template <class T, int N, class F>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, N> map(const vec<T, N>& values, const F& f) {
  vec<T, N> result;
  for (int i = 0; i < N; ++i)
    result[i] = f(values[i]);
  return result;
}

/// The nearest int32, ties to even; saturates, NaN gives 0.
WAVETILE_HD WAVETILE_FORCE_INLINE int32_t to_int32(double x) {
  if (is_nan(x))
    return 0;
  const double rounded = __builtin_rint(x);
  constexpr double lowest = -2147483648.0, highest = 2147483647.0;
  return static_cast<int32_t>(rounded < lowest ? lowest : rounded > highest ? highest : rounded);
}

/// `count` of `N` elements, at any multiple of the element size; the others are zero.
template <class T, int N, class U>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, N> load_run(const U* from, int count) {
  const auto* elements = storage_pointer(from);
  using S = storage_t<U>;
  vec<S, N> run{};
  if (count >= N) {
    kernels::load_run(run, elements);
  } else {
    for (int i = 0; i < N; ++i)
      if (i < count)
        run[i] = elements[i];
  }
  return convert<T>(run);
}

/// An array that the epilogue reads: there, aligned, and apart from the result.
inline status check_array(const kernels::operand& array, const output_shape& shape,
                          bool may_be_result = false) {
  if (shape.empty())
    return {};
  if (const status outcome = kernels::check_access(array); !outcome)
    return outcome;
  if (shape.result == nullptr || !kernels::share_memory(*shape.result, array) ||
      (may_be_result && kernels::same_elements(*shape.result, array)))
    return {};
  return kernels::overlap_failure(*shape.result, array,
                                  may_be_result ? "apart, or the very same array" : "apart");
}
/// `count` numbers from `data` on.
template <class T>
status check_numbers(const char* name, const T* data, int64_t count, const output_shape& shape) {
  const int64_t extent[] = {count}, stride[] = {1};
  return check_array(kernels::describe(name, make_strided_view(data, extent, stride)), shape);
}

} // namespace detail

/// + data[column]: one number for each column, at any multiple of the element size.
template <class T>
struct bias_columns {
  static constexpr const char* name = "bias_columns";
  const T* data;

  template <class V, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<V, N> apply(vec<V, N> values, const place& at) const {
    const auto run = detail::load_run<V, N>(data + at.column, at.count);
    for (int i = 0; i < N; ++i)
      values[i] += run[i];
    return values;
  }
  status check(const output_shape& shape) const {
    return detail::check_numbers("bias_columns", data, shape.columns, shape);
  }
};
template <class T>
bias_columns(T*) -> bias_columns<wavetile::detail::remove_cv_t<T>>;

/// + data[row]
template <class T>
struct bias_rows {
  static constexpr const char* name = "bias_rows";
  const T* data;

  template <class V, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<V, N> apply(vec<V, N> values, const place& at) const {
    V bias{};
    if (at.count > 0)
      bias = convert<V>(storage_pointer(data)[at.row]);
    for (int i = 0; i < N; ++i)
      values[i] += bias;
    return values;
  }
  status check(const output_shape& shape) const {
    return detail::check_numbers("bias_rows", data, shape.rows, shape);
  }
};
template <class T>
bias_rows(T*) -> bias_rows<wavetile::detail::remove_cv_t<T>>;

/// max(x, 0); a NaN stays one.
struct relu {
  static constexpr const char* name = "relu";
  template <class T, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, N> apply(const vec<T, N>& values, place&) const {
    return detail::map(values, [](T x) { return maximum(x, T{0}); });
  }
};

/// x Phi(x), Phi the normal distribution; relative error below 2^-19. fp32 arithmetic.
struct gelu_erf {
  static constexpr const char* name = "gelu_erf";
  template <class T, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, N> apply(const vec<T, N>& values, place&) const {
    static_assert(detail::is_float_v<T>, "wavetile: gelu_erf is computed in fp32");
    return detail::map(values, [](float x) { return kernels::gelu_by_erf(x); });
  }
};

/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). fp32 arithmetic.
struct gelu_tanh {
  static constexpr const char* name = "gelu_tanh";
  template <class T, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, N> apply(const vec<T, N>& values, place&) const {
    static_assert(detail::is_float_v<T>, "wavetile: gelu_tanh is computed in fp32");
    return detail::map(values, [](float x) { return kernels::gelu_by_tanh(x); });
  }
};

/// x / (1 + e^-x). fp32 arithmetic.
struct silu {
  static constexpr const char* name = "silu";
  template <class T, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, N> apply(const vec<T, N>& values, place&) const {
    static_assert(detail::is_float_v<T>, "wavetile: silu is computed in fp32");
    return detail::map(values, [](float x) { return kernels::silu_of(x); });
  }
};

/// silu(x[2j]) x[2j+1]: of each pair of columns, the gate and the value, one column of the result,
/// which has half as many as op(B). Interleave the columns of the two weight matrices. fp32
/// arithmetic.
struct swiglu {
  static constexpr const char* name = "swiglu";
  static constexpr int columns_per_output = 2;
  template <class T, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, N / 2> apply(const vec<T, N>& values,
                                                            place& at) const {
    static_assert(detail::is_float_v<T>, "wavetile: swiglu is computed in fp32");
    static_assert(N % 2 == 0, "wavetile: one swiglu in an epilogue");
    vec<T, N / 2> result;
    for (int i = 0; i < N / 2; ++i)
      result[i] = kernels::silu_of(values[2 * i]) * values[2 * i + 1];
    at.column /= 2;
    at.count /= 2;
    return result;
  }
};

/// + r[row][column] (of the batch), for r of the result's extents. It may be the result itself.
template <class T, int Rank = 2>
struct residual {
  static_assert(Rank == 2 || Rank == 3, "wavetile: a residual is a matrix or a batch of them");
  static constexpr const char* name = "residual";
  view<const T, Rank> data;

  template <class V, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<V, N> apply(vec<V, N> values, const place& at) const {
    const int64_t batch = Rank == 3 ? at.batch * data.stride[0] : 0;
    const auto run = detail::load_run<V, N>(
        data.data + batch + at.row * data.stride[Rank - 2] + at.column, at.count);
    for (int i = 0; i < N; ++i)
      values[i] += run[i];
    return values;
  }
  status check(const output_shape& shape) const {
    const int64_t expected[3] = {shape.batches, shape.rows, shape.columns};
    constexpr const char* names[3] = {"residual.extent[0]", "residual.extent[1]",
                                      "residual.extent[2]"};
    for (int axis = 0; axis < Rank; ++axis)
      if (data.extent[axis] != expected[axis + 3 - Rank])
        return status::failure(status_code::unsupported_shape, names[axis], data.extent[axis], "")
            .append(expected[axis + 3 - Rank])
            .append(", that of the result");
    return detail::check_array(kernels::describe("residual", data), shape, true);
  }
};
template <class T, int Rank>
residual(view<T, Rank>) -> residual<wavetile::detail::remove_cv_t<T>, Rank>;

/// x times a number, or, with a pointer, times the number found on the device when the kernel runs.
/// int32 results are multiplied in fp64, rounded to nearest even and saturate; NaN gives 0.
struct scale_by {
  static constexpr const char* name = "scale";
  float factor = 1.0f;
  const float* pointer = nullptr;

  template <class T, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, N> apply(const vec<T, N>& values, place&) const {
    const float by = pointer != nullptr ? factor * *pointer : factor;
    return detail::map(values, [by](T x) {
      if constexpr (wavetile::detail::is_integer_v<T>)
        return detail::to_int32(static_cast<double>(x) * static_cast<double>(by));
      else
        return x * static_cast<T>(by);
    });
  }
  status check(const output_shape& shape) const {
    return pointer == nullptr ? status{}
                              : detail::check_numbers("scale.pointer", pointer, 1, shape);
  }
};

/// min(max(x, low), high); a NaN stays one. The bounds of int32 results are rounded to nearest even
/// and saturate.
struct clamp {
  static constexpr const char* name = "clamp";
  float low, high;

  template <class T, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, N> apply(const vec<T, N>& values, place&) const {
    T least, most;
    if constexpr (wavetile::detail::is_integer_v<T>) {
      least = detail::to_int32(static_cast<double>(low));
      most = detail::to_int32(static_cast<double>(high));
    } else {
      least = static_cast<T>(low);
      most = static_cast<T>(high);
    }
    return detail::map(values, [=](T x) { return minimum(maximum(x, least), most); });
  }
};

/// For results of 8 bits, which are rounded to nearest even and saturate: *amax = max(*amax, |x|)
/// over all x, and then x * scale (the number at `scale`, or 1 when null). `amax` may be null; the
/// caller sets it before, to 0 or to an earlier maximum. A NaN makes it NaN. fp32 arithmetic.
struct quantize {
  static constexpr const char* name = "quantize";
  const float* scale = nullptr;
  float* amax = nullptr;
  float largest = 0.0f; ///< of this lane; leave at 0

  template <class T, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, N> apply(const vec<T, N>& values, const place& at) {
    static_assert(detail::is_float_v<T>, "wavetile: quantize is computed in fp32");
    if (amax != nullptr)
      for (int i = 0; i < N; ++i)
        largest = maximum(largest, i < at.count ? __builtin_fabsf(values[i]) : 0.0f);
    const float by = scale != nullptr ? *scale : 1.0f;
    return detail::map(values, [by](float x) { return x * by; });
  }
  status check(const output_shape& shape) const {
    status outcome;
    if (scale != nullptr)
      outcome = detail::check_numbers("quantize.scale", scale, 1, shape);
    if (outcome.ok() && amax != nullptr)
      outcome = detail::check_numbers("quantize.amax", amax, 1, shape);
    if (outcome.ok() && amax != nullptr && amax == scale)
      outcome = status::failure(status_code::overlapping, "quantize.amax",
                                "it is quantize.scale, which is read at the same time");
    return outcome;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void finish() {
    if (amax == nullptr)
      return;
    // without their signs floats are ordered as their bits, NaNs above all others: the order in
    // which waves arrive does not matter
    const uint32_t bits = float_bits(largest);
    const uint32_t of_wave = wave::all_reduce(bits, op::maximum{});
    if (lane_id() == 0) {
#if WAVETILE_CUDA
      (void)atomicMax(reinterpret_cast<uint32_t*>(amax), of_wave);
#else
      (void)__hip_atomic_fetch_max(reinterpret_cast<uint32_t*>(amax), of_wave, __ATOMIC_RELAXED,
                                   __HIP_MEMORY_SCOPE_AGENT);
#endif
    }
  }
};

/// f(x, row, column), a device function of the caller: a lambda (nvcc: with --extended-lambda) or a
/// function object.
template <class F>
struct apply_function {
  static constexpr const char* name = "function";
  F f;

  template <class T, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, N> apply(vec<T, N> values, const place& at) const {
    for (int i = 0; i < N; ++i)
      if (i < at.count)
        values[i] = static_cast<T>(f(values[i], at.row, at.column + i));
    return values;
  }
};
template <class F>
apply_function(F) -> apply_function<F>;

} // namespace wavetile::epilogue
