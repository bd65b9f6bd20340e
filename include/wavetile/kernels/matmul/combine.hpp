/// \file
/// The second pass of a product whose k was split; also what is left of one without a product.
#pragma once

#include <wavetile/kernels/matmul/store.hpp>
#include <wavetile/wave/lane.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// Elements of a row that a lane takes.
inline constexpr int combine_run = 4;
inline constexpr int combine_threads = 256;

template <class Types>
struct matmul_combine_arguments {
  matmul_arguments<Types> product;
  int64_t splits; ///< 0: the product is all zeros
  divider runs_per_matrix, runs_per_row;
  int64_t total; ///< runs
  int64_t first_run;
};

/// D = epilogue(alpha (sum of the parts, in order) + beta C), one lane a run of four elements.
template <class Types>
WAVETILE_KERNEL __attribute__((amdgpu_flat_work_group_size(combine_threads, combine_threads))) void
matmul_combine(matmul_combine_arguments<Types> arguments) {
  using accumulator = typename Types::accumulator;
  const matmul_arguments<Types>& product = arguments.product;
  const int64_t run = arguments.first_run +
                      static_cast<int64_t>(__builtin_amdgcn_workgroup_id_x()) * combine_threads +
                      thread_id();
  const bool active = run < arguments.total;
  const int64_t batch = arguments.runs_per_matrix.quotient(run);
  const int64_t in_matrix = run - batch * arguments.runs_per_matrix.divisor();
  const int64_t row = arguments.runs_per_row.quotient(in_matrix);
  const int64_t column = (in_matrix - row * arguments.runs_per_row.divisor()) * combine_run;

  matmul_task<Types> task = product.task;
  task.c += batch * product.batch_c;
  task.d += batch * product.batch_d;
  matmul_output<Types> output(product, task, batch);
  if (active) {
    const int64_t left = task.n - column;
    const int count = left < combine_run ? static_cast<int>(left) : combine_run;
    const int64_t elements = task.m * task.n;
    const auto* part = static_cast<const accumulator*>(product.partials) +
                       batch * arguments.splits * elements + row * task.n + column;
    vec<accumulator, combine_run> sums{};
#pragma unroll 1
    for (int64_t split = 0; split < arguments.splits; ++split, part += elements) {
      const auto one = load_some<accumulator, combine_run>(part, count);
      for (int i = 0; i < combine_run; ++i)
        sums[i] = matmul_output<Types>::sum(sums[i], one[i]);
    }
    output.template store<combine_run>(sums, row, column, count);
  }
  output.finish();
}

} // namespace wavetile::kernels

#endif
