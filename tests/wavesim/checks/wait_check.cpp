#include "checks/wait_check.hpp"

#include "checks/findings.hpp"
#include "checks/lds_addresses.hpp"
#include "machine/wave.hpp"

#include <fmt/format.h>

namespace wavesim {

namespace {

std::string register_name(unsigned r) {
  return r < VectorSet::agpr0 ? fmt::format("v{}", r) : fmt::format("a{}", r - VectorSet::agpr0);
}

const char* load_role(const OutstandingOp& load) {
  return load.facts->lds_direct ? "LDS load" : load.facts->atomic ? "atomic" : "load";
}

void report(const Wave& wave, const Op& op, const OutstandingOp& load, std::uint64_t mask,
            bool overwrites, const std::string& name) {
  Sighting s;
  s.check = Check::wait;
  s.what = overwrites ? "a register is overwritten while a load into it is outstanding"
                      : "a register is used while the load into it is outstanding";
  s.group = wave.group;
  s.here = {overwrites ? "overwrite" : "use", op.pc, wave.index, mask};
  s.other = {load_role(load), load.facts->op->pc, wave.index, load.lanes};
  s.detail = fmt::format("register {}: no s_waitcnt between the two covers the load", name);
  Findings::instance().add(s);
}

/// Results of one counter arrive in order: a younger load may overwrite an older one's register.
bool arrives_behind(const OpFacts& facts, const OutstandingOp& older) {
  return facts.counted == older.facts->counted &&
         (facts.counted == Counted::vector || facts.counted == Counted::lds);
}

void check_vectors(const Wave& wave, const Op& op, const OpFacts& facts, Outstanding& out) {
  const std::uint64_t exec = wave.exec();
  VectorSet hit;
  for (unsigned i = 0; i < 8; ++i)
    hit.word[i] = (facts.use.reads.word[i] | facts.use.writes.word[i] | facts.use.kept.word[i]) &
                  out.registers().word[i];
  hit.for_each([&](unsigned r) {
    const OutstandingOp* load = out.writer_of_vector(r);
    if (!load)
      return;
    const bool read = facts.use.reads.has(r);
    if (!read && arrives_behind(facts, *load))
      return;
    const std::uint64_t mask = load->lanes & (facts.reads_all_lanes ? ~std::uint64_t{0} : exec);
    if (!mask)
      return;
    report(wave, op, *load, mask, !read, register_name(r));
    out.forget_vector(r);
  });
}

void check_scalars(const Wave& wave, const Op& op, const OpFacts& facts, Outstanding& out) {
  ScalarSet hit;
  for (unsigned i = 0; i < 2; ++i)
    hit.word[i] =
        (facts.use.scalar_reads.word[i] | facts.use.scalar_writes.word[i]) & out.scalars().word[i];
  hit.for_each([&](unsigned r) {
    if (const OutstandingOp* load = out.writer_of_scalar(r)) {
      report(wave, op, *load, 0, !facts.use.scalar_reads.has(r), fmt::format("s{}", r));
      out.forget_scalar(r);
    }
  });
}

void check_lds_direct(const Wave& wave, const Op& op, const OpFacts& facts, const Outstanding& out,
                      const LdsRow* rows) {
  for (const OutstandingOp& load : out.vector().ops()) {
    if (!load.facts->lds_direct || load.lds_begin == load.lds_end)
      continue;
    std::uint64_t mask = 0;
    std::uint32_t first = 0;
    for (unsigned piece = 0; piece < facts.pieces; ++piece)
      for (std::uint64_t left = wave.exec(); left; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(left));
        const std::uint32_t at = rows[piece].addresses()[lane];
        if (at >= load.lds_end || at + facts.bytes <= load.lds_begin)
          continue;
        const std::uint32_t loader = at > load.lds_begin ? (at - load.lds_begin) / 4 : 0;
        if (!(load.lanes >> loader & 1))
          continue;
        first = mask ? first : at;
        mask |= std::uint64_t{1} << lane;
      }
    if (!mask)
      continue;
    Sighting s;
    s.check = Check::wait;
    s.what = "LDS is touched while a load straight into it is outstanding";
    s.group = wave.group;
    s.here = {facts.load ? "read" : facts.store ? "write" : "atomic", op.pc, wave.index, mask};
    s.other = {load_role(load), load.facts->op->pc, wave.index, load.lanes};
    s.address = first;
    s.space = "LDS";
    s.detail = "no s_waitcnt vmcnt between the two covers the load";
    Findings::instance().add(s);
  }
}

} // namespace

void check_wait(const Wave& wave, const Op& op, const OpFacts& facts, Outstanding& out,
                const LdsRow* lds_rows) {
  if (!out.nothing_pending() && wave.gpr_index == 0) {
    if (facts.use.reads.meets(out.registers()) || facts.use.writes.meets(out.registers()))
      check_vectors(wave, op, facts, out);
    if (facts.use.scalar_reads.meets(out.scalars()) || facts.use.scalar_writes.meets(out.scalars()))
      check_scalars(wave, op, facts, out);
  }
  if (lds_rows && !out.vector().empty())
    check_lds_direct(wave, op, facts, out, lds_rows);
}

} // namespace wavesim
