// Packed instructions on 16-bit elements, from a function of one element.
#pragma once

#include "exec/vop3p.hpp"
#include "machine/fault.hpp"

#include <tuple>

namespace wavesim::WAVESIM_SIMD_NS {

/// Rows of 128 elements: sources and result.
struct HalfRows {
  const u32* src[3];
  u32* dst;
  ModeBits mode;
};

struct HalfLoops {
  void (*usual)(const HalfRows&) = nullptr;
  void (*clamped)(const HalfRows&) = nullptr; ///< integers: the saturating twin
  bool is_float = false;
};

template <class F>
struct half_signature : half_signature<decltype(&F::operator())> {};
template <class C, class R, class... A>
struct half_signature<R (C::*)(A...) const> {
  using element = R;
  template <std::size_t I>
  using argument = std::tuple_element_t<I, std::tuple<A...>>;
  static constexpr bool wants_mode = (std::is_same_v<A, ModeBits> || ...);
  static constexpr std::size_t sources = sizeof...(A) - wants_mode;
};

template <auto F>
void half_loop(const HalfRows& r) {
  using S = half_signature<decltype(F)>;
  using Element = typename S::element;
  using Aliased __attribute__((may_alias)) = Element;
  Element in[3][2 * lanes];
  for (std::size_t i = 0; i < S::sources; ++i)
    std::memcpy(in[i], r.src[i], sizeof in[i]);
  auto* out = reinterpret_cast<Aliased*>(r.dst);
  for (unsigned i = 0; i < 2 * lanes; ++i) {
    if constexpr (S::sources == 3)
      out[i] = F(in[0][i], in[1][i], in[2][i]);
    else if constexpr (S::wants_mode)
      out[i] = F(in[0][i], in[1][i], r.mode);
    else
      out[i] = F(in[0][i], in[1][i]);
  }
}

/// Overflow of an f16 result when MODE.FP16_OVFL asks for the largest number instead of infinity;
/// an infinity that a source brought stays.
inline void limit_overflow(const HalfRows& r, unsigned sources) {
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned shift = 0; shift < 32; shift += 16) {
      const auto half = [&](u32 x) { return from_bits<f16>(static_cast<u16>(x >> shift)); };
      if (!is_infinity(half(r.dst[lane])))
        continue;
      bool earned = false;
      for (unsigned i = 0; i < sources; ++i)
        earned |= is_infinity(half(r.src[i][lane]));
      if (!earned)
        r.dst[lane] -= 1u << shift;
    }
}

inline void finish_halves(const Op& op, const HalfRows& r, unsigned sources) {
  if (r.mode.fp16_overflow())
    limit_overflow(r, sources);
  if (r.mode.flush_results_f64())
    for (unsigned lane = 0; lane < lanes; ++lane)
      r.dst[lane] = flushed_halves(r.dst[lane]);
  if (op.clamp)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const u32 x = r.dst[lane];
      const u32 low = as_bits(clamped(from_bits<f16>(static_cast<u16>(x)), r.mode));
      const u32 high = as_bits(clamped(from_bits<f16>(static_cast<u16>(x >> 16)), r.mode));
      r.dst[lane] = low | high << 16;
    }
}

inline void run_halves(Wave& w, const Op& op) {
  const HalfLoops& loops = *static_cast<const HalfLoops*>(op.info->body);
  const u64 exec = w.exec();
  if (exec == 0)
    return;
  Row space[3], result;
  HalfRows r;
  r.mode = ModeBits{w.mode};
  const bool flush = loops.is_float && r.mode.flush_inputs_f64();
  unsigned sources = 0;
  for (; sources < 3 && op.info->src[sources] != Type::none; ++sources)
    r.src[sources] = packed_source(w, op, sources, loops.is_float, flush, space[sources]);
  r.dst = result;
  if (loops.is_float) {
    const RoundingScope rounding(r.mode.round_f64());
    loops.usual(r);
    finish_halves(op, r, sources);
  } else if (!op.clamp) {
    loops.usual(r);
  } else if (loops.clamped) {
    loops.clamped(r);
  } else {
    stop(w, op, "clamp on this instruction is not supported");
  }
  store_row(w.v[op.dst], result, exec);
}

inline void execute_halves(Wave& w, const Op& op) {
  with_gpr_index(w, op, [&](const Op& o) { run_halves(w, o); });
}

template <auto F, auto Clamped>
constexpr HalfLoops make_half_loops() {
  HalfLoops l;
  l.usual = half_loop<F>;
  if constexpr (!std::is_same_v<decltype(Clamped), std::nullptr_t>)
    l.clamped = half_loop<Clamped>;
  l.is_float = std::is_same_v<typename half_signature<decltype(F)>::element, f16>;
  return l;
}
template <auto F, auto Clamped>
inline constexpr HalfLoops half_loops_of = make_half_loops<F, Clamped>();

/// The table entry of an element function; `Clamped` is its saturating twin (integers).
template <auto F, auto Clamped = nullptr>
OpInfo half_op(const char* mnemonic) {
  using S = half_signature<decltype(F)>;
  using Element = typename S::element;
  OpInfo info;
  info.mnemonic = mnemonic;
  info.handler = execute_halves;
  info.body = &half_loops_of<F, Clamped>;
  info.unit = Unit::valu;
  constexpr Type type = std::is_same_v<Element, f16>   ? Type::v2f16
                        : std::is_same_v<Element, i16> ? Type::v2i16
                                                       : Type::v2u16;
  info.dst = type;
  for (std::size_t i = 0; i < S::sources; ++i)
    info.src[i] = type;
  if (type == Type::v2f16)
    info.flags = op_float | op_mode_f64;
  return info;
}

} // namespace wavesim::WAVESIM_SIMD_NS
