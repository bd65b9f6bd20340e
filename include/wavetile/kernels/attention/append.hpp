/// \file
/// New rows of keys and values on their way into a cache, and rotary embeddings.
#pragma once

#include <wavetile/core/convert.hpp>
#include <wavetile/core/math.hpp>
#include <wavetile/kernels/attention/problem.hpp>
#include <wavetile/wave/lane.hpp>

namespace wavetile {

/// Which elements of a head a rotary embedding turns together; R of them are turned in all.
enum class rotary_pairs : uint8_t {
  none,       ///< nothing is turned
  halves,     ///< d and d + R/2, for d < R/2
  neighbours, ///< 2d and 2d + 1
};

namespace kernels {

/// One array of rows batch x position x head and where its rows go.
template <class T>
struct append_task {
  const T* from;
  T* to;
  attention_steps from_steps, to_steps;
  int64_t rows = 0; ///< batches x positions x heads
  int heads = 1;
  int elements = 0;
  int turned = 0;         ///< first elements that are turned
  bool into_cache = true; ///< else row i of batch b goes to row i
};

/// Arguments of the kernel.
template <class T>
struct append_arguments {
  append_task<T> tasks[3];
  const float* cosine;
  const float* sine;
  int64_t table_step; ///< from one position to the next
  int table_rows;
  const int32_t* kv_length; ///< null: sequences start with these rows
  const int32_t* pages;     ///< null: no pages
  int64_t page_list_step;
  int page_shift;
  int page_count;
  int cache_rows; ///< of a sequence
  int positions;  ///< new rows of a sequence
  rotary_pairs pairs;
  int64_t first_group; ///< of this launch
};

#if WAVETILE_GPU

/// A wave takes a row; tasks follow each other. Rows outside the cache are left out.
template <class T>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(256) void attention_append(append_arguments<T> args) {
  if constexpr (device_pass_supported) {
    int64_t row = (args.first_group + instruction::workgroup_x()) * attention_wave_rows + wave_id();
    int number = 0;
    while (number < 2 && row >= args.tasks[number].rows)
      row -= args.tasks[number++].rows;
    const append_task<T>& task = args.tasks[number];
    if (row >= task.rows)
      return;
    const int64_t place = row / task.heads, head = row - place * task.heads;
    const int64_t batch = place / args.positions;
    const int i = static_cast<int>(place - batch * args.positions);
    const int position = args.kv_length == nullptr ? i : args.kv_length[batch] - args.positions + i;

    int64_t to_batch = batch, to_row = i;
    if (task.into_cache) {
      if (position < 0 || position >= args.cache_rows)
        return;
      to_row = position;
      if (args.pages != nullptr) {
        const int page = args.pages[batch * args.page_list_step + (position >> args.page_shift)];
        if (page < 0 || page >= args.page_count)
          return;
        to_batch = page;
        to_row = position & ((1 << args.page_shift) - 1);
      }
    }
    const T* from = task.from + batch * task.from_steps.batch + head * task.from_steps.head +
                    i * task.from_steps.row;
    T* to = task.to + to_batch * task.to_steps.batch + head * task.to_steps.head +
            to_row * task.to_steps.row;
    const int table_row = position < 0                 ? 0
                          : position < args.table_rows ? position
                                                       : args.table_rows - 1;
    const int half = task.turned / 2;
    for (int p = lane_id(); p < half; p += wave_size) {
      const bool halves = args.pairs == rotary_pairs::halves;
      const int first = halves ? p : 2 * p, second = halves ? p + half : 2 * p + 1;
      const float c = args.cosine[table_row * args.table_step + p];
      const float s = args.sine[table_row * args.table_step + p];
      const float x = convert<float>(from[first]), y = convert<float>(from[second]);
      to[first] = convert<T>(fma(x, c, -(y * s)));
      to[second] = convert<T>(fma(x, s, y * c));
    }
    for (int e = task.turned + lane_id(); e < task.elements; e += wave_size)
      to[e] = from[e];
  } else {
    refuse_to_run();
  }
}

#endif

} // namespace kernels

} // namespace wavetile
