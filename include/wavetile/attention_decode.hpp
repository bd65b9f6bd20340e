/// \file
/// Attention of a few queries over a cache of keys and values.
#pragma once

#include <wavetile/attention.hpp>
#include <wavetile/kernels/attention/decode_plan.hpp>
#include <wavetile/launch/workspace.hpp>
#if WAVETILE_CUDA
#include <wavetile/kernels/attention/cuda/combine.hpp>
#else
#include <wavetile/kernels/attention/combine.hpp>
#endif

namespace wavetile {

/// Options of `attention_decode`.
struct attention_decode_options {
  attention_scale scale = {};
  bool causal = true; ///< query i of n sees the keys but the last n - 1 - i
  attention_window window = {};
  float softcap = 0;
  attention_axes axes = attention_axes::bshd; ///< with pages: page, row, head, element, or
                                              ///< page, head, row, element
  /// Keys of each sequence, those of the queries included; device memory, clamped to the cache.
  /// Null: all rows of the cache.
  const int32_t* kv_length = nullptr;
  /// No sequence has more keys; 0: the rows of the cache. Settles how keys are shared out, and
  /// keys beyond are not seen.
  int64_t max_kv_length = 0;
  /// The pages of each sequence in order: batch x pages of a sequence, device memory. A null
  /// pointer: no pages, the cache has an array of rows for each sequence.
  view<const int32_t, 2> pages = {};
  view<float, 3> lse = {}; ///< batch, head, query; see `attention_options::lse`
  workspace memory = {};   ///< see `attention_decode_plan::best_workspace_bytes`
};

namespace detail {

/// Arrays of a call over a cache, and the same as if each sequence had its own rows.
struct attention_decode_call {
  kernels::attention_arrays arrays; ///< as they lie
  attention_problem problem;
  bool paged = false;
  int page_shift = 31;
  int64_t rows = 0; ///< of a sequence in the cache
};

/// Whether there are pages: a list of some without memory is a mistake, not a list of none.
inline status find_pages(const view<const int32_t, 2>& pages, bool& paged) {
  paged = pages.data != nullptr;
  if (!paged && !kernels::describe("pages", pages).empty())
    return status::failure(status_code::null_pointer, "pages",
                           "null pointer to a list that is not empty");
  return {};
}

inline status check_pages(attention_decode_call& call, const attention_decode_options& options) {
  using namespace kernels;
  const attention_arrays& arrays = call.arrays;
  const int64_t page_rows = arrays.rows(arrays.k);
  int shift = 4;
  while (shift < 8 && (int64_t{1} << shift) < page_rows)
    ++shift;
  if ((int64_t{1} << shift) != page_rows)
    return status::failure(status_code::unsupported_shape,
                           member_name(arrays.k, "extent", arrays.rows_axis()).c_str(), page_rows,
                           "16, 32, 64, 128 or 256 rows a page");
  call.page_shift = shift;
  const operand list = describe("pages", options.pages);
  if (const status outcome = check_extents(list); !outcome)
    return outcome;
  if (const status outcome = check_extent(list, 0, arrays.q.extent[0], ", the batches of q");
      !outcome)
    return outcome;
  if (list.extent[1] > max_attention_rows / page_rows)
    return status::above_limit(status_code::unsupported_shape, "pages.extent[1]", list.extent[1],
                               max_attention_rows / page_rows);
  if (arrays.k.extent[0] < 1 || arrays.k.extent[0] > max_attention_rows)
    return status::failure(status_code::unsupported_shape, "k.extent[0]", arrays.k.extent[0],
                           "1 to ")
        .append(max_attention_rows)
        .append(" pages");
  if (const status outcome = check_extent(arrays.v, 0, arrays.k.extent[0], ", the pages of k");
      !outcome)
    return outcome;
  return check_table(list, nullptr, 0);
}

inline status check_decode(attention_decode_call& call, const attention_decode_options& options) {
  using namespace kernels;
  attention_arrays& arrays = call.arrays;
  if (const status outcome = check_axes(arrays.axes); !outcome)
    return outcome;
  if (const status outcome = find_pages(options.pages, call.paged); !outcome)
    return outcome;
  for (const operand* array : {&arrays.q, &arrays.k, &arrays.v, &arrays.o})
    if (const status outcome = check_extents(*array); !outcome)
      return outcome;
  attention_arrays own = arrays; // as if each sequence had rows of its own
  if (call.paged) {
    if (const status outcome = check_pages(call, options); !outcome)
      return outcome;
    const int64_t rows = options.pages.extent[1] * arrays.rows(arrays.k);
    if (const status outcome =
            check_extent(arrays.v, arrays.rows_axis(), arrays.rows(arrays.k), ", the rows of k");
        !outcome)
      return outcome;
    for (operand* cache : {&own.k, &own.v}) {
      cache->extent[0] = own.q.extent[0];
      cache->extent[own.rows_axis()] = rows;
      cache->stride[0] = 0; // its reach is that of the pages
      cache->stride[own.rows_axis()] = 0;
    }
  }
  if (const status outcome = check_attention_extents(own); !outcome)
    return outcome;
  if (const status outcome = check_attention_numbers(
          options.scale.of(arrays.q.extent[3]), options.softcap, options.causal, options.window);
      !outcome)
    return outcome;
  if (options.max_kv_length < 0)
    return status::failure(status_code::invalid_argument, "max_kv_length", options.max_kv_length,
                           ">= 0");
  if (arrays.has_lse)
    if (const status outcome = check_attention_lse(arrays); !outcome)
      return outcome;
  call.rows = own.rows(own.k);
  if (options.max_kv_length > 0 && options.max_kv_length < call.rows)
    call.rows = options.max_kv_length;
  attention_problem& problem = call.problem;
  problem.head = {static_cast<int>(arrays.q.extent[3]), static_cast<int>(arrays.v.extent[3])};
  problem.batch = arrays.q.extent[0];
  problem.q_heads = arrays.heads(arrays.q);
  problem.kv_heads = arrays.heads(arrays.k);
  problem.queries = arrays.rows(arrays.q);
  problem.keys = call.rows;
  problem.causal = options.causal;
  problem.window = options.window;
  problem.lse = arrays.has_lse;
  if (arrays.o.empty())
    return {};
  const number_list length{"kv_length", options.kv_length, problem.batch};
  const operand pages = describe("pages", options.pages);
  return check_attention_memory(arrays, &length, 1, call.paged ? &pages : nullptr);
}

template <class Types, int Index>
status launch_decode(const attention_decode_plan& plan,
                     const kernels::attention_arguments<Types>& arguments, hipStream_t stream) {
  constexpr int cuts = kernels::attention_cuts(Types::form);
  if constexpr (Index == attention_head_count * cuts) {
    return status::failure(status_code::unsupported_shape, "head", "no kernel");
  } else {
    using namespace kernels;
    constexpr attention_config config =
        attention_config_of(attention_heads[Index / cuts], Types::form, Index % cuts);
    if (!(plan.tiles.config == config))
      return launch_decode<Types, Index + 1>(plan, arguments, stream);
    constexpr auto first = &attention_arguments<Types>::first_group;
    if (const status outcome =
            launch_groups(&attention_prefill<Types, config>, plan.groups, config.threads(), 1,
                          first, arguments, stream, config.dynamic_lds_bytes());
        !outcome || plan.parts == 1)
      return outcome;
    return launch_groups(&attention_combine<Types, config.head.v>,
                         divide_up(arguments.parts.row_count, attention_combine_rows),
                         attention_combine_rows * wave_size, 1, first, arguments, stream);
  }
}

template <class Types>
status run_decode(attention_decode_call& call, const attention_decode_options& options,
                  hipStream_t stream) {
  using namespace kernels;
  const attention_arrays& arrays = call.arrays;
  attention_problem& problem = call.problem;
  problem.input = numeric_traits<typename Types::input>::type;
  problem.output = numeric_traits<typename Types::output>::type;
  if (const status outcome = check_decode(call, options); !outcome)
    return outcome;
  if (const status outcome = check_lent(options.memory); !outcome)
    return outcome;
  if (arrays.o.empty())
    return {};
  device_info device;
  if (const status outcome = stream_device(stream, device); !outcome)
    return outcome;
  const attention_decode_plan chosen = plan_decode(problem, device, options.memory.bytes);
  if (!chosen.outcome)
    return chosen.outcome;
  const operand pages = describe("pages", options.pages);
  const operand length = describe("kv_length", make_view(options.kv_length, problem.batch));
  if (const status outcome =
          check_workspace(options.memory, chosen.workspace_bytes, arrays.q, arrays.k, arrays.v,
                          arrays.o, arrays.lse, call.paged ? pages : operand{},
                          options.kv_length != nullptr ? length : operand{});
      !outcome)
    return outcome;

  attention_arguments<Types> arguments{};
  arguments.q = static_cast<const typename Types::input*>(arrays.q.data);
  arguments.k = static_cast<const typename Types::input*>(arrays.k.data);
  arguments.v = static_cast<const typename Types::input*>(arrays.v.data);
  arguments.o = static_cast<typename Types::output*>(const_cast<void*>(arrays.o.data));
  arguments.lse = options.lse.data;
  arguments.q_steps = arrays.steps(arrays.q);
  arguments.k_steps = arrays.steps(arrays.k);
  arguments.v_steps = arrays.steps(arrays.v);
  arguments.o_steps = arrays.steps(arrays.o);
  arguments.lse_steps = {options.lse.stride[0], options.lse.stride[1], options.lse.stride[2]};
  arguments.extents.kv_length = options.kv_length;
  arguments.extents.q_rows = static_cast<int>(problem.queries);
  arguments.extents.kv_rows = static_cast<int>(call.rows);
  arguments.order = attention_order(problem.batch, problem.q_heads / chosen.tiles.packed_heads,
                                    chosen.tiles.tiles * chosen.parts, chosen.tiles.xcds);
  attention_parts& parts = arguments.parts;
  parts.parts = chosen.parts;
  parts.part_keys = static_cast<int>(chosen.part_keys);
  parts.row_count = problem.batch * problem.q_heads * problem.queries;
  if (chosen.parts > 1) {
    parts.values = static_cast<float*>(options.memory.data);
    parts.logs = parts.values + chosen.parts * parts.row_count * problem.head.v;
  }
  if (call.paged) {
    parts.pages = options.pages.data;
    parts.page_list_step = options.pages.stride[0];
    parts.page_shift = call.page_shift;
    parts.page_count = static_cast<int>(arrays.k.extent[0]);
  }
  arguments.group = divider(problem.group());
  arguments.query_heads = problem.q_heads;
  arguments.packed = static_cast<int>(chosen.tiles.packed_heads);
  arguments.visible = visibility_of(options.causal, causal_anchor::bottom_right, options.window);
  const float scale = options.scale.of(problem.head.qk);
  arguments.score_scale = options.softcap > 0 ? scale / options.softcap : scale * log2_e;
  arguments.cap = options.softcap * log2_e;
  return launch_decode<Types, 0>(chosen, arguments, stream);
}

} // namespace detail

/// The problem that `attention_decode(q, k, v, o, options)` solves, for `plan_decode`. The arrays
/// must be those of a valid call.
template <numeric Q, numeric K, numeric V, numeric O>
attention_problem attention_decode_problem_of(view<Q, 4> q, view<K, 4> k, view<V, 4> v,
                                              view<O, 4> o,
                                              const attention_decode_options& options = {}) {
  detail::attention_decode_call call;
  call.arrays.axes = options.axes;
  call.arrays.q = kernels::describe("q", q);
  call.arrays.k = kernels::describe("k", k);
  call.arrays.v = kernels::describe("v", v);
  call.arrays.o = kernels::describe("o", o);
  (void)detail::check_decode(call, options);
  call.problem.input = numeric_traits<detail::remove_cv_t<Q>>::type;
  call.problem.output = numeric_traits<detail::remove_cv_t<O>>::type;
  return call.problem;
}

/// `attention` of the last queries of sequences (1 to 16 each is what it is made for) over a cache
/// of keys and values, whose rows for those queries are there already (`append_to_cache`):
///
///     o[b,i,h,:] = sum over j < keys(b) of p[j] v[b,j,g,:] / sum of p[j], as `attention` says
///
/// q, o: batch, query, head, element. k, v: without pages batch, row, head, element; with pages
/// (`options.pages`) page, row, head, element, where row j of sequence b is row j mod R of page
/// pages(b, j div R), R = 16, 32, 64, 128 or 256. Or as `axes` says. Types, heads, strides,
/// rounding and errors are those of `attention`; numbers of pages that do not exist are clamped.
///
/// With at most 16 queries the heads that share a head of k and v are rows of one tile, so the
/// cache is read once for all of them. On gfx942 four waves share up to 32 such rows: each takes a
/// quarter of the keys, of heads of 192 and more a quarter of the elements of v; with heads of 80,
/// or for more rows, each has rows of its own. On NVIDIA GPUs all waves share up to 16 rows. With a
/// workspace of `plan_decode(…).best_workspace_bytes` several workgroups share the keys of a
/// sequence, and a second kernel puts their results together in a fixed order; the result is the
/// same bit for bit each time, wherever the sequence stands in the batch and however many there
/// are, but not the same bits as without a workspace, nor where waves share keys those of
/// `attention`. Where waves share up to 16 rows on NVIDIA GPUs, one workgroup takes the same parts
/// in turn if there is no workspace or the tiles fill the device: with the bits of a call with a
/// workspace, and with up to 512 keys with those of `attention` where that does not use `wgmma`.
template <class Q, class K, class V, class O>
status attention_decode(view<Q, 4> q, view<K, 4> k, view<V, 4> v, view<O, 4> o,
                        const attention_decode_options& options = {},
                        hipStream_t stream = nullptr) {
  static_assert(!detail::is_const_v<O>,
                "wavetile: the output o is written, its elements are const");
  using input = kernels::storage_or_self_t<Q>;
  using output = kernels::storage_or_self_t<O>;
  if constexpr (!detail::is_any_of_v<input, fp16, bf16>) {
    return kernels::unsupported_element("q", kernels::type_name<Q>(), "fp16, bf16");
  } else if constexpr (!detail::is_same_v<kernels::storage_or_self_t<K>, input>) {
    return kernels::unsupported_element("k", kernels::type_name<K>(), "the type of q");
  } else if constexpr (!detail::is_same_v<kernels::storage_or_self_t<V>, input>) {
    return kernels::unsupported_element("v", kernels::type_name<V>(), "the type of q");
  } else if constexpr (!detail::is_any_of_v<output, float, fp16, bf16>) {
    return kernels::unsupported_element("o", kernels::type_name<O>(), "fp32, fp16, bf16");
  } else {
    detail::attention_decode_call call;
    call.arrays.axes = options.axes;
    call.arrays.q = kernels::describe("q", q);
    call.arrays.k = kernels::describe("k", k);
    call.arrays.v = kernels::describe("v", v);
    call.arrays.o = kernels::describe("o", o);
    call.arrays.lse = kernels::describe("lse", options.lse);
    call.arrays.has_lse = kernels::wants_lse(options.lse);
    using types =
        kernels::attention_types<input, output, kernels::no_mask, kernels::attention_form::cache>;
    return detail::run_decode<types>(call, options, stream);
  }
}

} // namespace wavetile
