/// \file
/// What becomes of the elements of a matrix product before they are stored: steps, composed at
/// compile time.
///
///     using namespace wavetile::epilogue;
///     matmul(a, b, d, {}, stream, chain(bias_columns{bias}, gelu_erf{}, residual{r}));
///
/// A step is a trivially copyable struct with
/// - `name`, for plans;
/// - `apply(vec<T, N>, place&)`: the values that take the place of N consecutive elements of a row.
///   T is the type the product is computed in (float; double for fp64, int32_t for int32 results);
/// - where it needs them: `finish()`, which every lane of the wave calls after its last element,
///   `columns_per_output`, and `check(const output_shape&)` on the host, before anything runs.
///
/// User code takes part with `apply_function{[] __device__ (float v, int64_t row, int64_t column) {
/// … }}` or with a step of its own.
#pragma once

#include <wavetile/core/status.hpp>
#include <wavetile/core/vec.hpp>
#include <wavetile/kernels/rows/operand.hpp>

namespace wavetile::epilogue {

/// Where a run of elements stands.
struct place {
  int64_t batch;  ///< matrix of a batch, or problem of a group
  int64_t row;    ///< of the result
  int64_t column; ///< of the run's first element
  int count;      ///< elements of the run that are inside the matrix; the others hold anything
};

/// The result of a whole call.
struct output_shape {
  int64_t batches = 1, rows = 0, columns = 0;
  const kernels::operand* result = nullptr; ///< what is written; null: not known

  constexpr bool empty() const { return batches == 0 || rows == 0 || columns == 0; }
};

namespace detail {

template <class Step>
constexpr int columns_per_output() {
  if constexpr (requires { Step::columns_per_output; })
    return Step::columns_per_output;
  else
    return 1;
}

template <class Step>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void finish(Step& step) {
  if constexpr (requires { step.finish(); })
    step.finish();
}

template <class Step>
status check(const Step& step, const output_shape& shape) {
  if constexpr (requires { step.check(shape); })
    return step.check(shape);
  else
    return {};
}

} // namespace detail

/// Steps one after the other; of none, the identity.
template <class... Steps>
struct steps;

template <>
struct steps<> {
  static constexpr int columns_per_output = 1;

  template <class V>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE V apply(const V& values, place&) {
    return values;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void finish() {}
  status check(const output_shape&) const { return {}; }
  template <int Capacity>
  static constexpr void names(fixed_text<Capacity>&) {}
};

template <class First, class... Rest>
struct steps<First, Rest...> {
  static_assert(First::name[0] != '\0', "wavetile: a step of an epilogue has a name, for plans");
  First first;
  steps<Rest...> rest;

  static constexpr int columns_per_output =
      detail::columns_per_output<First>() * steps<Rest...>::columns_per_output;

  template <class V>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE auto apply(const V& values, place& at) {
    const auto next = first.apply(values, at);
    return rest.apply(next, at);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void finish() {
    detail::finish(first);
    rest.finish();
  }
  status check(const output_shape& shape) const {
    if (status outcome = detail::check(first, shape); !outcome)
      return outcome;
    return rest.check(shape);
  }
  /// ", bias_columns, relu"
  template <int Capacity>
  static constexpr void names(fixed_text<Capacity>& text) {
    text.append(", ").append(First::name);
    steps<Rest...>::names(text);
  }
};

/// The steps in this order.
constexpr steps<> chain() {
  return {};
}
template <class First, class... Rest>
constexpr steps<First, Rest...> chain(const First& first, const Rest&... rest) {
  return {first, chain(rest...)};
}

} // namespace wavetile::epilogue
