// Where arrays lie, determinism, and how much is read.
#include "reduce_case.hpp"

#include "sim_counters.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

TEST(reduce_layout, every_axis_of_every_rank) {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {37}, {5, 41}, {3, 4, 21}, {3, 2, 5, 18}, {1, 1, 1, 1}, {4, 1, 3, 1}, {1, 70, 1, 3}};
  for (const auto& extent : shapes)
    for (int axis = -static_cast<int>(extent.size()); axis < static_cast<int>(extent.size());
         ++axis) {
      SCOPED_TRACE(shape_text(extent, axis));
      reduce_case<op::plus, float, float> sum{.extent = extent, .axis = axis};
      sum.fill();
      sum.run_and_check();
      reduce_case<op::arg_minimum, float, int32_t> index{.extent = extent, .axis = axis};
      index.fill();
      index.run_and_check();
    }
}

TEST(reduce_layout, the_axis_may_stay_with_one_element) {
  for (const int axis : {0, 1}) {
    reduce_case<op::plus, float, float> sum{.extent = {6, 9}, .axis = axis, .keep_axis = true};
    sum.fill();
    sum.run_and_check();
  }
}

TEST(reduce_layout, strides_are_honoured) {
  // padded rows, transposed leading axes, broadcast axes, backwards through a shifted base
  const std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>> arrays = {
      {{6, 50}, {61, 1}},
      {{4, 5, 30}, {30, 150, 1}},
      {{4, 5, 30}, {0, 40, 1}},
      {{3, 4, 5, 20}, {25, 1000, 90, 1}},
  };
  for (const auto& [extent, stride] : arrays) {
    for (int axis = -1; axis < static_cast<int>(extent.size()); ++axis) {
      const int which = axis < 0 ? all_axes : axis;
      SCOPED_TRACE(shape_text(extent, which));
      reduce_case<op::plus, float, float> sum{.extent = extent, .axis = which, .stride = stride};
      sum.fill();
      sum.run_and_check();
      reduce_case<op::arg_maximum, fp16, int64_t> index{
          .extent = extent, .axis = which, .stride = stride};
      index.fill();
      index.run_and_check();
    }
  }
}

// everything, in rows apart, in two steps
TEST(reduce_layout, padded_matrices_are_reduced_in_parts) {
  for (const std::int64_t workspace : {0, 1 << 16}) {
    reduce_case<op::plus, float, float> sum{
        .extent = {300, 200}, .axis = all_axes, .stride = {207, 1}};
    sum.workspace_bytes = workspace;
    sum.fill();
    sum.run_and_check();
    reduce_case<op::arg_maximum, float, int64_t> index{
        .extent = {3, 50001}, .axis = all_axes, .stride = {50007, 1}};
    index.workspace_bytes = workspace;
    index.fill();
    index.run_and_check();
  }
}

template <class T>
class reduce_alignment : public testing::Test {};
using element_types = testing::Types<float, double, fp16, bf16, int32_t, int64_t>;
TYPED_TEST_SUITE(reduce_alignment, element_types);

TYPED_TEST(reduce_alignment, does_not_change_a_bit) {
  for (const int axis : {0, 1, all_axes}) {
    reduce_case<op::plus, TypeParam, TypeParam> aligned{.extent = {20, 333}, .axis = axis};
    aligned.fill();
    aligned.run_and_check();
    for (const std::size_t shift : {1u, 2u, 4u}) {
      auto shifted = aligned;
      shifted.x_shift = shift;
      shifted.y_shift = shift;
      shifted.run();
      ASSERT_TRUE(verify_bits(shifted.y, aligned.y)) << shape_text(aligned.extent, axis);
    }
  }
}

TEST(reduce_determinism, rows_do_not_depend_on_their_place) {
  for (const std::int64_t n : {3, 33, 1001, 5003}) {
    reduce_case<op::plus, float, float> c{.extent = {37, n}, .axis = 1};
    c.fill();
    for (std::int64_t r = 1; r < 37; ++r)
      std::copy_n(c.x.begin(), n, c.x.begin() + r * n);
    c.run();
    for (const float y : c.y)
      ASSERT_EQ(0, std::memcmp(&y, c.y.data(), sizeof y)) << n;
  }
}

TEST(reduce_determinism, results_repeat) {
  reduce_case<op::plus, float, float> c{.extent = {300001}, .axis = all_axes};
  c.workspace_bytes = 1 << 16;
  c.fill();
  c.run();
  const auto first = c.y;
  for (int i = 0; i < 3; ++i) {
    c.run();
    ASSERT_TRUE(verify_bits(c.y, first));
  }
}

// 70,000 results, in x alone
TEST(reduce_layout, more_rows_than_a_grid_dimension) {
  reduce_case<op::plus, float, float> c{.extent = {70000, 3}, .axis = 1};
  c.fill();
  c.run_and_check();
}

TEST(reduce_layout, more_than_a_million_elements) {
  for (const std::int64_t workspace : {0, 1 << 16}) {
    reduce_case<op::plus, float, float> c{.extent = {1000003}, .axis = all_axes};
    c.workspace_bytes = workspace;
    c.fill();
    c.run_and_check();
  }
}

// while running on wavesim: every element read once, 16 bytes at a time
TEST(reduce_traffic, is_the_minimum) {
  const std::vector<std::pair<std::vector<std::int64_t>, int>> shapes = {
      {{256, 1024}, 1}, {{4, 8192}, 1}, {{64, 4096}, 0}, {{65536}, all_axes}};
  for (const auto& [extent, axis] : shapes) {
    reduce_case<op::plus, float, float> c{.extent = extent, .axis = axis};
    c.fill();
    device_buffer<float> from(c.x);
    std::int64_t results = 1;
    for (const std::int64_t e : c.result_extent())
      results *= e;
    device_buffer<float> to(static_cast<std::size_t>(results));
    const auto run = [&] {
      const status outcome = extent.size() == 1 ? c.call<1, 1>(from.data(), to.data())
                                                : c.call<2, 1>(from.data(), to.data());
      ASSERT_TRUE(outcome.ok()) << outcome.message();
    };
    const auto counts = count_kernels(run);
    if (!counts)
      GTEST_SKIP() << "only wavesim counts";
    EXPECT_EQ(counts->bytes_read, c.x.size() * 4) << shape_text(extent, axis);
    EXPECT_EQ(counts->read_by_width[wavesim_width_16], c.x.size() * 4) << shape_text(extent, axis);
    EXPECT_EQ(counts->bytes_written, static_cast<std::uint64_t>(results) * 4);
    EXPECT_EQ(counts->lds_conflicts, 0u);
    EXPECT_EQ(counts->scratch_bytes_read + counts->scratch_bytes_written, 0u);
  }
}

} // namespace
