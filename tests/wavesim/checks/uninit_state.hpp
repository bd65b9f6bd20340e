// Definedness of one wave's registers and private memory.
#pragma once

#include "checks/op_facts.hpp"
#include "machine/wave.hpp"

#include <vector>

namespace wavesim {

struct UninitState {
  using Mask = std::uint64_t;

  Mask v[2 * VectorSet::agpr0] = {}; ///< by VectorSet number: lanes that are defined
  std::uint64_t origin[2 * VectorSet::agpr0] =
      {};                    ///< pc where an undefined value came up; 0: never written
  std::uint32_t s[128] = {}; ///< by scalar code: bits that are defined
  std::uint64_t s_origin[128] = {};
  bool scc = true;
  std::vector<std::uint8_t> scratch; ///< by dword * lanes + lane: one bit for each of 4 bytes
  std::size_t scratch_used = 0;

  Mask pair(unsigned code) const { return s[code] | Mask{s[code + 1]} << 32; }
  void set_pair(unsigned code, Mask x) {
    s[code] = static_cast<std::uint32_t>(x);
    s[code + 1] = static_cast<std::uint32_t>(x >> 32);
  }
};

} // namespace wavesim
