// Where arrays lie: strides, alignment, in place, batches, long rows.
#include "softmax_case.hpp"

#include <numeric>

namespace {

using namespace wavetile;
using namespace wavetile::test;

template <class T>
class softmax_layout : public testing::Test {};
using element_types = testing::Types<float, fp16, bf16>;
TYPED_TEST_SUITE(softmax_layout, element_types);

TYPED_TEST(softmax_layout, in_place_gives_the_same_bits) {
  for (const std::int64_t columns : {3, 64, 100, 999, 2500, 9000, 70001}) {
    softmax_case<TypeParam> apart{.rows = 5, .columns = columns};
    apart.chain = 100;
    apart.fill(3);
    auto within = apart;
    within.in_place = true;
    apart.run_and_check();
    within.run();
    ASSERT_TRUE(verify_bits(within.y, apart.y)) << columns;
  }
}

TYPED_TEST(softmax_layout, row_strides_are_honoured) {
  for (const std::int64_t columns : {1, 7, 64, 130, 1100, 5000}) {
    for (const std::int64_t pad : {1, 3, 8, 61}) {
      softmax_case<TypeParam> c{
          .rows = 6, .columns = columns, .x_stride = columns + pad, .y_stride = columns + 2 * pad};
      c.fill(2);
      c.run_and_check();
      c.in_place = true;
      c.run_and_check();
      if (this->HasFatalFailure())
        return;
    }
  }
}

// the same bits at every address
TYPED_TEST(softmax_layout, misaligned_pointers_give_the_same_bits) {
  for (const std::int64_t columns : {5, 64, 96, 1000, 1024, 4500, 17000}) {
    softmax_case<TypeParam> aligned{.rows = 4, .columns = columns};
    aligned.fill(2);
    aligned.run_and_check();
    for (const std::size_t shift : {1u, 2u, 4u}) {
      for (const int which : {0, 1, 2}) {
        auto shifted = aligned;
        shifted.x_shift = which != 1 ? shift : 0;
        shifted.y_shift = which != 0 ? shift : 0;
        shifted.run();
        ASSERT_TRUE(verify_bits(shifted.y, aligned.y)) << columns << ", shift " << shift;
      }
    }
  }
}

// a batch that no single stride describes, a reversed axis, a broadcast input
TEST(softmax_views, leading_axes_may_lie_anywhere) {
  constexpr std::int64_t a = 2, b = 3, c = 4, n = 50;
  const auto values = random_normals<float>(a * b * c * n, 5);
  struct {
    std::int64_t x[3], x_first, y[3];
  } const layouts[] = {
      {{b * c * n, c * n, n}, 0, {b * c * n, c * n, n}},            // dense
      {{n, a * n, a * b * n}, 0, {b * c * n, c * n, n}},            // transposed input
      {{b * c * n, c * n, n}, 0, {n, a * n, a * b * n}},            // transposed output
      {{b * c * n, c * n, -n}, (c - 1) * n, {b * c * n, c * n, n}}, // rows backwards
      {{0, n, 0}, 0, {b * c * n, n, b * n}},                        // broadcast input
  };
  for (const auto& l : layouts) {
    device_buffer<float> from(values), to(values.size());
    const auto x = make_strided_view<const float, 4>(from.data() + l.x_first, {a, b, c, n},
                                                     {l.x[0], l.x[1], l.x[2], 1});
    const auto y =
        make_strided_view<float, 4>(to.data(), {a, b, c, n}, {l.y[0], l.y[1], l.y[2], 1});
    const status outcome = softmax(x, y);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    const auto got = to.download();
    for (std::int64_t i = 0; i < a; ++i)
      for (std::int64_t j = 0; j < b; ++j)
        for (std::int64_t k = 0; k < c; ++k) {
          softmax_row row;
          std::vector<float> result;
          for (std::int64_t e = 0; e < n; ++e) {
            const auto at = l.x_first + i * l.x[0] + j * l.x[1] + k * l.x[2] + e;
            row.x.push_back(static_cast<double>(values[static_cast<std::size_t>(at)]));
            result.push_back(
                got[static_cast<std::size_t>(i * l.y[0] + j * l.y[1] + k * l.y[2] + e)]);
          }
          const auto expected = softmax_reference(row, false);
          ASSERT_TRUE(verify_within(result, expected, [&](std::size_t e) {
            return softmax_bound(expected[e], n, 0, 16, {0, 0});
          }));
        }
  }
}

TEST(softmax_views, a_vector_is_one_row) {
  const auto values = random_normals<float>(300, 5);
  device_buffer<float> from(values), to(values.size());
  ASSERT_TRUE(
      softmax(make_view(static_cast<const float*>(from.data()), 300), make_view(to.data(), 300))
          .ok());
  softmax_row row;
  row.x.assign(values.begin(), values.end());
  const auto expected = softmax_reference(row, false);
  EXPECT_TRUE(verify_within(to.download(), expected, [&](std::size_t e) {
    return softmax_bound(expected[e], 300, 0, 16, {0, 0});
  }));
}

// 1,000,003 columns: split over workgroups with a workspace, streamed without
TYPED_TEST(softmax_layout, a_million_columns) {
  constexpr std::int64_t columns = 1000003;
  for (const std::int64_t workspace : {0, 1 << 16}) {
    for (const bool logarithm : {false, true}) {
      softmax_case<TypeParam> c{
          .rows = 2, .columns = columns, .logarithm = logarithm, .workspace_bytes = workspace};
      c.chain = static_cast<double>(columns) / 256;
      c.fill(3);
      c.run_and_check();
      if (this->HasFatalFailure())
        return;
    }
  }
}

TEST(softmax_split, uses_the_workspace_it_asks_for_and_no_more) {
  // on NVIDIA GPUs shorter ones are held by clusters
  constexpr std::int64_t columns = WAVETILE_CUDA ? 1200000 : 300000;
  softmax_case<float> c{.rows = 3, .columns = columns};
  c.chain = static_cast<double>(columns) / 256;
  c.fill(3);
  const auto view = make_view(c.x.data(), c.rows, columns);
  device_info device;
  ASSERT_TRUE(known_device(0, device).ok());
  const softmax_plan without = plan(softmax_problem_of(view, view), device);
  ASSERT_EQ(without.kernel, softmax_kernel::stream);
  ASSERT_GT(without.best_workspace_bytes, 0);
  c.workspace_bytes = without.best_workspace_bytes; // guarded like every buffer
  c.run_and_check();
  const softmax_plan with = plan(softmax_problem_of(view, view, c.options), device);
  EXPECT_EQ(with.kernel, softmax_kernel::split);
  EXPECT_EQ(with.workspace_bytes, without.best_workspace_bytes);
}

TEST(softmax_split, is_repeatable) {
  softmax_case<float> c{.rows = 2, .columns = 200001, .workspace_bytes = 1 << 16};
  c.fill(3);
  c.run();
  const auto first = c.y;
  for (int i = 0; i < 3; ++i) {
    c.run();
    ASSERT_TRUE(verify_bits(c.y, first));
  }
}

} // namespace
