// Kernels with one fault each, and their sound twins, for test_register_checks. The comments at the
// ends of lines are how the test finds the lines it expects in a report.
#include <hip/hip_runtime.h>

extern "C" {

// ---- uninit

__global__ void uninit_lds_to_memory(unsigned* out, unsigned written) {
  __shared__ unsigned buffer[64];
  if (threadIdx.x < written)
    buffer[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = buffer[threadIdx.x ^ 1] + 1; // lds_to_memory
}

// Undefined values that are only moved, or left out by a selection, are nobody's business.
__global__ void uninit_unused(unsigned* out) {
  __shared__ unsigned buffer[64];
  if (threadIdx.x < 60)
    buffer[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const unsigned value = buffer[threadIdx.x];
  out[threadIdx.x] = threadIdx.x < 60 ? value * 3 : 7;
}

__global__ void uninit_address(unsigned* out) {
  __shared__ unsigned buffer[64];
  if (threadIdx.x != 9)
    buffer[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const unsigned at = buffer[threadIdx.x] & 63; // uninit_address origin
  out[at] = 1;                                  // uninit_address use
}

__global__ void uninit_branch(unsigned* out) {
  unsigned scalar;
  asm volatile("s_mov_b32 %0, s70" : "=s"(scalar)::"s70"); // uninit_branch origin
  asm volatile("s_cmp_eq_u32 %0, 1\n"
               "s_cbranch_scc1 1f\n"
               "1:" ::"s"(scalar)
               : "scc"); // uninit_branch use
  out[threadIdx.x] = 1;
}

__global__ void uninit_exec(unsigned* out) {
  asm volatile("v_cmp_eq_u32 vcc, 1, v91\n"
               "s_and_saveexec_b64 s[60:61], vcc\n" // uninit_exec
               "s_mov_b64 exec, s[60:61]" ::
                   : "v91", "vcc", "s60", "s61", "scc");
  out[threadIdx.x] = 1;
}

__global__ void uninit_exec_by_comparison(unsigned* out) {
  asm volatile("s_mov_b64 s[60:61], exec\n"
               "v_cmpx_eq_u32 vcc, 1, v91\n"
               "s_mov_b64 exec, s[60:61]" ::
                   : "v91", "vcc", "s60", "s61", "scc");
  out[threadIdx.x] = 1;
}

__global__ void uninit_branch_by_vcc(unsigned* out) {
  asm volatile("s_mov_b64 vcc, s[70:71]\n"
               "s_nop 4\n"
               "s_cbranch_vccnz 1f\n"
               "1:" ::
                   : "vcc", "s70", "s71");
  out[threadIdx.x] = 1;
}

// Undefined times zero is zero, and nobody's promise: the jump goes where it should.
__global__ void uninit_jump(unsigned* out) {
  asm volatile("s_mul_i32 s60, s70, 0\n"
               "s_getpc_b64 s[62:63]\n"
               "s_add_u32 s62, s62, 20\n"
               "s_addc_u32 s63, s63, 0\n"
               "s_add_u32 s62, s62, s60\n"
               "s_addc_u32 s63, s63, 0\n"
               "s_setpc_b64 s[62:63]" ::
                   : "s60", "s62", "s63", "s70", "scc");
  out[threadIdx.x] = 1;
}

// Atomics on LDS: of memory that nobody wrote, and with an operand that nobody wrote.
__global__ void uninit_lds_atomic(unsigned* out) {
  __shared__ unsigned buffer[128];
  const unsigned i = threadIdx.x;
  if (i != 9)
    buffer[i] = i;
  buffer[64 + i] = i;
  __syncthreads();
  const unsigned before =
      __hip_atomic_fetch_add(&buffer[i], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  out[i] = before; // lds_atomic memory
  using address = __attribute__((address_space(3))) unsigned*;
  asm volatile("ds_add_u32 %0, v91\ns_waitcnt lgkmcnt(0)" ::"v"((address)&buffer[64 + i])
               : "memory", "v91");
  out[64 + i] = buffer[64 + i]; // lds_atomic operand
}

__global__ void uninit_global_atomic(unsigned* out) {
  unsigned* at = out + threadIdx.x;
  asm volatile("global_atomic_add %0, v91, off\ns_waitcnt vmcnt(0)" ::"v"(at) // global_atomic
               : "memory", "v91");
}

// A selection takes what it chooses, in SDWA and DPP forms as well: the defined source, or not.
__global__ void uninit_selected(unsigned* out, unsigned sdwa_chooses, unsigned dpp_chooses) {
  unsigned by_sdwa, by_dpp;
  asm volatile("s_cmp_lg_u32 %2, 0\ns_cselect_b64 vcc, -1, 0\ns_nop 4\n"
               "v_cndmask_b32_sdwa %0, v91, %4, vcc dst_sel:DWORD dst_unused:UNUSED_PAD "
               "src0_sel:WORD_0 src1_sel:DWORD\n"
               "s_cmp_lg_u32 %3, 0\ns_cselect_b64 vcc, -1, 0\ns_nop 4\n"
               "v_cndmask_b32_dpp %1, v91, %4, vcc quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"
               : "=&v"(by_sdwa), "=&v"(by_dpp)
               : "s"(sdwa_chooses), "s"(dpp_chooses), "v"(threadIdx.x)
               : "vcc", "scc", "v91");
  out[threadIdx.x] = by_sdwa;     // selected sdwa
  out[64 + threadIdx.x] = by_dpp; // selected dpp
}

// The buffer descriptor of zeros lets nothing through to memory.
__global__ void uninit_scalar_address(unsigned* out) {
  asm volatile("s_mov_b64 s[40:41], 0\ns_mov_b64 s[42:43], 0\n"
               "buffer_load_dword v40, off, s[40:43], s70\n"
               "s_waitcnt vmcnt(0)" ::
                   : "v40", "s40", "s41", "s42", "s43", "s70");
  out[threadIdx.x] = 1;
}

__global__ void uninit_private(unsigned* out, unsigned index) {
  unsigned values[16];
  asm volatile("" : : "v"(values)); // stays in memory
  values[index] = 5;
  out[threadIdx.x] = values[(index + (threadIdx.x & 1)) & 15]; // uninit_private
}

// Moves between lanes carry the property along.
__global__ void uninit_swizzled(unsigned* out) {
  __shared__ unsigned buffer[64];
  if (threadIdx.x != 8)
    buffer[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const int x = static_cast<int>(buffer[threadIdx.x]);
  const int swapped = __builtin_amdgcn_ds_swizzle(x, 0x041f);                // lane ^ 1
  const int turned = __builtin_amdgcn_mov_dpp(x, 0xb1, 0xf, 0xf, false);     // the same with DPP
  const int pulled = __builtin_amdgcn_ds_bpermute((threadIdx.x ^ 1) * 4, x); // and by address
  out[threadIdx.x] = static_cast<unsigned>(swapped);                         // swizzled
  out[64 + threadIdx.x] = static_cast<unsigned>(turned);                     // dpp
  out[128 + threadIdx.x] = static_cast<unsigned>(pulled);                    // bpermute
}

// Shifts by 24 move bits of both dwords into one.
__global__ void uninit_shifted(unsigned* out, unsigned bits) {
  __shared__ unsigned buffer[64];
  volatile unsigned* shared = buffer;
  unsigned low = 1, unwritten = shared[threadIdx.x];
  asm volatile("" : "+v"(low), "+v"(unwritten));
  const unsigned long long pair = (static_cast<unsigned long long>(unwritten) << 32) | low;
  unsigned long long right = 0, left = 0;
  asm volatile("v_lshrrev_b64 %0, %1, %2" : "=v"(right) : "v"(bits), "v"(pair));
  asm volatile("v_lshlrev_b64 %0, %1, %2" : "=v"(left) : "v"(bits), "v"(pair));
  out[threadIdx.x] = static_cast<unsigned>(right);           // shifted right
  out[64 + threadIdx.x] = static_cast<unsigned>(left >> 32); // shifted left
  out[128 + threadIdx.x] = static_cast<unsigned>(left);      // shifted left low
}

// Two values side by side in one register, one of them undefined.
__global__ void uninit_packed(unsigned* out) {
  __shared__ unsigned buffer[64];
  volatile unsigned* shared = buffer;
  unsigned half = 1, unwritten = shared[threadIdx.x], packed, joined;
  asm volatile("" : "+v"(half), "+v"(unwritten));
  asm volatile("v_pack_b32_f16 %0, %1, %2" : "=v"(packed) : "v"(half), "v"(unwritten));
  asm volatile("v_lshl_or_b32 %0, %1, 16, %2" : "=v"(joined) : "v"(unwritten), "v"(half));
  auto* halves = reinterpret_cast<unsigned short*>(out);
  halves[threadIdx.x] = static_cast<unsigned short>(packed);
  halves[64 + threadIdx.x] = static_cast<unsigned short>(joined);
}

__global__ void uninit_packed_nothing(unsigned* out) {
  __shared__ unsigned buffer[64];
  volatile unsigned* shared = buffer;
  unsigned unwritten = shared[threadIdx.x], packed;
  asm volatile("v_pack_b32_f16 %0, %1, %1" : "=v"(packed) : "v"(unwritten));
  out[threadIdx.x] = packed; // packed nothing
}

// ---- hazard: fixed registers, so that the assembly says all

#define HAZARD(name, code)                                                                         \
  __global__ void name(float* out) {                                                               \
    asm volatile("s_nop 15\n" code "\ns_nop 15\ns_nop 15" ::                                       \
                     : "v32", "v33", "v34", "v35", "v36", "v37", "v38", "v39", "v40", "v41",       \
                       "v42", "v43", "v44", "v45", "v46", "v47", "v48", "v49", "v50", "v51",       \
                       "v52", "v53", "v54", "v55", "v56", "v57", "v58", "v59", "v60", "v61",       \
                       "v62", "v63", "v64", "v65", "v66", "v67", "v68", "v69", "v70");             \
    out[threadIdx.x] = 1;                                                                          \
  }
#define F32_8_PASSES "v_mfma_f32_16x16x4_f32 v[32:35], v64, v65, v[32:35]\n"

// Eight passes of f32: 10 wait states to a reader.
HAZARD(hazard_read, F32_8_PASSES "s_nop 8\nv_add_f32 v66, 1.0, v35")
HAZARD(hazard_read_enough, F32_8_PASSES "s_nop 9\nv_add_f32 v66, 1.0, v35")
HAZARD(hazard_in_place, F32_8_PASSES F32_8_PASSES)
HAZARD(hazard_factor, F32_8_PASSES "s_nop 8\nv_mfma_f32_16x16x4_f32 v[40:43], v34, v65, v[40:43]")
HAZARD(hazard_part_of_c,
       F32_8_PASSES "s_nop 6\nv_mfma_f32_16x16x4_f32 v[40:43], v64, v65, v[34:37]")
HAZARD(hazard_vector_then_matrix, "v_mov_b32 v64, 2.0\ns_nop 0\n" F32_8_PASSES)
// Eight passes of f16 still read C when it is overwritten: 7 wait states.
HAZARD(hazard_overwrite_c, "v_mfma_f32_32x32x8_f16 v[48:63], v[64:65], v[66:67], v[32:47]\n"
                           "s_nop 5\nv_mov_b32 v40, 2.0")

// ---- hazards between scalar, vector and memory instructions: each without and with enough between

#define HAZARD_CODE(name, code)                                                                    \
  __global__ void name(float* out) {                                                               \
    asm volatile(                                                                                  \
        "s_mov_b64 s[30:31], exec\ns_mov_b64 s[40:41], 0\ns_mov_b64 s[42:43], 0\n"                 \
        "s_mov_b32 s44, 0\ns_mov_b32 s45, 0\ns_nop 15\n" code                                      \
        "\ns_nop 15\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_mov_b64 exec, s[30:31]\ns_nop 15" ::         \
            : "v32", "v33", "v34", "v35", "v36", "v37", "v38", "v39", "s30", "s31", "s40", "s41",  \
              "s42", "s43", "s44", "s45", "vcc", "scc");                                           \
    out[threadIdx.x] = 1;                                                                          \
  }
#define HAZARD_PAIR(name, producer, few, enough, consumer)                                         \
  HAZARD_CODE(name##_early, producer "\n" few consumer)                                            \
  HAZARD_CODE(name##_late, producer "\n" enough consumer)
#define NOPS(n) "s_nop " #n "\n"

// The buffer descriptor of zeros lets nothing through to memory.
HAZARD_PAIR(hazard_scalar_to_memory, "v_readlane_b32 s44, v32, 0", NOPS(3), NOPS(4),
            "buffer_load_dword v33, off, s[40:43], s44")
HAZARD_PAIR(hazard_scalar_to_vector, "v_readlane_b32 s44, v32, 0", NOPS(0), NOPS(1),
            "v_add_u32 v33, s44, v34")
HAZARD_PAIR(hazard_carry_to_vector, "v_cmp_eq_u32 vcc, v32, v33", NOPS(0), NOPS(1),
            "v_cndmask_b32 v33, v34, v35, vcc")
HAZARD_PAIR(hazard_lane_select, "v_readfirstlane_b32 s44, v32", NOPS(2), NOPS(3),
            "v_readlane_b32 s45, v34, s44")
HAZARD_PAIR(hazard_lane_select_write, "v_readfirstlane_b32 s44, v32", NOPS(2), NOPS(3),
            "v_writelane_b32 v34, 7, s44")
HAZARD_PAIR(hazard_vcc_to_div_fmas, "v_cmp_eq_u32 vcc, v32, v33", NOPS(2), NOPS(3),
            "v_div_fmas_f32 v34, v35, v36, v37")
HAZARD_PAIR(hazard_exec_to_dpp, "v_cmpx_eq_u32 vcc, v32, v32", NOPS(3), NOPS(4),
            "v_mov_b32_dpp v34, v35 row_shr:1 row_mask:0xf bank_mask:0xf")
HAZARD_PAIR(hazard_exec_to_lane, "v_cmpx_eq_u32 vcc, v32, v32", NOPS(2), NOPS(3),
            "v_readlane_b32 s45, v34, 3")
HAZARD_PAIR(hazard_vector_to_dpp, "v_mov_b32 v35, 1.0", NOPS(0), NOPS(1),
            "v_mov_b32_dpp v34, v35 row_shr:1 row_mask:0xf bank_mask:0xf")
HAZARD_PAIR(hazard_vector_to_readlane, "v_mov_b32 v35, 1.0", "", NOPS(0),
            "v_readlane_b32 s45, v35, 3")
HAZARD_PAIR(hazard_transcendental, "v_exp_f32 v35, v36", "", NOPS(0), "v_add_f32 v34, v35, v36")
HAZARD_PAIR(hazard_sdwa_part, "v_mov_b32_sdwa v35, v36 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE",
            "", NOPS(0), "v_add_f32 v34, v35, v36")
HAZARD_PAIR(hazard_op_sel_part, "v_mad_f16 v35, v36, v36, v36 op_sel:[0,0,0,1]", "", NOPS(0),
            "v_add_f32 v34, v35, v36")
HAZARD_PAIR(hazard_wide_store, "buffer_store_dwordx4 v[32:35], off, s[40:43], 0", NOPS(0), NOPS(1),
            "v_mov_b32 v35, 1.0")
HAZARD_PAIR(hazard_setreg_to_getreg, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0", NOPS(0),
            NOPS(1), "s_getreg_b32 s45, hwreg(HW_REG_MODE)")
HAZARD_PAIR(hazard_m0_to_movrel, "s_mov_b32 m0, 0", "", NOPS(0), "s_movrels_b32 s45, s44")
HAZARD_PAIR(hazard_m0_to_addtid, "s_mov_b32 m0, 0", "", NOPS(0), "ds_read_addtid_b32 v34")
HAZARD_PAIR(hazard_m0_to_lds_load, "s_mov_b32 m0, 0", "", NOPS(0),
            "buffer_load_dword off, s[40:43], 0 lds")
HAZARD_PAIR(hazard_vccz_source, "v_cmp_eq_u32 vcc, v32, v33", NOPS(3), NOPS(4),
            "v_add_u32 v34, src_vccz, v35")
HAZARD_PAIR(hazard_execz_source, "v_cmpx_eq_u32 vcc, v32, v32", NOPS(3), NOPS(4),
            "v_add_u32 v34, src_execz, v35")
// Matrix and dot instructions that take two passes, or four in fp64.
#define TWO_PASSES "v_mfma_f32_4x4x4_16b_f16 v[32:35], v[36:37], v[38:39], v[32:35]"
#define F64_PASSES "v_mfma_f64_4x4x4_4b_f64 v[32:33], v[34:35], v[36:37], v[32:33]"
HAZARD_PAIR(hazard_dot, "v_dot2_f32_f16 v35, v36, v37, v38", NOPS(1), NOPS(2),
            "v_add_f32 v34, v35, v36")
HAZARD_PAIR(hazard_exec_to_matrix, "v_cmpx_eq_u32 vcc, v32, v32", NOPS(2), NOPS(3), TWO_PASSES)
HAZARD_PAIR(hazard_overwritten, TWO_PASSES, NOPS(3), NOPS(4), "v_mov_b32 v35, 1.0")
HAZARD_PAIR(hazard_two_passes_in_place, TWO_PASSES, NOPS(0), NOPS(1), TWO_PASSES)
HAZARD_PAIR(hazard_f64_to_memory, F64_PASSES, NOPS(7), NOPS(8),
            "buffer_store_dword v32, off, s[40:43], 0")
HAZARD_PAIR(hazard_f64_to_fma, F64_PASSES, NOPS(0), NOPS(1),
            "v_fma_f64 v[38:39], v[34:35], v[36:37], v[34:35]")
// Sound: the other kinds may follow at once.
HAZARD_CODE(hazard_none_narrow_store,
            "buffer_store_dwordx2 v[32:33], off, s[40:43], 0\nv_mov_b32 v33, 1.0")
HAZARD_CODE(
    hazard_none_waited_for,
    "buffer_store_dwordx4 v[32:35], off, s[40:43], 0\ns_waitcnt vmcnt(0)\nv_mov_b32 v35, 1.0")
HAZARD_CODE(hazard_none_soffset,
            "buffer_store_dwordx4 v[32:35], off, s[40:43], s44\nv_mov_b32 v35, 1.0")
HAZARD_CODE(hazard_none_transcendental_chain, "v_exp_f32 v35, v36\nv_log_f32 v34, v35")
HAZARD_CODE(hazard_none_other_register,
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0\ns_getreg_b32 s45, hwreg(HW_REG_HW_ID)")
HAZARD_CODE(hazard_none_scalar_to_scalar, "v_readlane_b32 s44, v32, 0\ns_add_u32 s45, s44, 1")
// A taken branch stands between the two.
HAZARD_CODE(hazard_over_a_branch,
            "v_readlane_b32 s44, v32, 0\ns_branch 1f\ns_nop 0\n1: v_add_u32 v33, s44, v34")
}
