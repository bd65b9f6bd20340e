// What a plan says about a kernel's LDS, registers and workgroup is what the compiled kernel has.
#include "hip_check.hpp"

#include <wavetile/reduce.hpp>
#include <wavetile/softmax.hpp>

#include <gtest/gtest.h>

namespace {

using namespace wavetile;

void expect_resources(const void* kernel, std::int64_t lds_bytes, int register_limit, int threads,
                      const char* name) {
  SCOPED_TRACE(name);
  hipFuncAttributes attributes;
  WAVETILE_TEST_HIP(hipFuncGetAttributes(&attributes, kernel));
  EXPECT_EQ(static_cast<std::int64_t>(attributes.sharedSizeBytes), lds_bytes);
  EXPECT_EQ(attributes.localSizeBytes, 0u) << "scratch";
  EXPECT_EQ(attributes.maxThreadsPerBlock, threads);
  EXPECT_LE(attributes.numRegs, register_limit);
  EXPECT_GT(attributes.numRegs, 0);
}

template <class Input, softmax_form Form>
void expect_softmax_plans() {
  using types = kernels::softmax_problem_types<Input, Input, kernels::no_mask, Form>;
  using kind = softmax_kernel;
  constexpr auto config = &kernels::config_for<types>;
  using pointer = void (*)(kernels::softmax_arguments<types>);
  const struct {
    kind kernel;
    pointer code;
  } all[] = {
      {kind::short_rows, &kernels::softmax_short_rows<types, config(kind::short_rows)>},
      {kind::wave_rows, &kernels::softmax_wave_rows<types, config(kind::wave_rows)>},
      {kind::small_workgroup, &kernels::softmax_workgroup<types, config(kind::small_workgroup)>},
      {kind::workgroup, &kernels::softmax_workgroup<types, config(kind::workgroup)>},
      {kind::large_workgroup, &kernels::softmax_workgroup<types, config(kind::large_workgroup)>},
      {kind::split, &kernels::softmax_split_measure<types, config(kind::split)>},
      {kind::stream, &kernels::softmax_stream<types, config(kind::stream)>},
  };
  constexpr std::int64_t longest[] = {64, 256, 1024, 4096, 16384, 20000, 20000};
  for (const auto& entry : all) {
    softmax_problem problem;
    problem.form = Form;
    problem.input = problem.output = numeric_traits<Input>::type;
    problem.rows = 4;
    problem.columns = longest[static_cast<int>(entry.kernel)] * types::chunk;
    problem.workspace_bytes = entry.kernel == kind::split ? 1 << 20 : 0;
    const softmax_plan p = plan(problem, describe_device("gfx942", 304));
    ASSERT_EQ(p.kernel, entry.kernel);
    expect_resources(reinterpret_cast<const void*>(entry.code), p.lds_bytes, p.register_limit,
                     p.config.threads(), name_of(entry.kernel));
    // the row fits beside everything else
    EXPECT_LT(p.row_registers, p.register_limit);
  }
}

TEST(softmax_resources, are_those_of_the_plan) {
  expect_softmax_plans<float, softmax_form::softmax>();
  expect_softmax_plans<fp16, softmax_form::softmax>();
  expect_softmax_plans<bf16, softmax_form::log_softmax>();
}

/// The longest gradients that stay in registers: two rows and a mask beside them.
template <class T, class Mask, softmax_form Form>
void expect_longest_masked_gradient() {
  using types = kernels::softmax_backward_types<T, T, T, kernels::additive_mask<Mask>, Form>;
  constexpr auto config = kernels::config_for<types>(softmax_kernel::large_workgroup);
  softmax_problem problem;
  problem.form = Form;
  problem.input = problem.gradient = problem.output = numeric_traits<T>::type;
  problem.mask = mask_kind::additive;
  problem.mask_type = numeric_traits<Mask>::type;
  problem.rows = 4;
  problem.columns = config.chunk_capacity() * types::chunk;
  const softmax_plan p = plan(problem, describe_device("gfx942", 304));
  ASSERT_EQ(p.config, config);
  expect_resources(
      reinterpret_cast<const void*>(&kernels::softmax_backward_workgroup<types, config>),
      p.lds_bytes, p.register_limit, p.config.threads(), name_of(Form));
}

TEST(softmax_resources, masked_gradients_need_no_scratch) {
  expect_longest_masked_gradient<bf16, float, softmax_form::softmax_backward>();
  expect_longest_masked_gradient<bf16, bf16, softmax_form::softmax_backward>();
  expect_longest_masked_gradient<bf16, float, softmax_form::log_softmax_backward>();
  expect_longest_masked_gradient<float, float, softmax_form::log_softmax_backward>();
}

template <class Op, class Input, class Output>
void expect_reduce_plans() {
  using reduction = kernels::reduction<Op, Input, Output>;
  using types = kernels::reduce_types<Input, Output, reduction>;
  constexpr auto config = reduce_config::for_values(sizeof(typename reduction::value));
  const struct {
    reduce_form form;
    std::int64_t leading, reduced, columns, workspace;
    const void* code;
  } all[] = {
      {reduce_form::rows, 1000, 100, 1, 0,
       reinterpret_cast<const void*>(&kernels::reduce_row_lanes<types, config>)},
      {reduce_form::rows, 1000, 100000, 1, 0,
       reinterpret_cast<const void*>(&kernels::reduce_row_workgroup<types, config>)},
      {reduce_form::rows, 2, 1000000, 1, 1 << 20,
       reinterpret_cast<const void*>(&kernels::reduce_row_parts<types, config>)},
      {reduce_form::all, 1000, 1000, 1, 1 << 20,
       reinterpret_cast<const void*>(&kernels::reduce_row_parts<types, config>)},
      {reduce_form::columns, 1, 1000, 1000, 0,
       reinterpret_cast<const void*>(&kernels::reduce_columns<types, config>)},
  };
  for (const auto& entry : all) {
    reduce_problem problem;
    problem.form = entry.form;
    problem.input = numeric_traits<Input>::type;
    problem.output = numeric_traits<Output>::type;
    problem.value_bytes = static_cast<int>(sizeof(typename reduction::value));
    problem.leading = entry.leading;
    problem.reduced = entry.reduced;
    problem.columns = entry.columns;
    problem.workspace_bytes = entry.workspace;
    const reduce_plan p = plan(problem, describe_device("gfx942", 304));
    ASSERT_TRUE(p.outcome.ok()) << p.outcome.message();
    expect_resources(entry.code, p.lds_bytes, p.register_limit, p.config.threads(),
                     name_of(p.kernel));
  }
}

TEST(reduce_resources, are_those_of_the_plan) {
  expect_reduce_plans<op::plus, float, float>();
  expect_reduce_plans<op::plus, fp16, float>();
  expect_reduce_plans<op::arg_maximum, bf16, int64_t>();
  expect_reduce_plans<op::maximum, double, double>();
}

} // namespace
