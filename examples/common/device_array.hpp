/// \file
/// What the examples need of HIP: memory that frees itself, errors as exceptions.
#pragma once

#include <hip/hip_runtime_api.h>

#include <wavetile/core/status.hpp>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace example {

inline void check(hipError_t error, const char* what) {
  if (error != hipSuccess)
    throw std::runtime_error(std::string(what) + ": " + hipGetErrorString(error));
}

inline void check(const wavetile::status& outcome) {
  if (!outcome)
    throw std::runtime_error(outcome.message());
}

/// Device memory of `count` elements; null when there are none.
template <class T>
class device_array {
public:
  explicit device_array(std::size_t count) : count_(count) {
    if (count != 0)
      check(hipMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)), "hipMalloc");
  }
  explicit device_array(std::span<const T> values) : device_array(values.size()) {
    if (count_ != 0)
      check(hipMemcpy(data_, values.data(), count_ * sizeof(T), hipMemcpyHostToDevice),
            "copy to the device");
  }
  ~device_array() { (void)hipFree(data_); }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;

  T* data() const { return data_; }
  std::size_t size() const { return count_; }

  /// The elements, after all work on the device is done.
  std::vector<T> to_host() const {
    check(hipDeviceSynchronize(), "hipDeviceSynchronize");
    std::vector<T> values(count_);
    if (count_ != 0)
      check(hipMemcpy(values.data(), data_, count_ * sizeof(T), hipMemcpyDeviceToHost),
            "copy from the device");
    return values;
  }

private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

} // namespace example
