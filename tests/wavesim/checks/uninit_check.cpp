#include "checks/uninit_check.hpp"

#include "checks/findings.hpp"
#include "machine/dispatch.hpp"
#include "machine/start_wave.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace wavesim {

UninitCheck::UninitCheck() : shadow_(new Wave) {}
UninitCheck::~UninitCheck() = default;

void UninitCheck::start(const Workgroup& group) {
  while (waves_.size() < group.wave_count)
    waves_.push_back(std::make_unique<State>());
  for (unsigned i = 0; i < group.wave_count; ++i) {
    State& s = *waves_[i];
    const Wave& wave = *group.waves[i];
    for (unsigned r = 0; r < 2 * VectorSet::agpr0; ++r)
      s.set_v(r, 0);
    std::fill(std::begin(s.origin), std::end(s.origin), 0);
    std::fill(std::begin(s.s_origin), std::end(s.s_origin), 0);
    s.set_v(0, wave.live); // work-item ids
    // start_wave leaves its mark in what the hardware does not set.
    for (unsigned code = 0; code < 128; ++code)
      s.set_s(code, wave.s[code] == poison ? 0 : ~0u);
    s.set_pair(code_exec, ~Mask{0});
    s.scc = true;
    const std::size_t dwords = std::size_t{wave.scratch_bytes} / 4 * lanes;
    if (s.scratch.size() < dwords)
      s.scratch.resize(dwords);
    std::fill_n(s.scratch.begin(), std::min(s.scratch_used, s.scratch.size()), 0);
    s.scratch_used = 0;
  }
  lds_bytes_ = group.lds_bytes;
  if (lds_.size() < lds_bytes_ + 64)
    lds_.resize(lds_bytes_ + 64);
  std::fill_n(lds_.begin(), lds_bytes_ + 64, 0);
}

void UninitCheck::decides(const Wave& wave, const Op& op, const char* what, Mask mask,
                          std::uint64_t origin, const std::string& name) {
  Sighting sighting;
  sighting.check = Check::uninit;
  sighting.what = what;
  sighting.group = wave.group;
  sighting.here = {"use", op.pc, wave.index, mask};
  if (origin != 0)
    sighting.other = {"origin", origin, wave.index, 0};
  sighting.detail =
      fmt::format("{}{}", name, origin ? "" : ": never written since the kernel began");
  Findings::instance().add(sighting);
}

void UninitCheck::write(State& s, unsigned reg, Mask written, Value value, std::uint64_t pc) {
  s.set_v(reg, (s.v(reg) & ~written) | (value.lanes & written));
  if (written & ~value.lanes) [[unlikely]]
    s.origin[reg] = value.origin ? value.origin : pc;
}

void UninitCheck::step(const Wave& wave, const Op& op, const OpFacts& facts,
                       const LdsRow* lds_rows) {
  State& s = *waves_[wave.index];
  switch (op.format) {
  case Format::sop1:
  case Format::sop2:
  case Format::sopk:
  case Format::sopc:
  case Format::sopp:
    scalar(s, wave, op, facts);
    break;
  case Format::smem:
    check_scalar_address(s, wave, op, op.saddr, 2);
    if (op.soffset.kind == Source::Kind::sgpr)
      check_scalar_address(s, wave, op, op.soffset.reg, 1);
    if (facts.store) {
      const Value data = all_scalars(s, facts);
      if (!data.lanes)
        decides(wave, op, "an undefined value is written to memory", 0, data.origin, "scalar data");
    }
    facts.use.scalar_writes.for_each([&](unsigned r) { s.set_s(r, ~0u); });
    break;
  case Format::vop1:
  case Format::vop2:
  case Format::vopc:
  case Format::vop3:
  case Format::vop3p:
    if (facts.mfma)
      matrix(s, op, facts);
    else
      vector(s, wave, op, facts);
    break;
  case Format::ds:
    if (lds_rows)
      lds(s, wave, op, facts, lds_rows);
    else
      lane_move(s, wave, op, facts);
    break;
  case Format::flat:
  case Format::mubuf:
    memory(s, wave, op, facts);
    break;
  case Format::unsupported:
    break;
  }
}

} // namespace wavesim
