/// \file
/// Host checks of the arrays of attention, independent of their element types.
#pragma once

#include <wavetile/core/bits.hpp>
#include <wavetile/kernels/attention/plan.hpp>
#include <wavetile/kernels/attention/problem.hpp>
#include <wavetile/kernels/softmax/arrays.hpp>

namespace wavetile {

/// Order of the axes of q, k, v and o.
enum class attention_axes : uint8_t {
  bshd, ///< batch, position in the sequence, head, element
  bhsd, ///< batch, head, position in the sequence, element
};

/// Sequences of different lengths. Pointers to device memory, read when the kernel runs; what they
/// say is clamped to the arrays.
///
/// - Packed arrays, all sequences one after the other along the sequence axis and 1 batch: sequence
///   i has rows q_begin[i] … q_begin[i+1]-1 of q and o, kv_begin[i] … of k and v (so `batch` + 1
///   numbers each), or `q_length[i]` and `kv_length[i]` rows from there on where those are given
///   (`batch` numbers each), which leaves room between sequences.
/// - Batches of equal room: q_begin and kv_begin null; only the first `q_length[i]` and
///   `kv_length[i]` rows of each batch count.
///
/// Rows of o (and lse) that belong to no sequence are not written.
struct attention_sequences {
  const int32_t* q_begin = nullptr;
  const int32_t* kv_begin = nullptr;
  const int32_t* q_length = nullptr;
  const int32_t* kv_length = nullptr;
  int64_t batch = -1;       ///< packed: number of sequences, to be given; else -1 or q's batches
  int64_t max_q_length = 0; ///< packed: no sequence has more queries; 0: all rows of q

  constexpr bool packed() const { return q_begin != nullptr || kv_begin != nullptr; }
};

namespace kernels {

/// Longest sequence, and most rows of an array.
inline constexpr int64_t max_attention_rows = visibility::unlimited - 1;
/// Largest step between rows in elements: 64 of them stay below 2^31 bytes.
inline constexpr int64_t max_attention_row_step = (int64_t{1} << 24) - 512;

/// The arrays of a call in the order of their axes.
struct attention_arrays {
  operand q, k, v, o, mask, lse;
  bool has_mask = false, has_lse = false;
  attention_axes axes = attention_axes::bshd;

  constexpr int rows_axis() const { return axes == attention_axes::bshd ? 1 : 2; }
  constexpr int heads_axis() const { return axes == attention_axes::bshd ? 2 : 1; }
  constexpr int64_t rows(const operand& array) const { return array.extent[rows_axis()]; }
  constexpr int64_t heads(const operand& array) const { return array.extent[heads_axis()]; }

  constexpr attention_steps steps(const operand& array) const {
    // the step of an only row is never made, but kernels compute with it in 32 bits
    return {array.stride[0], array.stride[heads_axis()],
            rows(array) > 1 ? array.stride[rows_axis()] : array.columns()};
  }
};

inline status check_extent(const operand& array, int axis, int64_t expected, const char* of_what) {
  if (array.extent[axis] == expected)
    return {};
  return status::failure(status_code::unsupported_shape, member_name(array, "extent", axis).c_str(),
                         array.extent[axis], "")
      .append(expected)
      .append(of_what);
}

inline status check_axes(attention_axes axes) {
  return wavetile::detail::check_enumerator("axes", axes, attention_axes::bhsd, "bshd, bhsd");
}

/// Extents that go together.
inline status check_attention_extents(const attention_arrays& arrays) {
  const operand &q = arrays.q, &k = arrays.k, &v = arrays.v, &o = arrays.o;
  const int rows = arrays.rows_axis(), heads = arrays.heads_axis();
  for (const operand* array : {&q, &k, &v, &o})
    if (const status outcome = check_extents(*array); !outcome)
      return outcome;
  const struct {
    const operand& array;
    int axis;
    int64_t expected;
    const char* of_what;
  } checks[] = {
      {k, 0, q.extent[0], ", the batches of q"},
      {v, 0, q.extent[0], ", the batches of q"},
      {o, 0, q.extent[0], ", the batches of q"},
      {v, rows, k.extent[rows], ", the positions of k"},
      {o, rows, q.extent[rows], ", the positions of q"},
      {v, heads, k.extent[heads], ", the heads of k"},
      {o, heads, q.extent[heads], ", the heads of q"},
      {k, 3, q.extent[3], ", the elements of a head of q"},
      {o, 3, v.extent[3], ", the elements of a head of v"},
  };
  for (const auto& check : checks)
    if (const status outcome = check_extent(check.array, check.axis, check.expected, check.of_what);
        !outcome)
      return outcome;
  if (find_attention_head({q.extent[3] > 4096 ? 0 : static_cast<int>(q.extent[3]),
                           v.extent[3] > 4096 ? 0 : static_cast<int>(v.extent[3])}) == nullptr)
    return status::failure(status_code::unsupported_shape, "q.extent[3]", q.extent[3],
                           attention_heads_text)
        .append(" (v.extent[3] = ")
        .append(v.extent[3])
        .append(")");
  const int64_t q_heads = q.extent[heads], kv_heads = k.extent[heads];
  if (q_heads != 0 && (kv_heads == 0 || q_heads % kv_heads != 0))
    return status::failure(status_code::unsupported_shape, member_name(k, "extent", heads).c_str(),
                           kv_heads, "a divisor of the heads of q, ")
        .append(q_heads);
  for (const operand* array : {&q, &k})
    if (array->extent[rows] > max_attention_rows)
      return status::above_limit(status_code::unsupported_shape,
                                 member_name(*array, "extent", rows).c_str(), array->extent[rows],
                                 max_attention_rows);
  return {};
}

/// Rows of K and V are a non-negative step apart that fits the offsets of a tile.
inline status check_row_step(const attention_arrays& arrays, const operand& array) {
  const int axis = arrays.rows_axis();
  const int64_t step = array.stride[axis];
  if (array.extent[axis] < 2 || (step >= 0 && step <= max_attention_row_step))
    return {};
  return status::failure(status_code::unsupported_shape, member_name(array, "stride", axis).c_str(),
                         step, "0 to ")
      .append(max_attention_row_step);
}

/// Whether an LSE is given: its elements are, or where they should be.
inline bool wants_lse(const view<float, 3>& lse) {
  return lse.data != nullptr || !describe("lse", lse).empty();
}

inline status check_attention_lse(const attention_arrays& arrays) {
  const operand& lse = arrays.lse;
  if (const status outcome = check_extents(lse); !outcome)
    return outcome;
  if (lse.data == nullptr) // with elements, or it were none
    return check_access(lse);
  const struct {
    int axis;
    int64_t expected;
    const char* of_what;
  } checks[] = {{0, arrays.q.extent[0], ", the batches of q"},
                {1, arrays.heads(arrays.q), ", the heads of q"},
                {2, arrays.rows(arrays.q), ", the positions of q"}};
  for (const auto& check : checks)
    if (const status outcome = check_extent(lse, check.axis, check.expected, check.of_what);
        !outcome)
      return outcome;
  return {};
}

inline status check_attention_sequences(const attention_arrays& arrays,
                                        const attention_sequences& sequences) {
  if (!sequences.packed()) {
    if (sequences.batch != -1 && sequences.batch != arrays.q.extent[0])
      return status::failure(status_code::invalid_argument, "sequences.batch", sequences.batch,
                             "-1 or the batches of q where q_begin and kv_begin are null");
    if (sequences.max_q_length != 0)
      return status::failure(status_code::invalid_argument, "sequences.max_q_length",
                             sequences.max_q_length, "0 where q_begin and kv_begin are null");
    return {};
  }
  if (sequences.q_begin == nullptr || sequences.kv_begin == nullptr)
    return status::failure(status_code::null_pointer,
                           sequences.q_begin == nullptr ? "sequences.q_begin"
                                                        : "sequences.kv_begin",
                           "it is null and the other one is not: give both or neither");
  if (arrays.q.extent[0] != 1)
    return status::failure(status_code::unsupported_shape, "q.extent[0]", arrays.q.extent[0],
                           "1 for packed sequences");
  if (sequences.batch < 0 || sequences.batch > max_attention_rows)
    return status::failure(status_code::invalid_argument, "sequences.batch", sequences.batch,
                           "0 to ")
        .append(max_attention_rows);
  if (sequences.max_q_length < 0)
    return status::failure(status_code::invalid_argument, "sequences.max_q_length",
                           sequences.max_q_length, ">= 0");
  if (arrays.has_mask)
    return status::failure(status_code::unsupported_shape, "mask", "packed sequences take no mask");
  return {};
}

inline status check_attention_numbers(float scale, float softcap, bool causal,
                                      const attention_window& window) {
  if (const status outcome = check_scale(scale); !outcome)
    return outcome;
  if (!is_finite(softcap) || softcap < 0)
    return number_failure("softcap", softcap, ", allowed: finite numbers > 0, or 0 for none");
  // the kernel's factors are scale / softcap and softcap log2(e); an infinite one makes NaN of 0
  if (!is_finite(softcap * log2_e))
    return number_failure("softcap", softcap,
                          ", whose product with log2(e) is infinite in fp32, allowed: at most "
                          "2.358e38");
  if (softcap > 0 && !is_finite(scale / softcap))
    return number_failure("softcap", softcap,
                          ", and scale / softcap is infinite in fp32, allowed: larger numbers, or "
                          "0 for none");
  return check_window(causal, window);
}

/// Numbers that a kernel reads from device memory: aligned, and apart from what it writes. A null
/// pointer is none.
struct number_list {
  const char* name;
  const void* data;
  int64_t count;
  int64_t bytes = 4; ///< of each
};

inline status check_number_list(const number_list& list, const operand* const* outputs,
                                int output_count) {
  if (list.data == nullptr)
    return {};
  const auto address = reinterpret_cast<uintptr_t>(list.data);
  if (address % static_cast<uintptr_t>(list.bytes) != 0)
    return status::failure(status_code::misaligned, list.name, static_cast<int64_t>(address),
                           "a multiple of ")
        .append(list.bytes)
        .append(" bytes");
  operand numbers;
  numbers.name = list.name;
  numbers.data = list.data;
  for (int i = 0; i < output_count; ++i)
    if (!check_memory_apart(list.data, list.count * list.bytes, *outputs[i]).ok())
      return overlap_failure(*outputs[i], numbers, "apart");
  return {};
}

/// An array of numbers that a kernel reads, such as a list of pages: there, aligned, and apart from
/// what the kernel writes.
inline status check_table(const operand& table, const operand* const* outputs, int output_count) {
  if (table.empty())
    return {};
  if (const status outcome = check_access(table); !outcome)
    return outcome;
  for (int i = 0; i < output_count; ++i)
    if (!outputs[i]->empty() && share_memory(*outputs[i], table))
      return overlap_failure(*outputs[i], table, "apart");
  return {};
}

/// The LSE with its positions as rows of one element: those may be any step apart.
inline operand rows_of_lse(const operand& lse) {
  operand result = lse;
  result.rank = 4;
  result.extent[3] = result.stride[3] = 1;
  return result;
}

/// Memory: pointers, strides, overlap. `lists` and `table`: also read by the kernel.
inline status check_attention_memory(const attention_arrays& arrays, const number_list* lists,
                                     int list_count, const operand* table = nullptr) {
  const operand lse = rows_of_lse(arrays.lse);
  const operand* inputs[] = {&arrays.q, &arrays.k, &arrays.v, &arrays.mask};
  const operand* outputs[] = {&arrays.o, &lse};
  const int input_count = arrays.has_mask ? 4 : 3, output_count = arrays.has_lse ? 2 : 1;
  for (int i = 0; i < input_count; ++i)
    if (!inputs[i]->empty())
      if (const status outcome = check_access(*inputs[i]); !outcome)
        return outcome;
  for (const operand* array : {&arrays.k, &arrays.v})
    if (!array->empty())
      if (const status outcome = check_row_step(arrays, *array); !outcome)
        return outcome;
  for (int i = 0; i < output_count; ++i) {
    const operand& output = *outputs[i];
    if (const status outcome = check_access(output); !outcome)
      return outcome;
    if (const status outcome = check_rows_apart(output); !outcome)
      return outcome;
    for (int j = 0; j < input_count; ++j)
      if (!inputs[j]->empty() && share_memory(output, *inputs[j]))
        return overlap_failure(output, *inputs[j], "apart");
  }
  if (output_count == 2 && share_memory(arrays.o, lse))
    return overlap_failure(lse, arrays.o, "apart");
  for (int i = 0; i < list_count; ++i)
    if (const status outcome = check_number_list(lists[i], outputs, output_count); !outcome)
      return outcome;
  return table == nullptr ? status{} : check_table(*table, outputs, output_count);
}

} // namespace kernels

} // namespace wavetile
