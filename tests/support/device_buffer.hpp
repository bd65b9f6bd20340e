/// \file
/// Device memory that notices what a kernel should not have done.
#pragma once

#include "hip_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace wavetile::test {

/// `count` elements of device memory between two guard zones. The elements start as poison: 0xFF in
/// every byte, a NaN in every floating-point format but the FNUZ fp8 types and -1 in integers. The
/// guards hold a pattern that depends on the position; they are compared when the buffer dies, and
/// a difference fails the running test.
///
/// `misalignment` moves the first element that many elements past a 256-byte boundary.
template <class T>
class device_buffer {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  static constexpr std::size_t guard_bytes = 4096;
  static constexpr unsigned char poison_byte = 0xFF;

  explicit device_buffer(std::size_t count, std::size_t misalignment = 0)
      : count_(count), lead_(guard_bytes + misalignment * sizeof(T)),
        total_(lead_ + count * sizeof(T) + guard_bytes) {
    void* raw = nullptr;
    WAVETILE_TEST_HIP(hipMalloc(&raw, total_));
    base_ = static_cast<unsigned char*>(raw);
    std::vector<unsigned char> image(total_);
    for (std::size_t i = 0; i < total_; ++i)
      image[i] = guard_at(i);
    std::fill_n(image.begin() + static_cast<std::ptrdiff_t>(lead_), count_ * sizeof(T),
                poison_byte);
    WAVETILE_TEST_HIP(hipMemcpy(base_, image.data(), total_, hipMemcpyHostToDevice));
  }

  explicit device_buffer(std::span<const T> values, std::size_t misalignment = 0)
      : device_buffer(values.size(), misalignment) {
    upload(values);
  }
  explicit device_buffer(const std::vector<T>& values, std::size_t misalignment = 0)
      : device_buffer(std::span<const T>(values), misalignment) {}

  device_buffer(device_buffer&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), count_(other.count_), lead_(other.lead_),
        total_(other.total_) {}
  device_buffer(const device_buffer&) = delete;
  device_buffer& operator=(const device_buffer&) = delete;
  device_buffer& operator=(device_buffer&&) = delete;

  ~device_buffer() {
    if (!base_)
      return;
    try {
      EXPECT_TRUE(guards_intact());
    } catch (const std::exception& error) {
      ADD_FAILURE() << "guard zones could not be read: " << error.what();
    }
    (void)hipFree(base_);
  }

  T* data() { return reinterpret_cast<T*>(base_ + lead_); }
  const T* data() const { return reinterpret_cast<const T*>(base_ + lead_); }
  std::size_t size() const { return count_; }

  void upload(std::span<const T> values) {
    if (values.size() != count_)
      throw std::runtime_error("device_buffer::upload: another number of elements");
    if (count_)
      WAVETILE_TEST_HIP(
          hipMemcpy(data(), values.data(), count_ * sizeof(T), hipMemcpyHostToDevice));
  }

  /// The elements, after all work on the device has finished.
  std::vector<T> download() const {
    const std::vector<unsigned char> image = download_all();
    std::vector<T> values(count_);
    if (count_)
      std::memcpy(values.data(), image.data() + lead_, count_ * sizeof(T));
    return values;
  }

  /// Back to poison.
  void poison() {
    if (count_)
      WAVETILE_TEST_HIP(hipMemset(data(), poison_byte, count_ * sizeof(T)));
  }

  /// After a test that breaks them on purpose.
  void restore_guards() {
    std::vector<unsigned char> image = download_all();
    for (std::size_t i = 0; i < total_; ++i)
      if (i < lead_ || i >= lead_ + count_ * sizeof(T))
        image[i] = guard_at(i);
    WAVETILE_TEST_HIP(hipMemcpy(base_, image.data(), total_, hipMemcpyHostToDevice));
  }

  /// No element was written since construction or `poison`.
  testing::AssertionResult untouched() const {
    const std::vector<unsigned char> image = download_all();
    for (std::size_t i = lead_; i < lead_ + count_ * sizeof(T); ++i)
      if (image[i] != poison_byte)
        return testing::AssertionFailure()
               << "element " << (i - lead_) / sizeof(T) << " of " << count_ << " was written";
    return testing::AssertionSuccess();
  }

  /// Nothing was written outside the elements.
  testing::AssertionResult guards_intact() const {
    const std::vector<unsigned char> image = download_all();
    for (std::size_t i = 0; i < total_; ++i) {
      if (i == lead_)
        i += count_ * sizeof(T);
      if (i < total_ && image[i] != guard_at(i))
        return testing::AssertionFailure()
               << "a byte outside the buffer was written, "
               << static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(lead_)
               << " from its start (the buffer has " << count_ * sizeof(T) << " bytes)";
    }
    return testing::AssertionSuccess();
  }

private:
  static unsigned char guard_at(std::size_t offset) {
    return static_cast<unsigned char>(0x5A ^ (offset * 167) ^ (offset >> 8));
  }

  std::vector<unsigned char> download_all() const {
    WAVETILE_TEST_HIP(hipDeviceSynchronize());
    std::vector<unsigned char> image(total_);
    WAVETILE_TEST_HIP(hipMemcpy(image.data(), base_, total_, hipMemcpyDeviceToHost));
    return image;
  }

  unsigned char* base_ = nullptr;
  std::size_t count_;
  std::size_t lead_;
  std::size_t total_;
};

} // namespace wavetile::test
