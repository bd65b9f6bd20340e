// Kernels whose loops are 64 copies of one instruction, for bench_wavesim. Device code only,
// compiled without HIP's headers.
#define KERNEL extern "C" __attribute__((global)) void
#define LANE __builtin_amdgcn_workitem_id_x()

using float4v = float __attribute__((ext_vector_type(4)));
using float16v = float __attribute__((ext_vector_type(16)));
using short4v = short __attribute__((ext_vector_type(4)));
using float2v = float __attribute__((ext_vector_type(2)));
using double4v = double __attribute__((ext_vector_type(4)));
using int16v = int __attribute__((ext_vector_type(16)));
using half4v = _Float16 __attribute__((ext_vector_type(4)));

#define REPEAT(text) ".rept 64\n" text "\n.endr"
// 64 loads as programs have them: into eight registers, each waited for before it is loaded again.
#define REPEAT_LOADS(load, address, wait)                                                          \
  ".rept 8\n" load " %0" address "\n" load " %1" address "\n" load " %2" address "\n" load         \
  " %3" address "\n" load " %4" address "\n" load " %5" address "\n" load " %6" address "\n" load  \
  " %7" address "\n" wait "\n.endr"
#define EIGHT(x)                                                                                   \
  "=&v"(x[0]), "=&v"(x[1]), "=&v"(x[2]), "=&v"(x[3]), "=&v"(x[4]), "=&v"(x[5]), "=&v"(x[6]),       \
      "=&v"(x[7])

KERNEL valu_fma(float* out, int n) {
  float x = LANE, y = 0.5f;
  for (int i = 0; i < n; ++i)
    asm volatile(REPEAT("v_fma_f32 %0, %0, %1, %1") : "+v"(x) : "v"(y));
  out[LANE] = x;
}

KERNEL valu_add(float* out, int n) {
  float x = LANE, y = 0.5f;
  for (int i = 0; i < n; ++i)
    asm volatile(REPEAT("v_add_f32 %0, %0, %1") : "+v"(x) : "v"(y));
  out[LANE] = x;
}

KERNEL valu_add_int(float* out, int n) {
  int x = LANE, y = 3;
  for (int i = 0; i < n; ++i)
    asm volatile(REPEAT("v_add_u32 %0, %0, %1") : "+v"(x) : "v"(y));
  out[LANE] = x;
}

KERNEL valu_fma_partial(float* out, int n) {
  float x = LANE, y = 0.5f;
  if (LANE % 3 != 0)
    for (int i = 0; i < n; ++i)
      asm volatile(REPEAT("v_fma_f32 %0, %0, %1, %1") : "+v"(x) : "v"(y));
  out[LANE] = x;
}

KERNEL valu_exp(float* out, int n) {
  float x = LANE;
  for (int i = 0; i < n; ++i)
    asm volatile(REPEAT("v_exp_f32 %0, %0") : "+v"(x));
  out[LANE] = x;
}

KERNEL valu_pk_fma(float* out, int n) {
  float __attribute__((ext_vector_type(2))) x = {1.0f * LANE, 2}, y = {0.5f, 0.25f};
  for (int i = 0; i < n; ++i)
    asm volatile(REPEAT("v_pk_fma_f32 %0, %0, %1, %1") : "+v"(x) : "v"(y));
  out[LANE] = x.x + x.y;
}

KERNEL salu_add(float* out, int n) {
  int x = n;
  for (int i = 0; i < n; ++i)
    asm volatile(REPEAT("s_add_u32 %0, %0, 1") : "+s"(x) : : "scc");
  out[LANE] = x;
}

// What the waves of a workgroup have written stands before the others read it.
__attribute__((device)) static inline void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Addresses: a row of consecutive dwords, or places that only lanes of the same bank share.
#define LDS_MEMORY(type, address)                                                                  \
  static __attribute__((shared)) type memory[2048];                                                \
  if (LANE < 64)                                                                                   \
    for (int i = LANE; i < 2048; i += 64)                                                          \
      memory[i] = {};                                                                              \
  barrier();                                                                                       \
  const int at = (address) + (int)(__attribute__((address_space(3))) char*)memory;

#define LDS_READ_KERNEL(name, type, address, load)                                                 \
  KERNEL name(float* out, int n) {                                                                 \
    LDS_MEMORY(type, address)                                                                      \
    type x[8] = {};                                                                                \
    for (int i = 0; i < n; ++i)                                                                    \
      asm volatile(REPEAT_LOADS(load, ", %8", "s_waitcnt lgkmcnt(0)") "\ns_barrier"                \
                   : EIGHT(x)                                                                      \
                   : "v"(at)                                                                       \
                   : "memory");                                                                    \
    out[LANE] = *(float*)&x[7];                                                                    \
  }

#define LDS_WRITE_KERNEL(name, type, address, text)                                                \
  KERNEL name(float* out, int n) {                                                                 \
    LDS_MEMORY(type, address)                                                                      \
    type x = {};                                                                                   \
    for (int i = 0; i < n; ++i)                                                                    \
      asm volatile(REPEAT(text) "\ns_waitcnt lgkmcnt(0)\ns_barrier"                                \
                   : "+v"(x)                                                                       \
                   : "v"(at)                                                                       \
                   : "memory");                                                                    \
    out[LANE] = *(float*)&x;                                                                       \
  }

LDS_READ_KERNEL(lds_read_b32, float, 4 * LANE, "ds_read_b32")
LDS_READ_KERNEL(lds_read_b32_stride, float, 12 * LANE, "ds_read_b32")
LDS_READ_KERNEL(lds_read_b32_conflicts, float, 128 * (LANE % 64), "ds_read_b32")
LDS_READ_KERNEL(lds_read_b128, float4v, LANE % 16 * 96 + LANE / 16 * 16, "ds_read_b128")
LDS_WRITE_KERNEL(lds_write_b32, float, 4 * LANE, "ds_write_b32 %1, %0")
LDS_WRITE_KERNEL(lds_write_b32_stride, float, 12 * LANE, "ds_write_b32 %1, %0")
LDS_WRITE_KERNEL(lds_write_b128, float4v, 16 * LANE, "ds_write_b128 %1, %0")
LDS_WRITE_KERNEL(lds_write_b128_stride, float4v, 80 * LANE, "ds_write_b128 %1, %0")
LDS_WRITE_KERNEL(lds_atomic_add, float, 4 * LANE, "ds_add_u32 %1, %0")
// Waves of a workgroup share dwords: of a histogram, byte by byte, and writing the same to them.
LDS_WRITE_KERNEL(lds_atomic_add_shared, float, LANE * 37 % 64 * 4, "ds_add_u32 %1, %0")
LDS_WRITE_KERNEL(lds_write_b8_shared, float, LANE % 64 * 4 + LANE / 64, "ds_write_b8 %1, %0")
LDS_WRITE_KERNEL(lds_write_b32_same, float, LANE % 64 * 4, "ds_write_b32 %1, %0")

KERNEL lds_swizzle(float* out, int n) {
  const float y = LANE;
  float x[8] = {};
  for (int i = 0; i < n; ++i)
    asm volatile(
        REPEAT_LOADS("ds_swizzle_b32", ", %8 offset:swizzle(SWAP, 16)", "s_waitcnt lgkmcnt(0)")
        : EIGHT(x)
        : "v"(y));
  out[LANE] = x[7];
}

KERNEL lds_bpermute(float* out, int n) {
  const float y = LANE;
  const int at = LANE * 28;
  float x[8] = {};
  for (int i = 0; i < n; ++i)
    asm volatile(REPEAT_LOADS("ds_bpermute_b32", ", %8, %9", "s_waitcnt lgkmcnt(0)")
                 : EIGHT(x)
                 : "v"(at), "v"(y));
  out[LANE] = x[7];
}

KERNEL lds_read_b32_partial(float* out, int n) {
  LDS_MEMORY(float, 4 * LANE)
  float x[8] = {};
  if (LANE % 3 != 0)
    for (int i = 0; i < n; ++i)
      asm volatile(REPEAT_LOADS("ds_read_b32", ", %8", "s_waitcnt lgkmcnt(0)")
                   : EIGHT(x)
                   : "v"(at));
  out[LANE] = x[7];
}

#define GLOBAL_LOAD_KERNEL(name, type, offset, load)                                               \
  KERNEL name(float* out, int n) {                                                                 \
    type x[8] = {};                                                                                \
    char* p = (char*)out + (offset);                                                               \
    for (int i = 0; i < n; ++i)                                                                    \
      asm volatile(REPEAT_LOADS(load, ", %8, off", "s_waitcnt vmcnt(0)")                           \
                   : EIGHT(x)                                                                      \
                   : "v"(p)                                                                        \
                   : "memory");                                                                    \
    out[LANE] = *(float*)&x[7];                                                                    \
  }

#define GLOBAL_STORE_KERNEL(name, type, offset, text)                                              \
  KERNEL name(float* out, int n) {                                                                 \
    type x = {};                                                                                   \
    char* p = (char*)out + (offset);                                                               \
    for (int i = 0; i < n; ++i)                                                                    \
      asm volatile(REPEAT(text) "\ns_waitcnt vmcnt(0)" : "+v"(x) : "v"(p) : "memory");             \
    out[LANE] = *(float*)&x;                                                                       \
  }

GLOBAL_LOAD_KERNEL(global_load_dword, float, 4 * LANE, "global_load_dword")
GLOBAL_LOAD_KERNEL(global_load_dwordx4, float4v, 16 * LANE, "global_load_dwordx4")
GLOBAL_LOAD_KERNEL(global_load_scattered, float, 1028 * LANE, "global_load_dword")
GLOBAL_LOAD_KERNEL(global_load_ushort, int, 2 * LANE, "global_load_ushort")
GLOBAL_STORE_KERNEL(global_store_dword, float, 4 * LANE, "global_store_dword %1, %0, off")
GLOBAL_STORE_KERNEL(global_store_dwordx4, float4v, 16 * LANE, "global_store_dwordx4 %1, %0, off")
GLOBAL_STORE_KERNEL(global_atomic_add, float, 4 * LANE, "global_atomic_add %1, %0, off")

KERNEL buffer_load_dword(float* out, int n) {
  float x[8] = {};
  int at = 4 * LANE;
  int __attribute__((ext_vector_type(4)))
  v = {(int)(long)out, (int)((long)out >> 32), 65536, 0x20000};
  for (int i = 0; i < n; ++i)
    asm volatile(REPEAT_LOADS("buffer_load_dword", ", %8, %9, 0 offen", "s_waitcnt vmcnt(0)")
                 : EIGHT(x)
                 : "v"(at), "s"(v)
                 : "memory");
  out[LANE] = x[7];
}

#define MFMA_KERNEL(name, acc, operand, one, two, text)                                            \
  KERNEL name(float* out, int n) {                                                                 \
    acc c = {};                                                                                    \
    operand a = one, b = two; /* of a vector: in every element */                                  \
    for (int i = 0; i < n; ++i)                                                                    \
      asm volatile(REPEAT(text) "\ns_nop 15\ns_nop 15" : "+v"(c) : "v"(a), "v"(b));                \
    out[LANE] = static_cast<float>(c[0] + c[3]);                                                   \
  }

// bf16 operands are bit patterns of 1 and 2: small integers would be denormals, slow on the host
MFMA_KERNEL(mfma_32x32x8_bf16, float16v, short4v, 0x3F80, 0x4000,
            "v_mfma_f32_32x32x8_bf16 %0, %1, %2, %0")
MFMA_KERNEL(mfma_16x16x16_f16, float4v, half4v, 1, 2, "v_mfma_f32_16x16x16_f16 %0, %1, %2, %0")
MFMA_KERNEL(mfma_32x32x16_fp8, float16v, long, 0x3838383838383838, 0x4040404040404040,
            "v_mfma_f32_32x32x16_fp8_fp8 %0, %1, %2, %0")
MFMA_KERNEL(mfma_32x32x16_i8, int16v, long, 0x0101010101010101, 0x0202020202020202,
            "v_mfma_i32_32x32x16_i8 %0, %1, %2, %0")
MFMA_KERNEL(mfma_32x32x2_f32, float16v, float, 1, 2, "v_mfma_f32_32x32x2_f32 %0, %1, %2, %0")
MFMA_KERNEL(mfma_16x16x4_f64, double4v, double, 1, 2, "v_mfma_f64_16x16x4_f64 %0, %1, %2, %0")
MFMA_KERNEL(mfma_32x32x4_xf32, float16v, float2v, 1, 2, "v_mfma_f32_32x32x4_xf32 %0, %1, %2, %0")

// C = A · Bᵀ, 1024 cubed, bf16 to fp32, as plainly as matrix instructions allow: each wave computes
// 64 x 64 of C from rows that it loads straight from global memory.
KERNEL matmul_bf16(const short* a, const short* b, float* c) {
  constexpr int n = 1024, tile = 32, tiles = 2, step = 8, groups = n / (tile * tiles);
  const int lane = LANE, group = __builtin_amdgcn_workgroup_id_x();
  const int row = group / groups * tile * tiles, column = group % groups * tile * tiles;
  float16v sum[tiles][tiles] = {};
  const short* const from_a = a + (row + lane % tile) * n + lane / tile * 4;
  const short* const from_b = b + (column + lane % tile) * n + lane / tile * 4;
  for (int k = 0; k < n; k += step) {
    short4v x[tiles], y[tiles];
    for (int i = 0; i < tiles; ++i) {
      x[i] = *(const short4v*)(from_a + i * tile * n + k);
      y[i] = *(const short4v*)(from_b + i * tile * n + k);
    }
    for (int i = 0; i < tiles; ++i)
      for (int j = 0; j < tiles; ++j)
        sum[i][j] = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(x[i], y[j], sum[i][j], 0, 0, 0);
  }
  for (int i = 0; i < tiles; ++i)
    for (int j = 0; j < tiles; ++j)
      for (int r = 0; r < 16; ++r)
        c[(row + i * tile + r / 4 * 8 + lane / tile * 4 + r % 4) * n + column + j * tile +
          lane % tile] = sum[i][j][r];
}
