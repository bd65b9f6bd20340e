#include "checks/race_check.hpp"

#include "checks/findings.hpp"
#include "machine/wave.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <immintrin.h>

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

/// AVX2 is there: wavesim needs it.
[[gnu::target("avx2")]] inline void copy_row(std::uint32_t* to, const std::uint32_t* from) {
  for (unsigned lane = 0; lane < lanes; lane += 8)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + lane),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + lane)));
}

template <class F>
void for_each_lane(std::uint64_t mask, F&& f) {
  for (; mask; mask &= mask - 1)
    f(static_cast<unsigned>(__builtin_ctzll(mask)));
}

} // namespace

/// Conflicts of two waves at two instructions, joined before they are reported. The lanes are those
/// of the first two entries.
struct RaceCheck::Pair {
  const Entry* here = nullptr;
  const Entry* other = nullptr;
  std::uint64_t lanes = 0, other_lanes = 0;
  std::uint32_t address = 0;
  bool same = true;
};

RaceCheck::RaceCheck() = default;
RaceCheck::~RaceCheck() = default;

std::size_t RaceCheck::RowStore::add(std::size_t rows) {
  const std::size_t first = used_;
  if (used_ + rows > capacity_) {
    capacity_ = std::max({2 * capacity_, used_ + rows, std::size_t{256}});
    auto larger = std::make_unique_for_overwrite<Row[]>(capacity_);
    std::copy_n(data_.get(), used_, larger.get());
    data_ = std::move(larger);
  }
  used_ += rows;
  return first * lanes;
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

/// Whether two waves may be in each other's way.
template <unsigned Unit>
bool RaceCheck::waves_meet(LdsOwners<Unit>& owners) const {
  owners.clear(lds_bytes_);
  for (const Entry& e : entries_)
    if (e.kind == Kind::write && !owners.write(span_of(e)))
      return true;
  for (const Entry& e : entries_)
    if (e.kind == Kind::atomic && !owners.atomic(span_of(e)))
      return true;
  for (const Entry& e : entries_)
    if (e.kind == Kind::read && !owners.read(span_of(e)))
      return true;
  return false;
}

[[gnu::target("avx2")]] void RaceCheck::note(const Wave& wave, const OpFacts& facts, Kind kind,
                                             unsigned bytes, const LdsRow& row, std::uint64_t mask,
                                             const std::uint32_t* data, std::uint32_t ticket) {
  if (!several_waves_)
    return;
  if (rows_.size() > most_rows || entries_.size() > most_rows / lanes) {
    examine(*wave.group);
    start(*wave.group);
  }
  const unsigned data_rows = data ? (bytes + 3) / 4 : 0, address_rows = row.run ? 0 : 1;
  const std::size_t first = rows_.add(address_rows + data_rows);
  std::uint32_t* to = data_rows + address_rows ? &rows_[first] : nullptr;
  if (address_rows)
    copy_row(to, row.addresses());
  to += address_rows * lanes;
  for (unsigned i = 0; i < data_rows * lanes; i += lanes)
    copy_row(to + i, data + i);
  entries_.push_back({.op = facts.op,
                      .lanes = mask,
                      .rows = first,
                      .lowest = row.lowest,
                      .highest = row.highest,
                      .ticket = ticket,
                      .kind = kind,
                      .wave = wave.index,
                      .bytes = static_cast<std::uint8_t>(bytes),
                      .low_bits = static_cast<std::uint8_t>(row.low_bits & 15),
                      .has_data = data != nullptr,
                      .run = row.run});
  fine_ |= ((row.low_bits | bytes) & 3) != 0;
  writes_ |= kind == Kind::write;
  atomics_ |= kind == Kind::atomic;
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

RaceCheck::Pair& RaceCheck::pair_of(const Entry& here, const Entry& other, std::uint32_t byte) {
  if (!pairs_.empty() && pairs_.back().here == &here && pairs_.back().other == &other)
    return pairs_.back();
  std::uint64_t key = reinterpret_cast<std::uintptr_t>(here.op);
  for (const std::uint64_t x :
       {std::uint64_t{reinterpret_cast<std::uintptr_t>(other.op)},
        std::uint64_t{here.wave} << 10 | std::uint64_t{other.wave} << 2 |
            std::uint64_t{here.carried} << 1 | std::uint64_t{other.carried}})
    key = (key ^ x) * 0x9e3779b97f4a7c15u;
  const auto [at, added] = pair_index_.try_emplace(key, pairs_.size());
  if (added)
    pairs_.push_back({&here, &other, 0, 0, byte, true});
  return pairs_[at->second];
}

/// `lane` of an entry and a lane of an earlier one touch the `bytes` at `byte`.
void RaceCheck::conflict(const Entry& here, unsigned lane, Touch touch, std::uint32_t byte,
                         unsigned bytes) {
  const Entry& other = entry_of(touch);
  const unsigned other_lane = touch % lanes;
  if (here.carried && other.carried)
    return;
  Pair& pair = pair_of(here, other, byte);
  for (std::uint32_t i = byte; i < byte + bytes; ++i)
    pair.same = pair.same && same_value(here, lane, other, other_lane, i);
  pair.same = pair.same && !other.mixed;
  if (pair.here != &here || pair.other != &other)
    return;
  pair.lanes |= std::uint64_t{1} << lane;
  pair.other_lanes |= std::uint64_t{1} << other_lane;
}

template <unsigned Granule>
void RaceCheck::examine_by() {
  const std::size_t granules = (lds_bytes_ + Granule - 1) / Granule + 16;
  if (written_.size() < granules) {
    written_.resize(granules);
    by_atomics_.resize(granules);
  }
  const auto meet = [&](const Stamp& s, const Entry& e, unsigned lane, std::uint32_t granule) {
    for (const Touch touch : {s.first, s.second})
      if (touch != 0 && entry_of(touch).wave != e.wave) [[unlikely]]
        conflict(e, lane, touch, granule * Granule, Granule);
  };
  const auto leave = [&](Stamp& s, Entry& e, Touch mine, std::uint32_t granule) {
    if (s.first == 0) {
      s.first = mine;
      touched_.push_back(granule);
    } else if (entry_of(s.first).wave != e.wave) {
      s.second = mine;
    } else if (s.first / lanes != mine / lanes) {
      s.first = mine;
    } else { // another lane of the same instruction
      for (std::uint32_t i = granule * Granule; i < (granule + 1) * Granule; ++i)
        e.mixed |= !same_value(e, s.first % lanes, e, mine % lanes, i);
    }
  };
  const auto pass = [&](Kind kind, auto&& visit) {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i].kind == kind)
        for_each_granule<Granule>(entries_[i], [&](unsigned lane, std::uint32_t granule) {
          visit(entries_[i], static_cast<Touch>((i + 1) * lanes + lane), lane, granule);
        });
  };
  pass(Kind::write, [&](Entry& e, Touch mine, unsigned lane, std::uint32_t granule) {
    meet(written_[granule], e, lane, granule);
    leave(written_[granule], e, mine, granule);
  });
  pass(Kind::atomic, [&](Entry& e, Touch mine, unsigned lane, std::uint32_t granule) {
    meet(written_[granule], e, lane, granule);
    leave(by_atomics_[granule], e, mine, granule);
  });
  pass(Kind::read, [&](Entry& e, Touch, unsigned lane, std::uint32_t granule) {
    meet(written_[granule], e, lane, granule);
    if (atomics_)
      meet(by_atomics_[granule], e, lane, granule);
  });
  for (const std::uint32_t granule : touched_)
    written_[granule] = by_atomics_[granule] = Stamp{};
  touched_.clear();
}

void RaceCheck::report_pairs(const Workgroup& group) {
  for (const Pair& p : pairs_) {
    const bool same = p.same && !p.here->mixed && !p.other->mixed;
    Sighting s;
    s.check = Check::race;
    s.failing = !same;
    s.what = same ? "two waves write the same value to LDS without a barrier that orders them"
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
  pair_index_.clear();
}

void RaceCheck::examine(const Workgroup& group) {
  if (!writes_ && !atomics_)
    return;
  if (!waves_meet(dwords_) || (fine_ && !waves_meet(bytes_)))
    return;
  if (fine_)
    examine_by<1>();
  else
    examine_by<4>();
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
      const std::size_t count = rows_of(e); // none: its place may be one past the store
      const std::uint32_t* const kept = count != 0 ? &rows_[e.rows] : nullptr;
      e.carried = true;
      carried.push_back(e);
      if (count != 0)
        rows.insert(rows.end(), kept, kept + count * lanes);
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
