/// \file
/// New keys and values into a cache, with rotary embeddings, on the host side.
#pragma once

#include <wavetile/launch/detail/device_language.hpp>

#include <wavetile/attention_decode.hpp>
#include <wavetile/kernels/attention/append.hpp>

namespace wavetile {

/// A rotary position embedding: pairs of elements of a head turned by angles that depend on the
/// position of the row.
struct rotary_embedding {
  rotary_pairs pairs = rotary_pairs::none;
  int elements = 0; ///< first elements of a head that are turned, even; 0: all
  /// Cosine and sine of the angles: position x pair, device memory. Positions beyond the last row
  /// use that.
  view<const float, 2> cosine = {};
  view<const float, 2> sine = {};
};

/// Options of `append_to_cache`.
struct attention_append_options {
  attention_axes axes = attention_axes::bshd; ///< of all arrays, as in `attention_decode_options`
  /// Keys of each sequence with the new ones, device memory: row i of n goes to position
  /// kv_length - n + i. Null: the new rows are the first.
  const int32_t* kv_length = nullptr;
  view<const int32_t, 2> pages = {}; ///< as in `attention_decode_options`
  rotary_embedding rotary = {};
};

namespace detail {

/// New rows and where they go.
struct append_pair {
  kernels::operand from, to;
  bool into_cache = true, turned = true;
};

inline status check_pairs(rotary_pairs pairs) {
  return check_enumerator("rotary.pairs", pairs, rotary_pairs::neighbours,
                          "none, halves, neighbours");
}

inline status check_rotary(const rotary_embedding& rotary, int64_t elements) {
  if (rotary.pairs == rotary_pairs::none)
    return {};
  if (rotary.elements < 0 || rotary.elements % 2 != 0 || rotary.elements > elements)
    return status::failure(status_code::invalid_argument, "rotary.elements", rotary.elements,
                           "an even number from 0 to ")
        .append(elements);
  if (rotary.elements == 0 && elements % 2 != 0)
    return status::failure(status_code::unsupported_shape, "k.extent[3]", elements,
                           "an even number where all elements are turned");
  const int64_t pairs = (rotary.elements == 0 ? elements : rotary.elements) / 2;
  const struct {
    const char* name;
    const view<const float, 2>& table;
  } tables[] = {{"rotary.cosine", rotary.cosine}, {"rotary.sine", rotary.sine}};
  for (const auto& one : tables) {
    const kernels::operand table = kernels::describe(one.name, one.table);
    if (const status outcome = kernels::check_extents(table); !outcome)
      return outcome;
    if (table.extent[0] < 1 || table.extent[0] > kernels::max_attention_rows)
      return status::failure(status_code::unsupported_shape,
                             kernels::member_name(table, "extent", 0).c_str(), table.extent[0],
                             "1 to ")
          .append(kernels::max_attention_rows);
    if (const status outcome =
            kernels::check_extent(table, 1, pairs, ", the pairs that are turned");
        !outcome)
      return outcome;
    if (const status outcome = kernels::check_access(table); !outcome)
      return outcome;
  }
  if (rotary.cosine.extent[0] != rotary.sine.extent[0] ||
      rotary.cosine.stride[0] != rotary.sine.stride[0])
    return status::failure(status_code::unsupported_shape, "rotary.sine",
                           "its rows and their step differ from those of rotary.cosine");
  return {};
}

inline status check_append(attention_decode_call& call, append_pair* pairs, int count,
                           const attention_append_options& options) {
  using namespace kernels;
  attention_arrays& arrays = call.arrays; // k and v are the cache, q holds the new keys
  for (const status& outcome : {check_axes(arrays.axes), check_pairs(options.rotary.pairs)})
    if (!outcome)
      return outcome;
  const int rows = arrays.rows_axis(), heads = arrays.heads_axis();
  for (int i = 0; i < count; ++i)
    for (const operand* array : {&pairs[i].from, &pairs[i].to})
      if (const status outcome = check_extents(*array); !outcome)
        return outcome;
  const operand& k = pairs[0].from;
  for (int i = 0; i < count; ++i) {
    const append_pair& pair = pairs[i];
    for (const int axis : {0, rows})
      if (const status outcome = check_extent(pair.from, axis, k.extent[axis], ", as of k");
          !outcome)
        return outcome;
    if (!pair.into_cache) {
      if (const status outcome =
              check_extent(pair.from, 3, k.extent[3], ", the elements of a head of k");
          !outcome)
        return outcome;
      if (const status outcome = check_same_extents(pair.to, pair.from); !outcome)
        return outcome;
      continue;
    }
    for (const int axis : {heads, 3})
      if (const status outcome =
              check_extent(pair.to, axis, pair.from.extent[axis], ", as of the new rows");
          !outcome)
        return outcome;
  }
  const operand &k_cache = arrays.k, &v_cache = arrays.v;
  if (const status outcome = find_pages(options.pages, call.paged); !outcome)
    return outcome;
  if (const status outcome =
          check_extent(v_cache, rows, k_cache.extent[rows], ", the rows of k_cache");
      !outcome)
    return outcome;
  if (call.paged) {
    attention_decode_options paged;
    paged.pages = options.pages;
    if (const status outcome = check_pages(call, paged); !outcome)
      return outcome;
    call.rows = options.pages.extent[1] * k_cache.extent[rows];
  } else {
    for (const operand* cache : {&k_cache, &v_cache})
      if (const status outcome = check_extent(*cache, 0, k.extent[0], ", the batches of k");
          !outcome)
        return outcome;
    call.rows = k_cache.extent[rows];
  }
  for (const int64_t number : {call.rows, k.extent[rows]})
    if (number > max_attention_rows)
      return status::above_limit(status_code::unsupported_shape, "rows", number,
                                 max_attention_rows);
  if (const status outcome = check_rotary(options.rotary, k.extent[3]); !outcome)
    return outcome;
  if (k.empty())
    return {};
  for (int i = 0; i < count; ++i)
    for (const operand* array : {&pairs[i].from, &pairs[i].to})
      if (!array->empty())
        if (const status outcome = check_access(*array); !outcome)
          return outcome;
  for (int i = 0; i < count; ++i) {
    if (pairs[i].to.empty())
      continue;
    if (const status outcome = check_rows_apart(pairs[i].to); !outcome)
      return outcome;
    for (int j = 0; j < count; ++j) {
      if (!pairs[j].from.empty() && share_memory(pairs[i].to, pairs[j].from))
        return overlap_failure(pairs[i].to, pairs[j].from, "apart");
      if (j < i && !pairs[j].to.empty() && share_memory(pairs[i].to, pairs[j].to))
        return overlap_failure(pairs[i].to, pairs[j].to, "apart");
    }
    const operand* const output = &pairs[i].to;
    const number_list length{"kv_length", options.kv_length, k.extent[0]};
    if (const status outcome = check_number_list(length, &output, 1); !outcome)
      return outcome;
    const rotary_embedding& rotary = options.rotary;
    const bool turns = rotary.pairs != rotary_pairs::none;
    const struct {
      operand table;
      bool there;
    } tables[] = {{describe("pages", options.pages), call.paged},
                  {describe("rotary.cosine", rotary.cosine), turns},
                  {describe("rotary.sine", rotary.sine), turns}};
    for (const auto& one : tables)
      if (one.there)
        if (const status outcome = check_table(one.table, &output, 1); !outcome)
          return outcome;
  }
  return {};
}

template <class T>
status run_append(append_pair* pairs, int count, const attention_append_options& options,
                  hipStream_t stream) {
  using namespace kernels;
  attention_decode_call call;
  call.arrays.axes = options.axes;
  call.arrays.q = pairs[0].from;
  call.arrays.k = pairs[0].to;
  call.arrays.v = pairs[1].to;
  if (const status outcome = check_append(call, pairs, count, options); !outcome)
    return outcome;
  append_arguments<T> arguments{};
  int64_t rows = 0;
  const rotary_embedding& rotary = options.rotary;
  for (int i = 0; i < count; ++i) {
    append_task<T>& task = arguments.tasks[i];
    const operand& from = pairs[i].from;
    task.from = static_cast<const T*>(from.data);
    task.to = static_cast<T*>(const_cast<void*>(pairs[i].to.data));
    task.from_steps = call.arrays.steps(from);
    task.to_steps = call.arrays.steps(pairs[i].to);
    task.rows = from.rows();
    task.heads = static_cast<int>(call.arrays.heads(from));
    task.elements = static_cast<int>(from.extent[3]);
    const bool turned = pairs[i].turned && rotary.pairs != rotary_pairs::none;
    task.turned = !turned ? 0 : rotary.elements == 0 ? task.elements : rotary.elements;
    task.into_cache = pairs[i].into_cache;
    rows += task.rows;
  }
  if (rows == 0)
    return {};
  arguments.cosine = rotary.cosine.data;
  arguments.sine = rotary.sine.data;
  arguments.table_step = rotary.cosine.stride[0];
  arguments.table_rows = static_cast<int>(rotary.cosine.extent[0]);
  arguments.kv_length = options.kv_length;
  arguments.pages = options.pages.data;
  arguments.page_list_step = options.pages.stride[0];
  arguments.page_shift = call.page_shift;
  arguments.page_count = call.paged ? static_cast<int>(call.arrays.k.extent[0]) : 0;
  arguments.cache_rows = static_cast<int>(call.rows);
  arguments.positions = static_cast<int>(call.arrays.rows(pairs[0].from));
  arguments.pairs = rotary.pairs;
  return launch_groups(&attention_append<T>, divide_up(rows, attention_wave_rows), 256, 1,
                       &append_arguments<T>::first_group, arguments, stream);
}

/// Whether all are the same 16-bit type of the library.
template <class First, class... Others>
status check_append_types() {
  using type = kernels::storage_or_self_t<First>;
  if constexpr (!is_any_of_v<type, fp16, bf16>)
    return kernels::unsupported_element("k", kernels::type_name<First>(), "fp16, bf16");
  else if constexpr (!(is_same_v<kernels::storage_or_self_t<Others>, type> && ...))
    return status::failure(status_code::unsupported_type, "k",
                           "all arrays of append_to_cache have one element type");
  else
    return {};
}

} // namespace detail

/// Puts new rows of keys and values into a cache for `attention_decode`, keys turned by
/// `options.rotary`:
///
///     k_cache[b, p, h, :] = turn(k[b, i, h, :], p),  v_cache[b, p, h, :] = v[b, i, h, :],
///     p = kv_length[b] - n + i for i = 0 … n-1
///     turn(x, p): for each pair (a, b) number j: x[a] cos - x[b] sin, x[a] sin + x[b] cos with the
///     cosine and sine of [p, j]; elements that belong to no pair as they are
///
/// k, v: batch, row, head, element (or as `axes` says), fp16 or bf16, any number of elements a
/// head; caches of the same type, with or without pages as in `attention_decode`. In fp32, rounded
/// once to nearest even; v and elements that are not turned bit for bit. Rows whose position or
/// page lies outside the cache are left out. Strides and alignment as for `attention`, asynchronous
/// on `stream`. Errors: extents that do not go together, page sizes, tables of another shape, null
/// or misaligned pointers, overlaps; the caches are untouched then.
template <class K, class V, class KC, class VC>
status append_to_cache(view<K, 4> k, view<V, 4> v, view<KC, 4> k_cache, view<VC, 4> v_cache,
                       const attention_append_options& options = {}, hipStream_t stream = nullptr) {
  static_assert(!detail::is_const_v<KC> && !detail::is_const_v<VC>, "wavetile: caches are written");
  if (const status outcome = detail::check_append_types<K, V, KC, VC>(); !outcome)
    return outcome;
  detail::append_pair pairs[] = {
      {kernels::describe("k", k), kernels::describe("k_cache", k_cache), true, true},
      {kernels::describe("v", v), kernels::describe("v_cache", v_cache), true, false}};
  if constexpr (detail::is_same_v<kernels::storage_or_self_t<K>, fp16>)
    return detail::run_append<fp16>(pairs, 2, options, stream);
  else
    return detail::run_append<bf16>(pairs, 2, options, stream);
}

/// The same, and in the same launch q_turned = turn(q) at the same positions. q may have more
/// heads; q_turned has the extents of q and lies apart.
template <class Q, class K, class V, class QT, class KC, class VC>
status append_to_cache(view<Q, 4> q, view<K, 4> k, view<V, 4> v, view<QT, 4> q_turned,
                       view<KC, 4> k_cache, view<VC, 4> v_cache,
                       const attention_append_options& options = {}, hipStream_t stream = nullptr) {
  static_assert(!detail::is_const_v<QT> && !detail::is_const_v<KC> && !detail::is_const_v<VC>,
                "wavetile: q_turned and the caches are written");
  if (const status outcome = detail::check_append_types<K, Q, V, QT, KC, VC>(); !outcome)
    return outcome;
  detail::append_pair pairs[] = {
      {kernels::describe("k", k), kernels::describe("k_cache", k_cache), true, true},
      {kernels::describe("v", v), kernels::describe("v_cache", v_cache), true, false},
      {kernels::describe("q", q), kernels::describe("q_turned", q_turned), false, true}};
  if constexpr (detail::is_same_v<kernels::storage_or_self_t<K>, fp16>)
    return detail::run_append<fp16>(pairs, 3, options, stream);
  else
    return detail::run_append<bf16>(pairs, 3, options, stream);
}

} // namespace wavetile
