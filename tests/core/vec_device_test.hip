// Vector loads and stores in device code: bytes move unchanged, at every size and offset, and
// nothing beside them is touched.
#include "../support/device_buffer.hpp"
#include "../support/random.hpp"

#include <wavetile/core/math.hpp>
#include <wavetile/core/vec.hpp>
#include <wavetile/core/view.hpp>

#include <hip/hip_runtime.h>

#include <gtest/gtest.h>

#include <vector>

namespace wavetile {
namespace {

using test::device_buffer;

template <int N, bool Aligned, class T>
__global__ void copy_kernel(const T* in, T* out, int count) {
  const int i = N * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i + N > count)
    return;
  if constexpr (Aligned)
    store_vec(out + i, load_vec<N>(in + i));
  else
    store_vec_unaligned(out + i, load_vec_unaligned<N>(in + i));
}

template <class T, int N>
void check_copy() {
  test::random_source random(N);
  std::vector<T> values(static_cast<size_t>(N) * 300);
  for (T& value : values)
    value = static_cast<T>(random.bits());
  const int count = static_cast<int>(values.size());
  {
    device_buffer<T> in(values);
    device_buffer<T> out(values.size());
    copy_kernel<N, true><<<2, 256>>>(in.data(), out.data(), count);
    WAVETILE_TEST_HIP(hipGetLastError());
    EXPECT_EQ(out.download(), values);
  }
  for (size_t shift : {1u, 3u}) {
    device_buffer<T> in(values, shift);
    device_buffer<T> out(values.size(), 2);
    copy_kernel<N, false><<<2, 256>>>(in.data(), out.data(), count);
    WAVETILE_TEST_HIP(hipGetLastError());
    EXPECT_EQ(out.download(), values);
  }
}

template <class T>
void check_sizes() {
  check_copy<T, 1>();
  check_copy<T, 2>();
  check_copy<T, 3>();
  check_copy<T, 4>();
  check_copy<T, 8>();
  check_copy<T, 16>();
}

TEST(device_vec, copies_every_size) {
  check_sizes<uint8_t>();
  check_sizes<uint16_t>();
  check_sizes<uint32_t>();
  check_sizes<uint64_t>();
}

// A view passed to a kernel by value means the same on both sides.
__global__ void view_kernel(view<const uint32_t, 2> in, view<uint32_t, 2> out, int64_t* size) {
  const int i = static_cast<int>(threadIdx.x);
  if (i == 0)
    *size = static_cast<int64_t>(sizeof in);
  for (int64_t row = 0; row < in.extent[0]; ++row)
    if (i < in.extent[1])
      out(row, i) = in(row, i);
}

TEST(device_view, carries_strides) {
  std::vector<uint32_t> values(5 * 9);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<uint32_t>(i);
  device_buffer<uint32_t> in(values);
  device_buffer<uint32_t> out(4 * 11 + 7);
  device_buffer<int64_t> size(1);
  const view<const uint32_t, 2> from = make_strided_view(in.data(), {5, 7}, {9, 1});
  const auto to = make_strided_view(out.data(), {5, 7}, {11, 1});
  view_kernel<<<1, 64>>>(from, to, size.data());
  WAVETILE_TEST_HIP(hipGetLastError());
  EXPECT_EQ(size.download()[0], static_cast<int64_t>(sizeof from));
  const std::vector<uint32_t> results = out.download();
  for (size_t i = 0; i < results.size(); ++i) {
    const size_t row = i / 11;
    const size_t column = i % 11;
    EXPECT_EQ(results[i], column < 7 ? row * 9 + column : 0xFFFFFFFFu) << i;
  }
}

} // namespace
} // namespace wavetile
