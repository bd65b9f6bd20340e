// `race`: bytes of LDS that two waves of a workgroup touch, at least one of them writing, with no
// barrier that orders the two.
//
// Time is cut at barriers. A barrier orders an access before what follows only if its wave waited
// for the access first; an access still outstanding at the barrier belongs to the next interval,
// too. Two accesses of different waves in one interval are unordered, whichever ran first here. So
// accesses are only noted while they run, and looked at when the interval ends: most intervals hold
// nothing but reads and cost next to nothing.
#pragma once

#include "checks/outstanding.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace wavesim {

struct Wave;
struct Workgroup;

class RaceCheck {
public:
  RaceCheck();
  ~RaceCheck();
  void start(const Workgroup& group);
  enum class Kind : std::uint8_t { read, write, atomic };
  /// Notes an access: LDS byte address of each lane of `lanes`; `data`: rows of dwords a write
  /// stores (null: values are not known).
  void note(const Wave& wave, const OpFacts& facts, Kind kind, unsigned bytes,
            const std::uint32_t* address, std::uint64_t lanes, const std::uint32_t* data,
            std::uint32_t ticket);
  /// All waves stand at a barrier. `outstanding`: by wave.
  void barrier(const Workgroup& group, const std::vector<Outstanding>& outstanding);
  void end(const Workgroup& group);

private:
  struct Entry {
    const Op* op = nullptr;
    std::uint64_t lanes = 0;
    std::size_t rows = 0; ///< index into rows_: addresses, then data
    std::uint32_t ticket = 0;
    Kind kind = Kind::read;
    std::uint8_t wave = 0, bytes = 0;
    bool has_data = false;
    bool carried = false; ///< already looked at in the interval before
  };
  struct Stamp { ///< who touched a granule in this interval: entry + 1; a second one of another
                 ///< wave
    std::uint32_t first = 0, second = 0;
  };
  void examine(const Workgroup& group);
  template <unsigned Granule>
  void examine_by(const Workgroup& group);
  template <unsigned Granule, class Visit>
  void for_each_granule(const Entry& e, Visit&& visit) const;
  void conflict(const Workgroup& group, const Entry& here, unsigned lane, std::uint32_t address,
                const Entry& other);
  bool same_value(const Entry& a, unsigned lane_a, const Entry& b, unsigned lane_b,
                  std::uint32_t byte) const;
  std::uint32_t address_of(const Entry& e, unsigned lane) const { return rows_[e.rows + lane]; }
  void report_pairs(const Workgroup& group);

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> rows_;
  std::vector<Stamp> writes_, atomics_; ///< by granule of LDS
  std::vector<std::uint32_t> touched_;
  std::uint32_t lds_bytes_ = 0;
  bool several_waves_ = false, any_write_ = false, fine_ = false;
  std::uint32_t writers_ = 0, all_waves_ = 0; ///< waves that wrote, that touched LDS
  struct Pair;
  std::vector<Pair> pairs_;
};

} // namespace wavesim
