// Hardware registers (s_getreg, s_setreg), register indexing and relative scalar moves.
#include "exec/gpr_index.hpp"
#include "exec/scalar_op.hpp"
#include "machine/dispatch.hpp"
#include "machine/fault.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

enum HardwareRegister : unsigned {
  hw_mode = 1,
  hw_status = 2,
  hw_trapsts = 3,
  hw_id = 4,
  hw_gpr_alloc = 5,
  hw_lds_alloc = 6,
  hw_ib_sts = 7,
  hw_sh_mem_bases = 15,
  hw_tba_lo = 16,
  hw_tma_hi = 19,
  hw_xcc_id = 20,
  hw_perf_snapshot_first = 21,
  hw_perf_snapshot_last = 24
};
constexpr std::uint32_t mode_gpr_index = 1u << 27;
constexpr unsigned dies = 8, units_per_die = 38;

/// Workgroups go round the dies in dispatch order, as the hardware hands them out.
std::uint64_t group_number(const Wave& w) {
  return w.group ? w.group->linear : 0;
}

std::uint32_t status(const Wave& w) {
  const std::uint32_t execz = w.exec() == 0, vccz = w.vcc() == 0, valid = 1;
  return w.scc | execz << 9 | vccz << 10 | valid << 16;
}

/// Wave slot, SIMD and CU such as a round-robin placement on an otherwise empty chip gives.
std::uint32_t hardware_id(const Wave& w) {
  const std::uint64_t unit = group_number(w) / dies % units_per_die;
  const auto cu = static_cast<std::uint32_t>(unit % 10),
             engine = static_cast<std::uint32_t>(unit / 10);
  return (w.index / 4u & 15) | (w.index % 4u) << 4 | cu << 8 | engine << 13;
}

std::uint32_t read_register(Wave& w, const Op& op, unsigned id) {
  switch (id) {
  case hw_mode:
    return (w.mode & ~mode_gpr_index) | (w.gpr_index ? mode_gpr_index : 0);
  case hw_status:
    return status(w);
  case hw_trapsts:
  case hw_ib_sts:
    return 0;
  case hw_id:
    return hardware_id(w);
  case hw_gpr_alloc:
    return 0;
  case hw_lds_alloc:
    return (w.group ? w.group->lds_bytes / 256 : 0) << 12;
  case hw_sh_mem_bases:
    return (Dispatch::shared_aperture >> 16) << 16 | Dispatch::private_aperture >> 16;
  case hw_xcc_id:
    return static_cast<std::uint32_t>(group_number(w) % dies);
  default:
    if (id >= hw_tba_lo && id <= hw_tma_hi)
      return 0;
    if (id >= hw_perf_snapshot_first && id <= hw_perf_snapshot_last)
      return 0;
    stop(w, op, "reading hardware register {} is not supported", id);
  }
}

/// simm16: id [5:0], offset [10:6], size − 1 [15:11].
struct RegisterField {
  unsigned id, offset;
  std::uint32_t mask;
  explicit RegisterField(const Op& op)
      : id(op.imm & 63), offset(op.imm >> 6 & 31), mask(~0u >> (31 - (op.imm >> 11 & 31))) {}
};

void getreg(Wave& w, const Op& op) {
  const RegisterField f(op);
  w.s[op.dst] = read_register(w, op, f.id) >> f.offset & f.mask;
}

void setreg(Wave& w, const Op& op) {
  const RegisterField f(op);
  const std::uint32_t value = scalar32(w, op.src[0]) & f.mask;
  const std::uint32_t old = read_register(w, op, f.id);
  const std::uint32_t merged = (old & ~(f.mask << f.offset)) | value << f.offset;
  switch (f.id) {
  case hw_mode:
    w.mode = merged & ~mode_gpr_index;
    w.gpr_index = merged & mode_gpr_index ? gpr_index_on : 0;
    break;
  case hw_status:
    w.scc = merged & 1;
    break; // the other bits are read-only to a user wave
  case hw_trapsts:
    break; // sticky exception flags: none is ever raised
  default:
    stop(w, op, "writing hardware register {} is not supported", f.id);
  }
}

void set_index(Wave& w, std::uint32_t index) {
  w.s[code_m0] = (w.s[code_m0] & ~0xffu) | (index & 0xff);
}
void set_index_mode(Wave& w, int enables) {
  w.s[code_m0] = (w.s[code_m0] & ~0xf000u) | static_cast<std::uint32_t>(enables & 15) << 12;
}

void indexing(OpTable& t) {
  t.add(scalar_op(
      "s_set_gpr_idx_on",
      [](Wave& w, const Op& op) {
        set_index(w, scalar32(w, op.src[0]));
        set_index_mode(w, op.imm);
        w.gpr_index = gpr_index_on;
      },
      Unit::salu, 0, Type::none, Type::b32));
  t.add(scalar_op("s_set_gpr_idx_off", [](Wave& w, const Op&) { w.gpr_index = 0; }));
  t.add(scalar_op("s_set_gpr_idx_mode", [](Wave& w, const Op& op) { set_index_mode(w, op.imm); }));
  t.add(scalar_op(
      "s_set_gpr_idx_idx", [](Wave& w, const Op& op) { set_index(w, scalar32(w, op.src[0])); },
      Unit::salu, 0, Type::none, Type::b32));
}

unsigned relative(Wave& w, const Op& op, unsigned code, unsigned size) {
  const std::uint64_t r = std::uint64_t{code} + w.s[code_m0];
  if (r + size > code_flat_scratch)
    stop(w, op, "scalar register index {} is past s101", r);
  return static_cast<unsigned>(r);
}

void relative_moves(OpTable& t) {
  t.add(scalar_op(
      "s_movrels_b32",
      [](Wave& w, const Op& op) { w.s[op.dst] = w.s[relative(w, op, op.src[0].reg, 1)]; },
      Unit::salu, 0, Type::b32, Type::b32));
  t.add(scalar_op(
      "s_movrels_b64",
      [](Wave& w, const Op& op) { w.set_s64(op.dst, w.s64(relative(w, op, op.src[0].reg, 2))); },
      Unit::salu, 0, Type::b64, Type::b64));
  t.add(scalar_op(
      "s_movreld_b32",
      [](Wave& w, const Op& op) { w.s[relative(w, op, op.dst, 1)] = scalar32(w, op.src[0]); },
      Unit::salu, 0, Type::b32, Type::b32));
  t.add(scalar_op(
      "s_movreld_b64",
      [](Wave& w, const Op& op) { w.set_s64(relative(w, op, op.dst, 2), scalar64(w, op.src[0])); },
      Unit::salu, 0, Type::b64, Type::b64));
}

} // namespace

void register_salu_state(OpTable& t) {
  t.add(scalar_op("s_getreg_b32", getreg, Unit::salu, 0, Type::b32));
  t.add(scalar_op("s_setreg_b32", setreg, Unit::salu, 0, Type::none, Type::b32));
  t.add(scalar_op("s_setreg_imm32_b32", setreg, Unit::salu, 0, Type::none, Type::b32));
  indexing(t);
  relative_moves(t);
}

} // namespace wavesim::WAVESIM_SIMD_NS
