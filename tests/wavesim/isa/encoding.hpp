// Operand fields of gfx942 encodings (AMD CDNA3 ISA manual, chapter 13).
#pragma once

#include "isa/op.hpp"

#include <string_view>

namespace wavesim {

/// The format an instruction of these first bits has; Format::unsupported for the rest of the
/// space.
Format format_of(std::uint32_t word);

/// Value of an inline constant (codes 128–208, 240–248) as an operand of type `t` sees it. Integers
/// are sign-extended. Float codes give the float of the operand's width, except that 16-bit integer
/// operands see the single-precision bits, and packed halves get the value in the low half only
/// (LLVM's notes on inline operands of 16-bit instructions).
std::uint64_t inline_constant(unsigned code, Type t);

/// The 32-bit literal as an operand of type `t` sees it: the high dword of an f64, sign-extended
/// for i64, zero-extended otherwise.
std::uint64_t literal_constant(std::uint32_t literal, Type t);

/// Fills the operand fields of `op` from op.words and op.pc. `info` gives operand types and may be
/// null. False if the encoding uses something that has no place in Op.
bool read_fields(Op& op, const OpInfo* info, std::string_view mnemonic);

} // namespace wavesim
