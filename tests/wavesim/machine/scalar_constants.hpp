// Scalar registers whose value is known without running the code: what compilers use to form the
// address of a function they call (s_getpc, additions, a load from the table of addresses).
#pragma once

#include "isa/op.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace wavesim {

class CodeObject;

class ScalarConstants {
public:
  explicit ScalarConstants(const CodeObject& object) : object_(object) {}
  void clear();
  /// The effect of one instruction, executed after those stepped before it.
  void step(const Op& op);
  /// The 64-bit value of registers [reg, reg + 1].
  std::optional<std::uint64_t> pair(unsigned reg) const;

private:
  using Word = std::optional<std::uint32_t>;
  Word word(const Source& source) const;
  void set(unsigned reg, Word value);
  void set_pair(unsigned reg, std::optional<std::uint64_t> value);
  void forget(unsigned reg, unsigned count);
  void forget_results(const Op& op);

  const CodeObject& object_;
  std::array<Word, 128> words_;
  std::optional<bool> carry_;
};

} // namespace wavesim
