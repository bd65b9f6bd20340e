// Streams, graphs, errors of others.
#define WAVETILE_TEST_FEW_KERNELS
#include "matmul_case.hpp"

#include <wavetile/matmul_grouped.hpp>

namespace {

using namespace wavetile;
using namespace wavetile::test;

using run_16 = matmul_run<bf16, bf16, float>;

struct stream_guard {
  hipStream_t stream = nullptr;
  stream_guard() { WAVETILE_TEST_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking)); }
  ~stream_guard() { (void)hipStreamDestroy(stream); }
};

TEST(matmul_streams, a_pending_error_is_neither_reported_nor_cleared) {
  run_16 run({.m = 5, .n = 6, .k = 7});
  ASSERT_TRUE(run.run().ok()); // whatever is asked once about a device is asked before
  (void)hipGetLastError();
  void* none = nullptr;
  const hipError_t expected = hipMalloc(&none, std::size_t{1} << 60);
  ASSERT_NE(expected, hipSuccess);
  EXPECT_TRUE(run.run().ok());
  EXPECT_EQ(hipPeekAtLastError(), expected);
  (void)hipGetLastError();
  EXPECT_TRUE(run.agrees());
}

// A tiled product, a split one and a list in one graph, replayed with other inputs.
TEST(matmul_streams, operators_can_be_captured) {
  const stream_guard own;
  run_16 tiled({.m = 70, .n = 66, .k = 65}), split({.m = 20, .n = 30, .k = 900, .splits = 3}),
      first({.m = 40, .n = 20, .k = 30}), second({.m = 8, .n = 90, .k = 50});
  const matmul_item<bf16, bf16, float> items[] = {
      {first.a.as_matrix(), first.b.as_matrix(), first.d.as_matrix()},
      {second.a.as_matrix(), second.b.as_matrix(), second.d.as_matrix()}};
  device_buffer<unsigned char> memory(
      static_cast<std::size_t>(matmul_grouped_workspace_bytes<bf16, bf16, float>(2)));
  const auto run = [&]() -> status {
    if (status s = tiled.run(epilogue::steps<>{}, own.stream); !s)
      return s;
    if (status s = split.run(epilogue::steps<>{}, own.stream); !s)
      return s;
    return matmul_grouped<matmul_choice::compact>(
        items, 2, {.memory = {memory.data(), static_cast<std::int64_t>(memory.size())}},
        own.stream);
  };
  ASSERT_TRUE(run().ok());
  hipGraph_t graph = nullptr;
  hipGraphExec_t executable = nullptr;
  WAVETILE_TEST_HIP(hipStreamBeginCapture(own.stream, hipStreamCaptureModeGlobal));
  const status captured = run();
  WAVETILE_TEST_HIP(hipStreamEndCapture(own.stream, &graph));
  ASSERT_TRUE(captured.ok()) << captured.message();
  WAVETILE_TEST_HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  for (std::uint64_t replay = 1; replay <= 3; ++replay) {
    random_source source(replay);
    for (run_16* one : {&tiled, &split, &first, &second}) {
      one->a.fill([&] { return random_element<bf16>(source); });
      one->b.fill([&] { return random_element<bf16>(source); });
      one->d.buffer().poison();
    }
    memory.poison();
    split.memory.poison();
    WAVETILE_TEST_HIP(hipGraphLaunch(executable, own.stream));
    synchronize(own.stream);
    for (run_16* one : {&tiled, &split, &first, &second})
      ASSERT_TRUE(one->agrees()) << "replay " << replay;
  }
  WAVETILE_TEST_HIP(hipGraphExecDestroy(executable));
  WAVETILE_TEST_HIP(hipGraphDestroy(graph));
}

} // namespace
