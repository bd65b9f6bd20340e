// Segments of any length, also none, at any offset.
#include "reduce_case.hpp"

#include <wavetile/reduce_segmented.hpp>

namespace {

using namespace wavetile;
using namespace wavetile::test;

template <class Op, class Input, class Output, class Offset>
void expect_segments(const std::vector<Input>& x, const std::vector<Offset>& offsets,
                     std::size_t shift = 0) {
  device_buffer<Input> from(x, shift);
  device_buffer<Offset> starts(offsets);
  device_buffer<Output> to(offsets.size() - 1);
  const auto n = static_cast<std::int64_t>(x.size());
  const auto count = static_cast<std::int64_t>(offsets.size());
  const status outcome =
      reduce_segmented(make_view(static_cast<const Input*>(from.data()), n),
                       make_view(static_cast<const Offset*>(starts.data()), count),
                       make_view(to.data(), count - 1), Op{});
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  const auto y = to.download();
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    const std::vector<Input> segment(x.begin() + static_cast<std::ptrdiff_t>(offsets[s]),
                                     x.begin() + static_cast<std::ptrdiff_t>(offsets[s + 1]));
    const reduced expected = reduce_reference<Op>(segment);
    if constexpr (is_arg<Op>::value || std::is_integral_v<Input>) {
      ASSERT_EQ(static_cast<std::int64_t>(y[s]), expected.integer) << "segment " << s;
    } else if (std::isnan(expected.value) || std::isinf(expected.value)) {
      ASSERT_TRUE(verify_within(std::vector<Output>{y[s]}, std::vector<double>{expected.value},
                                [](std::size_t) { return 0.0; }))
          << "segment " << s;
    } else {
      // as for rows: chains of at most n / 4 terms, 9 levels of joining, 3 operations around
      const double depth = static_cast<double>(segment.size()) / 4 + 12;
      ASSERT_NEAR(as_double(y[s]), expected.value,
                  0x1p-24 * depth * expected.magnitude +
                      result_unit<Output>() * std::fabs(expected.value))
          << "segment " << s << " of " << segment.size();
    }
  }
}

/// Offsets of `segments` segments of up to `longest` elements, every fifth of them empty.
std::vector<std::int64_t> random_offsets(std::size_t segments, std::int64_t longest,
                                         std::int64_t first) {
  random_source source(9);
  std::vector<std::int64_t> offsets{first};
  for (std::size_t s = 0; s < segments; ++s)
    offsets.push_back(offsets.back() + (s % 5 == 3 ? 0 : source.between(1, longest)));
  return offsets;
}

template <class T>
class reduce_segments : public testing::Test {};
using element_types = testing::Types<float, fp16, int32_t>;
TYPED_TEST_SUITE(reduce_segments, element_types);

TYPED_TEST(reduce_segments, of_every_length) {
  for (const std::int64_t longest : {1, 3, 20, 300, 5000}) {
    const auto offsets = random_offsets(90, longest, 2); // the first two elements count nowhere
    const auto n = static_cast<std::size_t>(offsets.back() + 3);
    std::vector<TypeParam> x;
    if constexpr (std::is_integral_v<TypeParam>)
      x = random_integers<TypeParam>(n, 1, -1000, 1000);
    else
      x = random_normals<TypeParam>(n, 1);
    expect_segments<op::plus, TypeParam, TypeParam>(x, offsets);
    expect_segments<op::maximum, TypeParam, TypeParam>(x, offsets, 1);
    expect_segments<op::arg_minimum, TypeParam, int64_t>(
        x, std::vector<std::int32_t>(offsets.begin(), offsets.end()));
    if (this->HasFatalFailure())
      return;
  }
}

TEST(reduce_segments_of_floats, have_means) {
  const auto offsets = random_offsets(20, 50, 0);
  expect_segments<op::mean, float, float>(
      random_normals<float>(static_cast<std::size_t>(offsets.back()), 1), offsets);
}

// segments long enough for a workgroup each
TEST(reduce_segments_of_floats, may_be_long) {
  const auto offsets = random_offsets(5, 40000, 0);
  expect_segments<op::plus, float, float>(
      random_normals<float>(static_cast<std::size_t>(offsets.back()), 1), offsets, 3);
}

TEST(reduce_segments_of_floats, outside_the_vector_are_cut) {
  const std::vector<std::int64_t> offsets{-5, 2, 10, 99, 50};
  device_buffer<float> x(std::vector<float>(8, 1.0f));
  device_buffer<std::int64_t> starts(offsets);
  device_buffer<float> y(4);
  ASSERT_TRUE(reduce_segmented(make_view(static_cast<const float*>(x.data()), 8),
                               make_view(static_cast<const std::int64_t*>(starts.data()), 5),
                               make_view(y.data(), 4), op::plus{})
                  .ok());
  EXPECT_EQ(y.download(), (std::vector<float>{2, 6, 0, 0}));
}

TEST(reduce_segments_of_floats, errors) {
  float x[8] = {}, y[8] = {};
  std::int64_t offsets[8] = {};
  const auto call = [&](float* from, std::int64_t* starts, float* to, std::int64_t n,
                        std::int64_t count, std::int64_t results) {
    return reduce_segmented(make_view(from, n), make_view(starts, count), make_view(to, results),
                            op::plus{});
  };
  EXPECT_EQ(call(x, offsets, y, 8, 0, 0).code(), status_code::unsupported_shape);
  EXPECT_EQ(call(x, offsets, y, 8, 4, 4).code(), status_code::unsupported_shape);
  EXPECT_EQ(call(nullptr, offsets, y, 8, 4, 3).code(), status_code::null_pointer);
  EXPECT_EQ(call(x, nullptr, y, 8, 4, 3).code(), status_code::null_pointer);
  EXPECT_EQ(call(x, offsets, nullptr, 8, 4, 3).code(), status_code::null_pointer);
  EXPECT_EQ(call(x, offsets, x + 2, 8, 4, 3).code(), status_code::overlapping);
  EXPECT_TRUE(call(x, offsets, nullptr, 8, 1, 0).ok()); // no segments
  float wrong[4] = {};
  EXPECT_EQ(
      reduce_segmented(make_view(x, 8), make_view(wrong, 4), make_view(y, 3), op::plus{}).code(),
      status_code::unsupported_type);
}

} // namespace
