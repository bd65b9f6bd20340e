/// \file
/// Attention on the host side.
#pragma once

#include <wavetile/launch/detail/device_language.hpp>

#include <wavetile/kernels/attention/arrays.hpp>
#include <wavetile/launch/launch_groups.hpp>
#if WAVETILE_CUDA
#include <wavetile/kernels/attention/cuda/prefill.hpp>
#else
#include <wavetile/kernels/attention/prefill.hpp>
#endif

namespace wavetile {

/// What a score is multiplied with: a number, or by default 1 / sqrt(elements of a head of q).
struct attention_scale {
  float value = 0;
  bool of_head = true;

  constexpr attention_scale() = default;
  constexpr attention_scale(float number) : value(number), of_head(false) {}
  float of(int64_t elements) const {
    return of_head && elements > 0 ? 1.0f / __builtin_sqrtf(static_cast<float>(elements)) : value;
  }
};

/// Options of attention: `attention(q, k, v, o, {.causal = true}, stream)`.
struct attention_options {
  attention_scale scale = {};                         ///< finite; may be negative or 0
  bool causal = false;                                ///< hides the keys after the query's place
  causal_anchor anchor = causal_anchor::bottom_right; ///< the place of a query, see below
  attention_window window = {};                       ///< hides keys far from it
  float softcap = 0;                                  ///< logits become c tanh(logit / c); 0: none
  attention_axes axes = attention_axes::bshd;
  attention_sequences sequences = {};
  /// Batch, head, position: written, if given. Not given is a null pointer to no elements, as by
  /// default; a null pointer to elements is refused.
  view<float, 3> lse = {};
  attention_choice kernel = attention_choice::automatic; ///< refused where there is none such
};

namespace detail {

/// What the checks of a call find out.
struct attention_call {
  kernels::attention_arrays arrays;
  attention_problem problem;
  bool empty = true;
};

inline attention_problem describe_attention(const kernels::attention_arrays& arrays,
                                            const attention_options& options) {
  attention_problem problem;
  const attention_sequences& sequences = options.sequences;
  const bool packed = sequences.packed();
  const int64_t rows = arrays.rows(arrays.q);
  problem.head = {static_cast<int>(arrays.q.extent[3]), static_cast<int>(arrays.v.extent[3])};
  problem.batch = packed ? sequences.batch : arrays.q.extent[0];
  problem.q_heads = arrays.heads(arrays.q);
  problem.kv_heads = arrays.heads(arrays.k);
  problem.queries = packed && sequences.max_q_length > 0 && sequences.max_q_length < rows
                        ? sequences.max_q_length
                        : rows;
  problem.keys = arrays.rows(arrays.k);
  problem.causal = options.causal;
  problem.anchor = options.anchor;
  problem.window = options.window;
  problem.lse = kernels::wants_lse(options.lse);
  problem.kernel = options.kernel;
  return problem;
}

inline status check_attention(attention_call& call, const attention_options& options) {
  using namespace kernels;
  attention_arrays& arrays = call.arrays;
  for (const status& outcome :
       {check_axes(arrays.axes), check_anchor(options.anchor), check_attention_extents(arrays)})
    if (!outcome)
      return outcome;
  if (const status outcome = check_attention_numbers(
          options.scale.of(arrays.q.extent[3]), options.softcap, options.causal, options.window);
      !outcome)
    return outcome;
  if (const status outcome = check_attention_sequences(arrays, options.sequences); !outcome)
    return outcome;
  if (arrays.has_lse)
    if (const status outcome = check_attention_lse(arrays); !outcome)
      return outcome;
  if (arrays.has_mask) {
    if (const status outcome = check_extents(arrays.mask); !outcome)
      return outcome;
    operand scores; // what a mask is aligned with
    scores.name = "the scores";
    scores.rank = 4;
    const int64_t extents[] = {arrays.q.extent[0], arrays.heads(arrays.q), arrays.rows(arrays.q),
                               arrays.rows(arrays.k)};
    for (int axis = 0; axis < 4; ++axis)
      scores.extent[axis] = extents[axis];
    if (const status outcome = broadcast_mask(arrays.mask, scores); !outcome)
      return outcome;
  }
  call.empty = arrays.o.empty() || call.problem.batch == 0;
  if (call.empty)
    return {};
  const attention_sequences& sequences = options.sequences;
  const int64_t batch = call.problem.batch, begins = batch + 1;
  const number_list lists[] = {{"sequences.q_begin", sequences.q_begin, begins},
                               {"sequences.kv_begin", sequences.kv_begin, begins},
                               {"sequences.q_length", sequences.q_length, batch},
                               {"sequences.kv_length", sequences.kv_length, batch}};
  return check_attention_memory(arrays, lists, 4);
}

template <class Types, int Index>
status launch_attention(const attention_plan& plan,
                        const kernels::attention_arguments<Types>& arguments, hipStream_t stream) {
  constexpr int cuts = kernels::attention_cuts(Types::form);
  if constexpr (Index == attention_head_count * cuts) {
    return status::failure(status_code::unsupported_shape, "head", "no kernel");
  } else {
    constexpr attention_config config = kernels::attention_config_of(
        attention_heads[Index / cuts], Types::form, Index % cuts, Types::mask::kind);
    if (plan.config == config)
      return launch_groups(&kernels::attention_prefill<Types, config>, plan.groups,
                           config.threads(), 1, &kernels::attention_arguments<Types>::first_group,
                           arguments, stream, config.dynamic_lds_bytes());
    return launch_attention<Types, Index + 1>(plan, arguments, stream);
  }
}

template <class Types>
status run_attention(attention_call& call, const typename Types::mask_element* mask,
                     const attention_options& options, hipStream_t stream) {
  using namespace kernels;
  attention_arrays& arrays = call.arrays;
  attention_problem& problem = call.problem;
  problem = describe_attention(arrays, options);
  problem.input = numeric_traits<typename Types::input>::type;
  problem.output = numeric_traits<typename Types::output>::type;
  problem.mask = Types::mask::kind;
  if (const status outcome = check_attention(call, options); !outcome)
    return outcome;
  if (call.empty)
    return {};
  device_info device;
  if (const status outcome = stream_device(stream, device); !outcome)
    return outcome;
  const attention_plan chosen = plan(problem, device);
  if (!chosen.outcome)
    return chosen.outcome;

  attention_arguments<Types> arguments{};
  arguments.q = static_cast<const typename Types::input*>(arrays.q.data);
  arguments.k = static_cast<const typename Types::input*>(arrays.k.data);
  arguments.v = static_cast<const typename Types::input*>(arrays.v.data);
  arguments.o = static_cast<typename Types::output*>(const_cast<void*>(arrays.o.data));
  arguments.mask = mask;
  arguments.lse = options.lse.data;
  arguments.q_steps = arrays.steps(arrays.q);
  arguments.k_steps = arrays.steps(arrays.k);
  arguments.v_steps = arrays.steps(arrays.v);
  arguments.o_steps = arrays.steps(arrays.o);
  arguments.mask_steps = {arrays.mask.stride[0], arrays.mask.stride[1], arrays.mask.stride[2]};
  arguments.lse_steps = {options.lse.stride[0], options.lse.stride[1], options.lse.stride[2]};
  arguments.extents = {options.sequences.q_begin,
                       options.sequences.kv_begin,
                       options.sequences.q_length,
                       options.sequences.kv_length,
                       static_cast<int>(arrays.rows(arrays.q)),
                       static_cast<int>(arrays.rows(arrays.k))};
  arguments.order = attention_order(problem.batch, problem.q_heads / chosen.packed_heads,
                                    chosen.tiles, chosen.xcds);
#if WAVETILE_CUDA
  if (chosen.config.warpgroups > 0)
    arguments.sections = tile_sections(problem.batch, problem.q_heads / chosen.packed_heads,
                                       chosen.tiles, chosen.groups);
#endif
  arguments.group = divider(problem.group());
  arguments.query_heads = problem.q_heads;
  arguments.packed = static_cast<int>(chosen.packed_heads);
  arguments.visible = visibility_of(options.causal, options.anchor, options.window);
  const float scale = options.scale.of(problem.head.qk);
  arguments.score_scale = options.softcap > 0 ? scale / options.softcap : scale * log2_e;
  arguments.cap = options.softcap * log2_e;
  arguments.mask_scale = log2_e;
  return launch_attention<Types, 0>(chosen, arguments, stream);
}

/// From views to types: refuses those without a kernel, and turns HIP's types into our own.
template <class Q, class K, class V, class O, class M, int MaskRank>
status attention_of_views(const view<Q, 4>& q, const view<K, 4>& k, const view<V, 4>& v,
                          const view<O, 4>& o, const view<M, MaskRank>* mask,
                          const attention_options& options, hipStream_t stream) {
  static_assert(!detail::is_const_v<O>,
                "wavetile: the output o is written, its elements are const");
  using input = kernels::storage_or_self_t<Q>;
  using output = kernels::storage_or_self_t<O>;
  if constexpr (!is_any_of_v<input, fp16, bf16>) {
    return kernels::unsupported_element("q", kernels::type_name<Q>(), "fp16, bf16");
  } else if constexpr (!is_same_v<kernels::storage_or_self_t<K>, input>) {
    return kernels::unsupported_element("k", kernels::type_name<K>(), "the type of q");
  } else if constexpr (!is_same_v<kernels::storage_or_self_t<V>, input>) {
    return kernels::unsupported_element("v", kernels::type_name<V>(), "the type of q");
  } else if constexpr (!is_any_of_v<output, float, fp16, bf16>) {
    return kernels::unsupported_element("o", kernels::type_name<O>(), "fp32, fp16, bf16");
  } else {
    attention_call call;
    call.arrays.axes = options.axes;
    call.arrays.q = kernels::describe("q", q);
    call.arrays.k = kernels::describe("k", k);
    call.arrays.v = kernels::describe("v", v);
    call.arrays.o = kernels::describe("o", o);
    call.arrays.lse = kernels::describe("lse", options.lse);
    call.arrays.has_lse = kernels::wants_lse(options.lse);
    if constexpr (is_same_v<M, kernels::no_mask>) {
      using types = kernels::attention_types<input, output, kernels::no_mask>;
      return run_attention<types>(call, nullptr, options, stream);
    } else {
      using mask_type = typename kernels::mask_for<M>::type;
      if constexpr (is_same_v<mask_type, void>) {
        return kernels::unsupported_element("mask", kernels::type_name<M>(),
                                            "bool, uint8, fp32, fp16, bf16");
      } else {
        using types = kernels::attention_types<input, output, mask_type>;
        call.arrays.mask = kernels::describe("mask", *mask);
        call.arrays.has_mask = true;
        return run_attention<types>(
            call, reinterpret_cast<const typename mask_type::element*>(mask->data), options,
            stream);
      }
    }
  }
}

} // namespace detail

/// The problem that `attention(q, k, v, o, options)` solves, for `plan`.
template <numeric Q, numeric K, numeric V, numeric O>
attention_problem attention_problem_of(view<Q, 4> q, view<K, 4> k, view<V, 4> v, view<O, 4> o,
                                       const attention_options& options = {}) {
  kernels::attention_arrays arrays;
  arrays.axes = options.axes;
  arrays.q = kernels::describe("q", q);
  arrays.k = kernels::describe("k", k);
  arrays.v = kernels::describe("v", v);
  attention_problem problem = detail::describe_attention(arrays, options);
  problem.input = numeric_traits<detail::remove_cv_t<Q>>::type;
  problem.output = numeric_traits<detail::remove_cv_t<O>>::type;
  (void)o;
  return problem;
}

/// o = softmax(scale q k^T) v for each batch and head, exact, without a matrix of scores in memory:
///
///     o[b,i,h,:] = sum over j of p[j] v[b,j,g,:] / sum over j of p[j]
///     p[j] = exp(l[j] - max l),  l[j] = scale sum over d of q[b,i,h,d] k[b,j,g,d],  g = h / group
///
/// q: batch, position, head, element (or as `axes` says); k, v: the same with their own number of
/// positions and a number of heads that divides that of q, `group` query heads share one; o: like
/// q, with the elements of v. Types: q, k, v all fp16 or all bf16; o fp16, bf16 or fp32; HIP's own
/// types too. Elements of a head: 32, 64, 80, 96, 128, 192, 256, or 192 in q and k with 128 in v.
/// Any extents including 0; any strides with a last one of 1, for rows of k and v from 0 to 2^24 -
/// 512 elements; pointers need only be multiples of the element size, results do not depend on
/// alignment. Asynchronous on `stream`, which may be capturing; no workspace.
///
/// Keys that a query does not see (`causal`, `window`, `sequences`) have p = 0. The place of query
/// i is key i + keys - queries (`causal_anchor::bottom_right`) or key i (`top_left`); `causal`
/// shows it the keys up to there, a window those from `left` before to `right` after. A query that
/// sees no key gets zeros and an LSE of -infinity. Blocks of 64 keys (32 for more than 128
/// elements, and on gfx942 for 128 with an additive mask) that a wave's 32 rows (16 or 32 on NVIDIA
/// GPUs) do not see cost nothing; with `wgmma`, blocks of 128 keys and 64 rows.
///
/// Arithmetic: scores and softmax in fp32; p relative to a running maximum, rounded to the type of
/// v (nearest; ties to even, of bf16 on gfx942 up) for the product with v, summed unrounded;
/// products of 16-bit numbers with fp32 accumulation as `mma` documents; o rounded once. With one
/// visible key o is that row of v, bit for bit but that a -0 becomes 0 (it is added to one); on
/// NVIDIA GPUs, which do not round a logit before they subtract the maximum, only for o of 16 bits
/// and logits below 2^10 in size. NaNs and infinities in visible rows propagate; rows of k and v
/// beyond the sequence are never used, but a NaN or infinity in a row of v reaches every query of a
/// tile that computes the block the row lies in, also those that do not see it. Otherwise the
/// result of a query is the same bit for bit wherever it lies and whatever is beside it. A logit
/// capped by `softcap` has a relative error of about 2^-20.
///
/// lse[b,h,i] = ln(sum over j of exp l[j]), fp32.
///
/// Which kernel runs: `plan(attention_problem_of(q, k, v, o, options), device)`, or with
/// `options.kernel` the one asked for, or none; bits of results do not depend on it. LDS at most 64
/// KiB a workgroup, no scratch. NVIDIA GPUs: mma.sync, at most 96 KiB of shared memory, which is
/// filled by cp.async where rows of K and V are 16 bytes aligned; a lane keeps up to 48 bytes in
/// local memory. Compute capability 9.0, heads of 64 and 128: as many
/// workgroups as there are multiprocessors, which take tiles by turns and have up to 225 KiB; in
/// code for sm_90a they multiply by wgmma (with -rdc=true one product at a time), in code for plain
/// sm_90, which is slower, by mma.sync. Errors: extents that do not go together, heads without a
/// kernel, a last stride other than 1, null or misaligned pointers, outputs that overlap anything,
/// element types without a kernel, a scale that is not finite or not so times log2(e), a negative
/// softcap or window, a `kernel` that there is not, device without code. Whatever the error, o and
/// lse are untouched.
template <class Q, class K, class V, class O>
status attention(view<Q, 4> q, view<K, 4> k, view<V, 4> v, view<O, 4> o,
                 const attention_options& options = {}, hipStream_t stream = nullptr) {
  return detail::attention_of_views(
      q, k, v, o, static_cast<const view<kernels::no_mask, 1>*>(nullptr), options, stream);
}

/// The same with a mask over batch, head, query, key, aligned at the last axis; missing leading
/// axes and such of one element repeat, the last axis has all keys. Of bool or uint8: keys whose
/// mask is 0 are hidden. Of fp32, fp16 or bf16: added to the logits (after `softcap`), -infinity
/// hides. A finite number never does, the lowest of its type included: a query all of whose keys
/// have it gets their average. Numbers below -2.28e38 count as that, on gfx942 a NaN with its sign
/// bit set, too; those above 2.3e38 may overflow. Not for packed sequences.
template <class Q, class K, class V, class O, class Mask, int MaskRank>
status attention(view<Q, 4> q, view<K, 4> k, view<V, 4> v, view<O, 4> o, view<Mask, MaskRank> mask,
                 const attention_options& options = {}, hipStream_t stream = nullptr) {
  return detail::attention_of_views(q, k, v, o, &mask, options, stream);
}

} // namespace wavetile
