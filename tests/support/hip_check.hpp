/// \file
/// HIP calls in tests: the first failing one ends the test with its text.
#pragma once

#include <hip/hip_runtime_api.h>

#include <stdexcept>
#include <string>

namespace wavetile::test {

/// Throws on an error, so that helpers outside a test body can use it too.
inline void hip_check(hipError_t error, const char* expression, const char* file, int line) {
  if (error != hipSuccess)
    throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + expression +
                             " returned " + hipGetErrorName(error) + " (" +
                             hipGetErrorString(error) + ")");
}

/// Waits for the device and reports what kernels did wrong.
inline void synchronize(hipStream_t stream = nullptr) {
  hip_check(hipStreamSynchronize(stream), "hipStreamSynchronize", __FILE__, __LINE__);
}

} // namespace wavetile::test

#define WAVETILE_TEST_HIP(expression)                                                              \
  ::wavetile::test::hip_check((expression), #expression, __FILE__, __LINE__)
