// C = A · Bᵀ in bf16 with five ways of feeding the matrix units, after the published ladder of
// MI300X measurements (counters/README.md, "Bound"): a 128x128 block in steps of 64 along k by four
// waves, each with a 64x64 part; operands go through registers into LDS.
#pragma once

#include <hip/hip_runtime.h>

namespace ladder {

using half_bits = unsigned short;
using quad = half_bits __attribute__((ext_vector_type(4)));  // fragment of 16x16x16, 8 bytes
using octet = half_bits __attribute__((ext_vector_type(8))); // 16 bytes
using bf16_quad = short __attribute__((ext_vector_type(4))); // what the builtin takes
using accumulator = float __attribute__((ext_vector_type(4)));

constexpr int block = 128, step = 64, threads = 256;
constexpr int chunks = step / 8;                 // of 16 bytes in a row
constexpr int copies = block * chunks / threads; // chunks a thread brings of each operand

enum class placement { plain, padded, swizzled };

/// Place of 16-byte chunk `chunk` of row `row`, in elements.
template <placement P>
__device__ inline int place(int row, int chunk) {
  constexpr int pitch = P == placement::padded ? step + 8 : step;
  return row * pitch + (P == placement::swizzled ? (chunk ^ (row & 7)) : chunk) * 8;
}

template <placement P>
constexpr int tile_elements = block*(P == placement::padded ? step + 8 : step);

struct arguments {
  const half_bits* a; // [m][k]
  const half_bits* b; // [n][k]
  float* c;           // [m][n]
  int n, k;
};

struct fetched {
  octet a[copies], b[copies];
};

__device__ inline void fetch(fetched& f, const arguments& g, int k0) {
  for (int i = 0; i < copies; ++i) {
    const int at = static_cast<int>(threadIdx.x) + threads * i;
    const int row = at / chunks, chunk = at % chunks;
    const long from = k0 + chunk * 8;
    f.a[i] = *reinterpret_cast<const octet*>(g.a + (long(blockIdx.y) * block + row) * g.k + from);
    f.b[i] = *reinterpret_cast<const octet*>(g.b + (long(blockIdx.x) * block + row) * g.k + from);
  }
}

template <placement P>
__device__ inline void put(const fetched& f, half_bits* a, half_bits* b) {
  for (int i = 0; i < copies; ++i) {
    const int at = static_cast<int>(threadIdx.x) + threads * i;
    const int to = place<P>(at / chunks, at % chunks);
    *reinterpret_cast<octet*>(a + to) = f.a[i];
    *reinterpret_cast<octet*>(b + to) = f.b[i];
  }
}

__device__ inline void multiply(accumulator (&c)[4][4], const quad (&a)[4], const quad (&b)[4]) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      c[i][j] = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(bf16_quad, a[i]),
                                                          __builtin_bit_cast(bf16_quad, b[j]),
                                                          c[i][j], 0, 0, 0);
}

/// Fragments of 8 bytes: lane l has row l % 16 and k values 4 (l / 16) to + 3.
template <placement P>
__device__ inline void compute_narrow(accumulator (&c)[4][4], const half_bits* a,
                                      const half_bits* b) {
  const int lane = static_cast<int>(threadIdx.x) % 64, wave = static_cast<int>(threadIdx.x) / 64;
  const int row_a = wave / 2 * 64 + lane % 16, row_b = wave % 2 * 64 + lane % 16;
  for (int k = 0; k < step; k += 16) {
    const int chunk = k / 8 + lane / 32, inside = lane / 16 % 2 * 4;
    quad fa[4], fb[4];
    for (int i = 0; i < 4; ++i) {
      fa[i] = *reinterpret_cast<const quad*>(a + place<P>(row_a + 16 * i, chunk) + inside);
      fb[i] = *reinterpret_cast<const quad*>(b + place<P>(row_b + 16 * i, chunk) + inside);
    }
    multiply(c, fa, fb);
  }
}

/// Sixteen bytes feed two instructions: both operands take the same order of k.
template <placement P>
__device__ inline void compute_wide(accumulator (&c)[4][4], const half_bits* a,
                                    const half_bits* b) {
  const int lane = static_cast<int>(threadIdx.x) % 64, wave = static_cast<int>(threadIdx.x) / 64;
  const int row_a = wave / 2 * 64 + lane % 16, row_b = wave % 2 * 64 + lane % 16;
  for (int k = 0; k < step; k += 32) {
    const int chunk = k / 8 + lane / 16;
    octet fa[4], fb[4];
    for (int i = 0; i < 4; ++i) {
      fa[i] = *reinterpret_cast<const octet*>(a + place<P>(row_a + 16 * i, chunk));
      fb[i] = *reinterpret_cast<const octet*>(b + place<P>(row_b + 16 * i, chunk));
    }
    quad low_a[4], low_b[4], high_a[4], high_b[4];
    for (int i = 0; i < 4; ++i) {
      low_a[i] = fa[i].lo;
      low_b[i] = fb[i].lo;
      high_a[i] = fa[i].hi;
      high_b[i] = fb[i].hi;
    }
    multiply(c, low_a, low_b);
    multiply(c, high_a, high_b);
  }
}

__device__ inline void store(const accumulator (&c)[4][4], const arguments& g) {
  const int lane = static_cast<int>(threadIdx.x) % 64, wave = static_cast<int>(threadIdx.x) / 64;
  const long row = long(blockIdx.y) * block + wave / 2 * 64 + lane / 16 * 4;
  const long column = long(blockIdx.x) * block + wave % 2 * 64 + lane % 16;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int r = 0; r < 4; ++r)
        g.c[(row + 16 * i + r) * g.n + column + 16 * j] = c[i][j][r];
}

/// `Ahead`: the next step's operands are on their way while this one is computed.
template <placement P, bool Wide, bool Ahead>
__device__ inline void run(const arguments& g) {
  __shared__ __attribute__((aligned(16))) half_bits a[tile_elements<P>], b[tile_elements<P>];
  accumulator c[4][4] = {};
  fetched f;
  if constexpr (Ahead)
    fetch(f, g, 0);
  for (int k = 0; k < g.k; k += step) {
    if constexpr (!Ahead)
      fetch(f, g, k);
    __syncthreads();
    put<P>(f, a, b);
    __syncthreads();
    if constexpr (Ahead) {
      fetch(f, g, k + step < g.k ? k + step : k);
      __builtin_amdgcn_sched_barrier(0); // or the loads sink to where they are needed
    }
    if constexpr (Wide)
      compute_wide<P>(c, a, b);
    else
      compute_narrow<P>(c, a, b);
    if constexpr (Ahead)
      __builtin_amdgcn_sched_barrier(0);
  }
  store(c, g);
}

__global__ __launch_bounds__(threads) void plain_narrow(arguments g) {
  run<placement::plain, false, false>(g);
}
__global__ __launch_bounds__(threads) void padded_narrow(arguments g) {
  run<placement::padded, false, false>(g);
}
__global__ __launch_bounds__(threads) void swizzled_narrow(arguments g) {
  run<placement::swizzled, false, false>(g);
}
__global__ __launch_bounds__(threads) void swizzled_ahead(arguments g) {
  run<placement::swizzled, false, true>(g);
}
__global__ __launch_bounds__(threads) void swizzled_wide(arguments g) {
  run<placement::swizzled, true, true>(g);
}

/// The prefetch of the last one in the source, sunk to behind the work that it should hide.
__global__ __launch_bounds__(threads) void swizzled_sunk(arguments g) {
  constexpr placement P = placement::swizzled;
  __shared__ __attribute__((aligned(16))) half_bits a[tile_elements<P>], b[tile_elements<P>];
  accumulator c[4][4] = {};
  fetched f;
  fetch(f, g, 0);
  for (int k = 0; k < g.k; k += step) {
    __syncthreads();
    put<P>(f, a, b);
    __syncthreads();
    compute_wide<P>(c, a, b);
    __builtin_amdgcn_sched_barrier(0);
    fetch(f, g, k + step < g.k ? k + step : k);
  }
  store(c, g);
}

} // namespace ladder
