/// \file
/// What the attention kernels work on.
#pragma once

#include <wavetile/arch/device_target.hpp>
#include <wavetile/core/numeric_traits.hpp>
#include <wavetile/kernels/attention/config.hpp>
#include <wavetile/kernels/attention/schedule.hpp>
#include <wavetile/kernels/attention/sections.hpp>
#include <wavetile/kernels/attention/visibility.hpp>
#include <wavetile/kernels/softmax/problem.hpp>

namespace wavetile::kernels {

/// Rows of a workgroup of the kernels that give each row a wave.
inline constexpr int attention_wave_rows = 256 / wave_size;

/// Types of an attention kernel. `Mask` is that of softmax: `no_mask`, `keep_mask`,
/// `additive_mask<T>`.
template <class Input, class Output, class Mask, attention_form Form = attention_form::prefill>
struct attention_types {
  static constexpr attention_form form = Form;
  using input = Input;
  using output = Output;
  using mask = Mask;
  using mask_element = typename Mask::element;
};

/// Steps of an array in elements; those of the head dimension are 1.
struct attention_steps {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0; ///< from one position of the sequence to the next
};

/// Where the sequences of a batch lie in the arrays; pointers to device memory, null if not given.
/// Positions are clamped to the arrays, whatever the numbers say.
struct attention_extents {
  const int32_t* q_begin = nullptr;   ///< first row of each batch's queries in a packed array
  const int32_t* kv_begin = nullptr;  ///< and of its keys
  const int32_t* q_length = nullptr;  ///< queries of each batch; null: to the next q_begin
  const int32_t* kv_length = nullptr; ///< keys of each batch; null: to the next kv_begin
  int q_rows = 0;                     ///< rows of the arrays
  int kv_rows = 0;
};

/// Most parts of the keys of a tile.
inline constexpr int most_attention_parts = 64;

/// How the keys of a tile are shared, and the pages of K and V. Of decode kernels.
struct attention_parts {
  int64_t parts = 1; ///< that a workgroup each takes, at most `most_attention_parts`
  int part_keys = 0; ///< keys of each, a multiple of a step; NVIDIA: one workgroup for all keys of
                     ///< a tile takes parts of so many in turn
  float* values =
      nullptr; ///< [parts][row_count][elements of v], results of the parts; null for one part
  float* logs = nullptr;          ///< [parts][row_count], binary logarithms of their sums
  int64_t row_count = 0;          ///< batches x query heads x queries
  const int32_t* pages = nullptr; ///< [batch][pages of a sequence]; null: no pages
  int64_t page_list_step = 0;     ///< from one batch's list to the next
  int page_shift = 31;            ///< a page has 2^page_shift rows
  int page_count = 0;
};

/// Arguments of an attention kernel.
template <class Types>
struct attention_arguments {
  const typename Types::input* q;
  const typename Types::input* k;
  const typename Types::input* v;
  typename Types::output* o;
  const typename Types::mask_element* mask;
  float* lse;
  attention_steps q_steps, k_steps, v_steps, o_steps, mask_steps, lse_steps;
  attention_extents extents;
  attention_order order;
#if WAVETILE_CUDA
  tile_sections sections; ///< where workgroups have several tiles, instead of `order`
#endif
  attention_parts parts;
  divider group;       ///< query heads of one head of k and v
  int64_t first_group; ///< of this launch
  int64_t query_heads;
  int packed; ///< query heads whose rows a tile interleaves
  visibility visible;
  float score_scale; ///< times a score: its exponent of 2, or with a cap the argument of tanh
  float cap;         ///< with a cap: times tanh, the exponent of 2; 0: none
  float mask_scale;  ///< times an additive mask's element: its exponent of 2

  /// Where row `row` of `attention_parts` has its result, and its LSE.
  WAVETILE_HD WAVETILE_FORCE_INLINE typename Types::output* result_of(int64_t row) const {
    return o + offset_of(row, o_steps);
  }
  WAVETILE_HD WAVETILE_FORCE_INLINE float* lse_of(int64_t row) const {
    return lse + offset_of(row, lse_steps);
  }

private:
  WAVETILE_HD WAVETILE_FORCE_INLINE int64_t offset_of(int64_t row,
                                                      const attention_steps& steps) const {
    const int64_t head_row = row / extents.q_rows;
    const int64_t batch = head_row / query_heads;
    return batch * steps.batch + (head_row - batch * query_heads) * steps.head +
           (row - head_row * extents.q_rows) * steps.row;
  }
};

} // namespace wavetile::kernels
