// Arrays whose rows lie more than 2^32 elements apart give the bits of the same rows close
// together.
#include "device_buffer.hpp"
#include "far_array.hpp"
#include "random.hpp"
#include "verify.hpp"

#include <wavetile/reduce.hpp>

#include <gtest/gtest.h>

namespace {

using namespace wavetile;
using namespace wavetile::test;

struct far_reduce : testing::TestWithParam<far_rows> {
  static constexpr std::int64_t most = 150001;
};

TEST_P(far_reduce, gives_the_bits_of_dense_rows) {
  const far_rows layout = GetParam();
  far_array<fp16> x(layout.elements(most));
  if (!x.exists())
    GTEST_SKIP() << "the device has less memory than the rows span";
  for (const std::int64_t n : {5, 1000, 150001}) {
    const auto values = random_normals<fp16>(static_cast<std::size_t>(layout.rows * n), 3);
    device_buffer<fp16> dense(values);
    for (std::int64_t r = 0; r < layout.rows; ++r)
      x.put(layout.offset(r), values.data() + r * n, n);
    const auto away =
        make_strided_view<fp16, 2>(x.data() + layout.first(), {layout.rows, n}, {layout.stride, 1});
    // rows, the axis across them, and everything; whole and in parts
    for (const int axis : {1, 0, all_axes})
      for (const std::int64_t lent : {0, 1 << 22}) {
        SCOPED_TRACE(testing::Message() << n << " columns, axis " << axis << ", lent " << lent);
        const std::int64_t results = axis == all_axes ? 1 : (axis == 1 ? layout.rows : n);
        device_buffer<float> got(static_cast<std::size_t>(results)), expected(got.size());
        device_buffer<unsigned char> memory(static_cast<std::size_t>(lent));
        const reduce_options options{.axis = axis, .memory = {memory.data(), lent}};
        const auto to = [&](auto& array) { return make_view(array.data(), results); };
        const status outcome = reduce(away, to(got), op::plus{}, options);
        ASSERT_TRUE(outcome.ok()) << outcome.message();
        if (axis == all_axes) {
          // far rows do not follow one another: the same kernel needs rows that do not, either
          device_buffer<fp16> padded(static_cast<std::size_t>(layout.rows * (n + 1)));
          for (std::int64_t r = 0; r < layout.rows; ++r)
            WAVETILE_TEST_HIP(hipMemcpy(padded.data() + r * (n + 1), values.data() + r * n,
                                        static_cast<std::size_t>(n) * sizeof(fp16),
                                        hipMemcpyHostToDevice));
          ASSERT_TRUE(
              reduce(make_strided_view<fp16, 2>(padded.data(), {layout.rows, n}, {n + 1, 1}),
                     to(expected), op::plus{}, options)
                  .ok());
        } else {
          ASSERT_TRUE(
              reduce(make_view(dense.data(), layout.rows, n), to(expected), op::plus{}, options)
                  .ok());
        }
        ASSERT_TRUE(verify_bits(got.download(), expected.download()));
      }
  }
}

// results that lie far apart
TEST_P(far_reduce, writes_where_the_result_says) {
  const far_rows layout = GetParam();
  constexpr std::int64_t middle = 4, n = 300;
  far_array<float> y(layout.elements(middle));
  if (!y.exists())
    GTEST_SKIP() << "the device has less memory than the rows span";
  const auto values = random_normals<fp16>(static_cast<std::size_t>(layout.rows * middle * n), 3);
  device_buffer<fp16> x(values);
  device_buffer<float> dense(static_cast<std::size_t>(layout.rows * middle));
  const auto from = make_view(x.data(), layout.rows, middle, n);
  const auto away = make_strided_view<float, 2>(y.data() + layout.first(), {layout.rows, middle},
                                                {layout.stride, 1});
  ASSERT_TRUE(reduce(from, make_view(dense.data(), layout.rows, middle), op::plus{}).ok());
  ASSERT_TRUE(reduce(from, away, op::plus{}).ok());
  const auto expected = dense.download();
  for (std::int64_t r = 0; r < layout.rows; ++r) {
    const auto row = expected.begin() + static_cast<std::ptrdiff_t>(r * middle);
    ASSERT_TRUE(verify_bits(y.get(layout.offset(r), middle),
                            std::vector<float>(row, row + static_cast<std::ptrdiff_t>(middle))));
  }
  EXPECT_TRUE(y.untouched(middle)) << "a row went where its offset cut to 32 bits points";
}

INSTANTIATE_TEST_SUITE_P(layouts, far_reduce, testing::ValuesIn(all_far_rows),
                         [](const auto& layout) {
                           return std::to_string(layout.param.rows) + "_rows_" +
                                  (layout.param.stride < 0 ? "backwards" : "forwards");
                         });

} // namespace
