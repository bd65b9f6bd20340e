// How definedness passes through a scalar instruction: worked out once per instruction.
#pragma once

#include <cstdint>

namespace wavesim {

struct Op;
struct OpFacts;

struct ScalarRule {
  enum class Kind : std::uint8_t {
    whole,  ///< all of the result needs all of the sources
    both,   ///< and-like: a bit of the result comes from the same bits; a zero decides
    either, ///< or-like: a one decides
    differ, ///< xor-like
    move,   ///< bits as they are
    choose, ///< s_cselect
    branch_scc,
    branch_vcc,
    jump,    ///< to an address in registers
    nothing, ///< other SOPP instructions
  };
  Kind kind = Kind::whole;
  bool invert_first = false, invert_second = false; ///< of the bitwise kinds
  bool saves_exec = false;                          ///< …_saveexec, …_wrexec
  bool wide = false;
  bool to_exec = false;

  bool bitwise() const {
    return kind == Kind::both || kind == Kind::either || kind == Kind::differ;
  }
};

/// Of an instruction whose registers are known.
ScalarRule scalar_rule(const Op& op, const OpFacts& facts);

} // namespace wavesim
