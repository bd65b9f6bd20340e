// Every width, whichever kernel takes it.
#include "softmax_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

constexpr std::int64_t widths[] = {1,    2,    31,   32,   33,    63,    64,   65,
                                   127,  255,  256,  257,  511,   513,   1023, 1024,
                                   1025, 2047, 4096, 8193, 65536, 100003};

/// Largest absolute error that any user may see, whatever the bound derived for an element says.
template <class T>
constexpr double largest_error = 0;
template <>
constexpr double largest_error<float> = 1e-6;
template <>
constexpr double largest_error<fp16> = 1e-3;
template <>
constexpr double largest_error<bf16> = 4e-3;

template <class T>
class softmax_widths : public testing::Test {};
using element_types = testing::Types<float, fp16, bf16>;
TYPED_TEST_SUITE(softmax_widths, element_types);

// 257 rows up to 1025 columns, 3 beyond, 1 at the two longest: enough to leave parts of waves and
// workgroups without a row in every kernel
TYPED_TEST(softmax_widths, agree_with_the_reference) {
  for (const std::int64_t columns : widths) {
    for (const std::int64_t rows : {1, 3, 257}) {
      if (rows > 3 && columns > 1025)
        continue;
      softmax_case<TypeParam> c{.rows = rows, .columns = columns};
      // a lane's chain: 1024 lanes read the rows that no registers hold
      c.chain = columns > 65536 ? static_cast<double>(columns) / 1024 : 16;
      c.fill(10, static_cast<std::uint64_t>(columns));
      c.run_and_check();
      if (this->HasFatalFailure())
        return;
      double worst = 0;
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto expected = softmax_reference(c.row(r), false);
        double sum = 0;
        for (std::int64_t i = 0; i < columns; ++i) {
          const double got = as_double(c.y[static_cast<std::size_t>(r * columns + i)]);
          worst = std::fmax(worst, std::fabs(got - expected[static_cast<std::size_t>(i)]));
          sum += got;
        }
        if (std::is_same_v<TypeParam, float>) {
          ASSERT_NEAR(sum, 1, 1e-4) << rows << " x " << columns << ", row " << r;
        }
      }
      ASSERT_LE(worst, largest_error<TypeParam>) << rows << " x " << columns;
    }
  }
}

TYPED_TEST(softmax_widths, logarithm_agrees_with_the_reference) {
  for (const std::int64_t columns : {1, 7, 64, 255, 513, 1025, 4097, 20000, 70000}) {
    softmax_case<TypeParam> c{.rows = 5, .columns = columns, .logarithm = true};
    c.chain = columns > 65536 ? static_cast<double>(columns) / 1024 : 16;
    c.fill(10, static_cast<std::uint64_t>(columns));
    c.run_and_check();
    if (this->HasFatalFailure())
      return;
  }
}

// the smallest and largest row of every kernel
TYPED_TEST(softmax_widths, at_the_borders_between_kernels) {
  const std::int64_t chunk = 16 / static_cast<std::int64_t>(sizeof(TypeParam));
  for (const std::int64_t chunks : {64, 256, 1024, 4096, 16384}) {
    for (const std::int64_t columns :
         {chunks * chunk - 1, chunks * chunk, chunks * chunk + chunk - 1, (chunks + 1) * chunk}) {
      softmax_case<TypeParam> c{.rows = 2, .columns = columns};
      c.chain = columns > 65536 ? static_cast<double>(columns) / 1024 : 16;
      c.fill(3, static_cast<std::uint64_t>(columns));
      c.run_and_check();
      if (this->HasFatalFailure())
        return;
    }
  }
}

TEST(softmax_mixed_types, agree_with_the_reference) {
  for (const std::int64_t columns : {5, 300, 3000, 9000, 60000}) {
    softmax_case<fp16, float> a{.rows = 3, .columns = columns};
    a.fill(4);
    a.run_and_check();
    softmax_case<float, bf16> b{.rows = 3, .columns = columns};
    b.fill(4);
    b.run_and_check();
    softmax_case<bf16, fp16> d{.rows = 3, .columns = columns};
    d.fill(4);
    d.run_and_check();
  }
}

TEST(softmax_many_rows, more_than_a_grid_dimension) {
  softmax_case<float> c{.rows = 70000, .columns = 3};
  c.fill(2);
  c.run_and_check();
}

} // namespace
