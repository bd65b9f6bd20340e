// What of a kernel fits one compute unit at a time, and what stands in the way of more.
#pragma once

#include <cstdint>

namespace wavesim {

struct Kernel;

struct Residency {
  unsigned registers = 0; ///< of one lane, as allocated
  /// Of these, what the code uses. Where LDS allows few waves only, compilers ask for all registers
  /// that so many leave.
  unsigned used_registers = 0;
  std::uint32_t lds = 0; ///< of one workgroup, as allocated
  unsigned waves = 1;    ///< of one workgroup
  unsigned groups = 0;   ///< that fit one compute unit; 0: not even one
  enum class Limit : std::uint8_t { waves, registers, lds } limit = Limit::waves;

  /// Waves that share a SIMD, rounded up.
  unsigned waves_per_simd() const;
};

const char* limit_name(Residency::Limit limit);

Residency residency(const Kernel& kernel, unsigned threads, std::uint32_t dynamic_lds);

} // namespace wavesim
