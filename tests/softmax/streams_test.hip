// Streams, graphs, errors of others.
#include "softmax_case.hpp"

#include <wavetile/reduce.hpp>

namespace {

using namespace wavetile;
using namespace wavetile::test;

struct stream_guard {
  hipStream_t stream = nullptr;
  stream_guard() { WAVETILE_TEST_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking)); }
  ~stream_guard() { (void)hipStreamDestroy(stream); }
};

TEST(softmax_streams, work_is_ordered_by_the_callers_stream) {
  const stream_guard own;
  constexpr std::int64_t rows = 20, columns = 300;
  const auto first = random_normals<float>(rows * columns, 1);
  device_buffer<float> x(first), y(first.size()), z(first.size());
  const auto x_view = make_view(static_cast<const float*>(x.data()), rows, columns);
  const auto y_view = make_view(y.data(), rows, columns);
  ASSERT_TRUE(softmax(x_view, y_view, {}, own.stream).ok());
  // the result of the result, in order
  ASSERT_TRUE(
      log_softmax(view<const float, 2>(y_view), make_view(z.data(), rows, columns), {}, own.stream)
          .ok());
  synchronize(own.stream);
  const auto got = z.download();
  for (std::int64_t r = 0; r < rows; ++r) {
    softmax_row row;
    row.x.assign(first.begin() + r * columns, first.begin() + (r + 1) * columns);
    softmax_row second;
    second.x = softmax_reference(row, false);
    const auto expected = softmax_reference(second, true);
    const std::vector<float> of_row(got.begin() + r * columns, got.begin() + (r + 1) * columns);
    // inputs of at most 1 that are off by 1e-6, and log_softmax's own rounding
    ASSERT_TRUE(verify(of_row, expected, {2e-6 + 20 * 0x1p-24, 0x1p-22}));
  }
}

TEST(softmax_streams, a_pending_error_is_neither_reported_nor_cleared) {
  device_buffer<float> x(std::vector<float>{1, 2, 3}), y(3);
  const auto call = [&] {
    return softmax(make_view(static_cast<const float*>(x.data()), 1, 3), make_view(y.data(), 1, 3));
  };
  ASSERT_TRUE(call().ok()); // whatever is asked once about a device is asked before
  (void)hipGetLastError();
  void* none = nullptr;
  const hipError_t expected = hipMalloc(&none, std::size_t{1} << 60);
  ASSERT_NE(expected, hipSuccess);
  EXPECT_TRUE(call().ok());
  EXPECT_EQ(hipPeekAtLastError(), expected);
  (void)hipGetLastError();
  double sum = 0;
  for (const float value : y.download())
    sum += static_cast<double>(value);
  EXPECT_NEAR(sum, 1, 1e-6);
}

// every operator in one graph, the split forms too; replayed with other inputs
TEST(softmax_streams, operators_can_be_captured) {
  const stream_guard own;
  constexpr std::int64_t columns = 70000, rows = 2;
  constexpr std::size_t count = rows * columns;
  device_buffer<float> x(count), y(count), log_y(count), dx(count), sums(rows);
  device_buffer<unsigned char> memory(1 << 16);
  const workspace lent{memory.data(), 1 << 16};
  const auto in = make_view(static_cast<const float*>(x.data()), rows, columns);
  const auto out = make_view(y.data(), rows, columns);
  const auto from_y = view<const float, 2>(out);
  const auto run = [&]() -> status {
    if (status s = softmax(in, out, {.memory = lent}, own.stream); !s)
      return s;
    if (status s = log_softmax(in, make_view(log_y.data(), rows, columns), {}, own.stream); !s)
      return s;
    if (status s = softmax_backward(from_y, in, make_view(dx.data(), rows, columns),
                                    {.memory = lent}, own.stream);
        !s)
      return s;
    return reduce(from_y, make_view(sums.data(), rows), op::plus{}, {.axis = 1, .memory = lent},
                  own.stream);
  };
  const std::vector<float> first = random_normals<float>(count, 1);
  x.upload(first);
  ASSERT_TRUE(run().ok()); // learns the device
  synchronize(own.stream);

  hipGraph_t graph = nullptr;
  WAVETILE_TEST_HIP(hipStreamBeginCapture(own.stream, hipStreamCaptureModeGlobal));
  const status outcome = run();
  WAVETILE_TEST_HIP(hipStreamEndCapture(own.stream, &graph));
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  hipGraphExec_t replay = nullptr;
  WAVETILE_TEST_HIP(hipGraphInstantiate(&replay, graph, nullptr, nullptr, 0));
  for (const std::uint64_t seed : {2u, 3u, 4u}) {
    x.upload(random_normals<float>(count, seed));
    ASSERT_TRUE(run().ok());
    synchronize(own.stream);
    const auto expected_y = y.download(), expected_log = log_y.download(),
               expected_dx = dx.download(), expected_sums = sums.download();
    y.poison();
    log_y.poison();
    dx.poison();
    sums.poison();
    WAVETILE_TEST_HIP(hipGraphLaunch(replay, own.stream));
    synchronize(own.stream);
    EXPECT_TRUE(verify_bits(y.download(), expected_y));
    EXPECT_TRUE(verify_bits(log_y.download(), expected_log));
    EXPECT_TRUE(verify_bits(dx.download(), expected_dx));
    EXPECT_TRUE(verify_bits(sums.download(), expected_sums));
    for (const float sum : sums.download())
      EXPECT_NEAR(sum, 1, 1e-4);
  }
  WAVETILE_TEST_HIP(hipGraphExecDestroy(replay));
  WAVETILE_TEST_HIP(hipGraphDestroy(graph));
}

// counts one below, at and one above what a workgroup takes, in every kernel that has a barrier
TEST(softmax_tails, of_the_grid) {
  for (const std::int64_t columns : {1, 4, 100, 1000, 2000, 9000})
    for (const std::int64_t rows : {1, 3, 4, 5, 7, 8, 9, 63, 64, 65, 255, 256, 257}) {
      if (rows * columns > 100000)
        continue;
      softmax_case<float> c{.rows = rows, .columns = columns};
      c.fill(1);
      c.run_and_check();
      if (HasFatalFailure())
        return;
    }
}

} // namespace
