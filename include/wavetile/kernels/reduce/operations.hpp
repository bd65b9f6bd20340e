/// \file
/// What a reduction operator computes.
#pragma once

#include <wavetile/wave/operations.hpp>

namespace wavetile {

namespace op {

/// The mean. Floats: the sum as `plus` forms it, divided by the count. Integers: their exact sum
/// (in 64 bits, wrapping beyond) divided by the count, in fp64 and rounded once where the result is
/// a float, toward zero where it is an integer. Of nothing: NaN, as integer 0.
struct mean {};

/// The sum of squares. Integers wrap.
struct sum_of_squares {};

} // namespace op

/// A reduction of one's own: `combine(a, b)` of two `Value`, starting from `identity`, of elements
/// turned into values by `enter(element)`. `combine` must be associative and commutative and leave
/// the other operand as it is when one is the identity. Both functors are trivially copyable, and
/// callable on the device. What it makes of nothing is the identity.
///
///     reduce(x, y, make_reduction(0.0f, largest_magnitude{}), {.axis = -1}, stream);
template <class Value, class Combine, class Enter>
struct custom_reduction {
  using value_type = Value;
  Value identity;
  Combine combine;
  Enter enter;
};

/// Elements become values by conversion.
template <class Value>
struct convert_to {
  template <class T>
  WAVETILE_HD constexpr Value operator()(T element) const {
    return convert<Value>(element);
  }
};

template <class Value, class Combine, class Enter = convert_to<Value>>
constexpr custom_reduction<Value, Combine, Enter> make_reduction(Value identity, Combine combine,
                                                                 Enter enter = {}) {
  return {identity, combine, enter};
}

namespace kernels {

/// Integers as unsigned, in which they wrap without undefined behaviour, else the type itself.
template <class Input, class Output>
struct sum_type {
private:
  static constexpr bool input_float = numeric_traits<Input>::is_float;
  static constexpr bool output_float = numeric_traits<Output>::is_float;
  static constexpr bool wide_float =
      wavetile::detail::is_any_of_v<double, Input, Output> && (input_float || output_float);
  static constexpr bool wide_integer = output_float || sizeof(Input) == 8 || sizeof(Output) == 8;

public:
  using type = wavetile::detail::conditional_t<
      input_float, wavetile::detail::conditional_t<wide_float, double, float>,
      wavetile::detail::conditional_t<wide_integer, int64_t, int32_t>>;
};

/// How an operator runs for elements of `Input` and results of `Output`: `value`, what lanes
/// combine; `combine`, a functor; and `identity`, `enter`, `leave`.
template <class Op, class Input, class Output>
struct reduction;

/// Whether there is one: for the operators of `op` and what `make_reduction` makes.
template <class Op>
inline constexpr bool is_reduce_op = requires {
  typename reduction<Op, float, float>::value;
};

/// Sums, products and sums of squares are formed in fp32 (fp64 where input or output is fp64);
/// integers in 32 bits (64 where input or output has 64, or the output is a float), wrapping.
template <class Input, class Output>
struct reduction<op::plus, Input, Output> {
  using value = typename sum_type<Input, Output>::type;
  using combine = op::plus;
  WAVETILE_HD value identity() const { return value{0}; }
  WAVETILE_HD value enter(Input element, int64_t) const { return convert<value>(element); }
  WAVETILE_HD Output leave(value result, int64_t) const { return convert<Output>(result); }
  WAVETILE_HD combine operation() const { return {}; }
};

template <class Input, class Output>
struct reduction<op::sum_of_squares, Input, Output> : reduction<op::plus, Input, Output> {
  using value = typename sum_type<Input, Output>::type;
  WAVETILE_HD value enter(Input element, int64_t) const {
    const auto x = convert<value>(element);
    return op::multiply{}(x, x);
  }
};

template <class Input, class Output>
struct reduction<op::multiply, Input, Output> {
  using value = typename sum_type<Input, Output>::type;
  using combine = op::multiply;
  WAVETILE_HD value identity() const { return value{1}; }
  WAVETILE_HD value enter(Input element, int64_t) const { return convert<value>(element); }
  WAVETILE_HD Output leave(value result, int64_t) const { return convert<Output>(result); }
  WAVETILE_HD combine operation() const { return {}; }
};

template <class Input, class Output>
struct reduction<op::mean, Input, Output> {
private:
  static constexpr bool input_float = numeric_traits<Input>::is_float;
  static constexpr bool output_float = numeric_traits<Output>::is_float;

public:
  using value =
      wavetile::detail::conditional_t<input_float, typename sum_type<Input, Output>::type, int64_t>;
  using combine = op::plus;
  WAVETILE_HD value identity() const { return value{0}; }
  WAVETILE_HD value enter(Input element, int64_t) const { return convert<value>(element); }
  WAVETILE_HD Output leave(value sum, int64_t count) const {
    if constexpr (!output_float) {
      if constexpr (input_float)
        return count == 0 ? Output{0} : convert<Output>(sum / static_cast<value>(count));
      else
        return count == 0 ? Output{0} : convert<Output>(sum / count);
    } else {
      if (count == 0)
        return convert<Output>(float_from_bits(0x7FC00000u));
      if constexpr (input_float)
        return convert<Output>(sum / static_cast<value>(count));
      else
        return convert<Output>(static_cast<double>(sum) / static_cast<double>(count));
    }
  }
  WAVETILE_HD combine operation() const { return {}; }
};

/// Largest or smallest value a comparison can start from: an infinity for floats.
template <class T, bool Largest>
WAVETILE_HD T extreme_value() {
  if constexpr (wavetile::detail::is_same_v<T, float>)
    return float_from_bits(Largest ? 0x7F800000u : 0xFF800000u);
  else if constexpr (wavetile::detail::is_same_v<T, double>)
    return double_from_bits(Largest ? 0x7FF0000000000000ull : 0xFFF0000000000000ull);
  else
    return Largest ? numeric_traits<T>::highest() : numeric_traits<T>::lowest();
}

/// Minima and maxima of what the elements are converted to without loss; NaN propagates. Of
/// nothing: the infinity that loses against every number, of integers the largest or smallest.
template <class Input, class Output, class Op, bool Minimum>
struct extremum {
  using value = accumulator_t<Input>;
  using combine = Op;
  WAVETILE_HD value identity() const { return extreme_value<value, Minimum>(); }
  WAVETILE_HD value enter(Input element, int64_t) const { return convert<value>(element); }
  WAVETILE_HD Output leave(value result, int64_t) const { return convert<Output>(result); }
  WAVETILE_HD combine operation() const { return {}; }
};
template <class Input, class Output>
struct reduction<op::minimum, Input, Output> : extremum<Input, Output, op::minimum, true> {};
template <class Input, class Output>
struct reduction<op::maximum, Input, Output> : extremum<Input, Output, op::maximum, false> {};

/// Index of the lowest element equal to the extremum, or of the first NaN; -1 of nothing.
template <class Input, class Output, class Op, bool Minimum>
struct arg_extremum {
  static constexpr int64_t no_index = numeric_traits<int64_t>::highest();
  using value = indexed<accumulator_t<Input>, int64_t>;
  using combine = Op;
  WAVETILE_HD value identity() const {
    return {extreme_value<accumulator_t<Input>, Minimum>(), no_index};
  }
  WAVETILE_HD value enter(Input element, int64_t index) const {
    return {convert<accumulator_t<Input>>(element), index};
  }
  WAVETILE_HD Output leave(value result, int64_t) const {
    return result.index == no_index ? static_cast<Output>(-1) : static_cast<Output>(result.index);
  }
  WAVETILE_HD combine operation() const { return {}; }
};
template <class Input, class Output>
struct reduction<op::arg_minimum, Input, Output>
    : arg_extremum<Input, Output, op::arg_minimum, true> {};
template <class Input, class Output>
struct reduction<op::arg_maximum, Input, Output>
    : arg_extremum<Input, Output, op::arg_maximum, false> {};

template <class Value, class Combine, class Enter, class Input, class Output>
struct reduction<custom_reduction<Value, Combine, Enter>, Input, Output> {
  using value = Value;
  using combine = Combine;
  custom_reduction<Value, Combine, Enter> own;
  WAVETILE_HD value identity() const { return own.identity; }
  WAVETILE_HD value enter(Input element, int64_t) const { return own.enter(element); }
  WAVETILE_HD Output leave(value result, int64_t) const {
    if constexpr (wavetile::detail::is_same_v<Value, Output>)
      return result;
    else
      return convert<Output>(result);
  }
  WAVETILE_HD combine operation() const { return own.combine; }
};

/// The second step over partial results: they enter and leave as they are.
template <class Reduction, class Output>
struct second_step {
  using value = typename Reduction::value;
  using combine = typename Reduction::combine;
  Reduction first;
  WAVETILE_HD value identity() const { return first.identity(); }
  WAVETILE_HD value enter(value partial, int64_t) const { return partial; }
  WAVETILE_HD Output leave(value result, int64_t count) const { return first.leave(result, count); }
  WAVETILE_HD combine operation() const { return first.operation(); }
};

} // namespace kernels

} // namespace wavetile
