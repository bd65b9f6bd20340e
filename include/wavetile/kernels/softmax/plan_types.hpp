/// \file
/// What a softmax is planned from, and what a plan says.
#pragma once

#include <wavetile/core/data_type.hpp>
#include <wavetile/core/status.hpp>
#include <wavetile/core/text.hpp>
#include <wavetile/kernels/rows/causal.hpp>
#include <wavetile/kernels/softmax/config.hpp>

namespace wavetile {

/// Shape, types and memory of a softmax problem; made from views by `softmax_problem_of` and
/// `softmax_backward_problem_of`, or by hand. No array has more than 2^58 elements.
struct softmax_problem {
  softmax_form form = softmax_form::softmax;
  data_type input = data_type::fp32;    ///< x (forward), y (backward)
  data_type gradient = data_type::fp32; ///< of y; backward only
  data_type output = data_type::fp32;   ///< y (forward), gradient of x (backward)
  mask_kind mask = mask_kind::none;
  data_type mask_type = data_type::uint8;
  int64_t rows = 0;
  int64_t columns = 0;
  bool causal = false;
  int64_t queries = 1; ///< causal: rows of each matrix
  causal_anchor anchor = causal_anchor::bottom_right;
  /// Every row of every array starts at a multiple of the bytes that one access moves.
  bool aligned = true;
  int64_t workspace_bytes = 0; ///< what the caller lends

  /// Elements that a lane takes at a time: 16 bytes of the smallest type.
  constexpr int chunk() const {
    int smallest = size_of(input) < size_of(output) ? size_of(input) : size_of(output);
    if (is_backward(form) && size_of(gradient) < smallest)
      smallest = size_of(gradient);
    return 16 / smallest;
  }
  /// Bytes of a chunk of the arrays that a kernel keeps in registers.
  constexpr int held_bytes() const {
    return chunk() * (size_of(input) + (is_backward(form) ? size_of(gradient) : 0));
  }
};

/// Why a kernel does not run.
enum class softmax_refusal : uint8_t {
  none,              ///< it does
  row_too_long,      ///< its registers do not hold a row
  not_needed,        ///< a smaller one holds the row
  row_fits,          ///< a row fits on chip, where it is read once; this one reads it twice
  many_rows,         ///< there are rows enough for every CU without splitting them
  needs_workspace,   ///< no workspace was lent
  split_is_faster,   ///< few long rows: one workgroup a row would leave CUs idle
  not_clustered,     ///< rows too short or too long, with a mask, or a device without clusters
  cluster_is_faster, ///< a cluster reads the input once, or has more in flight
};

/// What `softmax` and its relatives do with a problem; they compute this plan and follow it.
struct softmax_plan {
  /// Success, or why the problem cannot run on the device: `wrong_architecture`,
  /// `workspace_too_small`, `unsupported_shape` (too many elements), or a problem made by hand that
  /// no call could have (`invalid_argument`, `unsupported_type`).
  status outcome;
  softmax_kernel kernel = softmax_kernel::short_rows;
  softmax_config config;
  int cut = 0;                ///< which of the kernel's cuts `config` is
  int chunk = 4;              ///< elements of one access
  int lanes_log2 = 6;         ///< short_rows: 2^lanes_log2 lanes a row
  uint32_t parts = 1;         ///< split, cluster: workgroups of a row
  int64_t part_chunks = 0;    ///< split, cluster: chunks of a part
  int64_t rows_per_group = 1; ///< rows of a workgroup; split: 1 of `parts` parts of one
  /// Workgroups of a launch, all dispatches of it together; of clusters that take rows in turn at
  /// most as many: the launch asks the device how many it holds.
  int64_t groups = 0;
  int launches = 0;            ///< kernels: 1, split 2, nothing to do 0
  int readings = 1;            ///< how often each element of the input is read, at most
  int row_registers = 0;       ///< vector registers of a lane that hold its share of a row
  int register_limit = 512;    ///< vector registers a lane may have, from the size of the workgroup
  int64_t lds_bytes = 0;       ///< LDS of a workgroup: static, of a cluster dynamic
  int64_t workspace_bytes = 0; ///< used
  /// Workspace with which few long rows would be split over several workgroups; 0 where that is of
  /// no use. Lend as much, and `split` runs.
  int64_t best_workspace_bytes = 0;
  int64_t min_bytes_read = 0; ///< elements of the inputs that a mask does not hide, each once
  int64_t min_bytes_written = 0;
  bool aligned = true; ///< false: 16-byte accesses at element alignment, which touch more lines
  softmax_refusal refused[softmax_kernel_count] = {}; ///< by softmax_kernel

  int64_t problem_rows = 0, problem_chunks = 0, split_bytes = 0; ///< for `describe`
  int cu_count = 0;

  /// The plan in words, one line for the choice and one for each kernel that was refused.
  constexpr fixed_text<1600> describe() const;
};

} // namespace wavetile
