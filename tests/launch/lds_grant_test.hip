// What is asked of CUDA, and what becomes of its refusals: with stand-ins for the runtime's calls,
// so no GPU is needed.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace {

/// What the stand-ins answer, and what they were asked for.
struct runtime {
  int granted = 48 * 1024, fixed = 1024, most = 227 * 1024;
  cudaError_t of_kernel = cudaSuccess, of_device = cudaSuccess, of_grant = cudaSuccess;
  int calls = 0, grants = 0;
} fake;
const int kernel = 0;

cudaError_t kernel_attributes(cudaFuncAttributes* result, const void* asked) {
  EXPECT_EQ(asked, &kernel);
  ++fake.calls;
  result->maxDynamicSharedSizeBytes = fake.granted;
  result->sharedSizeBytes = static_cast<std::size_t>(fake.fixed);
  return fake.of_kernel;
}
cudaError_t device_attribute(int* result, cudaDeviceAttr attribute, int device) {
  EXPECT_EQ(attribute, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  EXPECT_EQ(device, 3);
  ++fake.calls;
  *result = fake.most;
  return fake.of_device;
}
cudaError_t grant(const void* asked, cudaFuncAttribute attribute, int bytes) {
  EXPECT_EQ(asked, &kernel);
  EXPECT_EQ(attribute, cudaFuncAttributeMaxDynamicSharedMemorySize);
  ++fake.calls;
  ++fake.grants;
  if (fake.of_grant == cudaSuccess)
    fake.granted = bytes;
  return fake.of_grant;
}

} // namespace

#define cudaFuncGetAttributes kernel_attributes
#define cudaDeviceGetAttribute device_attribute
#define cudaFuncSetAttribute grant
#include <wavetile/launch/cuda/lds_grant.hpp>
#undef cudaFuncGetAttributes
#undef cudaDeviceGetAttribute
#undef cudaFuncSetAttribute

namespace {

class lds_grant : public testing::Test {
protected:
  lds_grant() { fake = {}; }
  cudaError_t ask(std::size_t bytes) { return wavetile::detail::grant_lds(&kernel, bytes, 3); }
  const int all = fake.most - fake.fixed; ///< what a workgroup can have beside what is fixed
};

TEST_F(lds_grant, little_needs_no_call) {
  EXPECT_EQ(ask(0), cudaSuccess);
  EXPECT_EQ(ask(48 * 1024), cudaSuccess);
  EXPECT_EQ(fake.calls, 0);
}

TEST_F(lds_grant, is_for_all_whoever_asks_and_asked_for_once) {
  for (const std::size_t bytes : {48u * 1024 + 1, 100u * 1024, 226u * 1024}) {
    fake = {};
    EXPECT_EQ(ask(bytes), cudaSuccess);
    EXPECT_EQ(fake.granted, all);
    EXPECT_EQ(ask(226 * 1024), cudaSuccess);
    EXPECT_EQ(fake.grants, 1);
  }
}

TEST_F(lds_grant, what_is_there_is_not_asked_for_again) {
  fake.granted = 100 * 1024;
  EXPECT_EQ(ask(100 * 1024), cudaSuccess);
  EXPECT_EQ(fake.grants, 0);
}

TEST_F(lds_grant, more_than_the_device_has_is_refused_without_a_grant) {
  EXPECT_EQ(ask(static_cast<std::size_t>(all)), cudaSuccess);
  fake = {};
  EXPECT_EQ(ask(static_cast<std::size_t>(all) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(ask(~std::size_t{0}), cudaErrorInvalidValue);
  fake.fixed = fake.most + 1; // code of another device
  EXPECT_EQ(ask(50000), cudaErrorInvalidValue);
  EXPECT_EQ(fake.grants, 0);
  EXPECT_EQ(fake.granted, 48 * 1024);
}

TEST_F(lds_grant, errors_are_those_of_the_runtime) {
  fake.of_kernel = cudaErrorInvalidDeviceFunction;
  EXPECT_EQ(ask(50000), cudaErrorInvalidDeviceFunction);
  fake = {};
  fake.of_device = cudaErrorInvalidDevice;
  EXPECT_EQ(ask(50000), cudaErrorInvalidDevice);
  EXPECT_EQ(fake.grants, 0);
  fake = {};
  fake.of_grant = cudaErrorNotSupported;
  EXPECT_EQ(ask(50000), cudaErrorNotSupported);
  fake.of_grant = cudaSuccess; // the next launch asks again
  EXPECT_EQ(ask(50000), cudaSuccess);
  EXPECT_EQ(fake.grants, 2);
}

} // namespace
