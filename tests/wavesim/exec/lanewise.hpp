// Vector instructions from a lane function. A lambda such as
//   [](float a, float b) { return a + b; }
// gives the operand types (through its parameters), the loop over 64 lanes (vectorised), and two
// handlers: one for plain operands, one that goes through vector_modifiers.cpp for neg/abs, SDWA,
// DPP, op_sel, clamp, omod, register indexing and unusual MODE settings.
//
// Parameter types: float, double, f16, signed and unsigned integers of 16, 32 and 64 bits; LaneMask
// (a 64-bit scalar, one bit a lane: carry-in, select); last, if wanted, ModeBits or LaneIndex.
// Result types: the same; bool for compares (bits to the scalar destination); WithMask<T> for a
// value and a bit (carry-out).
#pragma once

#include "exec/lane_math.hpp"
#include "exec/operands.hpp"
#include "isa/op_table.hpp"

#include <tuple>
#include <utility>

// Constant results (v_cmp_f…) become a memset, which the vectoriser reports as a failure.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"

namespace wavesim::WAVESIM_SIMD_NS {

struct LaneMask {
  u32 bits; ///< all ones or zero
  explicit operator bool() const { return bits != 0; }
};

/// Trailing parameter: the number of the lane.
struct LaneIndex {
  u32 value;
};

template <class T>
struct WithMask {
  T value;
  bool bit;
};

/// Rows a lane loop works on: sources [2·i + dword], results [dword], result bits as a row of
/// masks.
struct LaneRows {
  const u32* src[8];
  u32* dst[2];
  u32* mask;
  const u32* old; ///< the destination's former low dword, for results that keep half of it
  ModeBits mode;
};
using LaneLoop = void (*)(const LaneRows&);

/// What the modifier path needs to know of an instruction, besides its OpInfo.
struct LaneLoops {
  LaneLoop usual = nullptr;
  LaneLoop clamped = nullptr; ///< integer result with saturation; null: clamp is not for it
  bool has_value = true, has_mask = false, writes_exec = false, float_bits = false;
};

enum LaneFlag : unsigned {
  lane_nan_first = 1,   ///< arithmetic: a NaN result is the first source NaN, quieted
  lane_keeps_high = 2,  ///< 16-bit result leaves the other half alone (op_keeps_high)
  lane_any_mode = 4,    ///< MODE changes nothing (or the function looks at it itself)
  lane_writes_exec = 8, ///< v_cmpx
  lane_float_bits = 16, ///< neg/abs apply although the types are bits (v_cndmask)
  lane_compare = 32,
};

// ------------------------------------------------------------------------------------- types

template <class T>
constexpr Type lane_type() {
  if constexpr (std::is_same_v<T, float>)
    return Type::f32;
  else if constexpr (std::is_same_v<T, double>)
    return Type::f64;
  else if constexpr (std::is_same_v<T, f16>)
    return Type::f16;
  else if constexpr (std::is_same_v<T, u16>)
    return Type::u16;
  else if constexpr (std::is_same_v<T, i16>)
    return Type::i16;
  else if constexpr (std::is_same_v<T, u32>)
    return Type::u32;
  else if constexpr (std::is_same_v<T, i32>)
    return Type::i32;
  else if constexpr (std::is_same_v<T, u64>)
    return Type::u64;
  else if constexpr (std::is_same_v<T, i64>)
    return Type::i64;
  else if constexpr (std::is_same_v<T, LaneMask>)
    return Type::b64;
  else
    return Type::none;
}

template <class R>
struct lane_result {
  using value = R;
  static constexpr bool has_value = true, has_mask = false;
};
template <>
struct lane_result<bool> {
  using value = void;
  static constexpr bool has_value = false, has_mask = true;
};
template <class T>
struct lane_result<WithMask<T>> {
  using value = T;
  static constexpr bool has_value = true, has_mask = true;
};

template <class F>
struct lane_signature : lane_signature<decltype(&F::operator())> {};
template <class C, class R, class... A>
struct lane_signature<R (C::*)(A...) const> : lane_signature<R (*)(A...)> {};
template <class R, class... A>
struct lane_signature<R (*)(A...)> {
  using result = lane_result<R>;
  template <std::size_t I>
  using argument = std::tuple_element_t<I, std::tuple<A...>>;
  static constexpr bool wants_mode = (std::is_same_v<A, ModeBits> || ...);
  static constexpr bool wants_lane = (std::is_same_v<A, LaneIndex> || ...);
  static constexpr std::size_t sources = sizeof...(A) - wants_mode - wants_lane;
};

// -------------------------------------------------------------------------------------- lanes

template <class T>
[[gnu::always_inline]] inline T load_lane(const u32* low, const u32* high, unsigned lane) {
  if constexpr (std::is_same_v<T, LaneMask>)
    return LaneMask{low[lane]};
  else if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(low[lane] | u64{high[lane]} << 32);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(low[lane]);
  else
    return std::bit_cast<T>(static_cast<u16>(low[lane]));
}

template <bool KeepHigh, class T>
[[gnu::always_inline]] inline void store_lane(const LaneRows& r, unsigned lane, T x) {
  const bits_of<T> bits = std::bit_cast<bits_of<T>>(x);
  if constexpr (sizeof(T) == 8) {
    r.dst[0][lane] = static_cast<u32>(bits);
    r.dst[1][lane] = static_cast<u32>(bits >> 32);
  } else if constexpr (sizeof(T) == 2 && KeepHigh) {
    r.dst[0][lane] = (r.old[lane] & 0xffff0000) | bits;
  } else {
    r.dst[0][lane] = bits;
  }
}

/// x86 arithmetic quiets a NaN source and hands it on, but the compiler may swap the sources. If
/// only the last one is a NaN there is no choice, so the others decide.
template <unsigned Flags, class T, class A, class... B>
[[gnu::always_inline]] inline T with_nan_rule(T r, A a, [[maybe_unused]] B... b) {
  if constexpr (!(Flags & lane_nan_first) || sizeof...(B) == 0)
    return r;
  else if constexpr (sizeof...(B) == 1)
    return first_nan(r, a);
  else
    return first_nan(r, a, std::get<0>(std::tuple<B...>(b...)));
}

template <auto F, unsigned Flags>
[[gnu::always_inline]] inline void lane_loop(const LaneRows& rows) {
  using S = lane_signature<decltype(F)>;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const LaneRows r = rows;
#pragma clang loop vectorize(assume_safety)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const auto call = [&](auto... x) {
        if constexpr (S::wants_mode)
          return with_nan_rule<Flags>(F(x..., r.mode), x...);
        else if constexpr (S::wants_lane)
          return F(x..., LaneIndex{lane});
        else
          return with_nan_rule<Flags>(F(x...), x...);
      };
      const auto result = call(
          load_lane<typename S::template argument<I>>(r.src[2 * I], r.src[2 * I + 1], lane)...);
      if constexpr (!S::result::has_value) {
        r.mask[lane] = 0u - u32{result};
      } else if constexpr (S::result::has_mask) {
        store_lane<false>(r, lane, result.value);
        r.mask[lane] = 0u - u32{result.bit};
      } else {
        store_lane<(Flags & lane_keeps_high) != 0>(r, lane, result);
      }
    }
  }
  (std::make_index_sequence<S::sources>{});
}

/// The loop as a function of its own, for the modifier path.
template <auto F, unsigned Flags>
void lane_loop_function(const LaneRows& rows) {
  lane_loop<F, Flags>(rows);
}

// ----------------------------------------------------------------------------------- handlers

/// Executes `op` with everything its modifiers, MODE and register indexing ask for. OpInfo::body
/// points to the LaneLoops.
void run_modified(Wave& w, const Op& op);

/// Bits of MODE that must have their usual value for the plain handler.
template <auto F, unsigned Flags>
constexpr u32 mode_mask() {
  if (Flags & lane_any_mode)
    return 0;
  using S = lane_signature<decltype(F)>;
  u32 mask = 0;
  const auto add = [&mask](Type t) {
    if (t == Type::f32)
      mask |= 0x33;
    if (t == Type::f64 || t == Type::f16)
      mask |= 0xcc;
  };
  if constexpr (S::result::has_value) {
    add(lane_type<typename S::result::value>());
    if (std::is_same_v<typename S::result::value, f16>)
      mask |= ModeBits::fp16_overflow_bit;
  }
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (add(lane_type<typename S::template argument<I>>()), ...);
  }
  (std::make_index_sequence<S::sources>{});
  return mask;
}

template <class T>
[[gnu::always_inline]] inline void plain_source(const Wave& w, const Source& s, Row (&space)[2],
                                                const u32** rows) {
  if constexpr (std::is_same_v<T, LaneMask>) {
    spread_mask(space[0], scalar64(w, s));
    rows[0] = space[0];
  } else {
    rows[0] = source_row(w, s, space[0], 0);
    if constexpr (sizeof(T) == 8)
      rows[1] = source_row(w, s, space[1], 1);
  }
}

/// No modifiers on the operands; the rest is checked here.
template <auto F, unsigned Flags>
void plain_handler(Wave& w, const Op& op) {
  using S = lane_signature<decltype(F)>;
  constexpr u32 mask = mode_mask<F, Flags>();
  if (w.gpr_index | ((w.mode ^ ModeBits::usual) & mask)) [[unlikely]]
    return run_modified(w, op);
  const u64 exec = w.exec();
  if (!S::result::has_mask && exec == 0)
    return;
  Row space[S::sources ? S::sources : 1][2];
  LaneRows rows;
  rows.mode = ModeBits{w.mode};
  rows.old = w.v[op.dst];
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (plain_source<typename S::template argument<I>>(w, op.src[I], space[I], &rows.src[2 * I]), ...);
  }
  (std::make_index_sequence<S::sources>{});
  Row bits;
  rows.mask = bits;
  if constexpr (S::result::has_value) {
    constexpr bool wide = sizeof(typename S::result::value) == 8;
    if (exec == all_lanes) [[likely]] {
      rows.dst[0] = w.v[op.dst];
      if constexpr (wide)
        rows.dst[1] = w.v[op.dst + 1];
      lane_loop<F, Flags>(rows);
    } else {
      Row low, high;
      rows.dst[0] = low;
      rows.dst[1] = high;
      lane_loop<F, Flags>(rows);
      store_row(w.v[op.dst], low, exec);
      if constexpr (wide)
        store_row(w.v[op.dst + 1], high, exec);
    }
  } else {
    lane_loop<F, Flags>(rows);
  }
  if constexpr (S::result::has_mask) {
    const u64 result = gather_mask(bits) & exec;
    w.set_s64(op.sdst, result);
    if constexpr (Flags & lane_writes_exec)
      w.set_exec(result);
  }
}

template <auto F, unsigned Flags, auto Clamped>
constexpr LaneLoops make_loops() {
  using R = typename lane_signature<decltype(F)>::result;
  LaneLoops l;
  l.usual = lane_loop_function<F, Flags>;
  if constexpr (!std::is_same_v<decltype(Clamped), std::nullptr_t>)
    l.clamped = lane_loop_function<Clamped, Flags>;
  l.has_value = R::has_value;
  l.has_mask = R::has_mask;
  l.writes_exec = (Flags & lane_writes_exec) != 0;
  l.float_bits = (Flags & lane_float_bits) != 0;
  return l;
}
template <auto F, unsigned Flags, auto Clamped>
inline constexpr LaneLoops loops_of = make_loops<F, Flags, Clamped>();

/// The table entry of a lane function. `Clamped` is its saturating twin where the clamp bit means
/// that (integers); float results are clamped by the modifier path.
template <auto F, unsigned Flags = 0, auto Clamped = nullptr>
OpInfo lane_op(const char* mnemonic, Unit unit = Unit::valu, std::uint32_t more_flags = 0) {
  using S = lane_signature<decltype(F)>;
  OpInfo info;
  info.mnemonic = mnemonic;
  info.handler = run_modified;
  info.plain = plain_handler<F, Flags>;
  info.body = &loops_of<F, Flags, Clamped>;
  info.unit = unit;
  info.flags = more_flags;
  constexpr u32 mode = mode_mask<F, Flags>();
  if (mode & 0x33)
    info.flags |= op_mode_f32;
  if (mode & 0xcc)
    info.flags |= op_mode_f64;
  if (Flags & lane_keeps_high)
    info.flags |= op_keeps_high;
  if (Flags & lane_float_bits)
    info.flags |= op_float;
  if (Flags & lane_compare)
    info.flags |= op_writes_scalar;
  if constexpr (S::result::has_value)
    info.dst = lane_type<typename S::result::value>();
  else
    info.dst = Type::b64;
  if (S::result::has_value && S::result::has_mask)
    info.flags |= op_carry_out;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((info.src[I] = lane_type<typename S::template argument<I>>()), ...);
    if ((std::is_same_v<typename S::template argument<I>, LaneMask> || ...))
      info.flags |= op_carry_in;
    if ((is_float_v<typename S::template argument<I>> || ...))
      info.flags |= op_float;
  }
  (std::make_index_sequence<S::sources>{});
  return info;
}

void register_valu_integer(OpTable&);
void register_valu_halfword(OpTable&);
void register_valu_bits(OpTable&);
void register_valu_compare(OpTable&);
void register_valu_float(OpTable&);
void register_valu_half(OpTable&);
void register_valu_divide(OpTable&);
void register_valu_convert(OpTable&);
void register_valu_fp8(OpTable&);
void register_valu_transcendental(OpTable&);
void register_valu_pixel(OpTable&);
void register_valu_lanes(OpTable&);
void register_valu_dot(OpTable&);

} // namespace wavesim::WAVESIM_SIMD_NS

#pragma clang diagnostic pop
