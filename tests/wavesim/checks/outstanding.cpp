#include "checks/outstanding.hpp"

#include "machine/dispatch.hpp"
#include "machine/wave.hpp"

#include <algorithm>

namespace wavesim {

namespace {

template <class Match>
const OutstandingOp* find_in(const Counter& a, const Counter& b, Match&& match) {
  for (const Counter* c : {&a, &b})
    for (const OutstandingOp& op : c->ops())
      if (match(op))
        return &op;
  return nullptr;
}

} // namespace

bool Counter::wait(unsigned left, unsigned most) {
  if (left >= most || ops_.size() <= left || (out_of_order_ && left != 0))
    return false;
  ops_.erase(ops_.begin(), ops_.end() - left);
  if (left == 0)
    out_of_order_ = 0;
  return true;
}

FlatTargets flat_targets(const Wave& wave, const Op& op) {
  FlatTargets to;
  const std::uint32_t* low = wave.v[op.vaddr];
  const std::uint32_t* high = low + lanes;
  for (std::uint64_t left = wave.exec(); left; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(left));
    const std::uint64_t at =
        (low[lane] | std::uint64_t{high[lane]} << 32) + static_cast<std::uint64_t>(op.offset);
    (at >> 32 == Dispatch::shared_aperture ? to.lds : to.memory) |= left & (~left + 1);
  }
  return to;
}

void Outstanding::clear() {
  vector_.clear();
  lgkm_.clear();
  registers_ = {};
  scalars_ = {};
  pending_ = false;
}

std::uint32_t Outstanding::issue(const Wave& wave, const Op& op, const OpFacts& facts,
                                 std::uint64_t exec) {
  if (facts.counted == Counted::none)
    return 0;
  const std::uint32_t ticket = next_ticket_++;
  const auto add = [&](Counter& counter, bool out_of_order, std::uint64_t mask, bool vectors) {
    OutstandingOp& entry = counter.add(out_of_order);
    entry.facts = &facts;
    entry.lanes = mask;
    entry.ticket = ticket;
    if (vectors && facts.writes_vectors) {
      entry.registers = facts.use.writes;
      registers_ |= facts.use.writes;
      pending_ = true;
    }
    return &entry;
  };
  switch (facts.counted) {
  case Counted::vector: {
    OutstandingOp* const entry = add(vector_, false, exec, exec != 0);
    if (facts.lds_direct && exec != 0) {
      const std::uint32_t base =
          op.format == Format::mubuf ? wave.s[code_m0] & 0xffff : wave.s[code_m0] & 0x3fffc;
      entry->lds_begin = base + static_cast<std::uint32_t>(op.offset);
      entry->lds_end = entry->lds_begin + 4 * lanes;
    }
    break;
  }
  case Counted::lds:
    add(lgkm_, false, exec, exec != 0);
    break;
  case Counted::scalar:
    add(lgkm_, true, exec, false)->scalars = facts.use.scalar_writes;
    scalars_ |= facts.use.scalar_writes;
    pending_ |= !facts.use.scalar_writes.empty();
    break;
  case Counted::message:
    add(lgkm_, true, exec, exec != 0);
    break;
  case Counted::flat: {
    // Both counters count it; its registers wait for the one that its lanes answer to.
    const FlatTargets to = facts.load || facts.atomic ? flat_targets(wave, op) : FlatTargets{};
    add(vector_, true, to.memory, to.memory != 0);
    add(lgkm_, true, to.lds, to.lds != 0);
    break;
  }
  case Counted::none:
    break;
  }
  return ticket;
}

void Outstanding::wait(std::uint32_t simm16) {
  const unsigned vector = (simm16 & 0xf) | (simm16 >> 14 & 3) << 4;
  const unsigned lgkm = simm16 >> 8 & 0xf;
  const bool a = vector_.wait(vector, most_vector);
  const bool b = lgkm_.wait(lgkm, most_lgkm);
  if (a || b)
    recount();
}

bool Outstanding::has(std::uint32_t ticket) const {
  return find_in(vector_, lgkm_, [&](const OutstandingOp& op) { return op.ticket == ticket; });
}

const OutstandingOp* Outstanding::writer_of_vector(unsigned r) const {
  return find_in(vector_, lgkm_, [&](const OutstandingOp& op) { return op.registers.has(r); });
}

const OutstandingOp* Outstanding::writer_of_scalar(unsigned r) const {
  return find_in(vector_, lgkm_, [&](const OutstandingOp& op) { return op.scalars.has(r); });
}

void Outstanding::forget_vector(unsigned r) {
  for (Counter* c : {&vector_, &lgkm_})
    for (OutstandingOp& op : c->ops())
      op.registers.remove(r);
  recount();
}

void Outstanding::forget_scalar(unsigned r) {
  for (OutstandingOp& op : lgkm_.ops())
    op.scalars.remove(r);
  recount();
}

void Outstanding::recount() {
  registers_ = {};
  scalars_ = {};
  for (const Counter* c : {&vector_, &lgkm_})
    for (const OutstandingOp& op : c->ops()) {
      registers_ |= op.registers;
      scalars_ |= op.scalars;
    }
  pending_ = !registers_.empty() || !scalars_.empty();
}

} // namespace wavesim
