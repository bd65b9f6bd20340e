/// \file
/// What a normalisation is planned from, and what a plan says.
#pragma once

#include <wavetile/core/data_type.hpp>
#include <wavetile/core/status.hpp>
#include <wavetile/core/text.hpp>
#include <wavetile/kernels/norms/problem.hpp>

namespace wavetile {

/// Shape and types of a normalisation; made from arrays by `rms_norm_problem_of` and
/// `layer_norm_problem_of`, or by hand. No array has more than 2^58 elements.
struct norm_problem {
  norm_kind kind = norm_kind::rms;
  norm_scaling scaling = norm_scaling::none;
  data_type input = data_type::fp32;
  data_type output = data_type::fp32;
  bool has_residual = false;
  data_type residual = data_type::fp32;
  data_type sum = data_type::fp32;
  bool has_weight = false;
  data_type weight = data_type::fp32;
  bool has_bias = false;
  data_type bias = data_type::fp32;
  int64_t rows = 0;
  int64_t columns = 0;
  /// Every row of every array starts at a multiple of the bytes that one access moves.
  bool aligned = true;
  int64_t workspace_bytes = 0; ///< what the caller lends

  /// Elements that a lane takes at a time: 16 bytes of the smallest type, 8-bit results apart.
  constexpr int chunk() const {
    const data_type types[] = {input, scaling == norm_scaling::none ? output : input,
                               has_residual ? residual : input, has_residual ? sum : input};
    int smallest = 16;
    for (const data_type type : types)
      smallest = size_of(type) < smallest ? size_of(type) : smallest;
    return 16 / smallest;
  }
  /// Bytes of a chunk of the row as kernels keep it.
  constexpr int chunk_bytes() const { return chunk() * size_of(has_residual ? sum : input); }
  /// And while they read it.
  constexpr int loaded_bytes() const {
    return has_residual ? chunk() * (size_of(input) + size_of(residual)) : chunk_bytes();
  }
  /// Bytes of weight and bias of an element.
  constexpr int parameter_bytes() const {
    return (has_weight ? size_of(weight) : 0) + (has_bias ? size_of(bias) : 0);
  }
};

/// Why a kernel does not run.
enum class norm_refusal : uint8_t {
  none,            ///< it does
  row_too_long,    ///< its registers do not hold a row
  not_needed,      ///< a smaller one holds the row
  row_fits,        ///< a row fits on chip, where it is read once; this one reads it twice
  needs_workspace, ///< no workspace was lent, or less than this one needs
  split_is_better, ///< more workgroups share few rows, weight and bias are read less often
  not_clustered,   ///< rows too short or too long, residual of another size or with rows over 1 MB,
                   ///< 8-bit y, or a device without clusters
  cluster_is_faster, ///< a cluster reads the row once, or has more in flight
};

/// What `rms_norm` and `layer_norm` do with a problem; they compute this plan and follow it.
struct norm_plan {
  /// Success, `wrong_architecture`, `workspace_too_small`, `unsupported_shape` (too many elements),
  /// or a problem made by hand that no call could have (`invalid_argument`, `unsupported_type`).
  status outcome;
  norm_kernel kernel = norm_kernel::short_rows;
  norm_config config;
  int cut = 0;                ///< which of the kernel's cuts `config` is
  int chunk = 4;              ///< elements of one access
  int lanes_log2 = 6;         ///< short_rows: 2^lanes_log2 lanes a row
  int64_t rows_per_group = 1; ///< rows that a workgroup works on at a time
  /// Workgroups; each takes rows until there are no more. Of clusters in turn at most as many: the
  /// launch asks the device how many it holds.
  int64_t groups = 0;
  uint32_t parts = 1;      ///< split, cluster: workgroups of a row
  int64_t part_chunks = 0; ///< split, cluster: chunks of a part
  int launches = 0;        ///< kernels: 1, split 2 or 3, nothing to do 0
  int readings = 1;        ///< how often each element is read, at most
  /// Weight and bias stay in registers from row to row; clusters: where they are aligned to 16.
  bool keeps_parameters = true;
  int row_registers = 0;       ///< vector registers of a lane that hold its share of a row
  int register_limit = 512;    ///< vector registers a lane of such a workgroup can have at all
  int64_t lds_bytes = 0;       ///< LDS of a workgroup: static, of a cluster dynamic
  int64_t workspace_bytes = 0; ///< used
  /// Workspace with which rows too long for the chip would be split over several workgroups, or,
  /// where those keep them on the chip, be read once; 0 where that is of no use. Lend as much, and
  /// `split` runs, or that.
  int64_t best_workspace_bytes = 0;
  int64_t min_bytes_read = 0; ///< elements of the inputs, weight and bias, each once
  int64_t min_bytes_written = 0;
  bool aligned = true; ///< false: 16-byte accesses at element alignment, which touch more lines
  norm_refusal refused[norm_kernel_count] = {}; ///< by norm_kernel
  int64_t problem_chunks = 0;                   ///< for `describe`
  int64_t split_bytes = 0, read_once_bytes = 0, lent_bytes = 0;

  /// The plan in words, one line for the choice and one for each kernel that was refused.
  constexpr fixed_text<1500> describe() const;
};

} // namespace wavetile
