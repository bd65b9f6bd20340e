// Instruction decoding on LLVM's MC layer (gfx942).
#pragma once

#include "isa/op.hpp"
#include "isa/op_table.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace wavesim {

class Decoder {
public:
  Decoder(); ///< handlers of simd_level()
  explicit Decoder(Simd level);
  ~Decoder();
  /// Decodes the instruction whose bytes start at `bytes` and which sits at address `pc`. An
  /// encoding LLVM rejects, or a mnemonic without a handler, gives an Op whose handler stops with
  /// the instruction's text when it is executed (not when it is decoded). Not thread-safe.
  Op decode(std::span<const std::byte> bytes, std::uint64_t pc);
  /// LLVM's text of the instruction, e.g. "v_add_f32_e32 v0, s0, v1".
  std::string text(std::span<const std::byte> bytes, std::uint64_t pc);

private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

} // namespace wavesim
