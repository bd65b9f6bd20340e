// Handlers of scalar instructions made from a lambda: parameter and result types of the lambda are
// the operand types of the instruction. A trailing Wave& gives access to SCC and the rest.
#pragma once

#include "exec/operands.hpp"
#include "isa/op_table.hpp"

#include <tuple>
#include <type_traits>
#include <utility>

namespace wavesim::WAVESIM_SIMD_NS {

template <class T>
constexpr Type scalar_type() {
  if constexpr (std::is_same_v<T, std::uint32_t>)
    return Type::b32;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return Type::i32;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return Type::b64;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return Type::i64;
  else
    return Type::none;
}

template <class T>
T read_scalar(const Wave& w, const Source& s) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(scalar64(w, s));
  else
    return static_cast<T>(scalar32(w, s));
}

template <class T>
void write_scalar(Wave& w, unsigned code, T x) {
  if constexpr (sizeof(T) == 8)
    set_scalar64(w, code, static_cast<std::uint64_t>(x));
  else
    set_scalar32(w, code, static_cast<std::uint32_t>(x));
}

template <class F>
struct scalar_signature : scalar_signature<decltype(&F::operator())> {};
template <class C, class R, class... A>
struct scalar_signature<R (C::*)(A...) const> {
  using result = R;
  using arguments = std::tuple<A...>;
  static constexpr bool wants_wave =
      sizeof...(A) > 0 &&
      std::is_same_v<std::tuple_element_t<sizeof...(A) - 1, std::tuple<A..., void>>, Wave&>;
  static constexpr std::size_t sources = sizeof...(A) - (wants_wave ? 1 : 0);
};

template <class R, class... A>
struct scalar_signature<R (*)(A...)> {
  struct call {
    R operator()(A...) const;
  };
  using result = typename scalar_signature<call>::result;
  using arguments = typename scalar_signature<call>::arguments;
  static constexpr bool wants_wave = scalar_signature<call>::wants_wave;
  static constexpr std::size_t sources = scalar_signature<call>::sources;
};

/// d = F(s0, s1…). A bool result goes to SCC (compares); void writes nothing.
template <auto F>
void scalar_handler(Wave& w, const Op& op) {
  using S = scalar_signature<decltype(F)>;
  using R = typename S::result;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto call = [&] {
      if constexpr (S::wants_wave)
        return F(read_scalar<std::tuple_element_t<I, typename S::arguments>>(w, op.src[I])..., w);
      else
        return F(read_scalar<std::tuple_element_t<I, typename S::arguments>>(w, op.src[I])...);
    };
    if constexpr (std::is_void_v<R>)
      call();
    else if constexpr (std::is_same_v<R, bool>)
      w.scc = call();
    else
      write_scalar<R>(w, op.dst, call());
  }
  (std::make_index_sequence<S::sources>{});
}

template <auto F>
OpInfo scalar_op(const char* mnemonic, Unit unit = Unit::salu, std::uint32_t flags = 0) {
  using S = scalar_signature<decltype(F)>;
  OpInfo info;
  info.mnemonic = mnemonic;
  info.handler = scalar_handler<F>;
  info.unit = unit;
  info.flags = flags;
  info.dst = scalar_type<typename S::result>();
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((info.src[I] = scalar_type<std::tuple_element_t<I, typename S::arguments>>()), ...);
  }
  (std::make_index_sequence<S::sources>{});
  return info;
}

/// An instruction that needs its Op (branches, immediates, SOPK).
inline OpInfo scalar_op(const char* mnemonic, Handler handler, Unit unit = Unit::salu,
                        std::uint32_t flags = 0, Type dst = Type::none, Type src = Type::none) {
  OpInfo info;
  info.mnemonic = mnemonic;
  info.handler = handler;
  info.unit = unit;
  info.flags = flags;
  info.dst = dst;
  info.src[0] = src;
  return info;
}

void register_salu_arithmetic(OpTable&);
void register_salu_bits(OpTable&);
void register_salu_control(OpTable&);
void register_salu_state(OpTable&);

} // namespace wavesim::WAVESIM_SIMD_NS
