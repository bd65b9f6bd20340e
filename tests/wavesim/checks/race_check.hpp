// `race`: bytes of LDS that two waves of a workgroup touch, at least one of them writing, with no
// barrier that orders the two.
//
// Time is cut at barriers. A barrier orders an access before what follows only if its wave waited
// for the access first; an access still outstanding at the barrier belongs to the next interval,
// too. Two accesses of different waves in one interval are unordered, whichever ran first here. So
// accesses are only noted while they run, and looked at one by one when the interval ends, if it
// was suspicious at all (lds_owners.hpp).
#pragma once

#include "checks/lds_addresses.hpp"
#include "checks/lds_owners.hpp"
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
  /// Notes an access of `bytes` a lane at the addresses of `row`, which was filled for `lanes`;
  /// `data`: rows of dwords a write stores (null: values are not known).
  void note(const Wave& wave, const OpFacts& facts, Kind kind, unsigned bytes, const LdsRow& row,
            std::uint64_t lanes, const std::uint32_t* data, std::uint32_t ticket);
  /// All waves stand at a barrier. `outstanding`: by wave.
  void barrier(const Workgroup& group, const std::vector<Outstanding>& outstanding);
  void end(const Workgroup& group);

private:
  struct Entry {
    const Op* op = nullptr;
    std::uint64_t lanes = 0;
    std::size_t rows = 0; ///< index into rows_: addresses (not of a run), then data
    std::uint32_t lowest = 0, highest = 0; ///< address; of a run: of lane 0 and lane 63
    std::uint32_t ticket = 0;
    Kind kind = Kind::read;
    std::uint8_t wave = 0, bytes = 0, low_bits = 0;
    bool has_data = false, run = false;
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
  std::uint32_t address_of(const Entry& e, unsigned lane) const {
    return e.run ? e.lowest + lane * e.bytes : rows_[e.rows + lane];
  }
  /// Rows of data stand behind the row of addresses.
  static std::size_t data_of(const Entry& e) { return e.rows + (e.run ? 0 : lanes); }
  static std::size_t rows_of(const Entry& e) {
    return (e.run ? 0u : 1u) + (e.has_data ? (e.bytes + 3u) / 4 : 0u);
  }
  void look_at(const Entry& e);
  LdsSpan span_of(const Entry& e) const;
  bool suspicious();
  void report_pairs(const Workgroup& group);

  /// Rows of 64 dwords, not initialised.
  class RowStore {
  public:
    void clear() { used_ = 0; }
    std::size_t size() const { return used_; }
    std::uint32_t& operator[](std::size_t i) { return data_[i]; }
    const std::uint32_t& operator[](std::size_t i) const { return data_[i]; }
    /// Room for so many rows; returns the index of the first.
    std::size_t add(std::size_t rows);

  private:
    std::unique_ptr<std::uint32_t[]> data_;
    std::size_t used_ = 0, capacity_ = 0;
  };

  std::vector<Entry> entries_;
  RowStore rows_;
  LdsOwners owners_;
  std::vector<Stamp> written_, by_atomics_; ///< by granule of LDS
  std::vector<std::uint32_t> touched_;
  std::uint32_t lds_bytes_ = 0;
  bool several_waves_ = false;
  bool fine_ = false; ///< not only whole aligned dwords
  bool writes_ = false, atomics_ = false;
  struct Pair;
  std::vector<Pair> pairs_;
};

} // namespace wavesim
