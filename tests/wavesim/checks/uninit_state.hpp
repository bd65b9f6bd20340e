// Definedness of one wave's registers and private memory.
#pragma once

#include "checks/op_facts.hpp"
#include "machine/wave.hpp"

#include <vector>

namespace wavesim {

class UninitState {
public:
  using Mask = std::uint64_t;

  /// Lanes of a vector register that are defined; numbers as in VectorSet.
  Mask v(unsigned r) const { return v_[r]; }
  void set_v(unsigned r, Mask defined) {
    v_[r] = defined;
    if (~defined)
      partial_.add(r);
    else
      partial_.remove(r);
  }
  /// Bits of a scalar register that are defined, by scalar code.
  std::uint32_t s(unsigned code) const { return s_[code]; }
  void set_s(unsigned code, std::uint32_t defined) {
    s_[code] = defined;
    if (~defined)
      partial_scalars_.add(code);
    else
      partial_scalars_.remove(code);
  }
  Mask pair(unsigned code) const { return s_[code] | Mask{s_[code + 1]} << 32; }
  void set_pair(unsigned code, Mask x) {
    set_s(code, static_cast<std::uint32_t>(x));
    set_s(code + 1, static_cast<std::uint32_t>(x >> 32));
  }
  /// Registers that are not defined as a whole.
  const VectorSet& partial() const { return partial_; }
  const ScalarSet& partial_scalars() const { return partial_scalars_; }

  std::uint64_t origin[2 * VectorSet::agpr0] =
      {}; ///< pc where an undefined value came up; 0: never written
  std::uint64_t s_origin[128] = {};
  bool scc = true;
  std::vector<std::uint8_t> scratch; ///< by dword * lanes + lane: one bit for each of 4 bytes
  std::size_t scratch_used = 0;

private:
  Mask v_[2 * VectorSet::agpr0] = {};
  std::uint32_t s_[128] = {};
  VectorSet partial_;
  ScalarSet partial_scalars_;
};

} // namespace wavesim
