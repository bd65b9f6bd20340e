/// \file
/// Device arrays so large that offsets in them need more than 32 bits, of which little is touched.
#pragma once

#include "hip_check.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace wavetile::test {

/// Beyond every row of a test: a row whose offset is cut to 32 bits (elements or bytes) lands this
/// far from the start or from another row, in the poisoned zone.
inline constexpr std::int64_t far_gap = 200000;

/// `elements` of device memory as the runtime gives it, but for the first `near` elements, which
/// are poison (0xFF in every byte). Empty (`!exists()`) where the device has not that much.
template <class T>
class far_array {
public:
  explicit far_array(std::int64_t elements, std::int64_t near = 8 * far_gap) : near_(near) {
    if (hipMalloc(&memory_, static_cast<std::size_t>(elements) * sizeof(T)) != hipSuccess) {
      memory_ = nullptr;
      (void)hipGetLastError();
      return;
    }
    WAVETILE_TEST_HIP(hipMemset(memory_, 0xFF, static_cast<std::size_t>(near) * sizeof(T)));
  }
  ~far_array() { (void)hipFree(memory_); }
  far_array(const far_array&) = delete;
  far_array& operator=(const far_array&) = delete;

  bool exists() const { return memory_ != nullptr; }
  T* data() const { return static_cast<T*>(memory_); }

  void put(std::int64_t offset, const T* values, std::int64_t count) {
    WAVETILE_TEST_HIP(hipMemcpy(data() + offset, values,
                                static_cast<std::size_t>(count) * sizeof(T),
                                hipMemcpyHostToDevice));
  }
  std::vector<T> get(std::int64_t offset, std::int64_t count) const {
    std::vector<T> values(static_cast<std::size_t>(count));
    WAVETILE_TEST_HIP(hipMemcpy(values.data(), data() + offset,
                                static_cast<std::size_t>(count) * sizeof(T),
                                hipMemcpyDeviceToHost));
    return values;
  }

  /// The poisoned zone from element `first` on was not written.
  bool untouched(std::int64_t first) const {
    for (const T& value : get(first, near_ - first)) {
      unsigned char bytes[sizeof(T)];
      std::memcpy(bytes, &value, sizeof(T));
      for (const unsigned char byte : bytes)
        if (byte != 0xFF)
          return false;
    }
    return true;
  }

private:
  void* memory_ = nullptr;
  std::int64_t near_;
};

/// Where rows lie that no 32-bit offset reaches.
struct far_rows {
  std::int64_t rows;
  std::int64_t stride; ///< elements; negative: the first row lies last

  std::int64_t first() const { return stride < 0 ? -stride * (rows - 1) : 0; }
  std::int64_t offset(std::int64_t row) const { return first() + row * stride; }
  std::int64_t elements(std::int64_t columns) const {
    return (rows - 1) * (stride < 0 ? -stride : stride) + columns + 8 * far_gap;
  }
};

/// Strides that fit 32 bits whose products with a row do not, and strides that do not fit.
inline constexpr far_rows all_far_rows[] = {{3, (std::int64_t{1} << 31) + far_gap},
                                            {2, (std::int64_t{1} << 32) + far_gap},
                                            {2, -(std::int64_t{1} << 32) - far_gap}};

} // namespace wavetile::test
