// rocPRIM's radix sort and merge sort of a whole array, compiled here. Both are stable, so the
// order of equal keys is a result, too.
#include "device.hpp"

#include <cstring> // rocPRIM 7.2 needs it and does not say so

#include <rocprim/device/device_merge_sort.hpp>
#include <rocprim/device/device_radix_sort.hpp>

#include <algorithm>
#include <numeric>
#include <random>

namespace {

using program::Array;

struct Pairs {
  std::vector<unsigned> keys, values;
};

/// Keys that repeat, each with the place it came from.
Pairs unsorted(std::size_t n, unsigned highest) {
  std::mt19937 random(23);
  std::uniform_int_distribution<unsigned> any(0, highest);
  Pairs p{std::vector<unsigned>(n), std::vector<unsigned>(n)};
  std::generate(p.keys.begin(), p.keys.end(), [&] { return any(random); });
  std::iota(p.values.begin(), p.values.end(), 0u);
  return p;
}

template <class Less>
Pairs sorted(const Pairs& p, Less less) {
  Pairs s{p.keys, p.values};
  std::stable_sort(s.values.begin(), s.values.end(),
                   [&](unsigned a, unsigned b) { return less(p.keys[a], p.keys[b]); });
  std::transform(s.values.begin(), s.values.end(), s.keys.begin(),
                 [&](unsigned place) { return p.keys[place]; });
  return s;
}

// One workgroup, several of them, and a size nothing divides.
constexpr std::size_t sizes[] = {1000, 70001};

TEST(RocprimDevice, RadixSort) {
  for (const std::size_t n : sizes) {
    const Pairs p = unsorted(n, 5000), expected = sorted(p, std::less<unsigned>());
    Array<unsigned> keys(p.keys), values(p.values), keys_out(n), values_out(n);
    program::run_with_temporary([&](void* temporary, std::size_t& bytes) {
      return rocprim::radix_sort_pairs(temporary, bytes, keys.data(), keys_out.data(),
                                       values.data(), values_out.data(), n);
    });
    EXPECT_EQ(keys_out.get(), expected.keys) << n;
    EXPECT_EQ(values_out.get(), expected.values) << n;
  }
}

TEST(RocprimDevice, MergeSort) {
  for (const std::size_t n : sizes) {
    const Pairs p = unsorted(n, 5000), expected = sorted(p, std::greater<unsigned>());
    Array<unsigned> keys(p.keys), values(p.values), keys_out(n), values_out(n);
    program::run_with_temporary([&](void* temporary, std::size_t& bytes) {
      return rocprim::merge_sort(temporary, bytes, keys.data(), keys_out.data(), values.data(),
                                 values_out.data(), n, rocprim::greater<unsigned>());
    });
    EXPECT_EQ(keys_out.get(), expected.keys) << n;
    EXPECT_EQ(values_out.get(), expected.values) << n;
  }
}

} // namespace
