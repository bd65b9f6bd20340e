// Which wave wrote each unit of LDS between two barriers: a quick answer to "may two waves be in
// each other's way?", without saying where. Most intervals need no more than a look at whole
// dwords; where waves share dwords, a look at bytes is exact.
#pragma once

#include "machine/wave.hpp"

#include <cstdint>
#include <vector>

namespace wavesim {

/// One access of all lanes of a wave; several lanes may have the same address.
struct LdsSpan {
  const std::uint32_t* at = nullptr; ///< addresses; of a run: null
  std::uint32_t lowest = 0, highest = 0;
  std::uint8_t bytes = 0;
  std::uint8_t low_bits = 0; ///< as in LdsRow
  std::uint8_t wave = 0;
  bool run = false; ///< lane i is at lowest + i * bytes
};

/// `Unit`: 4 or 1 bytes. All writes of an interval come first, then all atomics, then all reads.
template <unsigned Unit>
class LdsOwners {
public:
  /// Nobody has touched anything.
  void clear(std::uint32_t lds_bytes);
  /// The wave writes. False: so may another one have.
  bool write(const LdsSpan& span);
  /// The wave reads and writes, which atomics of others do not mind. False: another wave may have
  /// written there.
  bool atomic(const LdsSpan& span);
  /// The wave reads. False: another one may have written there.
  bool read(const LdsSpan& span) const;

private:
  bool inside(const LdsSpan& span) const {
    return std::uint64_t{span.highest} + span.bytes <= lds_bytes_;
  }
  void touch(const LdsSpan& span);

  std::vector<std::uint8_t> writer_;    ///< by unit: 0 for nobody, or a number of the wave
  std::vector<std::uint8_t> adders_;    ///< by unit: the numbers of all that changed it atomically
  std::uint32_t begin_ = ~0u, end_ = 0; ///< units that were written
  bool atomics_ = false;
  std::uint32_t lds_bytes_ = 0;
};

extern template class LdsOwners<1>;
extern template class LdsOwners<4>;

} // namespace wavesim
