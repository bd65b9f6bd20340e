#include "checks/race_check.hpp"

#include "checks/findings.hpp"
#include "machine/wave.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace wavesim {

namespace {

/// Rows kept for one interval at most (32 MiB): a kernel that never meets a barrier is looked at in
/// parts. Accesses of different parts are then not compared.
constexpr std::size_t most_rows = std::size_t{8} << 20;

const char* role_of(RaceCheck::Kind kind) {
  switch (kind) {
  case RaceCheck::Kind::read:
    return "read";
  case RaceCheck::Kind::write:
    return "write";
  case RaceCheck::Kind::atomic:
    return "atomic";
  }
  return "";
}

/// In halves: copies as short as that need no call.
void copy_row(std::uint32_t* to, const std::uint32_t* from) {
  std::memcpy(to, from, sizeof(LaneRow) / 2);
  std::memcpy(to + lanes / 2, from + lanes / 2, sizeof(LaneRow) / 2);
}

template <class F>
void for_each_lane(std::uint64_t mask, F&& f) {
  for (; mask; mask &= mask - 1)
    f(static_cast<unsigned>(__builtin_ctzll(mask)));
}

} // namespace

/// Conflicts of two entries, joined before they are reported.
struct RaceCheck::Pair {
  const Entry* here = nullptr;
  const Entry* other = nullptr;
  std::uint64_t lanes = 0, other_lanes = 0;
  std::uint32_t address = 0;
  bool same = false;
};

RaceCheck::RaceCheck() = default;
RaceCheck::~RaceCheck() = default;

std::size_t RaceCheck::RowStore::add(std::size_t rows) {
  const std::size_t first = used_, needed = used_ + rows * lanes;
  if (needed > capacity_) {
    capacity_ = std::max(2 * capacity_, std::max(needed, std::size_t{256} * lanes));
    auto larger = std::make_unique_for_overwrite<std::uint32_t[]>(capacity_);
    if (used_ != 0)
      std::memcpy(larger.get(), data_.get(), used_ * sizeof(std::uint32_t));
    data_ = std::move(larger);
  }
  used_ = needed;
  return first;
}

void RaceCheck::start(const Workgroup& group) {
  entries_.clear();
  rows_.clear();
  several_waves_ = group.wave_count > 1;
  fine_ = writes_ = atomics_ = false;
  lds_bytes_ = group.lds_bytes;
}

/// What the interval holds, with one entry more.
void RaceCheck::look_at(const Entry& e) {
  fine_ |= ((e.low_bits | e.bytes) & 3) != 0;
  writes_ |= e.kind == Kind::write;
  atomics_ |= e.kind == Kind::atomic;
}

LdsSpan RaceCheck::span_of(const Entry& e) const {
  return {
      e.run ? nullptr : &rows_[e.rows], e.lowest, e.highest, e.bytes, e.low_bits, e.wave, e.run};
}

/// Whether the interval is worth a look at single lanes: two waves may be in each other's way.
bool RaceCheck::suspicious() {
  if (atomics_)
    return true;
  if (!writes_)
    return false;
  owners_.clear(lds_bytes_);
  for (const Entry& e : entries_)
    if (e.kind == Kind::write && !owners_.write(span_of(e)))
      return true;
  for (const Entry& e : entries_)
    if (e.kind == Kind::read && !owners_.read(span_of(e)))
      return true;
  return false;
}

void RaceCheck::note(const Wave& wave, const OpFacts& facts, Kind kind, unsigned bytes,
                     const LdsRow& row, std::uint64_t mask, const std::uint32_t* data,
                     std::uint32_t ticket) {
  if (!several_waves_)
    return;
  if (rows_.size() > most_rows || entries_.size() > most_rows / lanes) {
    examine(*wave.group);
    start(*wave.group);
  }
  Entry& e = entries_.emplace_back();
  e.op = facts.op;
  e.lanes = mask;
  e.lowest = row.lowest;
  e.highest = row.highest;
  e.low_bits = static_cast<std::uint8_t>(row.low_bits & 15);
  e.ticket = ticket;
  e.kind = kind;
  e.wave = wave.index;
  e.bytes = static_cast<std::uint8_t>(bytes);
  e.has_data = data != nullptr;
  e.run = row.run;
  e.rows = rows_.add(rows_of(e));
  if (!e.run)
    copy_row(&rows_[e.rows], row.at);
  for (unsigned i = 0; data && i < (bytes + 3) / 4; ++i)
    copy_row(&rows_[data_of(e) + i * lanes], data + i * lanes);
  look_at(e);
}

template <unsigned Granule, class Visit>
void RaceCheck::for_each_granule(const Entry& e, Visit&& visit) const {
  const unsigned count = std::max(e.bytes / Granule, 1u);
  for_each_lane(e.lanes, [&](unsigned lane) {
    const std::uint32_t at = address_of(e, lane);
    if (std::uint64_t{at} + e.bytes > lds_bytes_)
      return; // touches nothing
    const std::uint32_t first = at / Granule;
    for (unsigned i = 0; i < count; ++i)
      visit(lane, first + i);
  });
}

bool RaceCheck::same_value(const Entry& a, unsigned lane_a, const Entry& b, unsigned lane_b,
                           std::uint32_t byte) const {
  if (a.kind != Kind::write || b.kind != Kind::write || !a.has_data || !b.has_data)
    return false;
  const auto value = [&](const Entry& e, unsigned lane) {
    const std::uint32_t i = byte - address_of(e, lane);
    return rows_[data_of(e) + lanes * (i / 4) + lane] >> 8 * (i % 4) & 0xff;
  };
  return value(a, lane_a) == value(b, lane_b);
}

/// Joins lanes of one pair of instructions; finds the other side's lane and compares values.
void RaceCheck::conflict(const Workgroup&, const Entry& here, unsigned lane, std::uint32_t address,
                         const Entry& other) {
  if (here.carried && other.carried)
    return;
  // The lowest byte that both touch, and a lane of the other side that touches it.
  unsigned other_lane = lanes;
  std::uint32_t byte = address;
  bool same = true;
  const std::uint32_t begin = address_of(here, lane), end = begin + here.bytes;
  for_each_lane(other.lanes, [&](unsigned l) {
    const std::uint32_t b = address_of(other, l);
    if (b >= end || b + other.bytes <= begin)
      return;
    const std::uint32_t from = std::max(begin, b), to = std::min(end, b + other.bytes);
    for (std::uint32_t i = from; i < to; ++i)
      same &= same_value(here, lane, other, l, i);
    if (other_lane == lanes) {
      other_lane = l;
      byte = from;
    }
  });
  if (other_lane == lanes)
    return;
  auto pair = std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair& p) {
    return p.here == &here && p.other == &other && p.same == same;
  });
  if (pair == pairs_.end()) {
    pairs_.push_back({&here, &other, 0, 0, byte, same});
    pair = pairs_.end() - 1;
  }
  pair->lanes |= std::uint64_t{1} << lane;
  pair->other_lanes |= std::uint64_t{1} << other_lane;
}

template <unsigned Granule>
void RaceCheck::examine_by(const Workgroup& group) {
  const std::size_t granules = (lds_bytes_ + Granule - 1) / Granule + 16;
  if (written_.size() < granules) {
    written_.resize(granules);
    by_atomics_.resize(granules);
  }
  const auto other_wave = [&](std::uint32_t stamp, const Entry& e) {
    return stamp != 0 && entries_[stamp - 1].wave != e.wave;
  };
  // Compares with both who left a stamp, then leaves one.
  const auto meet = [&](Stamp& s, const Entry& e, unsigned lane, std::uint32_t granule) {
    if (other_wave(s.first, e)) [[unlikely]]
      conflict(group, e, lane, granule * Granule, entries_[s.first - 1]);
    if (other_wave(s.second, e)) [[unlikely]]
      conflict(group, e, lane, granule * Granule, entries_[s.second - 1]);
  };
  const auto leave = [&](Stamp& s, const Entry& e, std::uint32_t number, std::uint32_t granule) {
    if (s.first == 0) {
      s.first = number;
      touched_.push_back(granule);
    } else if (entries_[s.first - 1].wave == e.wave) {
      s.first = number;
    } else {
      s.second = number;
    }
  };
  const auto pass = [&](Kind kind, auto&& visit) {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i].kind == kind)
        for_each_granule<Granule>(entries_[i], [&](unsigned lane, std::uint32_t granule) {
          visit(entries_[i], static_cast<std::uint32_t>(i + 1), lane, granule);
        });
  };
  pass(Kind::write, [&](const Entry& e, std::uint32_t n, unsigned lane, std::uint32_t granule) {
    meet(written_[granule], e, lane, granule);
    leave(written_[granule], e, n, granule);
  });
  bool atomics = false;
  pass(Kind::atomic, [&](const Entry& e, std::uint32_t n, unsigned lane, std::uint32_t granule) {
    atomics = true;
    meet(written_[granule], e, lane, granule);
    leave(by_atomics_[granule], e, n, granule);
  });
  pass(Kind::read, [&](const Entry& e, std::uint32_t, unsigned lane, std::uint32_t granule) {
    meet(written_[granule], e, lane, granule);
    if (atomics) [[unlikely]]
      meet(by_atomics_[granule], e, lane, granule);
  });
  for (const std::uint32_t granule : touched_)
    written_[granule] = by_atomics_[granule] = Stamp{};
  touched_.clear();
}

void RaceCheck::report_pairs(const Workgroup& group) {
  for (const Pair& p : pairs_) {
    Sighting s;
    s.check = Check::race;
    s.failing = !p.same;
    s.what = p.same ? "two waves write the same value to LDS without a barrier that orders them"
                    : "two waves touch the same bytes of LDS without a barrier that orders them";
    s.group = &group;
    s.here = {role_of(p.here->kind), p.here->op->pc, p.here->wave, p.lanes};
    s.other = {role_of(p.other->kind), p.other->op->pc, p.other->wave, p.other_lanes};
    s.address = p.address;
    s.space = "LDS";
    if (p.here->carried || p.other->carried) {
      const Entry& late = p.here->carried ? *p.here : *p.other;
      s.detail = fmt::format("the {} was not waited for before the barrier (s_waitcnt {}cnt)",
                             role_of(late.kind), late.op->format == Format::ds ? "lgkm" : "vm");
    }
    Findings::instance().add(s);
  }
  pairs_.clear();
}

void RaceCheck::examine(const Workgroup& group) {
  if (!suspicious())
    return;
  if (fine_)
    examine_by<1>(group);
  else
    examine_by<4>(group);
  if (!pairs_.empty()) [[unlikely]]
    report_pairs(group);
}

void RaceCheck::barrier(const Workgroup& group, const std::vector<Outstanding>& outstanding) {
  if (!several_waves_)
    return;
  examine(group);
  // What nobody has waited for goes on into the next interval.
  std::vector<Entry> carried;
  std::vector<std::uint32_t> rows;
  for (Entry& e : entries_)
    if (const Outstanding& of_wave = outstanding[e.wave];
        !(of_wave.vector().empty() && of_wave.lgkm().empty()) && of_wave.has(e.ticket)) {
      const std::uint32_t* const kept = &rows_[e.rows];
      e.carried = true;
      carried.push_back(e);
      rows.insert(rows.end(), kept, kept + rows_of(e) * lanes);
    }
  start(group);
  const std::uint32_t* from = rows.data();
  for (Entry& e : carried) {
    const std::size_t count = rows_of(e);
    e.rows = rows_.add(count);
    if (count != 0)
      std::memcpy(&rows_[e.rows], from, count * sizeof(LaneRow));
    from += count * lanes;
    look_at(e);
    entries_.push_back(e);
  }
}

void RaceCheck::end(const Workgroup& group) {
  if (several_waves_)
    examine(group);
  entries_.clear();
  rows_.clear();
}

} // namespace wavesim
