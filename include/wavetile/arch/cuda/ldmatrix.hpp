/// \file
/// `ldmatrix`: four 8 x 8 matrices of 16-bit elements from LDS to registers. Which address a lane
/// gives for which fragment: arch/cuda/mma_layout.hpp.
///
/// Eight lanes give the addresses of one matrix, 16 bytes each, which are served together: as many
/// phases, and of the same lanes, as a read of 16 bytes a lane.
#pragma once

#include <wavetile/config.hpp>
#include <wavetile/integers.hpp>

#if WAVETILE_CUDA

namespace wavetile::instruction {

/// The address in LDS behind a pointer to it.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t lds_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Lane l gets, of matrix i, elements 2 (l mod 4) and the next of row l / 4 in register i; lane l
/// gives the address of row l mod 8 of matrix l / 8, a multiple of 16 bytes.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_matrices(uint32_t (&to)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// The same of the transposed matrices: elements 2 (l mod 4) and the next of column l / 4.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_matrices_transposed(uint32_t (&to)[4],
                                                                    uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// After `load_matrices_transposed` of `ldmatrix_bytes_place`: bytes to fragments. Registers 0, 2
/// then hold k 4 (l mod 4) … + 3 and the same 16 on of row 2 (l / 4), registers 1, 3 of the next:
/// fragment row r is row 2 (r mod 8) + r / 8 of the 16.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void sort_bytes(uint32_t (&of)[4]) {
  for (int half = 0; half < 4; half += 2) {
    const uint32_t low = of[half], high = of[half + 1]; // k 0, 1 and 2, 3: of both rows each
    of[half] = __byte_perm(low, high, 0x6420);
    of[half + 1] = __byte_perm(low, high, 0x7531);
  }
}

} // namespace wavetile::instruction

#endif
