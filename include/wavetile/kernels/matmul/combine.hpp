/// \file
/// The second pass of a product whose k was split; also what is left of one without a product.
#pragma once

#include <wavetile/kernels/matmul/store.hpp>
#include <wavetile/kernels/matmul/tile_place.hpp>
#include <wavetile/wave/lane.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// Elements of a row that a lane takes.
inline constexpr int combine_run = 4;
inline constexpr int combine_threads = 256;

template <class Types>
struct matmul_combine_arguments {
  matmul_arguments<Types> product; ///< of a list only what was split is combined
  int64_t splits;                  ///< 0: the product is all zeros
  divider runs_per_matrix, runs_per_row;
  int64_t total; ///< runs
  int64_t first_group;
};

/// What a lane combines.
struct combine_place {
  int64_t batch, row, column;
  int64_t splits, first_partial;
  bool active;
};

/// Of a list whole workgroups belong to a product, of less than 2^32 runs.
template <class Types>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE combine_place combine_place_of(
    const matmul_combine_arguments<Types>& arguments, int64_t group, matmul_task<Types>& task) {
  const matmul_arguments<Types>& product = arguments.product;
  combine_place place;
  if (product.list != nullptr) {
    place.batch = find_listed<&matmul_listed_task<Types>::first_combine>(product.list,
                                                                         product.batches, group);
    const matmul_listed_task<Types>& found = product.list[place.batch];
    task = found.task;
    const auto run = static_cast<uint32_t>((group - found.first_combine) * combine_threads) +
                     static_cast<uint32_t>(thread_id());
    const auto in_row = static_cast<uint32_t>((task.n + (combine_run - 1)) / combine_run);
    place.row = run / in_row;
    place.column = int64_t{run % in_row} * combine_run;
    place.splits = found.splits;
    place.first_partial = found.first_partial;
    place.active = place.row < task.m;
    return place;
  }
  const int64_t run = group * combine_threads + thread_id();
  place.batch = arguments.runs_per_matrix.quotient(run);
  const int64_t in_matrix = run - place.batch * arguments.runs_per_matrix.divisor();
  place.row = arguments.runs_per_row.quotient(in_matrix);
  place.column = (in_matrix - place.row * arguments.runs_per_row.divisor()) * combine_run;
  place.splits = arguments.splits;
  place.active = run < arguments.total;
  task = product.task;
  task.c += place.batch * product.batch_c;
  task.d += place.batch * product.batch_d;
  place.first_partial = place.batch * place.splits * task.m * task.n;
  return place;
}

/// Adds the next `Count` parts, one after the other, to `sums`; all are on their way before the
/// first is needed.
template <int Count, class Types, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void add_parts(vec<T, combine_run>& sums, const T*& part,
                                                     int64_t elements, int count) {
  vec<T, combine_run> parts[Count];
#pragma unroll
  for (int p = 0; p < Count; ++p, part += elements)
    parts[p] = load_some<T, combine_run>(part, count);
#pragma unroll
  for (int p = 0; p < Count; ++p)
    for (int i = 0; i < combine_run; ++i)
      sums[i] = matmul_output<Types>::sum(sums[i], parts[p][i]);
}

/// The sum of `splits` parts, in order; the first `count` elements of each, which are all where
/// `Whole`.
template <bool Whole, class Types, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, combine_run>
sum_of_parts(const T* part, int64_t elements, int64_t splits, int count) {
  vec<T, combine_run> sums{};
  const int known = Whole ? combine_run : count;
  constexpr int most = Whole ? 8 : 2; // ends of rows are few
#pragma unroll 1
  for (; splits >= most; splits -= most)
    add_parts<most, Types>(sums, part, elements, known);
  if (Whole && splits >= 4) {
    add_parts<4, Types>(sums, part, elements, known);
    splits -= 4;
  }
  if (Whole && splits >= 2) {
    add_parts<2, Types>(sums, part, elements, known);
    splits -= 2;
  }
  if (splits > 0)
    add_parts<1, Types>(sums, part, elements, known);
  return sums;
}

/// D = epilogue(alpha (sum of the parts, in order) + beta C), one lane a run of four elements.
template <class Types>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(combine_threads) void matmul_combine(
    matmul_combine_arguments<Types> arguments) {
  using accumulator = typename Types::accumulator;
  const matmul_arguments<Types>& product = arguments.product;
  const int64_t group = arguments.first_group + static_cast<int64_t>(instruction::workgroup_x());
  matmul_task<Types> task;
  const combine_place place = combine_place_of(arguments, group, task);
  matmul_output<Types> output(product, task, place.batch);
  if (place.active) {
    const int64_t left = task.n - place.column;
    const int count = left < combine_run ? static_cast<int>(left) : combine_run;
    const int64_t elements = task.m * task.n;
    const auto* part = static_cast<const accumulator*>(product.partials) + place.first_partial +
                       place.row * task.n + place.column;
    const auto sums = count == combine_run
                          ? sum_of_parts<true, Types>(part, elements, place.splits, count)
                          : sum_of_parts<false, Types>(part, elements, place.splits, count);
    output.template store<combine_run>(sums, place.row, place.column, count);
  }
  output.finish();
}

} // namespace wavetile::kernels

#endif
