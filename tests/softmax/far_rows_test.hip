// Arrays whose rows lie more than 2^32 elements apart, and rows whose numbers exceed 2^32: the bits
// are those of the same rows close together.
#include "softmax_case.hpp"

#include "far_array.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

template <class T>
auto far_view(T* data, const far_rows& layout, std::int64_t columns) {
  return make_strided_view<T, 2>(data + layout.first(), {layout.rows, columns}, {layout.stride, 1});
}

template <class T>
void scatter(far_array<T>& array, const far_rows& layout, const std::vector<T>& rows,
             std::int64_t columns) {
  for (std::int64_t r = 0; r < layout.rows; ++r)
    array.put(layout.offset(r), rows.data() + r * columns, columns);
}

template <class T>
std::vector<T> gather(const far_array<T>& array, const far_rows& layout, std::int64_t columns) {
  std::vector<T> rows;
  for (std::int64_t r = 0; r < layout.rows; ++r) {
    const auto row = array.get(layout.offset(r), columns);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

struct far_softmax : testing::TestWithParam<far_rows> {
  /// One of every kernel, the last with a workspace: split.
  static constexpr struct {
    std::int64_t columns, workspace;
  } shapes[] = {{7, 0},     {1000, 0},   {6000, 0},        {20000, 0},
                {70001, 0}, {150001, 0}, {150001, 1 << 16}};
};

TEST_P(far_softmax, gives_the_bits_of_dense_rows) {
  const far_rows layout = GetParam();
  far_array<fp16> x(layout.elements(150001)), y(layout.elements(150001));
  if (!x.exists() || !y.exists())
    GTEST_SKIP() << "the device has less memory than the rows span";
  for (const auto& shape : shapes) {
    SCOPED_TRACE(shape.columns);
    const std::int64_t n = shape.columns;
    const auto values = random_normals<fp16>(static_cast<std::size_t>(layout.rows * n), 3, 2);
    device_buffer<fp16> dense_x(values), dense_y(values.size());
    device_buffer<unsigned char> memory(static_cast<std::size_t>(shape.workspace));
    const softmax_options options{.memory = {memory.data(), shape.workspace}};
    scatter(x, layout, values, n);
    ASSERT_TRUE(softmax(make_view(dense_x.data(), layout.rows, n),
                        make_view(dense_y.data(), layout.rows, n), options)
                    .ok());
    const status outcome =
        softmax(far_view(x.data(), layout, n), far_view(y.data(), layout, n), options);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    ASSERT_TRUE(verify_bits(gather(y, layout, n), dense_y.download()));
  }
  EXPECT_TRUE(y.untouched(150001)) << "a row went where its offset cut to 32 bits points";
}

TEST_P(far_softmax, honours_masks_that_lie_far) {
  const far_rows layout = GetParam();
  far_array<fp16> x(layout.elements(20000)), y(layout.elements(20000));
  far_array<std::uint8_t> mask(layout.elements(20000));
  if (!x.exists() || !y.exists() || !mask.exists())
    GTEST_SKIP() << "the device has less memory than the rows span";
  for (const std::int64_t n : {7, 1000, 6000, 20000}) {
    SCOPED_TRACE(n);
    const auto count = static_cast<std::size_t>(layout.rows * n);
    const auto values = random_normals<fp16>(count, 3, 2);
    const auto keep = random_integers<std::uint8_t>(count, 4, 0, 1);
    device_buffer<fp16> dense_x(values), dense_y(count), dense_dx(count);
    device_buffer<std::uint8_t> dense_mask(keep);
    scatter(x, layout, values, n);
    scatter(mask, layout, keep, n);
    const auto dense = [&](auto& array) { return make_view(array.data(), layout.rows, n); };
    const auto away = [&](auto& array) { return far_view(array.data(), layout, n); };
    ASSERT_TRUE(softmax(dense(dense_x), dense(dense_y), dense(dense_mask)).ok());
    ASSERT_TRUE(softmax(away(x), away(y), away(mask)).ok());
    ASSERT_TRUE(verify_bits(gather(y, layout, n), dense_y.download()));
    // x serves as a gradient of y; the result takes its place
    ASSERT_TRUE(
        softmax_backward(dense(dense_y), dense(dense_x), dense(dense_dx), dense(dense_mask)).ok());
    ASSERT_TRUE(softmax_backward(away(y), away(x), away(x), away(mask)).ok());
    ASSERT_TRUE(verify_bits(gather(x, layout, n), dense_dx.download()));
  }
  EXPECT_TRUE(x.untouched(20000) && y.untouched(20000));
}

INSTANTIATE_TEST_SUITE_P(layouts, far_softmax, testing::ValuesIn(all_far_rows),
                         [](const auto& layout) {
                           return std::to_string(layout.param.rows) + "_rows_" +
                                  (layout.param.stride < 0 ? "backwards" : "forwards");
                         });

// The last rows of a problem of more than 2^33, as its last dispatch would have them. Only those
// rows exist: the base address lies so far before the arrays.
TEST(softmax_row_numbers, beyond_32_bits) {
  using types = kernels::softmax_problem_types<fp16, fp16, kernels::no_mask, softmax_form::softmax>;
  using kind = softmax_kernel;
  constexpr auto config = &kernels::config_for<types>;
  constexpr std::int64_t inner = (std::int64_t{1} << 32) + 15; // rows of each of three matrices
  constexpr std::int64_t rows = 3 * inner, present = 16;
  const struct {
    kind kernel;
    void (*code)(kernels::softmax_arguments<types>);
    std::int64_t columns, rows_per_group;
  } all[] = {
      {kind::short_rows, &kernels::softmax_short_rows<types, config(kind::short_rows)>, 50, 32},
      {kind::wave_rows, &kernels::softmax_wave_rows<types, config(kind::wave_rows)>, 900, 4},
      {kind::workgroup, &kernels::softmax_workgroup<types, config(kind::workgroup)>, 9000, 1},
      {kind::stream, &kernels::softmax_stream<types, config(kind::stream)>, 140000, 1},
  };
  for (const auto& entry : all)
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(name_of(entry.kernel));
      const std::int64_t n = entry.columns;
      const auto values = random_normals<fp16>(static_cast<std::size_t>(present * n), 9, 2);
      device_buffer<fp16> x(values), y(values.size()), expected(values.size());
      const auto as_matrix = [&](auto& array) { return make_view(array.data(), present, n); };
      ASSERT_TRUE(softmax(as_matrix(x), as_matrix(expected), {.causal = causal}).ok());

      kernels::softmax_arguments<types> arguments{};
      const std::int64_t extent[] = {3, inner};
      // the rows before the present ones of a matrix, and the matrices before the last
      const std::int64_t leap = (inner - present) * n + inner * n;
      std::int64_t stride[3][kernels::max_leading_axes] = {{leap, n}, {leap, n}, {leap, n}};
      arguments.map = kernels::make_row_map<3>(2, extent, stride);
      const std::int64_t before = 2 * leap + (inner - present) * n;
      const auto move = [&](fp16* data) {
        return reinterpret_cast<fp16*>(reinterpret_cast<std::uintptr_t>(data) -
                                       static_cast<std::uintptr_t>(before) * sizeof(fp16));
      };
      arguments.x = move(x.data());
      arguments.y = move(y.data());
      arguments.rows = rows;
      arguments.columns = n;
      arguments.first_row = rows - present;
      arguments.sign = arguments.scale = 1;
      arguments.lanes_log2 = 3; // short rows: 8 lanes hold 50 columns
      arguments.parts = 1;
      arguments.part_chunks = n / types::chunk;
      if (causal) { // anchored at the last row, which is there in both
        arguments.flags = kernels::causal_flag;
        arguments.causal = kernels::make_causal_limit(inner, n, causal_anchor::bottom_right);
      }
      const std::int64_t groups = (present + entry.rows_per_group - 1) / entry.rows_per_group;
      const status outcome =
          launch(entry.code, {.grid = groups, .block = config(entry.kernel).threads()}, nullptr,
                 arguments);
      ASSERT_TRUE(outcome.ok()) << outcome.message();
      ASSERT_TRUE(verify_bits(y.download(), expected.download())) << "causal: " << causal;
    }
}

} // namespace
