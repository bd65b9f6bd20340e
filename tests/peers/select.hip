// rocPRIM's selection and reduction by key, compiled here: one pass over the array, in which
// workgroups wait for those before them.
#include "device.hpp"

#include <cstring> // rocPRIM 7.2 needs it and does not say so

#include <rocprim/device/device_reduce_by_key.hpp>
#include <rocprim/device/device_select.hpp>

#include <algorithm>
#include <random>

namespace {

using program::Array;

constexpr std::size_t sizes[] = {1000, 300007};

TEST(RocprimDevice, Select) {
  for (const std::size_t n : sizes) {
    std::mt19937 random(29);
    std::vector<unsigned> values(n);
    std::generate(values.begin(), values.end(), [&] { return static_cast<unsigned>(random()); });
    std::vector<unsigned> expected;
    std::copy_if(values.begin(), values.end(), std::back_inserter(expected),
                 [](unsigned x) { return x % 3 == 0; });
    Array<unsigned> in(values), out(std::vector<unsigned>(n, ~0u));
    Array<std::size_t> selected(1);
    program::run_with_temporary([&](void* temporary, std::size_t& bytes) {
      return rocprim::select(temporary, bytes, in.data(), out.data(), selected.data(), n,
                             [] __device__(unsigned x) { return x % 3 == 0; });
    });
    ASSERT_EQ(selected.get(), std::vector{expected.size()}) << n;
    expected.resize(n, ~0u); // nothing behind them is written
    EXPECT_EQ(out.get(), expected) << n;
  }
}

TEST(RocprimDevice, ReduceByKey) {
  for (const std::size_t n : sizes) {
    std::mt19937 random(31);
    std::vector<unsigned> keys, values;
    std::vector<unsigned> expected_keys, expected_sums;
    for (unsigned key = 0; keys.size() < n; key = key * 7 + 1) {
      // Runs of one, and some that are longer than a workgroup's share.
      const std::size_t length = std::min<std::size_t>(
          random() % 50 == 0 ? 5000 + random() % 5000 : 1 + random() % 40, n - keys.size());
      unsigned sum = 0;
      for (std::size_t i = 0; i < length; ++i) {
        keys.push_back(key);
        values.push_back(static_cast<unsigned>(random()));
        sum += values.back();
      }
      expected_keys.push_back(key);
      expected_sums.push_back(sum);
    }
    Array<unsigned> keys_in(keys), values_in(values), keys_out(n), sums(n);
    Array<std::size_t> runs(1);
    program::run_with_temporary([&](void* temporary, std::size_t& bytes) {
      return rocprim::reduce_by_key(temporary, bytes, keys_in.data(), values_in.data(), n,
                                    keys_out.data(), sums.data(), runs.data(),
                                    rocprim::plus<unsigned>());
    });
    ASSERT_EQ(runs.get(), std::vector{expected_keys.size()}) << n;
    std::vector<unsigned> got_keys = keys_out.get(), got_sums = sums.get();
    got_keys.resize(expected_keys.size());
    got_sums.resize(expected_keys.size());
    EXPECT_EQ(got_keys, expected_keys) << n;
    EXPECT_EQ(got_sums, expected_sums) << n;
  }
}

} // namespace
