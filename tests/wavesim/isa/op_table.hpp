// Registry from base mnemonic to OpInfo. Each family file of exec/ adds its entries once per SIMD
// level; `select_simd` picks the level at start-up (AVX2 is required, AVX-512 used when present).
#pragma once

#include "isa/op.hpp"

#include <string_view>
#include <unordered_map>

namespace wavesim {

class OpTable {
public:
  void add(const OpInfo& info); ///< out of line: exec/ must not compile library code for its level
  const OpInfo* find(std::string_view mnemonic) const {
    auto it = entries_.find(mnemonic);
    return it == entries_.end() ? nullptr : &it->second;
  }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

private:
  std::unordered_map<std::string_view, OpInfo> entries_;
};

enum class Simd { avx2, avx512 };

/// The level in use: the best the host has, or WAVESIM_SIMD=avx2|avx512 from the environment.
Simd simd_level();

/// The table of that level, filled on first use (thread-safe).
const OpTable& op_table();
const OpTable& op_table(Simd level);

// exec/ is compiled once per level into these namespaces (WAVESIM_SIMD_NS is the macro).
// One function per family file.
#define WAVESIM_FAMILIES(X)                                                                        \
  X(salu) X(smem) X(valu) X(vop3p) X(mfma) X(lds) X(global) X(buffer) X(message)
#define WAVESIM_DECLARE_FAMILY(name) void register_##name(OpTable&);
namespace avx2 {
WAVESIM_FAMILIES(WAVESIM_DECLARE_FAMILY)
}
namespace avx512 {
WAVESIM_FAMILIES(WAVESIM_DECLARE_FAMILY)
}
#undef WAVESIM_DECLARE_FAMILY

} // namespace wavesim
