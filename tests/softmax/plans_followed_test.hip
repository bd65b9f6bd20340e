// What runs is what the plan says: kernel, workgroups, launches; with every kind of mask, forward
// and backward. Linked with a mock runtime.
#include "mock_runtime.hpp"

#include <wavetile/softmax.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace wavetile;

/// The kernels of a type, in the order of softmax_kernel; split's two follow one another.
template <class Types>
std::vector<std::vector<const void*>> kernels_of() {
  using kind = softmax_kernel;
  constexpr auto config = &kernels::config_for<Types>;
  const auto code = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  if constexpr (is_backward(Types::form))
    return {{code(&kernels::softmax_backward_short_rows<Types, config(kind::short_rows)>)},
            {code(&kernels::softmax_backward_wave_rows<Types, config(kind::wave_rows)>)},
            {code(&kernels::softmax_backward_workgroup<Types, config(kind::small_workgroup)>)},
            {code(&kernels::softmax_backward_workgroup<Types, config(kind::workgroup)>)},
            {code(&kernels::softmax_backward_workgroup<Types, config(kind::large_workgroup)>)},
            {code(&kernels::softmax_backward_split_measure<Types, config(kind::split)>),
             code(&kernels::softmax_backward_split_write<Types, config(kind::split)>)},
            {code(&kernels::softmax_backward_stream<Types, config(kind::stream)>)}};
  else
    return {{code(&kernels::softmax_short_rows<Types, config(kind::short_rows)>)},
            {code(&kernels::softmax_wave_rows<Types, config(kind::wave_rows)>)},
            {code(&kernels::softmax_workgroup<Types, config(kind::small_workgroup)>)},
            {code(&kernels::softmax_workgroup<Types, config(kind::workgroup)>)},
            {code(&kernels::softmax_workgroup<Types, config(kind::large_workgroup)>)},
            {code(&kernels::softmax_split_measure<Types, config(kind::split)>),
             code(&kernels::softmax_split_write<Types, config(kind::split)>)},
            {code(&kernels::softmax_stream<Types, config(kind::stream)>)}};
}

constexpr std::int64_t rows = 100;

/// Lengths of rows on both sides of every limit between kernels, without and with a workspace.
template <class Types, class Problem, class Call>
void expect_plans(Problem problem_of, Call call) {
  const device_info device = describe_device("gfx942:sramecc+:xnack-", 304, 8);
  alignas(16) static char memory[16];
  std::vector<std::int64_t> lengths = {1, 3};
  for (int i = 0; i < static_cast<int>(softmax_kernel::split); ++i) {
    const std::int64_t limit =
        kernels::config_for<Types>(static_cast<softmax_kernel>(i)).chunk_capacity() * Types::chunk;
    lengths.insert(lengths.end(), {limit - 1, limit, limit + Types::chunk});
  }
  const auto code = kernels_of<Types>();
  std::vector<bool> seen(code.size());
  for (const std::int64_t columns : lengths)
    for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1} << 20}) {
      const softmax_options options{.memory = {memory, bytes}};
      const softmax_plan expected = plan(problem_of(columns, options), device);
      ASSERT_TRUE(expected.outcome.ok()) << expected.outcome.message();
      mock::current() = {};
      const status outcome = call(columns, options);
      ASSERT_TRUE(outcome.ok()) << outcome.message();
      std::vector<const void*> launched;
      for (const auto& made : mock::current().calls)
        if (made.name == "hipLaunchKernel") {
          launched.push_back(made.kernel);
          EXPECT_EQ(made.block.x, static_cast<unsigned>(expected.config.threads()));
          EXPECT_EQ(made.grid.x, static_cast<std::uint64_t>(expected.groups));
        }
      const auto kernel = static_cast<std::size_t>(expected.kernel);
      EXPECT_EQ(launched, code[kernel]) << name_of(expected.kernel) << ", " << columns;
      EXPECT_EQ(launched.size(), static_cast<std::size_t>(expected.launches));
      seen[kernel] = true;
    }
  // where registers hold no more with the largest workgroups, the ones before them take all rows
  const bool no_larger = kernels::config_for<Types>(softmax_kernel::large_workgroup) ==
                         kernels::config_for<Types>(softmax_kernel::workgroup);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto kernel = static_cast<softmax_kernel>(i);
    EXPECT_EQ(seen[i], !(no_larger && kernel == softmax_kernel::large_workgroup))
        << name_of(kernel) << (seen[i] ? " was planned" : " was never planned");
  }
}

/// Addresses that are never touched.
template <class T>
T* far(std::int64_t number) {
  return reinterpret_cast<T*>(number << 40);
}

template <class T>
auto matrix(std::int64_t number, std::int64_t columns) {
  return make_view(far<T>(number), rows, columns);
}

TEST(softmax_plans, are_followed) {
  using types = kernels::softmax_problem_types<fp16, fp16, kernels::no_mask, softmax_form::softmax>;
  expect_plans<types>(
      [](auto columns, auto& options) {
        return softmax_problem_of(matrix<fp16>(1, columns), matrix<fp16>(2, columns), options);
      },
      [](auto columns, auto& options) {
        return softmax(matrix<fp16>(1, columns), matrix<fp16>(2, columns), options);
      });
}

template <softmax_form Form, class Element>
void expect_masked_plans() {
  using mask = typename kernels::mask_for<Element>::type;
  const auto hide = [](auto columns) { return matrix<Element>(4, columns); };
  if constexpr (is_backward(Form)) {
    using types = kernels::softmax_backward_types<bf16, bf16, bf16, mask, Form>;
    const auto of = [](int number, auto columns) { return matrix<bf16>(number, columns); };
    expect_plans<types>(
        [&](auto columns, auto& options) {
          return softmax_backward_problem_of<Form>(of(1, columns), of(2, columns), of(3, columns),
                                                   hide(columns), options);
        },
        [&](auto columns, auto& options) {
          if constexpr (Form == softmax_form::softmax_backward)
            return softmax_backward(of(1, columns), of(2, columns), of(3, columns), hide(columns),
                                    options);
          else
            return log_softmax_backward(of(1, columns), of(2, columns), of(3, columns),
                                        hide(columns), options);
        });
  } else {
    using types = kernels::softmax_problem_types<bf16, bf16, mask, Form>;
    const auto of = [](int number, auto columns) { return matrix<bf16>(number, columns); };
    expect_plans<types>(
        [&](auto columns, auto& options) {
          return softmax_problem_of<Form>(of(1, columns), of(3, columns), hide(columns), options);
        },
        [&](auto columns, auto& options) {
          if constexpr (Form == softmax_form::softmax)
            return softmax(of(1, columns), of(3, columns), hide(columns), options);
          else
            return log_softmax(of(1, columns), of(3, columns), hide(columns), options);
        });
  }
}

TEST(softmax_plans, with_masks_are_followed) {
  expect_masked_plans<softmax_form::softmax, bool>();
  expect_masked_plans<softmax_form::log_softmax, bf16>();
}

TEST(softmax_plans, of_masked_gradients_are_followed) {
  expect_masked_plans<softmax_form::softmax_backward, bool>();
  expect_masked_plans<softmax_form::log_softmax_backward, std::uint8_t>();
  expect_masked_plans<softmax_form::log_softmax_backward, float>();
}

// The mask of a gradient counts in what is read and in whether accesses are aligned.
TEST(softmax_plans, of_gradients_know_their_mask) {
  const auto device = describe_device("gfx942", 304);
  const auto of = [](int number) { return matrix<float>(number, 1024); };
  const auto bare = softmax_backward_problem_of(of(1), of(2), of(3));
  const auto kept = softmax_backward_problem_of(of(1), of(2), of(3), matrix<bool>(4, 1024));
  const auto biased = softmax_backward_problem_of<softmax_form::log_softmax_backward>(
      of(1), of(2), of(3), matrix<fp16>(4, 1024));
  EXPECT_EQ(bare.mask, mask_kind::none);
  EXPECT_EQ(kept.mask, mask_kind::keep);
  EXPECT_EQ(kept.mask_type, data_type::uint8);
  EXPECT_EQ(biased.mask, mask_kind::additive);
  EXPECT_EQ(biased.mask_type, data_type::fp16);
  EXPECT_EQ(biased.form, softmax_form::log_softmax_backward);
  constexpr std::int64_t elements = rows * 1024;
  EXPECT_EQ(plan(bare, device).min_bytes_read, elements * 8);
  EXPECT_EQ(plan(kept, device).min_bytes_read, elements * 9);
  EXPECT_EQ(plan(biased, device).min_bytes_read, elements * 10);
  EXPECT_TRUE(kept.aligned);
  auto shifted = matrix<bool>(4, 1024);
  ++shifted.data;
  EXPECT_FALSE(softmax_backward_problem_of(of(1), of(2), of(3), shifted).aligned);
}

// Element types that no mask has do not make a problem.
template <class Mask>
concept makes_a_problem = requires(view<float, 2> x, view<Mask, 2> mask) {
  softmax_problem_of(x, x, mask);
  softmax_backward_problem_of(x, x, x, mask);
};
static_assert(makes_a_problem<bool> && makes_a_problem<const bf16>);
static_assert(!makes_a_problem<int> && !makes_a_problem<double>);

} // namespace
