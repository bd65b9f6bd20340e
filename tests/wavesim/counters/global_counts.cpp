#include "counters/global_counts.hpp"

#include "isa/op.hpp"
#include "machine/wave.hpp"

#include <bit>

namespace wavesim {

namespace {

GroupLines& lines_of(Workgroup& group) {
  if (!group.lines)
    group.lines = std::make_unique<GroupLines>();
  return *group.lines;
}

bool reads(Traffic t) {
  return (static_cast<unsigned>(t) & 1u) != 0;
}
bool writes(Traffic t) {
  return (static_cast<unsigned>(t) & 2u) != 0;
}

OpTally& add_bytes(Wave& wave, const Op& op, std::uint64_t active, std::uint64_t bytes, Traffic t) {
  OpTally& record = wave.tally->of(op.id);
  record.lanes += active;
  if (reads(t))
    record.bytes_read += active * bytes;
  if (writes(t))
    record.bytes_written += active * bytes;
  return record;
}

/// Lines seen by one quad; at most four lanes of at most two lines each.
class QuadLines {
public:
  void add(std::uint64_t line) {
    for (unsigned i = 0; i < count_; ++i)
      if (line_[i] == line)
        return;
    line_[count_++] = line;
  }
  std::uint64_t count() const { return count_; }

private:
  std::uint64_t line_[8];
  unsigned count_ = 0;
};

} // namespace

std::uint64_t tcp_accesses(const std::uint64_t* address, std::uint64_t mask, std::uint64_t bytes) {
  std::uint64_t total = 0;
  for (unsigned quad = 0; quad < lanes; quad += 4) {
    const auto on = static_cast<unsigned>(mask >> quad & 0xf);
    const std::uint64_t* at = address + quad;
    const auto room = [&](unsigned i) { return line_bytes - at[i] % line_bytes >= bytes; };
    if (on == 0xf && room(0) && room(1) && room(2) && room(3)) [[likely]] {
      const std::uint64_t a = at[0] / line_bytes, b = at[1] / line_bytes;
      const std::uint64_t c = at[2] / line_bytes, d = at[3] / line_bytes;
      total += 1u + unsigned{b != a} + (unsigned{c != a} & unsigned{c != b}) +
               (unsigned{d != a} & unsigned{d != b} & unsigned{d != c});
      continue;
    }
    QuadLines lines;
    for (unsigned i = 0; i < 4; ++i)
      if (on >> i & 1) {
        lines.add(at[i] / line_bytes);
        lines.add((at[i] + bytes - 1) / line_bytes);
      }
    total += lines.count();
  }
  return total;
}

namespace {

/// Whether every lane is `stride` behind the one before it. AVX2 is there: wavesim needs it.
[[gnu::target("avx2")]] bool has_stride(const std::uint64_t* address, std::uint64_t stride) {
  std::uint64_t difference = 0;
  for (unsigned lane = 1; lane < lanes; ++lane)
    difference |= (address[lane] - address[lane - 1]) ^ stride;
  return difference == 0;
}

/// A full wave with a stride that was counted before; false when it was not.
bool count_again(GroupLines& lines, OpTally& record, const StridedAccesses::Access& access,
                 Traffic traffic) {
  for (const bool write : {false, true}) {
    if (!(write ? writes(traffic) : reads(traffic)))
      continue;
    auto& known =
        (write ? lines.strided_writes : lines.strided_reads).place(access.base, access.stride);
    if (known.base != access.base || known.stride != access.stride || known.bytes != access.bytes)
      return false;
    if (!write || !reads(traffic))
      record.tcp_accesses += known.look_ups;
  }
  return true;
}

void remember(GroupLines& lines, const StridedAccesses::Access& access, Traffic traffic) {
  for (const bool write : {false, true})
    if (write ? writes(traffic) : reads(traffic)) {
      auto& accesses = write ? lines.strided_writes : lines.strided_reads;
      accesses.place(access.base, access.stride) = access;
      accesses.set_used();
    }
}

} // namespace

void count_global(Wave& wave, const Op& op, const std::uint64_t* address, std::uint64_t mask,
                  std::uint64_t bytes, Traffic traffic) {
  if (mask == 0)
    return;
  StridedAccesses::Access access{address[0], address[1] - address[0], bytes, 0};
  const bool strided = mask == ~0ull && has_stride(address, access.stride);
  if (strided && access.stride == bytes) {
    count_global_run(wave, op, address[0], bytes, traffic);
    return;
  }
  OpTally& record =
      add_bytes(wave, op, static_cast<std::uint64_t>(std::popcount(mask)), bytes, traffic);
  GroupLines& lines = lines_of(*wave.group);
  const std::uint64_t before = record.tcp_accesses;
  if (strided) {
    if (count_again(lines, record, access, traffic))
      return;
    record.tcp_accesses = before;
  }
  access.look_ups = tcp_accesses(address, mask, bytes);
  record.tcp_accesses += access.look_ups;
  if (reads(traffic))
    lines.read.add_lanes(address, mask, bytes);
  if (writes(traffic))
    lines.written.add_lanes(address, mask, bytes);
  if (strided)
    remember(lines, access, traffic);
}

/// The usual few lines, known already, are found without a call.
static void add_run(LineSet& set, std::uint64_t base, std::uint64_t bytes) {
  const std::uint64_t first = base / line_bytes, last = (base + bytes - 1) / line_bytes;
  constexpr std::uint64_t few = 4;
  if (last - first < few && first != 0) { // in the table of known lines 0 is none
    std::uint64_t missing = 0;
    for (std::uint64_t line = first; line <= last; ++line)
      missing |= set.unknown(line);
    if (missing == 0)
      return;
  }
  set.add(base, bytes);
}

void count_global_run(Wave& wave, const Op& op, std::uint64_t base, std::uint64_t bytes,
                      Traffic traffic) {
  OpTally& record = add_bytes(wave, op, lanes, bytes, traffic);
  const std::uint64_t quad_bytes = 4 * bytes;
  if (line_bytes % quad_bytes == 0 && base % quad_bytes == 0)
    record.tcp_accesses += lanes / 4;
  else
    for (std::uint64_t at = base; at < base + lanes * bytes; at += quad_bytes)
      record.tcp_accesses += (at + quad_bytes - 1) / line_bytes - at / line_bytes + 1;
  GroupLines& lines = lines_of(*wave.group);
  if (reads(traffic))
    add_run(lines.read, base, lanes * bytes);
  if (writes(traffic))
    add_run(lines.written, base, lanes * bytes);
}

} // namespace wavesim
