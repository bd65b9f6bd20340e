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

/// After `load_matrices_transposed` of `ldmatrix_bytes_place`: bytes to fragments. With A, register
/// 0 holds k 4 (l mod 4) … + 3 of row 2 (l / 4), register 1 of the next, registers 2, 3 the same 16
/// k on: fragment row r is row 2 (r mod 8) + r / 8 of the 16. Otherwise registers 0, 1 are the
/// first of these rows and 2, 3 the second, as B wants its columns.
template <bool OfA>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void sort_bytes(uint32_t (&of)[4]) {
  const uint32_t even[2] = {__byte_perm(of[0], of[1], 0x6420), __byte_perm(of[2], of[3], 0x6420)};
  const uint32_t odd[2] = {__byte_perm(of[0], of[1], 0x7531), __byte_perm(of[2], of[3], 0x7531)};
  of[0] = even[0];
  of[OfA ? 1 : 2] = odd[0];
  of[OfA ? 2 : 1] = even[1];
  of[3] = odd[1];
}

} // namespace wavetile::instruction

#endif
