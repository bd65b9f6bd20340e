// Rows of clusters on NVIDIA GPUs beside each other: the same bits alone, NaNs, graphs.
#include "norm_case.hpp"

#include <algorithm>

namespace {

using namespace wavetile;
using namespace wavetile::test;
using enum norm_kind;

/// One call; `residual` may be empty. Lends what every plan here asks for.
template <class T>
std::vector<T> normalised(norm_kind kind, const std::vector<T>& x, const std::vector<T>& weight,
                          const std::vector<T>& residual, bool lend = false) {
  const auto columns = static_cast<std::int64_t>(weight.size());
  const std::int64_t rows = static_cast<std::int64_t>(x.size()) / columns;
  device_buffer<T> x_buffer(x), w(weight), y(x.size()), r(residual), sum(residual.size());
  const auto matrix = [&](auto* data) { return make_view(data, rows, columns); };
  const auto from = matrix(const_cast<const T*>(x_buffer.data()));
  const auto weights = make_view(const_cast<const T*>(w.data()), columns);
  status outcome;
  device_buffer<float> memory(lend ? 1 << 16 : 0);
  norm_options options;
  if (lend)
    options.memory = {memory.data(), 4 << 16};
  if (!residual.empty()) {
    const norm_arrays arrays{.x = from,
                             .y = matrix(y.data()),
                             .weight = weights,
                             .residual = matrix(const_cast<const T*>(r.data())),
                             .sum = matrix(sum.data())};
    outcome = kind == rms ? rms_norm(arrays, options) : layer_norm(arrays, options);
  } else {
    const norm_arrays arrays{.x = from, .y = matrix(y.data()), .weight = weights};
    outcome = kind == rms ? rms_norm(arrays, options) : layer_norm(arrays, options);
  }
  EXPECT_TRUE(outcome.ok()) << outcome.message();
  return y.download();
}

// Clusters that stay take dozens of rows each, alone they take one: LDS goes round several times.
template <class T>
void expect_same_bits_alone(norm_kind kind, std::int64_t rows, std::int64_t columns,
                            bool has_residual, bool lend = false) {
  SCOPED_TRACE(columns);
  const auto width = static_cast<std::size_t>(columns),
             count = static_cast<std::size_t>(rows) * width;
  const auto x = random_normals<T>(count, 11, 2, 0.5), weight = random_normals<T>(width, 12);
  const auto residual = random_normals<T>(has_residual ? count : 0, 13);
  const auto all = normalised(kind, x, weight, residual, lend);
  for (const std::int64_t row : {std::int64_t{0}, rows / 2, rows - 1}) {
    const auto part = [&](const std::vector<T>& of) {
      const auto first = of.begin() + row * columns;
      return of.empty() ? std::vector<T>{} : std::vector<T>(first, first + columns);
    };
    ASSERT_TRUE(verify_bits(part(all), normalised(kind, part(x), weight, part(residual), lend)))
        << row;
  }
}
TEST(norm_clusters, rows_have_the_same_bits_alone_and_among_many) {
  for (const bool has_residual : {false, true}) {
    expect_same_bits_alone<bf16>(layer, 132 * 14 + 5, 17000, has_residual);
    expect_same_bits_alone<bf16>(rms, 301, 140003, has_residual);
    expect_same_bits_alone<float>(layer, 150, 131072, has_residual);
    expect_same_bits_alone<float>(rms, 67, 200001, has_residual);
    expect_same_bits_alone<float>(layer, 41, 300001, has_residual, true);
    expect_same_bits_alone<bf16>(rms, 45, 600008, has_residual, true);
    if (testing::Test::HasFatalFailure())
      return;
  }
}

// As in the other kernels: a NaN, and for layer an infinity, spoils its row; for rms an infinity
// makes the others of its row zeros. Rows beside it keep their bits.
template <class T>
void expect_spoilt(norm_kind kind, std::int64_t columns, bool has_residual, bool lend = false) {
  SCOPED_TRACE(columns);
  constexpr std::size_t rows = 150; // several of each cluster
  const auto width = static_cast<std::size_t>(columns);
  auto x = random_normals<T>(rows * width, 21),
       residual = random_normals<T>(has_residual ? rows * width : 0, 22);
  const auto weight = random_normals<T>(width, 23);
  const auto clean = normalised(kind, x, weight, residual, lend);
  const auto nan = convert<T>(std::nanf("")), infinity = convert<T>(INFINITY);
  const struct {
    std::size_t row, column;
    T value;
  } spoilt[] = {
      {1, 7, nan}, {17, width - 1, nan}, {40, width / 2, infinity}, {149, width - 1, infinity}};
  for (const auto& one : spoilt)
    (has_residual ? residual : x)[one.row * width + one.column] = one.value;
  const auto got = normalised(kind, x, weight, residual, lend);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto* found = std::find_if(std::begin(spoilt), std::end(spoilt),
                                     [&](const auto& one) { return one.row == row; });
    const auto first = static_cast<std::ptrdiff_t>(row * width);
    if (found == std::end(spoilt)) {
      ASSERT_TRUE(
          verify_bits(std::vector<T>(got.begin() + first, got.begin() + first + columns),
                      std::vector<T>(clean.begin() + first, clean.begin() + first + columns)))
          << row;
      continue;
    }
    const bool zeros = kind == rms && std::isinf(as_double(found->value));
    for (std::size_t i = 0; i < width; ++i) {
      const double value = as_double(got[row * width + i]);
      if (zeros && i != found->column)
        ASSERT_EQ(value, 0) << row << ", " << i;
      else
        ASSERT_TRUE(std::isnan(value)) << row << ", " << i;
    }
  }
}
TEST(norm_clusters, infinities_and_nans_are_as_in_other_rows) {
  for (const norm_kind kind : {rms, layer})
    for (const bool has_residual : {false, true}) {
      expect_spoilt<bf16>(kind, 33003, has_residual);
      expect_spoilt<float>(kind, 33003, has_residual);
      if (testing::Test::HasFatalFailure())
        return;
    }
  for (const norm_kind kind : {rms, layer})
    for (const bool lend : {false, true}) // for each row a cluster; through memory
      expect_spoilt<float>(kind, 270001, false, lend);
}

// With a workspace: what its workgroups exchange is made zeros each time.
void expect_same_bits_each_time(std::int64_t rows, std::int64_t columns, std::int64_t lent) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const auto count = static_cast<std::size_t>(rows * columns);
  device_buffer<unsigned char> memory(static_cast<std::size_t>(lent));
  norm_options options;
  if (lent > 0)
    options.memory = {memory.data(), lent};
  device_buffer<bf16> x(random_normals<bf16>(count, 3)),
      w(random_normals<bf16>(static_cast<std::size_t>(columns), 4)),
      r(random_normals<bf16>(count, 5)), sum(count), y(count);
  const auto matrix = [&](auto* data) { return make_view(data, rows, columns); };
  const auto call = [&] {
    return layer_norm(norm_arrays{.x = matrix(static_cast<const bf16*>(x.data())),
                                  .y = matrix(y.data()),
                                  .weight = make_view(static_cast<const bf16*>(w.data()), columns),
                                  .residual = matrix(static_cast<const bf16*>(r.data())),
                                  .sum = matrix(sum.data())},
                      options, stream);
  };
  ASSERT_TRUE(call().ok());
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  const auto expected = y.download(), sums = sum.download();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  const status outcome = call();
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
  for (int i = 0; i < 3; ++i) {
    y.poison();
    sum.poison();
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(ready, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_TRUE(verify_bits(y.download(), expected));
    ASSERT_TRUE(verify_bits(sum.download(), sums));
  }
  (void)cudaGraphExecDestroy(ready);
  (void)cudaGraphDestroy(graph);
  (void)cudaStreamDestroy(stream);
}

TEST(norm_clusters_in_graphs, give_the_same_bits_each_time) {
  expect_same_bits_each_time(100, 100000, 0);
  expect_same_bits_each_time(20, 600001, 1 << 16);
}

} // namespace
