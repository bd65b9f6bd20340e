/// \file
/// softmax_backward and log_softmax_backward on the host side.
#pragma once

#include <wavetile/launch/detail/device_language.hpp>

#include <wavetile/kernels/softmax/backward.hpp>
#include <wavetile/kernels/softmax/backward_stream.hpp>
#include <wavetile/softmax_forward.hpp>

namespace wavetile {

namespace detail {

/// What the checks of a backward call find out.
struct backward_call {
  kernels::operand y, gradient, out, mask;
  softmax_problem problem;
  bool empty = true;
};

/// A call with its arrays and types, but for the mask.
template <softmax_form Form, class Result, class Gradient, class Output, int Rank>
backward_call backward_call_of(const view<Result, Rank>& y, const view<Gradient, Rank>& gradient,
                               const view<Output, Rank>& out) {
  static_assert(is_backward(Form), "wavetile: forward calls have softmax_problem_of");
  backward_call call;
  call.y = kernels::describe("y", y);
  call.gradient = kernels::describe("dy", gradient);
  call.out = kernels::describe("dx", out);
  call.problem.form = Form;
  call.problem.input = numeric_traits<remove_cv_t<Result>>::type;
  call.problem.gradient = numeric_traits<remove_cv_t<Gradient>>::type;
  call.problem.output = numeric_traits<remove_cv_t<Output>>::type;
  return call;
}

/// The problem that the arrays of a call make; needs no valid arrays.
inline void describe_backward(backward_call& call, mask_kind mask, data_type mask_type,
                              const softmax_options& options) {
  for (const kernels::operand* array : {&call.y, &call.gradient, &call.out, &call.mask})
    if (!kernels::check_extents(*array).ok())
      return; // the check that follows says why; products below could overflow
  softmax_problem& problem = call.problem;
  const int chunk = problem.chunk();
  problem.mask = mask;
  problem.mask_type = mask_type;
  problem.rows = call.y.rows();
  problem.columns = call.y.columns();
  problem.causal = options.causal;
  problem.queries = kernels::queries_of(call.y);
  problem.anchor = options.anchor;
  problem.aligned = kernels::rows_aligned(call.y, chunk) &&
                    kernels::rows_aligned(call.gradient, chunk) &&
                    kernels::rows_aligned(call.out, chunk) &&
                    (mask == mask_kind::none || kernels::rows_aligned(call.mask, chunk));
  problem.workspace_bytes = options.memory.bytes;
}

inline status check_backward(backward_call& call, bool has_mask, const softmax_options& options) {
  using namespace kernels;
  operand* const arrays[] = {&call.y, &call.gradient, &call.out, &call.mask};
  const int count = has_mask ? 4 : 3;
  for (int i = 0; i < count; ++i)
    if (const status outcome = check_extents(*arrays[i]); !outcome)
      return outcome;
  for (int i = 1; i < 3; ++i)
    if (const status outcome = check_same_extents(*arrays[i], call.y); !outcome)
      return outcome;
  if (has_mask)
    if (const status outcome = broadcast_mask(call.mask, call.y); !outcome)
      return outcome;
  if (const status outcome = check_scale(options.scale); !outcome)
    return outcome;
  if (const status outcome = check_anchor(options.anchor); !outcome)
    return outcome;
  call.empty = call.y.empty();
  if (call.empty)
    return {};
  for (int i = 0; i < count; ++i)
    if (const status outcome = check_access(*arrays[i]); !outcome)
      return outcome;
  if (const status outcome = check_rows_apart(call.out); !outcome)
    return outcome;
  for (int i = 0; i < count; ++i)
    if (arrays[i] != &call.out)
      if (const status outcome = check_in_place_or_apart(call.out, *arrays[i]); !outcome)
        return outcome;
  return {};
}

template <class Types>
status run_backward(const softmax_plan& plan,
                    const kernels::softmax_backward_arguments<Types>& arguments,
                    hipStream_t stream) {
  using namespace kernels;
  using kind = softmax_kernel;
  constexpr auto config = &config_for<Types>;
  const auto run = [&](void (*kernel)(softmax_backward_arguments<Types>)) {
    return launch_groups(kernel, plan.groups, plan.config.threads(), plan.rows_per_group,
                         &softmax_backward_arguments<Types>::first_row, arguments, stream);
  };
  switch (plan.kernel) {
  case kind::short_rows:
    return run(&softmax_backward_short_rows<Types, config(kind::short_rows)>);
  case kind::wave_rows:
    return run(&softmax_backward_wave_rows<Types, config(kind::wave_rows)>);
  case kind::small_workgroup:
    return run(&softmax_backward_workgroup<Types, config(kind::small_workgroup)>);
  case kind::workgroup:
    return run(&softmax_backward_workgroup<Types, config(kind::workgroup)>);
  case kind::large_workgroup:
    return run(&softmax_backward_workgroup<Types, config(kind::large_workgroup)>);
  case kind::split:
    if (const status outcome = run(&softmax_backward_split_measure<Types, config(kind::split)>);
        !outcome)
      return outcome;
    return run(&softmax_backward_split_write<Types, config(kind::split)>);
  case kind::stream:
  case kind::cluster: // gradients have none
    break;
  }
  return run(&softmax_backward_stream<Types, config(kind::stream)>);
}

template <softmax_form Form, class Mask, class Result, class Gradient, class Output>
status softmax_backward(backward_call& call, const Result* y, const Gradient* gradient, Output* out,
                        const typename Mask::element* mask, data_type mask_type,
                        const softmax_options& options, hipStream_t stream) {
  using types = kernels::softmax_backward_types<Result, Gradient, Output, Mask, Form>;
  describe_backward(call, Mask::kind, mask_type, options);
  if (const status outcome = check_backward(call, Mask::kind != mask_kind::none, options); !outcome)
    return outcome;
  if (const status outcome = check_lent(options.memory); !outcome)
    return outcome;
  if (call.empty)
    return {};
  const softmax_plan chosen =
      plan_call(call.problem, options.memory, stream, call.y, call.gradient, call.out, call.mask);
  if (!chosen.outcome)
    return chosen.outcome;

  kernels::softmax_backward_arguments<types> arguments{};
  arguments.y = y;
  arguments.gradient = gradient;
  arguments.out = out;
  arguments.mask = mask;
  const bool has_mask = Mask::kind != mask_kind::none;
  arguments.map =
      kernels::map_rows<4>({&call.y, &call.gradient, &call.out, has_mask ? &call.mask : &call.y});
  arguments.rows = call.problem.rows;
  arguments.columns = call.problem.columns;
  arguments.scale = options.scale;
  if (options.causal) {
    arguments.flags = kernels::causal_flag;
    arguments.causal =
        kernels::make_causal_limit(call.problem.queries, call.problem.columns, options.anchor);
  }
  arguments.lanes_log2 = static_cast<uint32_t>(chosen.lanes_log2);
  arguments.parts = chosen.parts;
  arguments.part_chunks = chosen.part_chunks;
  arguments.partials = static_cast<vec<float, 2>*>(options.memory.data);
  return run_backward<types>(chosen, arguments, stream);
}

template <softmax_form Form, class Result, class Gradient, class Output, int Rank, class M,
          int MaskRank>
status softmax_backward_of_views(const view<Result, Rank>& y, const view<Gradient, Rank>& gradient,
                                 const view<Output, Rank>& out, const view<M, MaskRank>* mask,
                                 const softmax_options& options, hipStream_t stream) {
  static_assert(!detail::is_const_v<Output>,
                "wavetile: the output dx is written, its elements are const");
  constexpr const char* allowed = "fp32, fp16, bf16";
  if constexpr (!kernels::is_softmax_type<Result>) {
    return kernels::unsupported_element("y", kernels::type_name<Result>(), allowed);
  } else if constexpr (!kernels::is_softmax_type<Gradient>) {
    return kernels::unsupported_element("dy", kernels::type_name<Gradient>(), allowed);
  } else if constexpr (!kernels::is_softmax_type<Output>) {
    return kernels::unsupported_element("dx", kernels::type_name<Output>(), allowed);
  } else {
    backward_call call = backward_call_of<Form>(y, gradient, out);
    const auto* results = reinterpret_cast<const storage_t<Result>*>(y.data);
    const auto* gradients = reinterpret_cast<const storage_t<Gradient>*>(gradient.data);
    auto* to = reinterpret_cast<storage_t<Output>*>(out.data);
    if constexpr (is_same_v<M, kernels::no_mask>) {
      return softmax_backward<Form, kernels::no_mask>(call, results, gradients, to, nullptr,
                                                      data_type::uint8, options, stream);
    } else {
      using mask_type = typename kernels::mask_for<M>::type;
      if constexpr (is_same_v<mask_type, void>) {
        return kernels::unsupported_element("mask", kernels::type_name<M>(),
                                            "bool, uint8, fp32, fp16, bf16");
      } else {
        using element = typename mask_type::element;
        call.mask = kernels::describe("mask", *mask);
        return softmax_backward<Form, mask_type>(call, results, gradients, to,
                                                 reinterpret_cast<const element*>(mask->data),
                                                 numeric_traits<element>::type, options, stream);
      }
    }
  }
}

} // namespace detail

/// The problem that `softmax_backward(y, dy, dx, options)` solves, for `plan`; with `Form` that of
/// `log_softmax_backward`. Arrays that the call would refuse for their extents give an empty
/// problem.
template <softmax_form Form = softmax_form::softmax_backward, numeric Result, numeric Gradient,
          numeric Output, int Rank>
softmax_problem softmax_backward_problem_of(view<Result, Rank> y, view<Gradient, Rank> dy,
                                            view<Output, Rank> dx,
                                            const softmax_options& options = {}) {
  detail::backward_call call = detail::backward_call_of<Form>(y, dy, dx);
  detail::describe_backward(call, mask_kind::none, data_type::uint8, options);
  return call.problem;
}

/// The same with a mask argument.
template <softmax_form Form = softmax_form::softmax_backward, numeric Result, numeric Gradient,
          numeric Output, int Rank, kernels::mask_element Mask, int MaskRank>
softmax_problem softmax_backward_problem_of(view<Result, Rank> y, view<Gradient, Rank> dy,
                                            view<Output, Rank> dx, view<Mask, MaskRank> mask,
                                            const softmax_options& options = {}) {
  using kind = typename kernels::mask_for<Mask>::type;
  detail::backward_call call = detail::backward_call_of<Form>(y, dy, dx);
  call.mask = kernels::describe("mask", mask);
  detail::describe_backward(call, kind::kind, numeric_traits<typename kind::element>::type,
                            options);
  return call.problem;
}

/// Gradient of `softmax`: from its result y and the gradient dy of y, that of x, in fp32
/// arithmetic:
///
///     dx[…, i] = scale y[i] (dy[i] - sum over j of y[j] dy[j])
///
/// `options` are those of the forward call. y, dy, dx: views of equal extents of fp32, fp16 or
/// bf16, which may differ; dx may be y or dy itself. Everything else as `softmax`. Without a mask
/// argument an element hidden in the forward call (y = 0) gets dx = 0 as long as dy is finite
/// there.
template <class Result, class Gradient, class Output, int Rank>
status softmax_backward(view<Result, Rank> y, view<Gradient, Rank> dy, view<Output, Rank> dx,
                        const softmax_options& options = {}, hipStream_t stream = nullptr) {
  return detail::softmax_backward_of_views<softmax_form::softmax_backward>(
      y, dy, dx, static_cast<const view<kernels::no_mask, 1>*>(nullptr), options, stream);
}

/// The same with the forward call's mask: hidden elements get dx = 0 and influence nothing.
template <class Result, class Gradient, class Output, int Rank, class Mask, int MaskRank>
status softmax_backward(view<Result, Rank> y, view<Gradient, Rank> dy, view<Output, Rank> dx,
                        view<Mask, MaskRank> mask, const softmax_options& options = {},
                        hipStream_t stream = nullptr) {
  return detail::softmax_backward_of_views<softmax_form::softmax_backward>(y, dy, dx, &mask,
                                                                           options, stream);
}

/// Gradient of `log_softmax`: from its result y and the gradient dy of y, that of x:
///
///     dx[…, i] = scale (dy[i] - exp(y[i]) sum over j of dy[j])
///
/// A mask (or `causal`) of the forward call must be given here too: hidden elements get dx = 0 and
/// their dy does not count. Everything else as `softmax_backward`.
template <class Result, class Gradient, class Output, int Rank>
status log_softmax_backward(view<Result, Rank> y, view<Gradient, Rank> dy, view<Output, Rank> dx,
                            const softmax_options& options = {}, hipStream_t stream = nullptr) {
  return detail::softmax_backward_of_views<softmax_form::log_softmax_backward>(
      y, dy, dx, static_cast<const view<kernels::no_mask, 1>*>(nullptr), options, stream);
}
template <class Result, class Gradient, class Output, int Rank, class Mask, int MaskRank>
status log_softmax_backward(view<Result, Rank> y, view<Gradient, Rank> dy, view<Output, Rank> dx,
                            view<Mask, MaskRank> mask, const softmax_options& options = {},
                            hipStream_t stream = nullptr) {
  return detail::softmax_backward_of_views<softmax_form::log_softmax_backward>(y, dy, dx, &mask,
                                                                               options, stream);
}

} // namespace wavetile
