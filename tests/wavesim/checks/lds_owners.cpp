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

bool is_whole(const LdsSpan& span) {
  return ((span.low_bits | span.bytes) & 3) == 0;
}

/// Dwords a lane touches: what is not aligned may reach into one more.
unsigned dwords_of(const LdsSpan& span) {
  const bool split =
      span.bytes < 4 ? span.bytes == 2 && (span.low_bits & 1) : (span.low_bits & 3) != 0;
  return (span.bytes + 3u) / 4 + split;
}

/// The owners of sizeof(Group) dwords.
template <class Group>
Group load(const std::uint8_t* at) {
  Group g;
  std::memcpy(&g, at, sizeof g);
  return g;
}

template <class Group>
constexpr Group all_of(std::uint8_t owner) {
  return static_cast<Group>(std::numeric_limits<Group>::max() / 0xff * owner);
}

} // namespace

void LdsOwners::clear(std::uint32_t lds_bytes) {
  if (writer_.size() < lds_bytes / 4 + spare)
    writer_.resize(lds_bytes / 4 + spare);
  if (begin_ < end_)
    std::memset(&writer_[begin_], 0, end_ - begin_);
  begin_ = ~0u;
  end_ = 0;
  lds_bytes_ = lds_bytes;
}

/// The dwords of each lane that are `skip` … behind its address.
template <class Group>
bool LdsOwners::write_lanes(const LdsSpan& span, unsigned skip, std::uint8_t owner) {
  const auto mine = all_of<Group>(owner);
  std::uint8_t* const writers = writer_.data() + skip;
  Group seen = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    std::uint8_t* const at = writers + span.at[lane] / 4;
    seen |= load<Group>(at);
    std::memcpy(at, &mine, sizeof mine);
  }
  return (seen & ~mine) == 0;
}

template <class Group>
bool LdsOwners::read_lanes(const LdsSpan& span, unsigned skip, std::uint8_t owner) const {
  const auto mine = all_of<Group>(owner);
  Group seen = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    seen |= load<Group>(writer_.data() + skip + span.at[lane] / 4);
  return (seen & ~mine) == 0;
}

// Runs: `count` dwords, a multiple of 16.

bool LdsOwners::write_run(std::uint32_t first, std::uint32_t count, std::uint8_t owner) {
  const auto mine = all_of<std::uint64_t>(owner);
  std::uint64_t seen = 0;
  std::uint8_t* const writers = &writer_[first];
  for (std::uint32_t i = 0; i < count; i += sizeof mine) {
    seen |= load<std::uint64_t>(writers + i);
    std::memcpy(writers + i, &mine, sizeof mine);
  }
  return (seen & ~mine) == 0;
}

bool LdsOwners::read_run(std::uint32_t first, std::uint32_t count, std::uint8_t owner) const {
  std::uint64_t seen = 0;
  for (std::uint32_t i = first; i < first + count; i += 8)
    seen |= load<std::uint64_t>(&writer_[i]);
  return (seen & ~all_of<std::uint64_t>(owner)) == 0;
}

/// A run that is not of whole dwords, as any other access; `at` holds its addresses.
static LdsSpan spelled_out(LdsSpan span, LaneRow& at) {
  for (unsigned lane = 0; lane < lanes; ++lane)
    at[lane] = span.lowest + lane * span.bytes;
  span.at = at;
  span.run = false;
  return span;
}

bool LdsOwners::write(const LdsSpan& span) {
  if (std::uint64_t{span.highest} + span.bytes > lds_bytes_)
    return false; // lanes outside of LDS touch nothing: not worth being quick about
  const std::uint8_t owner = owners[span.wave];
  const unsigned dwords = dwords_of(span);
  begin_ = std::min(begin_, span.lowest / 4);
  end_ = std::max(end_, span.highest / 4 + dwords);
  if (span.run && is_whole(span))
    return write_run(span.lowest / 4, span.bytes * (lanes / 4), owner);
  if (span.run) {
    LaneRow at;
    return write(spelled_out(span, at));
  }
  bool fine = true;
  if (dwords >= 4)
    fine &= write_lanes<std::uint32_t>(span, 0, owner);
  else if (dwords >= 2)
    fine &= write_lanes<std::uint16_t>(span, 0, owner);
  if (dwords % 2 != 0)
    fine &= write_lanes<std::uint8_t>(span, dwords - 1, owner);
  return fine;
}

bool LdsOwners::read(const LdsSpan& span) const {
  if (begin_ >= end_ || span.lowest / 4 >= end_ ||
      (std::uint64_t{span.highest} + span.bytes - 1) / 4 < begin_)
    return true;
  if (std::uint64_t{span.highest} + span.bytes > lds_bytes_)
    return false;
  const std::uint8_t owner = owners[span.wave];
  const unsigned dwords = dwords_of(span);
  if (span.run && is_whole(span))
    return read_run(span.lowest / 4, span.bytes * (lanes / 4), owner);
  if (span.run) {
    LaneRow at;
    return read(spelled_out(span, at));
  }
  bool fine = true;
  if (dwords >= 4)
    fine &= read_lanes<std::uint32_t>(span, 0, owner);
  else if (dwords >= 2)
    fine &= read_lanes<std::uint16_t>(span, 0, owner);
  if (dwords % 2 != 0)
    fine &= read_lanes<std::uint8_t>(span, dwords - 1, owner);
  return fine;
}

} // namespace wavesim
