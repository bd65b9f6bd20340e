// Allocation, copies, fills, pointers, pools and limits.
#include "program.hpp"

#include <cstring>
#include <numeric>

namespace {

using program::Array;

class Memory : public testing::Test {
protected:
  void TearDown() override { (void)hipGetLastError(); }
};

TEST_F(Memory, AllocationsAreAlignedZeroAndCounted) {
  std::size_t free0 = 0, free1 = 0, total = 0;
  HIP_OK(hipMemGetInfo(&free0, &total));
  hipDeviceProp_t p = {};
  HIP_OK(hipGetDeviceProperties(&p, 0));
  EXPECT_EQ(total, p.totalGlobalMem);
  std::vector<void*> all;
  for (std::size_t bytes : {1u, 255u, 256u, 257u, 4096u, 100'000u, 5'000'000u}) {
    void* memory = nullptr;
    HIP_OK(hipMalloc(&memory, bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
    std::vector<unsigned char> content(bytes, 1);
    HIP_OK(hipMemcpy(content.data(), memory, bytes, hipMemcpyDeviceToHost));
    EXPECT_EQ(content, std::vector<unsigned char>(bytes, 0));
    HIP_OK(hipMemset(memory, 0x5a, bytes));
    all.push_back(memory);
  }
  HIP_OK(hipMemGetInfo(&free1, &total));
  EXPECT_EQ(free0 - free1, 1 + 255 + 256 + 257 + 4096 + 100'000 + 5'000'000u);
  for (void* memory : all)
    HIP_OK(hipFree(memory));
  HIP_OK(hipMemGetInfo(&free1, &total));
  EXPECT_EQ(free1, free0);
}

TEST_F(Memory, FreedAndForeignPointers) {
  void* memory = nullptr;
  HIP_OK(hipMalloc(&memory, 100));
  EXPECT_EQ(hipFree(static_cast<char*>(memory) + 4), hipErrorInvalidValue);
  HIP_OK(hipFree(memory));
  EXPECT_EQ(hipFree(memory), hipErrorInvalidValue);
  char own[4] = {};
  EXPECT_EQ(hipFree(own), hipErrorInvalidValue);
  EXPECT_EQ(hipHostFree(own), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(own, memory, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(hipMemset(memory, 0, 4), hipErrorInvalidValue);
  HIP_OK(hipFree(nullptr));
  HIP_OK(hipHostFree(nullptr));
}

TEST_F(Memory, TooMuch) {
  void* memory = &memory;
  EXPECT_EQ(hipMalloc(&memory, std::size_t{1} << 60), hipErrorOutOfMemory);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(hipMalloc(&memory, SIZE_MAX), hipErrorOutOfMemory);
  EXPECT_EQ(hipHostMalloc(&memory, std::size_t{1} << 60), hipErrorOutOfMemory);
  EXPECT_EQ(hipMallocManaged(&memory, std::size_t{1} << 60), hipErrorOutOfMemory);
  EXPECT_EQ(hipMalloc(nullptr, 4), hipErrorInvalidValue);
  HIP_OK(hipMalloc(&memory, 0));
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(hipMallocManaged(&memory, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipHostMalloc(&memory, 4, hipHostMallocCoherent | hipHostMallocNonCoherent),
            hipErrorInvalidValue);
}

TEST_F(Memory, CopiesCheckTheirArguments) {
  Array<int> a(10);
  std::vector<int> host(20);
  EXPECT_EQ(hipMemcpy(host.data(), a.data(), 41, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(a.data() + 5, host.data(), 24, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(nullptr, a.data(), 4, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(host.data(), nullptr, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(host.data(), a.data(), 4, static_cast<hipMemcpyKind>(77)),
            hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(hipMemcpy(host.data(), host.data() + 10, 4, hipMemcpyDeviceToHost),
            hipErrorInvalidValue);
  HIP_OK(hipMemcpy(nullptr, nullptr, 0, hipMemcpyDeviceToHost));
  HIP_OK(hipMemcpy(host.data(), host.data() + 10, 40, hipMemcpyHostToHost));
  HIP_OK(hipMemcpy(host.data(), a.data(), 40, hipMemcpyDefault));
  EXPECT_EQ(hipMemset(host.data(), 0, 4), hipErrorInvalidValue);
  EXPECT_EQ(hipMemset(a.data(), 0, 41), hipErrorInvalidValue);
  HIP_OK(hipMemset(nullptr, 0, 0));
}

TEST_F(Memory, Copies2D) {
  void* raw = nullptr;
  std::size_t pitch = 0;
  constexpr std::size_t width = 10, rows = 7;
  HIP_OK(hipMallocPitch(&raw, &pitch, width * sizeof(int), rows));
  EXPECT_EQ(pitch % 256, 0u);
  std::vector<int> in(rows * 12), out(rows * width, -1);
  std::iota(in.begin(), in.end(), 0);
  HIP_OK(hipMemcpy2D(raw, pitch, in.data(), 12 * sizeof(int), width * sizeof(int), rows,
                     hipMemcpyHostToDevice));
  HIP_OK(hipMemcpy2D(out.data(), width * sizeof(int), raw, pitch, width * sizeof(int), rows,
                     hipMemcpyDeviceToHost));
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < width; ++c)
      EXPECT_EQ(out[r * width + c], in[r * 12 + c]);
  EXPECT_EQ(hipMemcpy2D(out.data(), 4, raw, pitch, 8, 2, hipMemcpyDeviceToHost),
            hipErrorInvalidPitchValue);
  EXPECT_EQ(hipMemcpy2D(raw, pitch, in.data(), 48, 40, rows + 1, hipMemcpyHostToDevice),
            hipErrorInvalidValue);
  HIP_OK(hipMemset2D(raw, pitch, 0x11, 8, 3));
  HIP_OK(hipMemcpy2D(out.data(), width * sizeof(int), raw, pitch, width * sizeof(int), rows,
                     hipMemcpyDeviceToHost));
  EXPECT_EQ(out[width + 1], 0x11111111);
  EXPECT_EQ(out[width + 2], in[12 + 2]);
  EXPECT_EQ(out[3 * width], in[36]);
  HIP_OK(hipFree(raw));
}

TEST_F(Memory, Copies3D) {
  hipPitchedPtr box = {};
  const hipExtent extent = make_hipExtent(5 * sizeof(int), 4, 3);
  HIP_OK(hipMalloc3D(&box, extent));
  std::vector<int> in(60), out(60, -1);
  std::iota(in.begin(), in.end(), 0);
  hipMemcpy3DParms p = {};
  p.srcPtr = make_hipPitchedPtr(in.data(), 5 * sizeof(int), 5, 4);
  p.dstPtr = box;
  p.extent = extent;
  p.kind = hipMemcpyHostToDevice;
  HIP_OK(hipMemcpy3D(&p));
  // Back without the first column, row and slice.
  p = {};
  p.srcPtr = box;
  p.srcPos = make_hipPos(sizeof(int), 1, 1);
  p.dstPtr = make_hipPitchedPtr(out.data(), 5 * sizeof(int), 5, 4);
  p.extent = make_hipExtent(4 * sizeof(int), 3, 2);
  p.kind = hipMemcpyDeviceToHost;
  HIP_OK(hipMemcpy3D(&p));
  for (std::size_t z = 0; z < 2; ++z)
    for (std::size_t y = 0; y < 3; ++y)
      for (std::size_t x = 0; x < 4; ++x)
        EXPECT_EQ(out[20 * z + 5 * y + x], in[20 * (z + 1) + 5 * (y + 1) + x + 1]);
  EXPECT_EQ(out[4], -1);
  HIP_OK(hipMemset3D(box, 0, extent));
  EXPECT_EQ(hipMemcpy3D(nullptr), hipErrorInvalidValue);
  HIP_OK(hipFree(box.ptr));
}

TEST_F(Memory, FillsOfWiderElements) {
  Array<std::uint32_t> a(16);
  const auto device = static_cast<hipDeviceptr_t>(a.data());
  HIP_OK(hipMemsetD32(device, static_cast<int>(0xdeadbeef), 16));
  HIP_OK(hipMemsetD16(device, 0x1234, 5));
  HIP_OK(hipMemsetD8(device, 0x77, 3));
  const auto out = a.get();
  EXPECT_EQ(out[0], 0x12777777u);
  EXPECT_EQ(out[1], 0x12341234u);
  EXPECT_EQ(out[2], 0xdead1234u);
  EXPECT_EQ(out[3], 0xdeadbeefu);
  EXPECT_EQ(hipMemsetD32(static_cast<char*>(device) + 1, 0, 1), hipErrorInvalidValue);
}

TEST_F(Memory, WhatPointersAre) {
  hipPointerAttribute_t a = {};
  int own = 0, *device = nullptr, *host = nullptr, *managed = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&device), 64));
  HIP_OK(hipHostMalloc(reinterpret_cast<void**>(&host), 64, hipHostMallocMapped));
  HIP_OK(hipMallocManaged(reinterpret_cast<void**>(&managed), 64));
  HIP_OK(hipPointerGetAttributes(&a, device + 3));
  EXPECT_EQ(a.type, hipMemoryTypeDevice);
  EXPECT_EQ(a.devicePointer, device + 3);
  EXPECT_EQ(a.device, 0);
  HIP_OK(hipPointerGetAttributes(&a, host));
  EXPECT_EQ(a.type, hipMemoryTypeHost);
  EXPECT_EQ(a.hostPointer, host);
  HIP_OK(hipPointerGetAttributes(&a, managed));
  EXPECT_EQ(a.type, hipMemoryTypeManaged);
  EXPECT_EQ(a.isManaged, 1);
  HIP_OK(hipPointerGetAttributes(&a, &own));
  EXPECT_EQ(a.type, hipMemoryTypeUnregistered);
  EXPECT_EQ(hipPointerGetAttributes(&a, nullptr), hipErrorInvalidValue);
  void* seen = nullptr;
  HIP_OK(hipHostGetDevicePointer(&seen, host, 0));
  EXPECT_EQ(seen, host);
  EXPECT_EQ(hipHostGetDevicePointer(&seen, &own, 0), hipErrorInvalidValue);
  unsigned flags = 0;
  HIP_OK(hipHostGetFlags(&flags, host));
  EXPECT_EQ(flags, static_cast<unsigned>(hipHostMallocMapped));
  hipDeviceptr_t base = nullptr;
  std::size_t bytes = 0;
  HIP_OK(hipMemGetAddressRange(&base, &bytes, device + 3));
  EXPECT_EQ(base, device);
  EXPECT_EQ(bytes, 64u);
  HIP_OK(hipFree(device));
  HIP_OK(hipHostFree(host));
  HIP_OK(hipFree(managed));
}

TEST_F(Memory, RegisteringHostMemory) {
  std::vector<int> own(100);
  HIP_OK(hipHostRegister(own.data(), 400, hipHostRegisterDefault));
  EXPECT_EQ(hipHostRegister(own.data() + 50, 4, hipHostRegisterDefault),
            hipErrorHostMemoryAlreadyRegistered);
  hipPointerAttribute_t a = {};
  HIP_OK(hipPointerGetAttributes(&a, own.data() + 99));
  EXPECT_EQ(a.type, hipMemoryTypeHost);
  EXPECT_EQ(hipHostUnregister(own.data() + 1), hipErrorHostMemoryNotRegistered);
  HIP_OK(hipHostUnregister(own.data()));
  EXPECT_EQ(hipHostUnregister(own.data()), hipErrorHostMemoryNotRegistered);
  EXPECT_EQ(hipHostRegister(nullptr, 4, 0), hipErrorInvalidValue);
}

TEST_F(Memory, StreamOrderedAndPools) {
  hipStream_t s = nullptr;
  hipMemPool_t standard = nullptr, pool = nullptr, current = nullptr;
  HIP_OK(hipStreamCreate(&s));
  HIP_OK(hipDeviceGetDefaultMemPool(&standard, 0));
  HIP_OK(hipDeviceGetMemPool(&current, 0));
  EXPECT_EQ(current, standard);
  hipMemPoolProps props = {};
  props.allocType = hipMemAllocationTypePinned;
  props.location = {hipMemLocationTypeDevice, 0};
  props.maxSize = 10'000;
  HIP_OK(hipMemPoolCreate(&pool, &props));
  void *a = nullptr, *b = nullptr;
  HIP_OK(hipMallocFromPoolAsync(&a, 6000, pool, s));
  EXPECT_EQ(hipMallocFromPoolAsync(&b, 6000, pool, s), hipErrorOutOfMemory);
  std::uint64_t used = 0, high = 0;
  HIP_OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 6000u);
  HIP_OK(hipMemsetAsync(a, 1, 6000, s));
  HIP_OK(hipFreeAsync(a, s));
  EXPECT_EQ(hipFreeAsync(a, s), hipErrorInvalidValue);
  HIP_OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
  HIP_OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemHigh, &high));
  EXPECT_EQ(used, 0u);
  EXPECT_EQ(high, 6000u);
  std::uint64_t threshold = 4096;
  HIP_OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  HIP_OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
  EXPECT_EQ(threshold, 4096u);
  HIP_OK(hipDeviceSetMemPool(0, pool));
  HIP_OK(hipMallocAsync(&a, 100, s));
  HIP_OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 100u);
  HIP_OK(hipFree(a)); // the plain call frees it, too
  HIP_OK(hipMemPoolDestroy(pool));
  HIP_OK(hipDeviceGetMemPool(&current, 0));
  EXPECT_EQ(current, standard);
  EXPECT_EQ(hipMemPoolDestroy(standard), hipErrorInvalidValue);
  HIP_OK(hipStreamDestroy(s));
}

TEST_F(Memory, HintsAboutManagedMemory) {
  int* managed = nullptr;
  HIP_OK(hipMallocManaged(reinterpret_cast<void**>(&managed), 4096));
  HIP_OK(hipMemAdvise(managed, 4096, hipMemAdviseSetReadMostly, 0));
  HIP_OK(hipMemPrefetchAsync(managed, 4096, 0, nullptr));
  int value = -1;
  HIP_OK(
      hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributeReadMostly, managed, 4096));
  EXPECT_EQ(value, 1);
  HIP_OK(hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributeLastPrefetchLocation,
                                 managed, 4096));
  EXPECT_EQ(value, 0);
  EXPECT_EQ(hipMemAdvise(managed, 4097, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPrefetchAsync(managed, 4096, 77, nullptr), hipErrorInvalidDevice);
  HIP_OK(hipFree(managed));
}

TEST_F(Memory, ManyAllocationsInAnyOrder) {
  std::vector<void*> live;
  unsigned state = 1;
  const auto next = [&] { return state = state * 1664525u + 1013904223u; };
  for (int i = 0; i < 3000; ++i) {
    if (live.size() > 100 && next() % 2) {
      const std::size_t at = next() % live.size();
      HIP_OK(hipFree(live[at]));
      live[at] = live.back();
      live.pop_back();
    } else {
      void* memory = nullptr;
      const std::size_t bytes = 1 + (next() >> 8) % 20'000;
      HIP_OK(hipMalloc(&memory, bytes));
      unsigned char first = 1, last = 1;
      HIP_OK(hipMemcpy(&first, memory, 1, hipMemcpyDeviceToHost));
      HIP_OK(hipMemcpy(&last, static_cast<char*>(memory) + bytes - 1, 1, hipMemcpyDeviceToHost));
      EXPECT_EQ(first + last, 0);
      HIP_OK(hipMemset(memory, 0xff, bytes));
      live.push_back(memory);
    }
  }
  for (void* memory : live)
    HIP_OK(hipFree(memory));
}

} // namespace
