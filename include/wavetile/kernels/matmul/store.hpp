/// \file
/// From sums of products to what is stored.
#pragma once

#include <wavetile/kernels/matmul/problem.hpp>
#include <wavetile/kernels/matmul/run_access.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// `N` elements at any multiple of the element size; of the last `N - count` nothing is read, and
/// they are zero.
template <class To, int N, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<To, N> load_some(const T* from, int count) {
  vec<T, N> run{};
  if (count >= N) {
    load_run(run, from);
  } else {
    for (int i = 0; i < N; ++i)
      if (i < count)
        run[i] = from[i];
  }
  return convert<To>(run);
}

/// Stores the first `count` of them; one access when that is all.
template <class T, int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_some(T* to, const vec<T, N>& run, int count) {
  if (count >= N) {
    store_run(to, run);
  } else {
    for (int i = 0; i < N; ++i)
      if (i < count)
        to[i] = run[i];
  }
}

/// Everything that happens to sums of products: scales, alpha, beta C, the epilogue, conversion.
template <class Types>
class matmul_output {
public:
  using compute = typename Types::compute;
  using accumulator = typename Types::accumulator;

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE matmul_output(const matmul_arguments<Types>& arguments,
                                                      const matmul_task<Types>& task, int64_t batch)
      : arguments_(arguments), task_(task), batch_(batch), epilogue_(arguments.epilogue),
        alpha_(arguments.alpha) {
    if constexpr (Types::scaled) {
      if (arguments.kind_a == scale_kind::tensor)
        alpha_ *= *arguments.scale_a;
      if (arguments.kind_b == scale_kind::tensor)
        alpha_ *= *arguments.scale_b;
    }
  }

  /// Stores what becomes of `N` consecutive elements of a row, of which `count` (>= 0, even for
  /// epilogues that join pairs) are inside the matrix.
  template <int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store(const vec<accumulator, N>& sums, int64_t row,
                                                   int64_t column, int count) {
    vec<compute, N> values = convert<compute>(sums);
    if constexpr (Types::scaled) {
      if (arguments_.kind_a == scale_kind::outer && count > 0)
        values = times(values, arguments_.scale_a[row]);
      if (arguments_.kind_b == scale_kind::outer) {
        const auto by = load_some<float, N>(arguments_.scale_b + column, count);
        for (int i = 0; i < N; ++i)
          values[i] *= by[i];
      }
    }
    values = times(values, alpha_);
    if (task_.k == 0) // no product, and not one of an infinite alpha with nothing
      values = {};
    if (arguments_.beta != compute{0}) {
      const auto c = load_some<compute, N>(task_.c + row * task_.ldc + column, count);
      for (int i = 0; i < N; ++i)
        values[i] = add(values[i], multiply(arguments_.beta, c[i]));
    }
    epilogue::place at{batch_, row, column, count};
    const auto result = convert<typename Types::d>(epilogue_.apply(values, at));
    store_some(task_.d + at.row * task_.ldd + at.column, result, at.count);
  }

  /// x + y; int32 wraps.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static accumulator sum(accumulator x, accumulator y) {
    if constexpr (wavetile::detail::is_same_v<accumulator, int32_t>)
      return static_cast<int32_t>(static_cast<uint32_t>(x) + static_cast<uint32_t>(y));
    else
      return x + y;
  }

  /// By every lane of the wave, after its last element.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void finish() { epilogue_.finish(); }

private:
  // int32 wraps
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static compute multiply(compute x, compute y) {
    if constexpr (wavetile::detail::is_same_v<compute, int32_t>)
      return static_cast<int32_t>(static_cast<uint32_t>(x) * static_cast<uint32_t>(y));
    else
      return x * y;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static compute add(compute x, compute y) {
    if constexpr (wavetile::detail::is_same_v<compute, int32_t>)
      return static_cast<int32_t>(static_cast<uint32_t>(x) + static_cast<uint32_t>(y));
    else
      return x + y;
  }
  template <int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static vec<compute, N> times(vec<compute, N> values,
                                                                     compute by) {
    for (int i = 0; i < N; ++i)
      values[i] = multiply(values[i], by);
    return values;
  }

  const matmul_arguments<Types>& arguments_;
  const matmul_task<Types>& task_;
  int64_t batch_;
  typename Types::epilogue epilogue_;
  compute alpha_;
};

} // namespace wavetile::kernels

#endif
