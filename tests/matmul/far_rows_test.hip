// Matrices whose rows lie more than 2^32 bytes, and elements, apart: the bits are those of the same
// rows close together.
#define WAVETILE_TEST_FEW_KERNELS
#include "matmul_case.hpp"

#include "far_array.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

constexpr std::int64_t far = (std::int64_t{1} << 32) + far_gap; // elements from row to row
constexpr std::int64_t rows = 2, columns = 70; // one array of more than 8 GiB at a time

enum class which { a, b, transposed_a, transposed_b, d };

template <matmul_choice Choice>
void check(which is_far) {
  matmul_case test{.m = rows, .n = columns, .k = columns};
  if (is_far == which::b)
    test.k = rows;
  if (is_far == which::transposed_a)
    test = {.m = 13, .n = columns, .k = rows, .transpose_a = true};
  if (is_far == which::transposed_b)
    test = {.m = 13, .n = rows, .k = columns, .transpose_b = true};
  matmul_run<fp16, fp16, fp16> run(test);
  ASSERT_TRUE(run.run<Choice>().ok());
  const auto expected = run.result();
  far_array<fp16> array((rows - 1) * far + 8 * far_gap);
  if (!array.exists())
    GTEST_SKIP() << "the device has less memory than the rows span";
  view<fp16, 2> a = run.a.as_matrix(), b = run.b.as_matrix(), d = run.d.as_matrix();
  view<fp16, 2>& moved = is_far == which::d                                    ? d
                         : is_far == which::a || is_far == which::transposed_a ? a
                                                                               : b;
  const std::int64_t width = moved.extent[1];
  for (std::int64_t r = 0; r < rows && is_far != which::d; ++r) {
    const fp16* row = &moved == &a ? &run.a.host(0, r, 0) : &run.b.host(0, r, 0);
    array.put(r * far, row, width);
  }
  moved = make_strided_view<fp16, 2>(array.data(), {rows, width}, {far, 1});
  run.d.buffer().poison();
  const status outcome =
      matmul<Choice>(view<const fp16, 2>(a), view<const fp16, 2>(b), d, run.options);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  std::vector<fp16> got;
  for (std::int64_t r = 0; r < rows && is_far == which::d; ++r) {
    const auto row = array.get(r * far, width);
    got.insert(got.end(), row.begin(), row.end());
  }
  EXPECT_TRUE(verify_bits(is_far == which::d ? got : run.result(), expected))
      << static_cast<int>(is_far);
}

TEST(matmul_far_rows, give_the_bits_of_dense_rows) {
  for (const which one : {which::a, which::b, which::transposed_a, which::transposed_b, which::d}) {
    check<matmul_choice::compact>(one);
    check<matmul_choice::skinny>(one);
  }
}

} // namespace
