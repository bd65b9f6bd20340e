#include "checks/group_checks.hpp"

#include "checks/barrier_check.hpp"
#include "checks/hazard_check.hpp"
#include "checks/lds_addresses.hpp"
#include "checks/memory_check.hpp"
#include "checks/outstanding.hpp"
#include "checks/race_check.hpp"
#include "checks/uninit_check.hpp"
#include "checks/wait_check.hpp"
#include "machine/fault.hpp"

namespace wavesim {

namespace {

class GroupChecks : public Observer {
public:
  explicit GroupChecks(CheckSet set)
      : race_on_(set.has(Check::race)), memory_on_(set.has(Check::memory)),
        wait_on_(set.has(Check::wait)), barrier_on_(set.has(Check::barrier)),
        uninit_on_(set.has(Check::uninit)), hazard_on_(set.has(Check::hazard)),
        counters_on_(race_on_ || wait_on_) {}

  void start(Workgroup& group) override {
    outstanding_.resize(group.wave_count);
    for (Outstanding& o : outstanding_)
      o.clear();
    group.throws_faults = memory_on_;
    lds_bytes_ = declared_lds(group);
    if (hazard_on_) {
      hazards_.resize(group.wave_count);
      for (HazardCheck& h : hazards_)
        h.start();
    }
    if (uninit_on_)
      uninit_.start(group);
    if (race_on_)
      race_.start(group);
  }

  bool before(Wave& wave, const Op& op) override {
    const OpFacts& facts = facts_.of(op);
    const LdsRow* lds = nullptr;
    if (facts.lds_memory) {
      lds_addresses(wave, op, facts, lds_);
      lds = lds_;
      if (memory_on_ && wave.exec() != 0 && !is_plain(facts)) [[unlikely]]
        check_lds_memory(wave, op, facts, lds);
    } else if (memory_on_ && (op.format == Format::flat || op.format == Format::mubuf)) {
      check_alignment(wave, op, facts);
      if (op.segment == Segment::flat)
        check_flat_lds(wave, op, facts);
    }
    if (hazard_on_)
      hazards_[wave.index].step(wave, op, facts);
    if (uninit_on_)
      uninit_.step(wave, op, facts, lds);
    if (counters_on_) {
      Outstanding& outstanding = outstanding_[wave.index];
      if (facts.waitcnt)
        outstanding.wait(static_cast<std::uint32_t>(op.imm));
      else if (wait_on_)
        check_wait(wave, op, facts, outstanding, lds);
      std::uint32_t ticket = 0;
      if (facts.counted != Counted::none)
        ticket = outstanding.issue(wave, op, facts, wave.exec());
      if (race_on_ && (lds || facts.lds_direct || facts.counted == Counted::flat))
        note_race(wave, op, facts, ticket);
    }
    return true;
  }

  bool fault(Wave& wave, const Op& op, const MemoryFault& fault) override {
    // Scalar accesses have no lanes to leave out: the instruction as a whole is.
    const std::uint64_t exec = wave.exec(), lane = std::uint64_t{1} << fault.lane;
    const bool vector = op.format != Format::smem;
    report_fault(wave, op, fault, vector ? lane : 0);
    if (vector)
      wave.set_exec(exec & ~lane);
    return vector && (exec & ~lane) != 0;
  }

  void barrier(Workgroup& group) override {
    if (barrier_on_)
      check_barrier(group);
    if (race_on_)
      race_.barrier(group, outstanding_);
  }
  void end(Workgroup& group) override {
    if (race_on_)
      race_.end(group);
  }
  void hang(Workgroup& group) override {
    if (barrier_on_)
      check_barrier_hang(group);
  }

private:
  /// Whether the access in `lds_` is inside of LDS and aligned.
  bool is_plain(const OpFacts& facts) const {
    bool plain = true;
    for (unsigned piece = 0; piece < facts.pieces; ++piece)
      plain &= std::uint64_t{lds_[piece].highest} + facts.bytes <= lds_bytes_ &&
               (lds_[piece].low_bits & (alignment_of(facts) - 1)) == 0;
    return plain;
  }
  void note_race(const Wave& wave, const Op& op, const OpFacts& facts, std::uint32_t ticket) {
    using Kind = RaceCheck::Kind;
    const Kind kind = facts.atomic ? Kind::atomic : facts.store ? Kind::write : Kind::read;
    if (facts.lds_memory) {
      const std::uint64_t mask = lanes_of_lds(facts, wave.exec());
      LaneRow upper;
      for (unsigned piece = 0; mask && piece < facts.pieces; ++piece)
        race_.note(wave, facts, kind, facts.bytes, lds_[piece], mask,
                   lds_data(wave, op, facts, piece, upper), ticket);
    } else if (facts.lds_direct) {
      const std::uint32_t base =
          (wave.s[code_m0] & (op.format == Format::mubuf ? 0xffffu : 0x3fffcu)) +
          static_cast<std::uint32_t>(op.offset);
      if (const std::uint64_t exec = wave.exec()) {
        fill_run(lds_[0], base, exec, 4);
        race_.note(wave, facts, Kind::write, 4, lds_[0], exec, nullptr, ticket);
      }
    } else if (const std::uint64_t to_lds = flat_targets(wave, op).lds) {
      fill_row(lds_[0], wave.v[op.vaddr], static_cast<std::uint32_t>(op.offset), to_lds,
               facts.bytes);
      race_.note(wave, facts, kind, facts.bytes, lds_[0], to_lds, nullptr, ticket);
    }
  }

  bool race_on_, memory_on_, wait_on_, barrier_on_, uninit_on_, hazard_on_, counters_on_;
  FactTable facts_;
  std::vector<Outstanding> outstanding_; ///< by wave
  std::vector<HazardCheck> hazards_;     ///< by wave
  RaceCheck race_;
  UninitCheck uninit_;
  std::uint64_t lds_bytes_ = 0;
  LdsRow lds_[2];
};

} // namespace

std::unique_ptr<Observer> CheckFactory::make() {
  return std::make_unique<GroupChecks>(set_);
}

} // namespace wavesim
