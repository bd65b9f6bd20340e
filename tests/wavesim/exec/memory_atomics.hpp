// Read-modify-write operations, shared by DS, FLAT/GLOBAL and MUBUF.
#pragma once

#include "exec/memory_rows.hpp"

#include <bit>
#include <cmath>
#include <concepts>
#include <type_traits>

namespace wavesim::WAVESIM_SIMD_NS {

/// `a` and `b` are the data operands; the new memory value as a function of the old one:
enum class Atomic : std::uint8_t {
  swap,    ///< a
  cmpswap, ///< old == b ? a : old (as the type compares: floats by value)
  add,
  sub,
  rsub, ///< a - old
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  inc,       ///< old >= a ? 0 : old + 1
  dec,       ///< old == 0 || old > a ? a : old - 1
  mask_or,   ///< (old & ~a) | b
  wrap,      ///< old >= a ? old - a : old + b
  cond_swap, ///< each dword: a's sign bit set ? a without it : old
};

/// Two 16-bit floats in a dword.
struct packed_f16 {
  std::uint32_t bits;
};
struct packed_bf16 {
  std::uint32_t bits;
};

/// What denormal numbers become on the way in and out.
struct Denormals {
  bool flush_inputs = false, flush_outputs = false;
};

/// LDS float atomics follow MODE's denormal fields (CDNA3 ISA manual, as its public audit quotes
/// it); `shift` is 4 for f32, 6 for f64 and f16.
inline Denormals mode_denormals(const Wave& w, unsigned shift) {
  const std::uint32_t field = w.mode >> shift & 3;
  return {.flush_inputs = !(field & 1), .flush_outputs = !(field & 2)};
}

template <class T>
inline T flushed(T x, bool flush) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits mantissa = sizeof(T) == 4 ? Bits{0x7fffff} : static_cast<Bits>(0xfffffffffffff);
  constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
  const Bits bits = std::bit_cast<Bits>(x);
  const bool denormal = (bits & ~sign & ~mantissa) == 0;
  return flush && denormal ? std::bit_cast<T>(static_cast<Bits>(bits & sign)) : x;
}

/// minNum / maxNum of IEEE 754-2008, with -0 below +0: what LLVM's fmin and fmax atomics, which
/// select these instructions, are defined to do.
template <std::floating_point T>
inline T float_min(T x, T y) {
  if (x != x)
    return y;
  if (y != y)
    return x;
  if (x == y)
    return std::signbit(x) ? x : y;
  return x < y ? x : y;
}
template <std::floating_point T>
inline T float_max(T x, T y) {
  return -float_min(-x, -y);
}

inline std::uint32_t half_sum(std::uint32_t x, std::uint32_t y) {
  // A sum of two fp16 numbers is exact enough in fp32 that rounding twice changes nothing (24 bits
  // >= 2 * 11 + 2).
  const float sum =
      _cvtsh_ss(static_cast<std::uint16_t>(x)) + _cvtsh_ss(static_cast<std::uint16_t>(y));
  return _cvtss_sh(sum, _MM_FROUND_TO_NEAREST_INT);
}

inline std::uint32_t bfloat_sum(std::uint32_t x, std::uint32_t y) {
  const auto sum =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(x << 16) + std::bit_cast<float>(y << 16));
  if ((sum & 0x7fffffff) > 0x7f800000)
    return (sum >> 16) | 0x40;
  return (sum + 0x7fff + (sum >> 16 & 1)) >> 16;
}

template <Atomic A, class T>
inline T atomic_result(T old, T a, T b, Denormals denormals) {
  if constexpr (std::is_same_v<T, packed_f16>)
    return {half_sum(old.bits & 0xffff, a.bits & 0xffff) | half_sum(old.bits >> 16, a.bits >> 16)
                                                               << 16};
  else if constexpr (std::is_same_v<T, packed_bf16>)
    return {bfloat_sum(old.bits & 0xffff, a.bits & 0xffff) |
            bfloat_sum(old.bits >> 16, a.bits >> 16) << 16};
  else if constexpr (std::floating_point<T>) {
    const T x = flushed(old, denormals.flush_inputs), y = flushed(a, denormals.flush_inputs);
    if constexpr (A == Atomic::cmpswap)
      return x == flushed(b, denormals.flush_inputs) ? a : old;
    else if constexpr (A == Atomic::add)
      return flushed(static_cast<T>(x + y), denormals.flush_outputs);
    else if constexpr (A == Atomic::min)
      return float_min(x, y);
    else
      return float_max(x, y);
  } else if constexpr (A == Atomic::swap)
    return a;
  else if constexpr (A == Atomic::cmpswap)
    return old == b ? a : old;
  else if constexpr (A == Atomic::add)
    return old + a;
  else if constexpr (A == Atomic::sub)
    return old - a;
  else if constexpr (A == Atomic::rsub)
    return a - old;
  else if constexpr (A == Atomic::min)
    return a < old ? a : old;
  else if constexpr (A == Atomic::max)
    return a > old ? a : old;
  else if constexpr (A == Atomic::bit_and)
    return old & a;
  else if constexpr (A == Atomic::bit_or)
    return old | a;
  else if constexpr (A == Atomic::bit_xor)
    return old ^ a;
  else if constexpr (A == Atomic::inc)
    return old >= a ? 0 : old + 1;
  else if constexpr (A == Atomic::dec)
    return old == 0 || old > a ? a : old - 1;
  else if constexpr (A == Atomic::mask_or)
    return (old & ~a) | b;
  else if constexpr (A == Atomic::wrap)
    return old >= a ? old - a : old + b;
  else {
    static_assert(A == Atomic::cond_swap);
    constexpr std::uint64_t sign = 0x80000000;
    const std::uint64_t low = a & sign ? a & (sign - 1) : old & 0xffffffff;
    const std::uint64_t high = a >> 32 & sign ? a >> 32 & (sign - 1) : old >> 32;
    return low | high << 32;
  }
}

/// Operands of one atomic instruction; each points at the first row of a register (tuple).
struct AtomicRows {
  const std::uint32_t* a = nullptr;
  const std::uint32_t* b = nullptr;
  std::uint32_t* result = nullptr; ///< old values go here, or null
};

template <class T>
inline T row_value(const std::uint32_t* row, unsigned lane) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(row[lane]);
  else
    return std::bit_cast<T>(row[lane] | std::uint64_t{row[lanes + lane]} << 32);
}

/// Applies A at the host address of each lane of `mask`, lowest lane first. `concurrent` makes
/// every update atomic for other threads of the host too.
template <Atomic A, class T>
void atomic_lanes(const std::uint64_t* address, std::uint64_t mask, const AtomicRows& rows,
                  Denormals denormals, bool concurrent) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  for_each_lane(mask, [&](unsigned lane) {
    auto* p = reinterpret_cast<Bits*>(address[lane]);
    const T a = row_value<T>(rows.a, lane);
    T b{};
    if constexpr (A == Atomic::cmpswap || A == Atomic::mask_or || A == Atomic::wrap)
      b = row_value<T>(rows.b, lane);
    const auto next = [&](Bits old) {
      return std::bit_cast<Bits>(atomic_result<A, T>(std::bit_cast<T>(old), a, b, denormals));
    };
    Bits old;
    if (!concurrent) {
      std::memcpy(&old, p, sizeof old);
      const Bits x = next(old);
      std::memcpy(p, &x, sizeof x);
    } else if constexpr (A == Atomic::add && std::integral<T>) {
      old = __atomic_fetch_add(p, std::bit_cast<Bits>(a), __ATOMIC_RELAXED);
    } else {
      old = __atomic_load_n(p, __ATOMIC_RELAXED);
      while (!__atomic_compare_exchange_n(p, &old, next(old), true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED)) {
      }
    }
    if (rows.result) {
      rows.result[lane] = static_cast<std::uint32_t>(old);
      if constexpr (sizeof(T) == 8)
        rows.result[lanes + lane] = static_cast<std::uint32_t>(old >> 32);
    }
  });
}

} // namespace wavesim::WAVESIM_SIMD_NS
