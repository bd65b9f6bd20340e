/* Counters read from inside the program that runs under wavesim: a C interface which
 * libamdhip64.so.7 of wavesim exports and a real ROCm runtime does not. Look it up at run time, so
 * that the same binary prints numbers under wavesim and "n/a" on a GPU:
 *
 *     wavesim_counters counters;
 *     if (wavesim_counters_find(&counters) && counters.begin() == 0) {
 *       launch<<<...>>>(...);
 *       wavesim_counts counts = {.size = sizeof counts};
 *       counters.end(&counts);
 *     }
 *
 * Kernels run when they are launched, so all launches between begin and end are counted without a
 * synchronisation. The counters are process-wide: other threads' launches count too. Every rule of
 * counting stands in counters/rules.hpp with its evidence.
 */
#ifndef WAVESIM_COUNTERS_API_H
#define WAVESIM_COUNTERS_API_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* RTLD_DEFAULT */
#endif
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Units of wavesim_counts.instructions: wave instructions, whatever EXEC was. */
enum wavesim_unit {
  wavesim_unit_valu,  /* vector ALU without the next two */
  wavesim_unit_trans, /* transcendental vector ALU */
  wavesim_unit_mfma,  /* matrix */
  wavesim_unit_salu,
  wavesim_unit_smem,
  wavesim_unit_lds,  /* ds_* */
  wavesim_unit_vmem, /* global_*, scratch_*, buffer_* */
  wavesim_unit_flat, /* flat_* */
  wavesim_unit_branch,
  wavesim_unit_wait, /* s_waitcnt, s_nop, s_sleep, ... */
  wavesim_unit_barrier,
  wavesim_unit_message,
  wavesim_unit_other,
  wavesim_unit_count
};

/* Widths of the *_by_width arrays: bytes one lane moves in one access. */
enum wavesim_width {
  wavesim_width_1,
  wavesim_width_2,
  wavesim_width_4,
  wavesim_width_8,
  wavesim_width_12,
  wavesim_width_16,
  wavesim_width_count
};

typedef struct wavesim_counts {
  uint64_t size; /* sizeof(wavesim_counts), set by the caller; newer fields come at the end */

  uint64_t dispatches, workgroups, waves;
  uint64_t instructions[wavesim_unit_count];

  /* Global memory through vector instructions (global_*, buffer_*, flat_* outside the apertures):
   * bytes the active lanes moved. Scalar loads are not counted. */
  uint64_t bytes_read, bytes_written;
  uint64_t read_by_width[wavesim_width_count], written_by_width[wavesim_width_count];
  uint64_t lines_read, lines_written;                 /* distinct 128-byte lines of each dispatch */
  uint64_t group_lines_read, group_lines_written;     /* distinct lines of each workgroup, summed */
  uint64_t tcp_accesses;                              /* look-ups in the vector L1 */
  uint64_t scratch_bytes_read, scratch_bytes_written; /* private memory (scratch_* and flat_*) */

  uint64_t lds_clocks;    /* clocks the LDS banks were busy */
  uint64_t lds_conflicts; /* of these, clocks lost to bank conflicts */

  uint64_t mfma_flops;  /* multiplications and additions of matrix instructions */
  uint64_t mfma_clocks; /* clocks the matrix units were busy */
} wavesim_counts;

/* One instruction of the code (not one execution). Strings live until the next begin. */
typedef struct wavesim_instruction {
  const char* kernel;   /* name of the kernel that ran it, demangled */
  const char* mnemonic; /* "ds_read_b128" */
  uint64_t offset;      /* bytes from the start of the code object's text */
  uint64_t executions;  /* wave instructions */
  uint64_t lanes;       /* active lanes, summed (memory instructions only) */
  uint64_t lds_clocks, lds_conflicts;
  uint64_t bytes_read, bytes_written; /* global memory */
  uint64_t scratch_bytes_read, scratch_bytes_written;
  uint64_t tcp_accesses;
} wavesim_instruction;

/* Starts counting from zero. 0, or -1 when a count is already running. */
int wavesim_counters_begin(void);

/* Ends the count and fills `counts`, which may be null. 0; -1 when none is running or counts->size
 * is not the size of a known version of the struct. */
int wavesim_counters_end(wavesim_counts* counts);

/* The instructions executed between the last begin and end, ordered by kernel and offset: fills up
 * to `capacity` elements of `out` (which may be null when it is 0) and returns how many there are.
 */
size_t wavesim_counters_instructions(wavesim_instruction* out, size_t capacity);

/* The three functions, looked up in the running process. */
typedef struct wavesim_counters {
  int (*begin)(void);
  int (*end)(wavesim_counts*);
  size_t (*instructions)(wavesim_instruction*, size_t);
} wavesim_counters;

/* 1 under wavesim; 0 elsewhere, with null pointers. */
static inline int wavesim_counters_find(wavesim_counters* found) {
  void* begin = dlsym(RTLD_DEFAULT, "wavesim_counters_begin");
  void* end = dlsym(RTLD_DEFAULT, "wavesim_counters_end");
  void* instructions = dlsym(RTLD_DEFAULT, "wavesim_counters_instructions");
  found->begin = (int (*)(void))begin;
  found->end = (int (*)(wavesim_counts*))end;
  found->instructions = (size_t(*)(wavesim_instruction*, size_t))instructions;
  return begin != NULL && end != NULL && instructions != NULL;
}

#ifdef __cplusplus
}
#endif

#endif
