// Shared by the test programs: checked calls, device arrays, and running parts of the program again
// in a process of its own.
#pragma once

#include <hip/hip_runtime.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <vector>

#define HIP_OK(call) ASSERT_EQ(call, hipSuccess)

namespace program {

template <class T>
class Array {
public:
  explicit Array(std::size_t n) : size_(n) {
    EXPECT_EQ(hipMalloc(reinterpret_cast<void**>(&data_), n * sizeof(T)), hipSuccess);
  }
  explicit Array(const std::vector<T>& values) : Array(values.size()) { set(values); }
  ~Array() { EXPECT_EQ(hipFree(data_), hipSuccess); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  T* data() const { return data_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  void set(const std::vector<T>& values) {
    EXPECT_EQ(hipMemcpy(data_, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice),
              hipSuccess);
  }
  std::vector<T> get() const {
    std::vector<T> values(size_);
    EXPECT_EQ(hipMemcpy(values.data(), data_, bytes(), hipMemcpyDeviceToHost), hipSuccess);
    return values;
  }

private:
  T* data_ = nullptr;
  std::size_t size_;
};

struct Result {
  int exit_code = -1; ///< -1: ended by a signal
  std::string output; ///< stdout and stderr
};

/// Runs `command` in a shell.
inline Result shell(const std::string& command) {
  Result result;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen((command + " 2>&1").c_str(), "r"),
                                                       [](std::FILE*) { return 0; });
  std::array<char, 4096> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    result.output.append(buffer.data(), n);
  const int status = pclose(pipe.get());
  if (WIFEXITED(status))
    result.exit_code = WEXITSTATUS(status);
  return result;
}

/// Runs the tests that match `filter`, disabled ones included, in a new process with `environment`
/// ("NAME=value NAME=value") set.
inline Result again(const std::string& filter, const std::string& environment) {
  std::array<char, 4096> path = {};
  if (readlink("/proc/self/exe", path.data(), path.size() - 1) < 0)
    return {};
  return shell("env " + environment + " '" + path.data() +
               "' --gtest_also_run_disabled_tests --gtest_filter='" + filter + "'");
}

} // namespace program
