/// \file
/// Host checks of a call of matmul, independent of element types.
#pragma once

#include <wavetile/kernels/matmul/plan.hpp>
#include <wavetile/kernels/matmul/problem.hpp>
#include <wavetile/kernels/rows/element_types.hpp>
#include <wavetile/kernels/rows/operand.hpp>

namespace wavetile::kernels {

/// The arrays of a call, of rank 2, or 3 with the batch first.
struct matmul_call {
  operand a, b, c, d;
  bool has_c = false;
  bool transpose_a = false, transpose_b = false;
  matmul_problem problem;
};

inline int64_t batch_count(const operand& x) {
  return x.rank == 3 ? x.extent[0] : 1;
}
inline int64_t leading_dimension(const operand& x) {
  return x.stride[x.rank - 2];
}
inline int64_t batch_stride(const operand& x) {
  return x.rank == 3 && x.extent[0] > 1 ? x.stride[0] : 0;
}

inline status check_matrix_extent(const operand& x, int axis, int64_t expected, const char* what) {
  const int64_t value = x.extent[x.rank - 2 + axis];
  if (value == expected)
    return {};
  return status::failure(status_code::unsupported_shape,
                         member_name(x, "extent", x.rank - 2 + axis).c_str(), value, "")
      .append(expected)
      .append(", ")
      .append(what);
}

/// Rows do not run into each other.
inline status check_leading_dimension(const operand& x) {
  const int axis = x.rank - 2;
  if (x.extent[axis] <= 1 || x.stride[axis] >= x.columns())
    return {};
  return status::failure(status_code::unsupported_shape, member_name(x, "stride", axis).c_str(),
                         x.stride[axis], ">= ")
      .append(x.columns())
      .append(", the elements of a row");
}

inline bool rows_aligned_to_16(const operand& x) {
  bool aligned = reinterpret_cast<uintptr_t>(x.data) % 16 == 0;
  for (int axis = 0; axis < x.rank - 1; ++axis)
    aligned = aligned && (x.extent[axis] <= 1 || x.stride[axis] * x.element_bytes % 16 == 0);
  return aligned;
}

/// Fills the problem; needs no valid arrays.
inline void describe_product(matmul_call& call) {
  matmul_problem& problem = call.problem;
  problem.batches = batch_count(call.d);
  problem.m = call.a.extent[call.a.rank - (call.transpose_a ? 1 : 2)];
  problem.k = call.a.extent[call.a.rank - (call.transpose_a ? 2 : 1)];
  problem.n = call.b.extent[call.b.rank - (call.transpose_b ? 2 : 1)];
  problem.order_a = call.transpose_a ? operand_order::k_strided : operand_order::k_contiguous;
  problem.order_b = call.transpose_b ? operand_order::k_contiguous : operand_order::k_strided;
  problem.aligned = rows_aligned_to_16(call.a) && rows_aligned_to_16(call.b);
}

/// Extents that go together, memory that is there, results apart from inputs. `problem.k` is 0
/// where A and B are not read.
inline status check_product(const matmul_call& call) {
  const matmul_problem& problem = call.problem;
  const operand* const arrays[] = {&call.a, &call.b, &call.d, &call.c};
  const int count = call.has_c ? 4 : 3;
  for (int i = 0; i < count; ++i)
    if (const status outcome = check_extents(*arrays[i]); !outcome)
      return outcome;
  const int64_t inner = call.a.extent[call.a.rank - (call.transpose_a ? 2 : 1)];
  if (const status outcome =
          check_matrix_extent(call.b, call.transpose_b ? 1 : 0, inner, "the k of op(A)");
      !outcome)
    return outcome;
  const int64_t columns = problem.n / problem.columns_per_output;
  if (problem.n % problem.columns_per_output != 0)
    return status::failure(
               status_code::unsupported_shape,
               member_name(call.b, "extent", call.b.rank - (call.transpose_b ? 2 : 1)).c_str(),
               problem.n, "a multiple of ")
        .append(problem.columns_per_output)
        .append(", as the epilogue joins columns");
  for (int i = 2; i < count; ++i) {
    const operand& x = *arrays[i];
    if (const status outcome = check_matrix_extent(x, 0, problem.m, "the rows of op(A)"); !outcome)
      return outcome;
    const bool joined = i == 2 && problem.columns_per_output > 1;
    if (const status outcome = check_matrix_extent(x, 1, i == 2 ? columns : problem.n,
                                                   joined ? "the columns that the epilogue leaves"
                                                          : "the columns of op(B)");
        !outcome)
      return outcome;
  }
  for (int i = 0; i < count; ++i)
    if (i != 2 && batch_count(*arrays[i]) != problem.batches)
      return status::failure(status_code::unsupported_shape,
                             member_name(*arrays[i], "extent", 0).c_str(), batch_count(*arrays[i]),
                             "")
          .append(problem.batches)
          .append(", the batches of d");
  if (problem.m == 0 || problem.n == 0 || problem.batches == 0)
    return {};
  const bool read[] = {problem.k > 0, problem.k > 0, true, problem.reads_c};
  for (int i = 0; i < count; ++i) {
    if (!read[i])
      continue;
    if (const status outcome = check_access(*arrays[i]); !outcome)
      return outcome;
    if (const status outcome = check_leading_dimension(*arrays[i]); !outcome)
      return outcome;
  }
  if (const status outcome = check_rows_apart(call.d); !outcome)
    return outcome;
  for (int i = 0; i < 2; ++i)
    if (read[i] && share_memory(call.d, *arrays[i]))
      return overlap_failure(call.d, *arrays[i], "apart");
  return call.has_c && read[3] ? check_in_place_or_apart(call.d, call.c) : status{};
}

} // namespace wavetile::kernels
