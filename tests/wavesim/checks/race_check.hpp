// `race`: bytes of LDS that two waves of a workgroup touch, at least one of them writing, with no
// barrier that orders the two.
//
// Time is cut at barriers. A barrier orders an access before what follows only if its wave waited
// for the access first; an access still outstanding at the barrier belongs to the next interval,
// too. Two accesses of different waves in one interval are unordered, whichever ran first here. So
// accesses are only noted while they run, and looked at when the interval ends: whether two waves
// met at all (lds_owners.hpp), by dword and then, where they shared dwords, by byte; and only if
// they did, lane by lane to say where.
#pragma once

#include "checks/lds_addresses.hpp"
#include "checks/lds_owners.hpp"
#include "checks/outstanding.hpp"

#include <cstdint>
#include <memory>
#include <unordered_map>
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
    bool mixed = false;   ///< a write of different values to one place
  };
  /// Who touched a granule in this interval: (entry + 1) * lanes + lane, and 0 for nobody.
  using Touch = std::uint32_t;
  struct Stamp {
    Touch first = 0, second = 0; ///< the second one of another wave
  };
  struct Pair;
  void examine(const Workgroup& group);
  template <unsigned Granule>
  void examine_by();
  template <unsigned Granule, class Visit>
  void for_each_granule(const Entry& e, Visit&& visit) const;
  void conflict(const Entry& here, unsigned lane, Touch other, std::uint32_t byte, unsigned bytes);
  Pair& pair_of(const Entry& here, const Entry& other, std::uint32_t byte);
  bool same_value(const Entry& a, unsigned lane_a, const Entry& b, unsigned lane_b,
                  std::uint32_t byte) const;
  const Entry& entry_of(Touch touch) const { return entries_[touch / lanes - 1]; }
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
  template <unsigned Unit>
  bool waves_meet(LdsOwners<Unit>& owners) const;
  void report_pairs(const Workgroup& group);

  /// Rows of 64 dwords, not initialised; the index is one of dwords.
  class RowStore {
  public:
    void clear() { used_ = 0; }
    std::size_t size() const { return used_ * lanes; }
    std::uint32_t& operator[](std::size_t i) { return data_[i / lanes].lane[i % lanes]; }
    const std::uint32_t& operator[](std::size_t i) const {
      return data_[i / lanes].lane[i % lanes];
    }
    /// Room for so many rows; returns the index of the first.
    std::size_t add(std::size_t rows);

  private:
    struct alignas(64) Row { // copies cross no cache lines
      LaneRow lane;
    };
    std::unique_ptr<Row[]> data_;
    std::size_t used_ = 0, capacity_ = 0;
  };

  std::vector<Entry> entries_;
  RowStore rows_;
  LdsOwners<4> dwords_;
  LdsOwners<1> bytes_;
  std::vector<Stamp> written_, by_atomics_; ///< by granule of LDS
  std::vector<std::uint32_t> touched_;
  std::uint32_t lds_bytes_ = 0;
  bool several_waves_ = false;
  bool fine_ = false; ///< not only whole aligned dwords
  bool writes_ = false, atomics_ = false;
  std::vector<Pair> pairs_;
  std::unordered_map<std::uint64_t, std::size_t> pair_index_; ///< by instructions and waves
};

} // namespace wavesim
