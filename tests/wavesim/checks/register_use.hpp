// Which registers an instruction reads and writes, as LLVM's instruction descriptions have it:
// nothing here depends on how the executor implements the instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace wavesim {

/// One bit per vector register: VGPRs 0…255, then AGPRs.
struct VectorSet {
  std::uint64_t word[8] = {};
  static constexpr unsigned agpr0 = 256;
  void add(unsigned r) { word[r / 64] |= std::uint64_t{1} << r % 64; }
  void remove(unsigned r) { word[r / 64] &= ~(std::uint64_t{1} << r % 64); }
  bool has(unsigned r) const { return word[r / 64] >> r % 64 & 1; }
  bool empty() const {
    std::uint64_t any = 0;
    for (const std::uint64_t w : word)
      any |= w;
    return any == 0;
  }
  bool meets(const VectorSet& other) const {
    std::uint64_t any = 0;
    for (unsigned i = 0; i < 8; ++i)
      any |= word[i] & other.word[i];
    return any != 0;
  }
  VectorSet& operator|=(const VectorSet& other) {
    for (unsigned i = 0; i < 8; ++i)
      word[i] |= other.word[i];
    return *this;
  }
  template <class F>
  void for_each(F&& f) const {
    for (unsigned i = 0; i < 8; ++i)
      for (std::uint64_t w = word[i]; w; w &= w - 1)
        f(64 * i + static_cast<unsigned>(__builtin_ctzll(w)));
  }
};

/// One bit per scalar operand code 0…127 (VCC 106, M0 124, EXEC 126).
struct ScalarSet {
  std::uint64_t word[2] = {};
  void add(unsigned r) { word[r / 64] |= std::uint64_t{1} << r % 64; }
  void remove(unsigned r) { word[r / 64] &= ~(std::uint64_t{1} << r % 64); }
  bool has(unsigned r) const { return word[r / 64] >> r % 64 & 1; }
  bool empty() const { return (word[0] | word[1]) == 0; }
  bool meets(const ScalarSet& other) const {
    return ((word[0] & other.word[0]) | (word[1] & other.word[1])) != 0;
  }
  ScalarSet& operator|=(const ScalarSet& other) {
    word[0] |= other.word[0];
    word[1] |= other.word[1];
    return *this;
  }
  template <class F>
  void for_each(F&& f) const {
    for (unsigned i = 0; i < 2; ++i)
      for (std::uint64_t w = word[i]; w; w &= w - 1)
        f(64 * i + static_cast<unsigned>(__builtin_ctzll(w)));
  }
};

struct RegisterUse {
  VectorSet reads, writes;
  VectorSet kept; ///< "read" only because a part of the destination stays as it is
  ScalarSet scalar_reads, scalar_writes;
  bool reads_scc = false, writes_scc = false;
};

class RegisterReader {
public:
  RegisterReader();
  ~RegisterReader();
  /// Of the instruction that `bytes` begin with.
  RegisterUse read(std::span<const std::byte> bytes, std::uint64_t pc);

private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

} // namespace wavesim
