/// \file
/// What a caller of matmul can choose, and what error to expect.
#pragma once

#include <wavetile/kernels/matmul/plan.hpp>
#include <wavetile/kernels/matmul/problem.hpp>
#include <wavetile/launch/workspace.hpp>

namespace wavetile {

/// Factors that 8-bit inputs were divided by: fp32 numbers on the device.
struct matmul_scale {
  const float* data = nullptr;
  scale_kind kind = scale_kind::none; ///< `outer`: data[i] for row i of op(A) or column i of op(B)
};

/// Options of matmul: `matmul(a, b, d, {.transpose_b = true, .alpha = 0.5}, stream)`.
struct matmul_options {
  bool transpose_a = false; ///< op(A) is the transpose of a
  bool transpose_b = false;
  /// alpha and beta are rounded to fp32, unless the product is one of fp64; a finite number must
  /// stay finite then. Integers for int32 results. Infinities and NaN multiply as such.
  double alpha = 1;
  double beta = 0;           ///< 0: C is not read
  matmul_scale scale_a = {}; ///< for 8-bit inputs whose results are not int32
  matmul_scale scale_b = {};
  int splits = 0; ///< parts of k; 0: as the plan finds best, 1: not split
  /// A kernel by name, of those the call has code for: "large", "middle", "compact", "skinny", or
  /// the one named in `matmul<matmul_choice::…>`; null: the plan's choice.
  const char* kernel = nullptr;
  workspace memory = {}; ///< for parts of k; see `matmul_plan::best_workspace_bytes`
};

/// What error to expect of matmul: for every element of a result, before an epilogue,
///
///     |error| <= u |result| + matmul_error_factor K 2^-24 (|alpha| sum |a| |b| + |beta c|)
///
/// with u half a unit in the last place of the result's type, and 2^-53 in place of 2^-24 for fp64.
/// Each product and sum contributes at most two roundings or truncations of 2^-24 of the terms so
/// far (MMA-Sim, arXiv 2511.10909); alpha, beta and parts of k the rest.
inline constexpr double matmul_error_factor = 4;

namespace detail {

/// The choice behind a name; `automatic` for null.
inline status find_choice(const char* name, matmul_choice& choice) {
  choice = matmul_choice::automatic;
  if (name == nullptr)
    return {};
  const auto same = [](const char* x, const char* y) {
    while (*x != '\0' && *x == *y)
      ++x, ++y;
    return *x == *y;
  };
  for (int i = 1; i < matmul_choice_count; ++i)
    if (same(name, name_of(static_cast<matmul_choice>(i)))) {
      choice = static_cast<matmul_choice>(i);
      return {};
    }
  fixed_text<48> shown; // cuts what is longer, so that the rest finds room
  return status::failure(status_code::invalid_argument, "kernel", "it is ")
      .append(shown.append(name).c_str())
      .append(", allowed: large, ping_pong, large_four, wide, middle, compact, skinny");
}

} // namespace detail

} // namespace wavetile
