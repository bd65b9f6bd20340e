#include "checks/memory_check.hpp"

#include "checks/findings.hpp"
#include "checks/lds_addresses.hpp"
#include "loader/code_object.hpp"
#include "machine/dispatch.hpp"
#include "machine/fault.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace wavesim {

namespace {

const char* role_of(const OpFacts& facts) {
  return facts.atomic ? "atomic" : facts.store ? "write" : "read";
}

unsigned lowest(std::uint64_t mask) {
  return static_cast<unsigned>(__builtin_ctzll(mask));
}

void report(const Wave& wave, const Op& op, const OpFacts& facts, const char* what,
            std::uint64_t mask, std::uint64_t address, const char* space, std::string detail,
            bool note = false) {
  Sighting s;
  s.note = note;
  s.check = Check::memory;
  s.what = what;
  s.group = wave.group;
  s.here = {role_of(facts), op.pc, wave.index, mask};
  s.address = address;
  s.space = space;
  s.detail = std::move(detail);
  Findings::instance().add(s);
}

/// Compilers access packed structures like that on purpose, and the hardware splits the access:
/// only atomics fail.
std::string alignment_text(const OpFacts& facts) {
  return fmt::format("{} bytes of each lane do not lie at a multiple of {}{}", facts.bytes,
                     alignment_of(facts), facts.atomic ? "" : ": it works, but is split");
}

/// The lanes of `mask` whose entry is not a multiple of `alignment`.
std::uint64_t misaligned(const std::uint32_t* address, unsigned alignment, std::uint64_t mask) {
  std::uint32_t any = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    any |= address[lane];
  if (!(any & (alignment - 1)))
    return 0;
  std::uint64_t bad = 0;
  for (std::uint64_t left = mask; left; left &= left - 1)
    if (address[lowest(left)] & (alignment - 1))
      bad |= left & (~left + 1);
  return bad;
}

} // namespace

std::uint64_t declared_lds(const Workgroup& group) {
  return std::uint64_t{group.dispatch->kernel->lds_bytes} + group.dispatch->dynamic_lds;
}

void check_lds_memory(const Wave& wave, const Op& op, const OpFacts& facts, const LdsRow* rows) {
  const std::uint64_t mask = lanes_of_lds(facts, wave.exec());
  if (!mask)
    return;
  const std::uint64_t size = declared_lds(*wave.group);
  for (unsigned piece = 0; piece < facts.pieces; ++piece) {
    const std::uint32_t* row = rows[piece].addresses();
    if (std::uint64_t{rows[piece].highest} + facts.bytes > size) {
      std::uint64_t bad = 0;
      for (std::uint64_t left = mask; left; left &= left - 1)
        if (std::uint64_t{row[lowest(left)]} + facts.bytes > size)
          bad |= left & (~left + 1);
      if (bad)
        report(wave, op, facts, "LDS is accessed outside of what the workgroup has", bad,
               row[lowest(bad)], "LDS",
               fmt::format("{} bytes of each lane; the workgroup has {} bytes: reads give 0, "
                           "writes vanish",
                           facts.bytes, size));
    }
    if (!(rows[piece].low_bits & (alignment_of(facts) - 1)))
      continue;
    if (const std::uint64_t bad = misaligned(row, alignment_of(facts), mask))
      report(wave, op, facts, "misaligned access to LDS", bad, row[lowest(bad)], "LDS",
             alignment_text(facts), !facts.atomic);
  }
}

void check_flat_lds(const Wave& wave, const Op& op, const OpFacts& facts) {
  const std::uint64_t size = declared_lds(*wave.group);
  const std::uint32_t* low = wave.v[op.vaddr];
  const std::uint32_t* high = low + lanes;
  std::uint64_t bad = 0, first = 0;
  for (std::uint64_t left = wave.exec(); left; left &= left - 1) {
    const unsigned lane = lowest(left);
    const std::uint64_t at =
        (low[lane] | std::uint64_t{high[lane]} << 32) + static_cast<std::uint64_t>(op.offset);
    const std::uint64_t end = (at & 0xffffffff) + facts.bytes;
    // What lies beyond the granule of the allocation faults by itself.
    if (at >> 32 != Dispatch::shared_aperture || end <= size || end > wave.group->lds_bytes)
      continue;
    first = bad ? first : at & 0xffffffff;
    bad |= std::uint64_t{1} << lane;
  }
  if (bad)
    report(wave, op, facts, "LDS is accessed outside of what the workgroup has", bad, first, "LDS",
           fmt::format("{} bytes of each lane; the workgroup has {} bytes", facts.bytes, size));
}

void check_alignment(const Wave& wave, const Op& op, const OpFacts& facts) {
  const std::uint64_t mask = wave.exec();
  if (!mask || facts.bytes < 2 || op.segment == Segment::scratch)
    return;
  LaneRow low; // the low dword of each address is enough
  auto base = static_cast<std::uint32_t>(op.offset);
  const std::uint32_t* v = wave.v[op.vaddr];
  if (op.format == Format::mubuf) {
    base += wave.s[op.saddr];
    if (op.soffset.kind == Source::Kind::sgpr)
      base += wave.s[op.soffset.reg];
    else
      base += static_cast<std::uint32_t>(op.soffset.value);
    const std::uint32_t stride = wave.s[op.saddr + 1u] >> 16 & 0x3fff;
    const std::uint32_t* offset = wave.v[op.vaddr + (op.idxen ? 1u : 0u)];
    for (unsigned lane = 0; lane < lanes; ++lane)
      low[lane] = base + (op.idxen ? stride * v[lane] : 0) + (op.offen ? offset[lane] : 0);
  } else {
    if (op.segment == Segment::global && op.saddr != 0x7f)
      base += wave.s[op.saddr];
    for (unsigned lane = 0; lane < lanes; ++lane)
      low[lane] = base + v[lane];
  }
  const unsigned alignment = alignment_of(facts);
  const std::uint64_t bad = misaligned(low, alignment, mask);
  if (!bad)
    return;
  std::uint64_t address = low[lowest(bad)];
  if (op.format != Format::mubuf && op.saddr == 0x7f)
    address |= std::uint64_t{wave.v[op.vaddr + 1u][lowest(bad)]} << 32;
  else if (op.format != Format::mubuf)
    address = wave.s64(op.saddr) + v[lowest(bad)] + static_cast<std::uint64_t>(op.offset);
  report(wave, op, facts, "misaligned access to global memory", bad, address, "global memory",
         alignment_text(facts), !facts.atomic);
}

void report_fault(const Wave& wave, const Op& op, const MemoryFault& fault, std::uint64_t mask) {
  Sighting s;
  s.check = Check::memory;
  s.group = wave.group;
  s.address = fault.address;
  const std::uint64_t high = fault.address >> 32;
  const bool lds = high == Dispatch::shared_aperture, scratch = high == Dispatch::private_aperture;
  s.what = lds       ? "LDS is accessed outside of what the workgroup has"
           : scratch ? "private memory is accessed outside of what a lane has"
                     : "memory is accessed outside of every allocation";
  s.space = lds ? "LDS (a FLAT address)" : scratch ? "private memory" : "global memory";
  s.here = {fault.what, op.pc, wave.index, mask};
  s.detail = fmt::format("{} bytes{}{}", fault.bytes, fault.where.empty() ? "" : "; ", fault.where);
  Findings::instance().add(s);
}

} // namespace wavesim
