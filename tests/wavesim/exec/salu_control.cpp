// Branches, calls, waits and the other SOPP instructions that only steer the wave.
#include "exec/scalar_op.hpp"
#include "machine/fault.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

template <auto Condition>
void branch_if(Wave& w, const Op& op) {
  if (Condition(w))
    w.pc = op.target;
}

void trap(Wave& w, const Op& op) {
  switch (op.imm & 0xff) {
  case 2:
    stop(w, op, "the kernel executed a trap (s_trap 2: __builtin_trap, abort or a failed assert)");
  case 1:
  case 3:
    return; // debugger breakpoints: no debugger is attached
  default:
    stop(w, op, "s_trap {} has no handler", static_cast<std::uint64_t>(op.imm & 0xff));
  }
}

void nothing(Wave&, const Op&) {}
void wait_for_memory(Wave&, const Op&) {}

void jumps(OpTable& t) {
  const auto add = [&t](const char* mnemonic, Handler handler, std::uint32_t more = 0,
                        Type dst = Type::none) {
    t.add(scalar_op(mnemonic, handler, Unit::branch, op_branch | more, dst, Type::b64));
  };
  add("s_branch", [](Wave& w, const Op& op) { w.pc = op.target; });
  add("s_cbranch_scc0", branch_if<[](const Wave& w) { return w.scc == 0; }>);
  add("s_cbranch_scc1", branch_if<[](const Wave& w) { return w.scc != 0; }>);
  add("s_cbranch_vccz", branch_if<[](const Wave& w) { return w.vcc() == 0; }>);
  add("s_cbranch_vccnz", branch_if<[](const Wave& w) { return w.vcc() != 0; }>);
  add("s_cbranch_execz", branch_if<[](const Wave& w) { return w.exec() == 0; }>);
  add("s_cbranch_execnz", branch_if<[](const Wave& w) { return w.exec() != 0; }>);
  // Debugger flags of the wave: never set here.
  add("s_cbranch_cdbgsys", nothing);
  add("s_cbranch_cdbguser", nothing);
  add("s_cbranch_cdbgsys_or_user", nothing);
  add("s_cbranch_cdbgsys_and_user", nothing);
  add(
      "s_call_b64",
      [](Wave& w, const Op& op) {
        w.set_s64(op.dst, op.pc + 4);
        w.pc = op.target;
      },
      0, Type::b64);
  add(
      "s_setpc_b64", [](Wave& w, const Op& op) { w.pc = scalar64(w, op.src[0]); }, op_indirect);
  add(
      "s_swappc_b64",
      [](Wave& w, const Op& op) {
        const std::uint64_t to = scalar64(w, op.src[0]);
        w.set_s64(op.dst, op.pc + 4);
        w.pc = to;
      },
      op_indirect, Type::b64);
  t.add(scalar_op(
      "s_getpc_b64", [](Wave& w, const Op& op) { w.set_s64(op.dst, op.pc + 4); }, Unit::salu, 0,
      Type::b64));
}

void waits(OpTable& t) {
  t.add(scalar_op("s_nop", nothing, Unit::wait));
  // Memory is done when it is issued; the scheduler knows a wait by its handler.
  t.add(scalar_op("s_waitcnt", wait_for_memory, Unit::wait));
  t.add(scalar_op(
      "s_sleep", [](Wave& w, const Op&) { w.status = WaveStatus::yielded; }, Unit::wait));
  t.add(scalar_op(
      "s_barrier", [](Wave& w, const Op&) { w.status = WaveStatus::at_barrier; }, Unit::barrier));
  t.add(scalar_op(
      "s_endpgm", [](Wave& w, const Op&) { w.status = WaveStatus::ended; }, Unit::other, op_ends));
  t.add(scalar_op(
      "s_endpgm_saved", [](Wave& w, const Op&) { w.status = WaveStatus::ended; }, Unit::other,
      op_ends));
  t.add(scalar_op("s_trap", trap, Unit::other));
  // Hints and cache control: one flat coherent memory, no priorities.
  for (const char* mnemonic : {"s_wakeup", "s_setprio", "s_sethalt", "s_setkill", "s_icache_inv",
                               "s_incperflevel", "s_decperflevel", "s_ttracedata"})
    t.add(scalar_op(mnemonic, nothing, Unit::other));
}

} // namespace

void register_salu_control(OpTable& table) {
  jumps(table);
  waits(table);
}

} // namespace wavesim::WAVESIM_SIMD_NS
