// Encodings that are no instruction although LLVM does not say so.
#pragma once

#include "isa/op.hpp"

namespace wavesim {

/// Whether the words may be given to LLVM 22: its disassembler does not survive a literal code in a
/// field that allows none, nor its printer an SDWA select past the table.
bool llvm_survives(std::uint32_t word0, std::uint32_t word1);

/// Whether all registers an instruction names exist: LLVM also decodes tuples that begin inside a
/// register file and end past it, scalar destinations past EXEC, and the reserved code 125.
bool registers_exist(const Op& op);

} // namespace wavesim
