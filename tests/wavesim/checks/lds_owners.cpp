#include "checks/lds_owners.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace wavesim {

namespace {

constexpr std::uint32_t spare = 64;

/// A number for each wave, all with the same number of bits: none is a part of another, so that
/// owners can be ored and still tell whether all of them were one wave or nobody.
constexpr auto owners = [] {
  std::array<std::uint8_t, 16> codes{};
  unsigned next = 0;
  for (unsigned code = 0; next < codes.size(); ++code)
    if (std::popcount(code) == 4)
      codes[next++] = static_cast<std::uint8_t>(code);
  return codes;
}();

/// Units a lane touches: what is not aligned may reach into one more dword.
template <unsigned Unit>
unsigned units_of(const LdsSpan& span) {
  if (Unit == 1)
    return span.bytes;
  const bool split =
      span.bytes < 4 ? span.bytes == 2 && (span.low_bits & 1) : (span.low_bits & 3) != 0;
  return (span.bytes + 3u) / 4 + split;
}

/// Whether a run of such accesses is one of whole units.
template <unsigned Unit>
bool is_whole(const LdsSpan& span) {
  return ((span.low_bits | span.bytes) & (Unit - 1)) == 0;
}

/// The owners of sizeof(Group) units.
template <class Group>
Group load(const std::uint8_t* at) {
  Group g;
  std::memcpy(&g, at, sizeof g);
  return g;
}
template <class Group>
void store(std::uint8_t* at, Group g) {
  std::memcpy(at, &g, sizeof g);
}

template <class Group>
constexpr Group all_of(std::uint8_t owner) {
  return static_cast<Group>(std::numeric_limits<Group>::max() / 0xff * owner);
}

/// What an access does with the owners of a group of units; ors into `seen` who was there.
struct Write {
  std::uint8_t* writers;
  template <class Group>
  void operator()(std::size_t at, Group mine, Group& seen) const {
    seen |= load<Group>(writers + at);
    store(writers + at, mine);
  }
};
struct Add {
  const std::uint8_t* writers;
  std::uint8_t* adders;
  template <class Group>
  void operator()(std::size_t at, Group mine, Group& seen) const {
    seen |= load<Group>(writers + at);
    store<Group>(adders + at, load<Group>(adders + at) | mine);
  }
};
struct Read {
  const std::uint8_t* writers;
  template <class Group>
  void operator()(std::size_t at, Group, Group& seen) const {
    seen |= load<Group>(writers + at);
  }
};
struct ReadBoth {
  const std::uint8_t *writers, *adders;
  template <class Group>
  void operator()(std::size_t at, Group, Group& seen) const {
    seen |= load<Group>(writers + at) | load<Group>(adders + at);
  }
};

/// `visit` for the units of each lane that are `skip` … behind its address. False: others were
/// there.
template <unsigned Unit, class Group, class Visit>
bool by_lanes(const LdsSpan& span, unsigned skip, Visit visit) {
  const auto mine = all_of<Group>(owners[span.wave]);
  Group seen = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    visit(std::size_t{span.at[lane] / Unit} + skip, mine, seen);
  return (seen & ~mine) == 0;
}

/// The same for all units of an access that lies in LDS.
template <unsigned Unit, class Visit>
[[gnu::target("avx2")]] bool by_units(const LdsSpan& span, Visit visit) {
  if (span.run && is_whole<Unit>(span)) {
    using Group = std::uint64_t;
    const auto mine = all_of<Group>(owners[span.wave]);
    const std::size_t first = span.lowest / Unit, count = std::size_t{lanes} * span.bytes / Unit;
    Group seen = 0;
    for (std::size_t at = first; at < first + count; at += sizeof(Group))
      visit(at, mine, seen);
    return (seen & ~mine) == 0;
  }
  LaneRow spelled_out;
  LdsSpan by_lane = span;
  if (span.run) {
    for (unsigned lane = 0; lane < lanes; ++lane)
      spelled_out[lane] = span.lowest + lane * span.bytes;
    by_lane.at = spelled_out;
  }
  bool alone = true;
  const unsigned units = units_of<Unit>(span);
  unsigned skip = 0;
  for (; skip + 8 <= units; skip += 8)
    alone &= by_lanes<Unit, std::uint64_t>(by_lane, skip, visit);
  if (units & 4) {
    alone &= by_lanes<Unit, std::uint32_t>(by_lane, skip, visit);
    skip += 4;
  }
  if (units & 2) {
    alone &= by_lanes<Unit, std::uint16_t>(by_lane, skip, visit);
    skip += 2;
  }
  if (units & 1)
    alone &= by_lanes<Unit, std::uint8_t>(by_lane, skip, visit);
  return alone;
}

} // namespace

template <unsigned Unit>
void LdsOwners<Unit>::clear(std::uint32_t lds_bytes) {
  if (writer_.size() < lds_bytes / Unit + spare) {
    writer_.resize(lds_bytes / Unit + spare);
    adders_.resize(writer_.size());
  }
  if (begin_ < end_) {
    std::memset(&writer_[begin_], 0, end_ - begin_);
    if (atomics_)
      std::memset(&adders_[begin_], 0, end_ - begin_);
  }
  begin_ = ~0u;
  end_ = 0;
  atomics_ = false;
  lds_bytes_ = lds_bytes;
}

template <unsigned Unit>
void LdsOwners<Unit>::touch(const LdsSpan& span) {
  begin_ = std::min(begin_, span.lowest / Unit);
  end_ = std::max(end_, span.highest / Unit + units_of<Unit>(span));
}

// Lanes outside of LDS touch nothing: not worth being quick about. AVX2 is there: wavesim needs it.

template <unsigned Unit>
[[gnu::target("avx2")]] bool LdsOwners<Unit>::write(const LdsSpan& span) {
  if (!inside(span))
    return false;
  touch(span);
  return by_units<Unit>(span, Write{writer_.data()});
}

template <unsigned Unit>
[[gnu::target("avx2")]] bool LdsOwners<Unit>::atomic(const LdsSpan& span) {
  if (!inside(span))
    return false;
  touch(span);
  atomics_ = true;
  return by_units<Unit>(span, Add{writer_.data(), adders_.data()});
}

template <unsigned Unit>
[[gnu::target("avx2")]] bool LdsOwners<Unit>::read(const LdsSpan& span) const {
  if (begin_ >= end_ || span.lowest / Unit >= end_ ||
      (std::uint64_t{span.highest} + span.bytes - 1) / Unit < begin_)
    return true;
  if (!inside(span))
    return false;
  return atomics_ ? by_units<Unit>(span, ReadBoth{writer_.data(), adders_.data()})
                  : by_units<Unit>(span, Read{writer_.data()});
}

template class LdsOwners<1>;
template class LdsOwners<4>;

} // namespace wavesim
