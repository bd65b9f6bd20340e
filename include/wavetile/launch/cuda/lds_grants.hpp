/// \file
/// Which kernels CUDA has been asked to let have more than 48 KiB of dynamic LDS.
#pragma once

#include <wavetile/config.hpp>

#if WAVETILE_CUDA

#include <atomic>
#include <cstddef>

namespace wavetile::detail {

/// What kernels were granted on each device, so that a launch need not ask: that takes about as
/// long as the launch. A fact that stays until the device is reset; `hipLaunchKernel` asks again
/// then. Where there is no room it asks each time. Constant-initialised, thread-safe.
class lds_grants {
  static constexpr int devices = 16, size = 256, probes = 8;
  struct entry {
    std::atomic<const void*> kernel{nullptr};
    std::atomic<std::size_t> bytes{0};
  };
  entry entries_[devices][size];

  static std::size_t place_of(const void* kernel) {
    const auto address = reinterpret_cast<std::size_t>(kernel);
    return (address >> 4) ^ (address >> 12);
  }

public:
  bool has(int device, const void* kernel, std::size_t bytes) const {
    if (device < 0 || device >= devices)
      return false;
    const std::size_t place = place_of(kernel);
    for (std::size_t i = 0; i < probes; ++i) {
      const entry& one = entries_[device][(place + i) % size];
      const void* const known = one.kernel.load(std::memory_order_acquire);
      if (known == kernel)
        return bytes <= one.bytes.load(std::memory_order_relaxed);
      if (known == nullptr)
        return false;
    }
    return false;
  }

  void add(int device, const void* kernel, std::size_t bytes) {
    if (device < 0 || device >= devices)
      return;
    const std::size_t place = place_of(kernel);
    for (std::size_t i = 0; i < probes; ++i) {
      entry& one = entries_[device][(place + i) % size];
      const void* known = nullptr;
      if (!one.kernel.compare_exchange_strong(known, kernel) && known != kernel)
        continue;
      std::size_t before = one.bytes.load(std::memory_order_relaxed);
      while (before < bytes && !one.bytes.compare_exchange_weak(before, bytes))
        ;
      return;
    }
  }
};

inline lds_grants& known_lds_grants() {
  static constinit lds_grants table;
  return table;
}

} // namespace wavetile::detail

#endif
