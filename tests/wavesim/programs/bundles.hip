// One program, built with different bundles of device code: several architectures, compressed, and
// without code for the device.
#include "program.hpp"

namespace {

__global__ void answer(int* out) {
  *out = 42;
}
__device__ int variable = 3;

#ifdef WAVESIM_WRONG_ARCHITECTURE

TEST(Bundles, DISABLED_Launch) {
  int* out = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&out), sizeof *out)); // works: nothing is loaded yet
  answer<<<1, 1>>>(out);
  EXPECT_EQ(hipGetLastError(), hipErrorNoBinaryForGpu);
  void* address = nullptr;
  EXPECT_EQ(hipGetSymbolAddress(&address, HIP_SYMBOL(variable)), hipErrorNoBinaryForGpu);
  HIP_OK(hipFree(out));
}

TEST(Bundles, NamesTheArchitecturesThereAre) {
  const auto result = program::again("Bundles.DISABLED_Launch", "UNUSED=1");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  // in the order of the bundle, which is the compiler's
  const auto list =
      result.output.find("no code for gfx942:sramecc+:xnack- in the program; it has code for: ");
  ASSERT_NE(list, std::string::npos) << result.output;
  const std::string names = result.output.substr(list, result.output.find('\n', list) - list);
  EXPECT_TRUE(names.ends_with("gfx90a, gfx1100") || names.ends_with("gfx1100, gfx90a"))
      << result.output;
}

#else

TEST(Bundles, FindTheCodeForTheDevice) {
  program::Array<int> out(1);
  answer<<<1, 1>>>(out.data());
  HIP_OK(hipGetLastError());
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(out.get()[0], 42);
  int value = 0;
  HIP_OK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(variable), sizeof value));
  EXPECT_EQ(value, 3);
}

#endif

} // namespace
