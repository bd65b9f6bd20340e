/// \file
/// softmax and log_softmax on the host side.
#pragma once

#include <wavetile/launch/detail/device_language.hpp>

#include <wavetile/kernels/softmax/arrays.hpp>
#include <wavetile/kernels/softmax/forward.hpp>
#include <wavetile/kernels/softmax/forward_stream.hpp>
#include <wavetile/kernels/softmax/plan.hpp>
#include <wavetile/launch/launch_groups.hpp>
#include <wavetile/launch/plan_call.hpp>
#include <wavetile/launch/workspace.hpp>
#if WAVETILE_CUDA
#include <wavetile/kernels/softmax/cuda/cluster.hpp>
#include <wavetile/kernels/softmax/cuda/ring.hpp>
#include <wavetile/launch/cuda/launch_clusters.hpp>
#endif

namespace wavetile {

/// Options of softmax and its relatives: `softmax(x, y, {.scale = 0.125f}, stream)`.
struct softmax_options {
  /// Logits are scale x (+ the additive mask). Finite; may be negative or 0.
  float scale = 1.0f;
  /// Hides from query q, the row q of its matrix (index on the last axis but one, of extent q_len;
  /// a view of rank 1 is one query), the keys (columns) that the causal mask hides.
  bool causal = false;
  causal_anchor anchor = causal_anchor::bottom_right;
  /// Only of use for few rows too long for the chip; see `softmax_plan::best_workspace_bytes`.
  workspace memory = {};
};

namespace detail {

/// What the checks of a forward call find out.
struct forward_call {
  kernels::operand x, y, mask;
  softmax_problem problem;
  bool empty = true;
};

/// A call with its arrays and types, but for the mask.
template <softmax_form Form, class Input, class Output, int Rank>
forward_call forward_call_of(const view<Input, Rank>& x, const view<Output, Rank>& y) {
  static_assert(!is_backward(Form), "wavetile: gradients have softmax_backward_problem_of");
  forward_call call;
  call.x = kernels::describe("x", x);
  call.y = kernels::describe("y", y);
  call.problem.form = Form;
  call.problem.input = numeric_traits<remove_cv_t<Input>>::type;
  call.problem.output = numeric_traits<remove_cv_t<Output>>::type;
  return call;
}

/// The problem that the arrays of a call make; needs no valid arrays.
inline void describe_forward(forward_call& call, mask_kind mask, data_type mask_type,
                             const softmax_options& options) {
  for (const kernels::operand* array : {&call.x, &call.y, &call.mask})
    if (!kernels::check_extents(*array).ok())
      return; // the check that follows says why; products below could overflow
  softmax_problem& problem = call.problem;
  const int chunk = problem.chunk();
  problem.mask = mask;
  problem.mask_type = mask_type;
  problem.rows = call.x.rows();
  problem.columns = call.x.columns();
  problem.causal = options.causal;
  problem.queries = kernels::queries_of(call.x);
  problem.anchor = options.anchor;
  problem.aligned = kernels::rows_aligned(call.x, chunk) && kernels::rows_aligned(call.y, chunk) &&
                    (mask == mask_kind::none || kernels::rows_aligned(call.mask, chunk));
  problem.workspace_bytes = options.memory.bytes;
}

inline status check_forward(forward_call& call, bool has_mask, const softmax_options& options) {
  using namespace kernels;
  operand& x = call.x;
  operand& y = call.y;
  operand* const arrays[] = {&x, &y, &call.mask};
  const int count = has_mask ? 3 : 2;
  for (int i = 0; i < count; ++i)
    if (const status outcome = check_extents(*arrays[i]); !outcome)
      return outcome;
  if (const status outcome = check_same_extents(y, x); !outcome)
    return outcome;
  if (has_mask)
    if (const status outcome = broadcast_mask(call.mask, x); !outcome)
      return outcome;
  if (const status outcome = check_scale(options.scale); !outcome)
    return outcome;
  if (const status outcome = check_anchor(options.anchor); !outcome)
    return outcome;
  call.empty = x.empty();
  if (call.empty)
    return {};
  for (int i = 0; i < count; ++i)
    if (const status outcome = check_access(*arrays[i]); !outcome)
      return outcome;
  if (const status outcome = check_rows_apart(y); !outcome)
    return outcome;
  if (const status outcome = check_in_place_or_apart(y, x); !outcome)
    return outcome;
  return has_mask ? check_in_place_or_apart(y, call.mask) : status{};
}

/// Runs the kernel of a workgroup a row with the cut of the plan.
template <class Types, softmax_kernel Kernel, int Cut = 0, class Run>
status run_forward_workgroup(int cut, const Run& run) {
  if constexpr (Cut + 1 < kernels::cuts_for<Types>(Kernel))
    if (cut > Cut)
      return run_forward_workgroup<Types, Kernel, Cut + 1>(cut, run);
  return run(&kernels::softmax_workgroup<Types, kernels::cut_for<Types>(Kernel, Cut)>);
}

#if WAVETILE_CUDA
/// Runs the kernel of clusters with the cut of the plan.
template <class Types, int Cut = 0>
status run_forward_cluster(const softmax_plan& plan,
                           const kernels::softmax_arguments<Types>& arguments, hipStream_t stream) {
  if constexpr (Cut + 1 < kernels::row_cluster_cuts)
    if (plan.cut > Cut)
      return run_forward_cluster<Types, Cut + 1>(plan, arguments, stream);
  const auto in_turn = [&](void (*kernel)(kernels::softmax_arguments<Types>)) {
    return launch_clusters_in_turn(kernel, plan.groups, static_cast<int>(plan.parts),
                                   plan.config.threads(), arguments, stream, plan.lds_bytes);
  };
  if constexpr (Cut < kernels::row_rings)
    return in_turn(&kernels::softmax_ring<Types, Cut + 1>);
  else
    return launch_clusters(&kernels::softmax_cluster<Types, Cut>, arguments.rows,
                           static_cast<int>(plan.parts), plan.config.threads(),
                           &kernels::softmax_arguments<Types>::first_row, arguments, stream,
                           plan.lds_bytes);
}
#endif

template <class Types>
status run_forward(const softmax_plan& plan, const kernels::softmax_arguments<Types>& arguments,
                   hipStream_t stream) {
  using namespace kernels;
  using kind = softmax_kernel;
  constexpr auto config = &config_for<Types>;
  const auto run = [&](void (*kernel)(softmax_arguments<Types>)) {
    return launch_groups(kernel, plan.groups, plan.config.threads(), plan.rows_per_group,
                         &softmax_arguments<Types>::first_row, arguments, stream);
  };
  switch (plan.kernel) {
  case kind::short_rows:
    return run(&softmax_short_rows<Types, config(kind::short_rows)>);
  case kind::wave_rows:
    return run(&softmax_wave_rows<Types, config(kind::wave_rows)>);
  case kind::small_workgroup:
    return run_forward_workgroup<Types, kind::small_workgroup>(plan.cut, run);
  case kind::workgroup:
    return run_forward_workgroup<Types, kind::workgroup>(plan.cut, run);
  case kind::large_workgroup:
    return run_forward_workgroup<Types, kind::large_workgroup>(plan.cut, run);
  case kind::split:
    if (const status outcome = run(&softmax_split_measure<Types, config(kind::split)>); !outcome)
      return outcome;
    return run(&softmax_split_write<Types, config(kind::split)>);
  case kind::cluster:
#if WAVETILE_CUDA
    if constexpr (Types::mask::kind == mask_kind::none)
      return run_forward_cluster(plan, arguments, stream);
#endif
  case kind::stream:
    break;
  }
  return run(&softmax_stream<Types, config(kind::stream)>);
}

template <softmax_form Form, class Mask, class Input, class Output>
status softmax_forward(forward_call& call, const Input* x, Output* y,
                       const typename Mask::element* mask, data_type mask_type,
                       const softmax_options& options, hipStream_t stream) {
  using types = kernels::softmax_problem_types<Input, Output, Mask, Form>;
  describe_forward(call, Mask::kind, mask_type, options);
  if (const status outcome = check_forward(call, Mask::kind != mask_kind::none, options); !outcome)
    return outcome;
  if (const status outcome = check_lent(options.memory); !outcome)
    return outcome;
  if (call.empty)
    return {};
  const softmax_plan chosen =
      plan_call(call.problem, options.memory, stream, call.x, call.y, call.mask);
  if (!chosen.outcome)
    return chosen.outcome;

  kernels::softmax_arguments<types> arguments{};
  arguments.x = x;
  arguments.y = y;
  arguments.mask = mask;
  const bool has_mask = Mask::kind != mask_kind::none;
  arguments.map = kernels::map_rows<3>({&call.x, &call.y, has_mask ? &call.mask : &call.x});
  arguments.rows = call.problem.rows;
  arguments.columns = call.problem.columns;
  // the maximum is taken of numbers that grow with the logits, so x enters with the scale's sign
  const bool additive = Mask::kind == mask_kind::additive;
  const float magnitude = options.scale < 0 ? -options.scale : options.scale;
  const float sign = options.scale < 0 ? -1.0f : (options.scale > 0 ? 1.0f : 0.0f);
  arguments.sign = additive ? options.scale : sign;
  arguments.scale = additive || magnitude == 0 ? 1.0f : magnitude;
  if (options.causal) {
    arguments.flags = kernels::causal_flag;
    arguments.causal =
        kernels::make_causal_limit(call.problem.queries, call.problem.columns, options.anchor);
  }
  arguments.lanes_log2 = static_cast<uint32_t>(chosen.lanes_log2);
  arguments.parts = chosen.parts;
  arguments.part_chunks = chosen.part_chunks;
  arguments.partials = static_cast<vec<float, 2>*>(options.memory.data);
  return run_forward<types>(chosen, arguments, stream);
}

/// From views to types: refuses those without a kernel, and turns HIP's types into our own.
template <softmax_form Form, class Input, class Output, int Rank, class M, int MaskRank>
status softmax_of_views(const view<Input, Rank>& x, const view<Output, Rank>& y,
                        const view<M, MaskRank>* mask, const softmax_options& options,
                        hipStream_t stream) {
  static_assert(!detail::is_const_v<Output>,
                "wavetile: the output y is written, its elements are const");
  constexpr const char* allowed = "fp32, fp16, bf16";
  if constexpr (!kernels::is_softmax_type<Input>) {
    return kernels::unsupported_element("x", kernels::type_name<Input>(), allowed);
  } else if constexpr (!kernels::is_softmax_type<Output>) {
    return kernels::unsupported_element("y", kernels::type_name<Output>(), allowed);
  } else {
    forward_call call = forward_call_of<Form>(x, y);
    const auto* from = reinterpret_cast<const storage_t<Input>*>(x.data);
    auto* to = reinterpret_cast<storage_t<Output>*>(y.data);
    if constexpr (is_same_v<M, kernels::no_mask>) {
      return softmax_forward<Form, kernels::no_mask>(call, from, to, nullptr, data_type::uint8,
                                                     options, stream);
    } else {
      using mask_type = typename kernels::mask_for<M>::type;
      if constexpr (is_same_v<mask_type, void>) {
        return kernels::unsupported_element("mask", kernels::type_name<M>(),
                                            "bool, uint8, fp32, fp16, bf16");
      } else {
        using element = typename mask_type::element;
        call.mask = kernels::describe("mask", *mask);
        return softmax_forward<Form, mask_type>(call, from, to,
                                                reinterpret_cast<const element*>(mask->data),
                                                numeric_traits<element>::type, options, stream);
      }
    }
  }
}

} // namespace detail

/// The problem that `softmax(x, y, options)` solves, for `plan`; `Form` for its relatives. Arrays
/// that `softmax` would refuse for their extents give an empty problem.
template <softmax_form Form = softmax_form::softmax, numeric Input, numeric Output, int Rank>
softmax_problem softmax_problem_of(view<Input, Rank> x, view<Output, Rank> y,
                                   const softmax_options& options = {}) {
  detail::forward_call call = detail::forward_call_of<Form>(x, y);
  detail::describe_forward(call, mask_kind::none, data_type::uint8, options);
  return call.problem;
}

/// The same with a mask argument.
template <softmax_form Form = softmax_form::softmax, numeric Input, numeric Output, int Rank,
          kernels::mask_element Mask, int MaskRank>
softmax_problem softmax_problem_of(view<Input, Rank> x, view<Output, Rank> y,
                                   view<Mask, MaskRank> mask, const softmax_options& options = {}) {
  using kind = typename kernels::mask_for<Mask>::type;
  detail::forward_call call = detail::forward_call_of<Form>(x, y);
  call.mask = kernels::describe("mask", mask);
  detail::describe_forward(call, kind::kind, numeric_traits<typename kind::element>::type, options);
  return call.problem;
}

/// y = softmax(scale x) over the last axis, in fp32 arithmetic:
///
///     y[…, i] = exp(l[i] - max l) / sum over j of exp(l[j] - max l),  l[i] = scale x[…, i]
///
/// x, y: views of rank 1 to 4 and equal extents, of fp32, fp16 or bf16 (HIP's own types too; they
/// may differ). Any extents including 0, any strides of the leading axes, also negative and, for x,
/// 0; the last stride is 1. Pointers need only be multiples of the element size; results do not
/// depend on alignment. In place (y the same view as x) or apart. Asynchronous on `stream`, which
/// may be capturing; nothing is allocated; runs on the stream's device.
///
/// A row whose elements are all -infinity, or that holds a NaN or +infinity (times the scale), is
/// NaN; other -infinities give exact zeros. Results below 2^-126 may be 0. For a given shape and
/// device the result of a row is always the same bit for bit, wherever the row stands.
///
/// Which kernel runs, its LDS and registers: `plan(softmax_problem_of(x, y, options), device)`.
/// Errors: negative extents, extents that differ, last stride not 1, null pointer to a non-empty
/// view, misaligned pointer, overlap that is not exactly in place, rows of y that overlap, element
/// types without a kernel, a scale that is not finite (also times log2(e)), workspace too small
/// (only if one is lent), device without code or, of a part of a device, without room for a cluster
/// (`grid_limit`). Whatever the error, y is untouched.
template <class Input, class Output, int Rank>
status softmax(view<Input, Rank> x, view<Output, Rank> y, const softmax_options& options = {},
               hipStream_t stream = nullptr) {
  return detail::softmax_of_views<softmax_form::softmax>(
      x, y, static_cast<const view<kernels::no_mask, 1>*>(nullptr), options, stream);
}

/// The same with a mask whose axes are aligned with those of x at the last one; missing leading
/// axes and such of one element repeat, the last axis has all columns. Of bool or uint8: elements
/// whose mask is 0 are hidden. Of fp32, fp16 or bf16: added to scale x; elements whose mask is
/// -infinity are hidden. Hidden elements influence nothing, whatever x holds there, and give exact
/// zeros, unless the row is NaN as above: then all of it is. A row that is hidden altogether (also
/// by `causal`) is all zeros.
template <class Input, class Output, int Rank, class Mask, int MaskRank>
status softmax(view<Input, Rank> x, view<Output, Rank> y, view<Mask, MaskRank> mask,
               const softmax_options& options = {}, hipStream_t stream = nullptr) {
  return detail::softmax_of_views<softmax_form::softmax>(x, y, &mask, options, stream);
}

/// y = log(softmax(scale x)) over the last axis: l[i] - max l - ln(sum over j of exp(l[j] - max
/// l)). Everything else as `softmax`; -infinities and hidden elements give -infinity, also where
/// all elements of a row are hidden.
template <class Input, class Output, int Rank>
status log_softmax(view<Input, Rank> x, view<Output, Rank> y, const softmax_options& options = {},
                   hipStream_t stream = nullptr) {
  return detail::softmax_of_views<softmax_form::log_softmax>(
      x, y, static_cast<const view<kernels::no_mask, 1>*>(nullptr), options, stream);
}
template <class Input, class Output, int Rank, class Mask, int MaskRank>
status log_softmax(view<Input, Rank> x, view<Output, Rank> y, view<Mask, MaskRank> mask,
                   const softmax_options& options = {}, hipStream_t stream = nullptr) {
  return detail::softmax_of_views<softmax_form::log_softmax>(x, y, &mask, options, stream);
}

} // namespace wavetile
