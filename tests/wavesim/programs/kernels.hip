// Kernels as people write them, run through the HIP front end.
#include "program.hpp"

#include <hip/hip_cooperative_groups.h>

#include <numeric>
#include <random>

namespace {

using program::Array;

__device__ int counter = 5;
__device__ float table[8];
__constant__ int weights[4] = {1, 10, 100, 1000};
__managed__ int managed = 40;
__managed__ double managed_array[3] = {1, 2, 3};

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    c[i] = a[i] + b[i];
}

TEST(Kernels, VectorAddOfAnyLength) {
  for (int n : {1, 63, 64, 65, 1000, 4096, 10'001}) {
    std::vector<float> a(static_cast<std::size_t>(n)), b(a);
    std::mt19937 random(static_cast<unsigned>(n));
    std::normal_distribution<float> normal;
    for (auto& x : a)
      x = normal(random);
    for (auto& x : b)
      x = normal(random);
    Array<float> da(a), db(b), dc(a.size());
    add<<<static_cast<unsigned>(n + 191) / 192, 192>>>(da.data(), db.data(), dc.data(), n);
    HIP_OK(hipGetLastError());
    HIP_OK(hipDeviceSynchronize());
    const auto c = dc.get();
    for (std::size_t i = 0; i < c.size(); ++i)
      ASSERT_EQ(c[i], a[i] + b[i]) << i << " of " << n;
  }
}

// The hidden arguments: grid and block sizes as the kernel sees them.
__global__ void shape(unsigned* out) {
  if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z == 0) {
    const unsigned values[6] = {gridDim.x,  gridDim.y,  gridDim.z,
                                blockDim.x, blockDim.y, blockDim.z};
    for (int i = 0; i < 6; ++i)
      out[i] = values[i];
  }
  atomicAdd(out + 6, 1u);
}

TEST(Kernels, SeeTheirShape) {
  Array<unsigned> out(std::vector<unsigned>(7, 0));
  shape<<<dim3(3, 4, 5), dim3(2, 3, 4)>>>(out.data());
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(out.get(), (std::vector<unsigned>{3, 4, 5, 2, 3, 4, 60 * 24}));
}

struct Mixed {
  char c;
  double d;
  short s[3];
  float* p;
};

__global__ void mixed_arguments(Mixed m, char a, long long b, float3 v, bool flag, double* out) {
  out[0] = m.c + m.d + m.s[0] + m.s[1] + m.s[2] + *m.p;
  out[1] = a + static_cast<double>(b) + static_cast<double>(v.x + v.y + v.z) + (flag ? 1 : 0);
}

TEST(Kernels, ArgumentsOfAllSizes) {
  Array<float> f(std::vector<float>{0.5f});
  Array<double> out(2);
  const Mixed m{3, 0.25, {1, 2, 3}, f.data()};
  mixed_arguments<<<1, 1>>>(m, -7, 1LL << 40, make_float3(1, 2, 3), true, out.data());
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(out.get(), (std::vector<double>{9.75, static_cast<double>(1LL << 40)}));
}

__global__ void use_variables(int* out) {
  if (threadIdx.x == 0) {
    out[0] = counter++;
    out[1] = weights[blockIdx.x % 4];
    out[2] = managed;
    out[3] = static_cast<int>(managed_array[2]);
    managed = 41;
    table[3] = 2.5f;
  }
}

TEST(Kernels, DeviceConstantAndManagedVariables) {
  EXPECT_EQ(managed, 40);
  managed_array[2] = 17;
  const int start = 100;
  HIP_OK(hipMemcpyToSymbol(HIP_SYMBOL(counter), &start, sizeof start));
  const int fresh[2] = {7, 8};
  HIP_OK(hipMemcpyToSymbol(HIP_SYMBOL(weights), fresh, sizeof fresh, 0));
  Array<int> out(4);
  use_variables<<<1, 64>>>(out.data());
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(out.get(), (std::vector<int>{100, 7, 40, 17}));
  EXPECT_EQ(managed, 41);
  int count = 0;
  HIP_OK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(counter), sizeof count));
  EXPECT_EQ(count, 101);
  float entry = 0;
  HIP_OK(hipMemcpyFromSymbol(&entry, HIP_SYMBOL(table), sizeof entry, 3 * sizeof entry));
  EXPECT_EQ(entry, 2.5f);
  void* address = nullptr;
  std::size_t bytes = 0;
  HIP_OK(hipGetSymbolAddress(&address, HIP_SYMBOL(table)));
  HIP_OK(hipGetSymbolSize(&bytes, HIP_SYMBOL(table)));
  EXPECT_EQ(bytes, sizeof table);
  HIP_OK(hipMemcpy(&entry, static_cast<float*>(address) + 3, sizeof entry, hipMemcpyDeviceToHost));
  EXPECT_EQ(entry, 2.5f);
}

__global__ void reduce(const int* in, int* out) {
  extern __shared__ int part[];
  const unsigned t = threadIdx.x;
  part[t] = in[blockIdx.x * blockDim.x + t];
  for (unsigned half = blockDim.x / 2; half != 0; half /= 2) {
    __syncthreads();
    if (t < half)
      part[t] += part[t + half];
  }
  if (t == 0)
    out[blockIdx.x] = part[0];
}

TEST(Kernels, DynamicLds) {
  for (unsigned block : {64u, 256u, 1024u}) {
    std::vector<int> in(4 * block);
    std::iota(in.begin(), in.end(), -17);
    Array<int> din(in), dout(4);
    reduce<<<4, block, block * sizeof(int)>>>(din.data(), dout.data());
    HIP_OK(hipDeviceSynchronize());
    const auto out = dout.get();
    for (unsigned b = 0; b < 4; ++b)
      EXPECT_EQ(out[b], std::accumulate(in.begin() + b * block, in.begin() + (b + 1) * block, 0));
  }
}

// All of LDS at once.
__global__ void fill_lds(unsigned* out) {
  extern __shared__ unsigned words[];
  for (unsigned i = threadIdx.x; i < 16384; i += blockDim.x)
    words[i] = i * 2654435761u;
  __syncthreads();
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < 16384; i += blockDim.x)
    sum ^= words[16383 - i] + i;
  atomicXor(out, sum);
}

TEST(Kernels, AllOfLds) {
  Array<unsigned> out(std::vector<unsigned>{0});
  fill_lds<<<1, 256, 65536>>>(out.data());
  HIP_OK(hipGetLastError());
  HIP_OK(hipDeviceSynchronize());
  unsigned expected = 0, partial[256] = {};
  for (unsigned t = 0; t < 256; ++t) {
    for (unsigned i = t; i < 16384; i += 256)
      partial[t] ^= (16383 - i) * 2654435761u + i;
    expected ^= partial[t];
  }
  EXPECT_EQ(out.get()[0], expected);
}

__device__ __attribute__((noinline)) int ackermann(int m, int n) {
  if (m == 0)
    return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__global__ void recursion(int* out) {
  out[threadIdx.x] = ackermann(2, static_cast<int>(threadIdx.x % 4));
}

TEST(Kernels, Recursion) {
  Array<int> out(100);
  recursion<<<1, 100>>>(out.data());
  HIP_OK(hipDeviceSynchronize());
  const auto values = out.get();
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], 2 * static_cast<int>(i % 4) + 3); // A(2, n) = 2n + 3
}

struct Shape {
  __device__ virtual int area() const { return 0; }
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};
struct Line : Shape {
  int length;
  __device__ explicit Line(int l) : length(l) {}
  __device__ int area() const override { return -length; }
};

__global__ void virtual_call(int* out) {
  Square square(static_cast<int>(threadIdx.x));
  Line line(static_cast<int>(threadIdx.x));
  const Shape* shape = threadIdx.x % 2 ? static_cast<const Shape*>(&square) : &line;
  asm volatile("" : "+v"(shape));
  out[threadIdx.x] = shape->area();
}

TEST(Kernels, VirtualCalls) {
  Array<int> out(64);
  virtual_call<<<1, 64>>>(out.data());
  HIP_OK(hipDeviceSynchronize());
  const auto values = out.get();
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(values[static_cast<std::size_t>(i)], i % 2 ? i * i : -i);
}

// A dynamically indexed local array lives in private memory.
__global__ void private_array(int* out, int shift) {
  int local[32];
  for (int i = 0; i < 32; ++i)
    local[(i * 7 + shift) % 32] = i + static_cast<int>(threadIdx.x);
  out[threadIdx.x] = local[(static_cast<int>(threadIdx.x) + shift) % 32];
}

TEST(Kernels, PrivateMemory) {
  Array<int> out(256);
  private_array<<<1, 256>>>(out.data(), 3);
  HIP_OK(hipDeviceSynchronize());
  const auto values = out.get();
  for (int t = 0; t < 256; ++t) {
    int local[32];
    for (int i = 0; i < 32; ++i)
      local[(i * 7 + 3) % 32] = i + t;
    EXPECT_EQ(values[static_cast<std::size_t>(t)], local[(t + 3) % 32]);
  }
}

// One pointer to each address space, through generic accesses.
__device__ __attribute__((noinline)) int read_generic(const int* p) {
  return *p;
}

__global__ void generic_pointers(const int* global, int* out) {
  __shared__ int shared[64];
  int local[4];
  for (int i = 0; i < 4; ++i)
    local[i] = 100 * static_cast<int>(threadIdx.x) + i;
  shared[threadIdx.x] = -static_cast<int>(threadIdx.x);
  __syncthreads();
  const int* pointers[3] = {global + threadIdx.x, shared + threadIdx.x, local + threadIdx.x % 4};
  out[threadIdx.x] = read_generic(pointers[threadIdx.x % 3]);
}

TEST(Kernels, GenericPointers) {
  std::vector<int> in(64);
  std::iota(in.begin(), in.end(), 1000);
  Array<int> din(in), out(64);
  generic_pointers<<<1, 64>>>(din.data(), out.data());
  HIP_OK(hipDeviceSynchronize());
  const auto values = out.get();
  for (int t = 0; t < 64; ++t) {
    const int expected[3] = {1000 + t, -t, 100 * t + t % 4};
    EXPECT_EQ(values[static_cast<std::size_t>(t)], expected[t % 3]) << t;
  }
}

__global__ void clocks(long long* out) {
  const long long before = clock64();
  __builtin_amdgcn_s_sleep(1);
  const long long wall = wall_clock64();
  out[0] = clock64() - before;
  out[1] = wall;
}

TEST(Kernels, ClocksRepeat) {
  Array<long long> first(2), second(2);
  clocks<<<1, 64>>>(first.data());
  clocks<<<1, 64>>>(second.data());
  HIP_OK(hipDeviceSynchronize());
  EXPECT_GT(first.get()[0], 0);
  EXPECT_EQ(first.get(), second.get());
}

__global__ void grid_sum(const int* in, int* partial, int* out) {
  const auto grid = cooperative_groups::this_grid();
  int sum = 0;
  for (unsigned i = static_cast<unsigned>(grid.thread_rank()); i < 10'000;
       i += static_cast<unsigned>(grid.size()))
    sum += in[i];
  atomicAdd(&partial[blockIdx.x], sum);
  grid.sync();
  if (grid.thread_rank() == 0)
    for (unsigned b = 0; b < gridDim.x; ++b)
      out[0] += partial[b];
  grid.sync();
  if (threadIdx.x == 0)
    partial[blockIdx.x] = out[0];
}

TEST(Kernels, GridSync) {
  std::vector<int> in(10'000);
  std::iota(in.begin(), in.end(), 1);
  constexpr unsigned groups = 40;
  Array<int> din(in), partial(std::vector<int>(groups, 0)), out(std::vector<int>(1, 0));
  const int* p = din.data();
  int* q = partial.data();
  int* r = out.data();
  void* arguments[] = {&p, &q, &r};
  HIP_OK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(grid_sum), dim3(groups), dim3(128),
                                    arguments, 0, nullptr));
  HIP_OK(hipDeviceSynchronize());
  const int expected = 10'000 * 10'001 / 2;
  EXPECT_EQ(out.get()[0], expected);
  EXPECT_EQ(partial.get(), std::vector<int>(groups, expected));
  // More workgroups than the device can hold at once.
  EXPECT_EQ(hipLaunchCooperativeKernel(reinterpret_cast<void*>(grid_sum), dim3(304 * 16 + 1),
                                       dim3(128), arguments, 0, nullptr),
            hipErrorCooperativeLaunchTooLarge);
  (void)hipGetLastError();
}

} // namespace
