/// \file
/// What a matrix product is planned from, and what a plan says.
#pragma once

#include <wavetile/core/data_type.hpp>
#include <wavetile/core/status.hpp>
#include <wavetile/core/text.hpp>
#include <wavetile/kernels/matmul/choice.hpp>

namespace wavetile {

/// Shape, types and memory of a product; made from views by `matmul_problem_of`, or by hand.
/// No array has more than 2^58 elements.
struct matmul_problem {
  data_type a = data_type::bf16, b = data_type::bf16, c = data_type::bf16, d = data_type::bf16;
  int64_t m = 0, n = 0, k = 0, batches = 1;
  operand_order order_a = operand_order::k_contiguous; ///< A not transposed
  operand_order order_b = operand_order::k_strided;    ///< B not transposed
  bool reads_c = false;                                ///< beta is not 0
  int columns_per_output = 1;                          ///< of op(B), for a column of D
  bool aligned = true; ///< every row of A and B starts at a multiple of 16 bytes
  int splits = 0;      ///< parts of k; 0: the plan's choice
  int k_multiple = 1;  ///< parts of k are multiples of it, a power of two
  matmul_choice choice = matmul_choice::automatic;
  int64_t workspace_bytes = 0; ///< what the caller lends
  status named;                ///< failure: a kernel was named that there is not; see `plan`
};

/// Why a choice is not made.
enum class matmul_refusal : uint8_t {
  none,           ///< it is
  slower,         ///< another is expected to take less time
  on_request,     ///< code for it exists only in calls that name it
  too_many_rows,  ///< op(A) has more rows than `skinny` takes
  another_forced, ///< the caller named another
  no_kernel,      ///< there is no code for it on this kind of device, or for these elements there
};

/// What `matmul` does with a problem; it computes this plan and follows it.
struct matmul_plan {
  /// Success, or why the problem cannot run: `wrong_architecture`, `workspace_too_small`,
  /// `unsupported_shape` (a forced choice that cannot take it, too many elements), or a problem
  /// made by hand that no call could have (`invalid_argument`, `unsupported_type`).
  status outcome;
  matmul_choice choice = matmul_choice::compact;
  bool product = true; ///< false: k is 0, or alpha; only C is read
  int tile_m = 0, tile_n = 0, tile_k = 0;
  int threads = 0;               ///< work-items of a workgroup
  int64_t tiles = 0;             ///< of one matrix
  int splits = 1;                ///< parts of k, summed in a second pass in fixed order
  int64_t split_k = 0;           ///< values of k of a part, at most
  int64_t split_products = 0;    ///< of a list: products whose k is split, into `splits` at most
  int64_t groups = 0;            ///< workgroups of the product, all dispatches together
  int launches = 0;              ///< kernels
  int64_t lds_bytes = 0;         ///< static LDS of a workgroup
  int accumulator_registers = 0; ///< of a lane
  int register_limit = 512;      ///< vector registers a lane may have, by the size of the workgroup
  int64_t workspace_bytes = 0;   ///< used
  /// Workspace with which k would be split so that all CUs have work; 0 where that is of no use.
  int64_t best_workspace_bytes = 0;
  int64_t min_bytes_read = 0, min_bytes_written = 0; ///< every element once
  double flops = 0; ///< multiplications and additions of the product
  /// Share of the matrix cores' work that is part of the product, the rest being padding: waves
  /// whose part of a tile is outside the matrix do none.
  double useful = 1;
  bool aligned = true; ///< false: 16-byte accesses at element alignment, which touch more lines
  matmul_refusal refused[matmul_choice_count] = {}; ///< by matmul_choice
  double relative_time[matmul_choice_count] = {};   ///< expected, the choice being 1; 0: not known
  int64_t rows = 0, columns = 0, depth = 0;         ///< for `describe`
  int64_t most_skinny_rows = skinny_rows;           ///< that `skinny` takes on this device

  /// The plan in words, one line for the choice and one for each that was refused.
  constexpr fixed_text<1600> describe() const;
};

} // namespace wavetile
