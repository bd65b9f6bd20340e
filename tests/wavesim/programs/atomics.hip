// Atomics of every kind and order between workgroups, and the sums that come out of them.
#include "program.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace {

using program::Array;

__global__ void integers(int* x, unsigned* u, unsigned long long* w) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(&x[0], i);
  atomicSub(&x[1], i);
  atomicMin(&x[2], -i);
  atomicMax(&x[3], i);
  atomicAnd(&u[0], ~(1u << (i % 32)));
  atomicOr(&u[1], 1u << (i % 32));
  atomicXor(&u[2], static_cast<unsigned>(i));
  atomicInc(&u[3], 9);
  atomicDec(&u[4], 9);
  atomicAdd(&w[0], static_cast<unsigned long long>(i) << 20);
  atomicMax(&w[1], static_cast<unsigned long long>(i) << 33);
}

TEST(Atomics, Integers) {
  constexpr int n = 10 * 192;
  Array<int> x(std::vector<int>(4, 0));
  Array<unsigned> u(std::vector<unsigned>{~0u, 0, 0, 0, 0});
  Array<unsigned long long> w(std::vector<unsigned long long>(2, 0));
  integers<<<10, 192>>>(x.data(), u.data(), w.data());
  HIP_OK(hipDeviceSynchronize());
  const int sum = n * (n - 1) / 2;
  EXPECT_EQ(x.get(), (std::vector<int>{sum, -sum, -(n - 1), n - 1}));
  unsigned all = 0;
  for (unsigned i = 0; i < n; ++i)
    all ^= i;
  EXPECT_EQ(u.get(), (std::vector<unsigned>{0, ~0u, all, n % 10, (10 - n % 10) % 10}));
  EXPECT_EQ(w.get(),
            (std::vector<unsigned long long>{static_cast<unsigned long long>(sum) << 20,
                                             static_cast<unsigned long long>(n - 1) << 33}));
}

__global__ void exchange(unsigned* lock, unsigned* plain, unsigned* swapped) {
  // A critical section: one lane of each workgroup after the other.
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0u, 1u) != 0) {
    }
    __threadfence();
    *plain += 1;
    __threadfence();
    atomicExch(lock, 0u);
  }
  swapped[1 + blockIdx.x * blockDim.x + threadIdx.x] =
      atomicExch(swapped, 1 + blockIdx.x * blockDim.x + threadIdx.x);
}

TEST(Atomics, ExchangeAndCompare) {
  constexpr unsigned n = 20 * 64;
  Array<unsigned> lock(std::vector<unsigned>{0}), plain(std::vector<unsigned>{0}),
      swapped(std::vector<unsigned>(1 + n, 0));
  exchange<<<20, 64>>>(lock.data(), plain.data(), swapped.data());
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(plain.get()[0], 20u);
  // Every value was handed on exactly once.
  auto seen = swapped.get();
  std::sort(seen.begin(), seen.end());
  for (unsigned i = 0; i <= n; ++i)
    EXPECT_EQ(seen[i], i);
}

__global__ void floats(float* f, double* d, const float* values) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(f, values[i]);
  unsafeAtomicAdd(f + 1, values[i]);
  atomicAdd(d, static_cast<double>(values[i]));
  atomicMax(d + 1, static_cast<double>(values[i]));
}

TEST(Atomics, FloatsRepeatBitForBit) {
  constexpr std::size_t n = 16 * 256;
  std::vector<float> values(n);
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::generate(values.begin(), values.end(), [&] { return normal(random); });
  Array<float> in(values);
  std::vector<float> first;
  for (int repeat = 0; repeat < 3; ++repeat) {
    Array<float> f(std::vector<float>(2, 0));
    Array<double> d(std::vector<double>{0, -1e30});
    floats<<<16, 256>>>(f.data(), d.data(), in.data());
    HIP_OK(hipDeviceSynchronize());
    const auto sums = f.get();
    if (repeat == 0)
      first = sums;
    EXPECT_EQ(sums, first);
    const double exact = std::accumulate(values.begin(), values.end(), 0.0);
    // 2^-24 of a partial sum, at most 3 √n, for each of n additions; fp64 likewise with 2^-53.
    EXPECT_NEAR(static_cast<double>(sums[0]), exact, n * 200 * 6e-8);
    EXPECT_NEAR(static_cast<double>(sums[1]), exact, n * 200 * 6e-8);
    EXPECT_NEAR(d.get()[0], exact, n * 200 * 1.2e-16);
    EXPECT_EQ(d.get()[1], static_cast<double>(*std::max_element(values.begin(), values.end())));
  }
}

// A scan in one pass: each workgroup looks back at its predecessors' sums, whatever order the
// device starts them in. Workgroup numbers are given out in reverse here, so that the first to run
// must wait for the last.
__global__ void look_back_scan(const int* in, int* out, int* sums, unsigned* flags) {
  __shared__ int part[256];
  __shared__ int before;
  const unsigned block = gridDim.x - 1 - blockIdx.x, t = threadIdx.x;
  part[t] = in[block * 256 + t];
  for (unsigned step = 1; step < 256; step *= 2) {
    __syncthreads();
    const int add = t >= step ? part[t - step] : 0;
    __syncthreads();
    part[t] += add;
  }
  __syncthreads();
  if (t == 0) {
    before = 0;
    if (block != 0) {
      while (__hip_atomic_load(&flags[block - 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) ==
             0) {
      }
      before = sums[block - 1];
    }
    sums[block] = before + part[255];
    __hip_atomic_store(&flags[block], 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  }
  __syncthreads();
  out[block * 256 + t] = before + part[t];
}

TEST(Atomics, LookBackAcrossWorkgroups) {
  constexpr std::size_t groups = 50, n = groups * 256;
  std::vector<int> in(n), expected(n);
  std::mt19937 random(4);
  for (auto& x : in)
    x = static_cast<int>(random() % 1000);
  std::partial_sum(in.begin(), in.end(), expected.begin());
  Array<int> din(in), out(n), sums(groups);
  Array<unsigned> flags(std::vector<unsigned>(groups, 0));
  look_back_scan<<<groups, 256>>>(din.data(), out.data(), sums.data(), flags.data());
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(out.get(), expected);
}

// The last workgroup to finish adds up what the others left.
__global__ void last_one_adds(const float* in, float* partial, unsigned* done, float* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    float sum = 0;
    for (unsigned i = 0; i < 64; ++i)
      sum += in[blockIdx.x * 64 + i];
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b)
      sum += partial[b];
    *out = sum;
  }
}

TEST(Atomics, LastWorkgroupFinishes) {
  constexpr std::size_t groups = 33;
  Array<float> in(std::vector<float>(groups * 64, 0.5f)), partial(groups), out(1);
  Array<unsigned> done(std::vector<unsigned>{0});
  last_one_adds<<<groups, 64>>>(in.data(), partial.data(), done.data(), out.data());
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(out.get()[0], groups * 32.0f);
}

// Host and device memory of all kinds are the same to atomics.
__global__ void count(unsigned* a, unsigned* b, unsigned* c) {
  atomicAdd(a, 1u);
  atomicAdd_system(b, 1u);
  atomicAdd(c, 1u);
}

TEST(Atomics, AllKindsOfMemory) {
  unsigned *pinned = nullptr, *managed = nullptr;
  HIP_OK(hipHostMalloc(reinterpret_cast<void**>(&pinned), sizeof *pinned));
  HIP_OK(hipMallocManaged(reinterpret_cast<void**>(&managed), sizeof *managed));
  alignas(64) unsigned own[16] = {};
  HIP_OK(hipHostRegister(own, sizeof own, hipHostRegisterDefault));
  *pinned = *managed = 0;
  count<<<4, 100>>>(pinned, managed, &own[3]);
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(*pinned, 400u);
  EXPECT_EQ(*managed, 400u);
  EXPECT_EQ(own[3], 400u);
  HIP_OK(hipHostUnregister(own));
  HIP_OK(hipHostFree(pinned));
  HIP_OK(hipFree(managed));
}

} // namespace
