/// \file
/// What the reduction kernels work on.
#pragma once

#include <wavetile/kernels/reduce/config.hpp>
#include <wavetile/kernels/reduce/operations.hpp>
#include <wavetile/kernels/rows/row_map.hpp>

namespace wavetile::kernels {

/// Types of a reduction kernel. `Reduction` is a `reduction` or a `second_step`.
template <class Input, class Output, class Reduction>
struct reduce_types {
  using input = Input;
  using output = Output;
  using reduction = Reduction;
  using value = typename Reduction::value;
  /// Elements of one access of up to 16 bytes.
  static constexpr int chunk = sizeof(Input) >= 16 ? 1 : static_cast<int>(16 / sizeof(Input));
  /// Values a lane keeps: one for each element of a chunk, which shortens the chains of additions,
  /// unless they are too large.
  static constexpr int chains = sizeof(value) <= 8 ? chunk : 1;
  static_assert(sizeof(Input) * chunk % 4 == 0,
                "the values of a custom reduction have 1, 2 or a multiple of 4 bytes");
};

/// Arguments of the kernels that reduce rows of neighbouring elements.
template <class Types>
struct reduce_row_arguments {
  const typename Types::input* x;
  typename Types::output* y;
  typename Types::value* partials; ///< of a first step: [groups]
  typename Types::reduction reduction;
  row_map<2> map; ///< x, y
  int64_t rows;
  int64_t columns;
  int64_t count;        ///< elements behind a result (second step: of the first)
  int64_t first_row;    ///< of this launch
  int64_t part_chunks;  ///< split: chunks of a part
  divider parts;        ///< split: parts of a row
  uint32_t lanes_log2;  ///< row_lanes: lanes of a row, log2
  int64_t units;        ///< split: rows x parts
  int64_t group_stride; ///< split: workgroup g takes units g, g + group_stride, …
  bool running_index;   ///< indices count from the first element of the first row
  bool finish;          ///< the only workgroup's result is the result: y[0]
};

/// Arguments of the kernel that reduces an axis other than the last.
template <class Types>
struct reduce_column_arguments {
  const typename Types::input* x;
  typename Types::output* y;
  typename Types::value* partials; ///< split: [parts][leading][columns]
  typename Types::reduction reduction;
  row_map<2> map;  ///< leading axes: x, y
  divider leading; ///< matrices
  int64_t reduced; ///< extent of the reduced axis
  int64_t reduced_stride;
  int64_t columns;       ///< results of each matrix
  int64_t count;         ///< elements behind a result
  int64_t first_group;   ///< of this launch
  divider groups_across; ///< workgroups along the columns
  int64_t part_length;   ///< split: rows of a part
  bool split;            ///< results of parts go to `partials`
  uint32_t across_log2;  ///< lanes along the columns, log2, up to 6
};

} // namespace wavetile::kernels
