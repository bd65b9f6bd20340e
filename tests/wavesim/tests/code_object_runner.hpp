// Launches kernels of a code object without the HIP front end.
#pragma once

#include "counters/tally.hpp"
#include "loader/code_object.hpp"
#include "machine/dispatch.hpp"
#include "machine/memory_map.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace wavesim::test {

inline std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text(std::istreambuf_iterator<char>(file), {});
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// Memory that kernels may use, from creation to destruction.
template <class T>
class DeviceArray {
public:
  explicit DeviceArray(std::size_t n, T value = T())
      : data_(static_cast<T*>(::operator new(n * sizeof(T), alignment))), size_(n) {
    std::fill_n(data_, n, value);
    MemoryMap::instance().add({begin(), begin() + n * sizeof(T), RangeKind::device, 1, 0});
  }
  ~DeviceArray() {
    MemoryMap::instance().remove(begin());
    ::operator delete(data_, alignment);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* data() { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  std::vector<T> values() const { return {data_, data_ + size_}; }

private:
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(data_); }
  static constexpr std::align_val_t alignment{256}; // as hipMalloc
  T* data_;
  std::size_t size_;
};

struct Shape {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned dynamic_lds = 0;
};
inline Shape line(unsigned groups, unsigned threads, unsigned dynamic_lds = 0) {
  Shape s;
  s.grid[0] = groups;
  s.block[0] = threads;
  s.dynamic_lds = dynamic_lds;
  return s;
}

class Runner {
public:
  Runner() {
    std::string error;
    object = CodeObject::load(read_file(WAVESIM_TEST_CODE_OBJECT), error);
    EXPECT_TRUE(object) << error;
    const auto begin = reinterpret_cast<std::uintptr_t>(kernarg_);
    MemoryMap::instance().add({begin, begin + sizeof kernarg_, RangeKind::kernarg, 0, 0});
  }
  ~Runner() { MemoryMap::instance().remove(reinterpret_cast<std::uintptr_t>(kernarg_)); }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  const Kernel& kernel(const std::string& name) const {
    const Kernel* found = object->kernel(name);
    if (!found)
      throw std::runtime_error("no kernel " + name);
    return *found;
  }

  /// Runs the kernel with the given explicit arguments; hidden ones are block counts and sizes.
  template <class... Arguments>
  std::unique_ptr<Tally> run(const std::string& name, const Shape& shape, const RunOptions& options,
                             Arguments... arguments) {
    Dispatch d;
    d.kernel = &kernel(name);
    std::memcpy(d.grid, shape.grid, sizeof d.grid);
    std::memcpy(d.block, shape.block, sizeof d.block);
    d.dynamic_lds = shape.dynamic_lds;
    d.kernarg = kernarg_;
    d.cooperative = cooperative;
    std::memset(kernarg_, 0, sizeof kernarg_);
    std::size_t index = 0;
    const auto put = [&](const auto& x) {
      const KernelArgument& a = d.kernel->arguments.at(index++);
      EXPECT_EQ(a.size, sizeof x) << name;
      std::memcpy(kernarg_ + a.offset, &x, sizeof x);
    };
    (put(arguments), ...);
    for (; index < d.kernel->arguments.size(); ++index)
      hidden(d, d.kernel->arguments[index]);
    d.memory = MemoryMap::instance().snapshot();
    return wavesim::run(d, options);
  }

  std::unique_ptr<CodeObject> object;
  bool cooperative = false;

private:
  void hidden(const Dispatch& d, const KernelArgument& a) {
    EXPECT_TRUE(a.is_hidden()) << "an argument is missing";
    std::uint64_t value = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const std::string suffix(1, static_cast<char>('x' + axis));
      if (a.kind == "hidden_block_count_" + suffix)
        value = d.grid[axis];
      if (a.kind == "hidden_group_size_" + suffix)
        value = d.block[axis];
    }
    std::memcpy(kernarg_ + a.offset, &value, a.size);
  }

  alignas(64) std::byte kernarg_[4096] = {};
};

inline RunOptions with_threads(unsigned threads) {
  RunOptions options;
  options.threads = threads;
  return options;
}

} // namespace wavesim::test
