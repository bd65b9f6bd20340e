// rocPRIM's reductions and scans of wavefronts and workgroups, compiled here: code that this
// project did not write, against results computed on the host.
#include "program.hpp"

#include <cstring> // rocPRIM 7.2 needs it and does not say so

#include <rocprim/block/block_reduce.hpp>
#include <rocprim/block/block_scan.hpp>
#include <rocprim/warp/warp_reduce.hpp>
#include <rocprim/warp/warp_scan.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace {

using program::Array;

constexpr unsigned wave = 64, block = 256, blocks = 7, count = block * blocks;

/// Lanes together: `Lanes` neighbours reduce and scan among themselves.
template <unsigned Lanes>
__global__ void waves(const int* in, int* sums, int* inclusive, int* highest) {
  using reduce_type = rocprim::warp_reduce<int, Lanes, true>; // every lane gets the result
  using scan_type = rocprim::warp_scan<int, Lanes>;
  __shared__ typename reduce_type::storage_type reduce_storage[block / Lanes];
  __shared__ typename scan_type::storage_type scan_storage[block / Lanes];
  const unsigned i = blockIdx.x * block + threadIdx.x, group = threadIdx.x / Lanes;
  int sum, scanned, high;
  reduce_type().reduce(in[i], sum, reduce_storage[group]);
  rocprim::syncthreads();
  reduce_type().reduce(in[i], high, reduce_storage[group], rocprim::maximum<int>());
  scan_type().inclusive_scan(in[i], scanned, scan_storage[group]);
  sums[i] = sum;
  highest[i] = high;
  inclusive[i] = scanned;
}

/// The workgroup together; each work item brings `Items` neighbours.
template <unsigned Items, rocprim::block_reduce_algorithm Reduce,
          rocprim::block_scan_algorithm Scan>
__global__ void groups(const unsigned long long* in, unsigned long long* sums,
                       unsigned long long* exclusive) {
  using value = unsigned long long;
  using reduce_type = rocprim::block_reduce<value, block, Reduce>;
  using scan_type = rocprim::block_scan<value, block, Scan>;
  __shared__ union {
    typename reduce_type::storage_type reduce;
    typename scan_type::storage_type scan;
  } storage;
  const unsigned first = (blockIdx.x * block + threadIdx.x) * Items;
  value mine[Items], scanned[Items], sum;
  for (unsigned i = 0; i < Items; ++i)
    mine[i] = in[first + i];
  reduce_type().reduce(mine, sum, storage.reduce);
  rocprim::syncthreads();
  scan_type().exclusive_scan(mine, scanned, value{1000}, storage.scan);
  if (threadIdx.x == 0) // the only work item that holds the sum
    sums[blockIdx.x] = sum;
  for (unsigned i = 0; i < Items; ++i)
    exclusive[first + i] = scanned[i];
}

template <class T>
std::vector<T> random_values(std::size_t n, T low, T high) {
  std::mt19937 random(17);
  std::uniform_int_distribution<T> any(low, high);
  std::vector<T> values(n);
  std::generate(values.begin(), values.end(), [&] { return any(random); });
  return values;
}

template <unsigned Lanes>
void check_waves() {
  const std::vector<int> values = random_values(count, -1000000, 1000000);
  Array<int> in(values), sums(count), inclusive(count), highest(count);
  waves<Lanes><<<blocks, block>>>(in.data(), sums.data(), inclusive.data(), highest.data());
  HIP_OK(hipDeviceSynchronize());
  std::vector<int> sum(count), scanned(count), high(count);
  for (unsigned first = 0; first < count; first += Lanes) {
    const auto begin = values.begin() + first, end = begin + Lanes;
    std::fill_n(sum.begin() + first, Lanes, std::accumulate(begin, end, 0));
    std::fill_n(high.begin() + first, Lanes, *std::max_element(begin, end));
    std::partial_sum(begin, end, scanned.begin() + first);
  }
  EXPECT_EQ(sums.get(), sum);
  EXPECT_EQ(highest.get(), high);
  EXPECT_EQ(inclusive.get(), scanned);
}

TEST(RocprimWarp, ReduceAndScan) {
  check_waves<wave>();
  check_waves<16>();
}

template <unsigned Items, rocprim::block_reduce_algorithm Reduce,
          rocprim::block_scan_algorithm Scan>
void check_groups() {
  using value = unsigned long long;
  const auto values = random_values<value>(count * Items, 0, std::numeric_limits<value>::max() / 2);
  Array<value> in(values), sums(blocks), exclusive(count * Items);
  groups<Items, Reduce, Scan><<<blocks, block>>>(in.data(), sums.data(), exclusive.data());
  HIP_OK(hipDeviceSynchronize());
  std::vector<value> sum(blocks), scanned(count * Items);
  for (unsigned b = 0; b < blocks; ++b) { // unsigned: sums wrap the same way in any order
    const auto begin = values.begin() + b * block * Items, end = begin + block * Items;
    sum[b] = std::accumulate(begin, end, value{0});
    std::exclusive_scan(begin, end, scanned.begin() + b * block * Items, value{1000});
  }
  EXPECT_EQ(sums.get(), sum);
  EXPECT_EQ(exclusive.get(), scanned);
}

TEST(RocprimBlock, ReduceAndScan) {
  using reduce = rocprim::block_reduce_algorithm;
  using scan = rocprim::block_scan_algorithm;
  check_groups<1, reduce::using_warp_reduce, scan::using_warp_scan>();
  check_groups<3, reduce::raking_reduce, scan::reduce_then_scan>();
}

} // namespace
