/// \file
/// Waits of one wave for its LDS operands and for its matrix instructions, apart from barriers.
#pragma once

#include <wavetile/arch/device_target.hpp>

#if WAVETILE_HIP

namespace wavetile::detail {

/// Waits until at most `Left` of the wave's LDS operations, which end in order, are in flight.
/// s_waitcnt lgkmcnt, which the compiler may move: see `in_place`.
template <int Left>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait_for_lds() {
  static_assert(Left >= 0 && Left < 16, "lgkmcnt has four bits");
#if WAVETILE_AMDGCN
  __builtin_amdgcn_s_waitcnt(0xC07F | Left << 8); // vmcnt and expcnt: any
#endif
}

/// `f()`, with every instruction of the program before and behind it on its side, and memory as if
/// `f` read and wrote all of it.
template <class F>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void in_place(const F& f) {
#if WAVETILE_AMDGCN
  __builtin_amdgcn_sched_barrier(0);
  asm volatile("" ::: "memory");
  f();
  asm volatile("" ::: "memory");
  __builtin_amdgcn_sched_barrier(0);
#else
  f();
#endif
}

/// The results are in their registers here: what makes them stands before it.
template <class Fragment, int Count>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void hold(Fragment (&results)[Count]) {
#if WAVETILE_AMDGCN
  for (int i = 0; i < Count; ++i)
    asm volatile("" : "+v"(results[i].registers)); // volatile: in order with the next
#else
  (void)results;
#endif
}

/// Puts `States` wait states between the matrix instructions before it and whatever reads their
/// results: the first and the last by themselves, those between when all are held before and it
/// stands `in_place`. The compiler counts the states too, but LLVM 22 overlooks paths through taken
/// branches, and the hardware does not wait. An instruction needs
/// `matrix_instruction::result_states`.
template <int States, class Fragment, int Count>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait_for_matrix(Fragment (&results)[Count]) {
  static_assert(States > 0 && States <= 32, "two instructions of at most 16");
#if WAVETILE_AMDGCN
  auto &first = results[0].registers, &last = results[Count - 1].registers;
  if constexpr (Count == 1 && States > 16)
    asm volatile("s_nop 15\n\ts_nop %1" : "+v"(first) : "n"(States - 17));
  else if constexpr (Count == 1)
    asm volatile("s_nop %1" : "+v"(first) : "n"(States - 1));
  else if constexpr (States > 16)
    asm volatile("s_nop 15\n\ts_nop %2" : "+v"(first), "+v"(last) : "n"(States - 17));
  else
    asm volatile("s_nop %2" : "+v"(first), "+v"(last) : "n"(States - 1));
#else
  (void)results;
#endif
}

} // namespace wavetile::detail

#endif
