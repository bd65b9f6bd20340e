// Which wave wrote each dword of LDS between two barriers: a quick answer to "may two waves be in
// each other's way?", for whole dwords and without saying where. Most intervals need no more.
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

class LdsOwners {
public:
  /// Nobody has written anything.
  void clear(std::uint32_t lds_bytes);
  /// The wave writes. False: so may another one have.
  bool write(const LdsSpan& span);
  /// The wave reads, in an interval all writes of which are known. False: another one may have
  /// written there.
  bool read(const LdsSpan& span) const;

private:
  template <class Group>
  bool write_lanes(const LdsSpan& span, unsigned skip, std::uint8_t owner);
  template <class Group>
  bool read_lanes(const LdsSpan& span, unsigned skip, std::uint8_t owner) const;
  bool write_run(std::uint32_t first, std::uint32_t count, std::uint8_t owner);
  bool read_run(std::uint32_t first, std::uint32_t count, std::uint8_t owner) const;

  std::vector<std::uint8_t> writer_;    ///< by dword: 0 for nobody, or a number of the wave
  std::uint32_t begin_ = ~0u, end_ = 0; ///< dwords that were written
  std::uint32_t lds_bytes_ = 0;
};

} // namespace wavesim
