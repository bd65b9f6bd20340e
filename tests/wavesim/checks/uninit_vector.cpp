// Definedness through vector and matrix instructions.
#include "checks/findings.hpp"
#include "checks/uninit_check.hpp"
#include "isa/op_table.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace wavesim {

namespace {

constexpr std::uint64_t all_lanes = ~std::uint64_t{0};

unsigned number_of(const Source& s) {
  return s.kind == Source::Kind::agpr ? VectorSet::agpr0 + s.reg : s.reg;
}

bool is_vector(const Source& s) {
  return s.kind == Source::Kind::vgpr || s.kind == Source::Kind::agpr;
}

std::uint64_t lane_bit(unsigned lane) {
  return std::uint64_t{1} << lane;
}

} // namespace

/// A lane mask in a scalar pair: lane i is defined when its bit is.
UninitCheck::Value UninitCheck::lane_mask(const State& s, const Source& source) const {
  if (source.kind != Source::Kind::sgpr)
    return {};
  return {s.pair(source.reg), s.s_origin[source.reg]};
}

/// Dword `dword` of source i, as each lane sees it.
UninitCheck::Value UninitCheck::source(State& s, const Wave&, const Op& op, unsigned i,
                                       unsigned dword) {
  const Source& from = op.src[i];
  if (is_vector(from)) {
    const unsigned r = number_of(from) + dword;
    return {s.v(r), s.origin[r]};
  }
  if (from.kind == Source::Kind::sgpr) {
    const unsigned r = std::min(from.reg + dword, 127u);
    return {s.s(r) == ~0u ? all_lanes : 0, s.s_origin[r]};
  }
  if (from.kind == Source::Kind::scc && !s.scc)
    return {0, 0};
  return {};
}

/// Source 0 as DPP moves it: the instruction's own permutation, run on ones and zeros. `written`:
/// the lanes that get a result at all.
UninitCheck::Value UninitCheck::dpp_source(State& s, const Wave& wave, const Op& op, unsigned dword,
                                           Mask& written) {
  const Value plain = source(s, wave, op, 0, dword);
  static const OpInfo* const move = op_table().find("v_mov_b32");
  Op moving = op;
  moving.info = move;
  moving.execute = move->handler;
  moving.format = Format::vop1;
  moving.src[0] = Source{};
  moving.src[0].kind = Source::Kind::vgpr;
  moving.src[0].reg = 0;
  moving.src[1] = moving.src[2] = moving.src[3] = Source{};
  moving.dst = 1;
  moving.clamp = false;
  moving.omod = 0;
  constexpr std::uint32_t untouched = 2;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    shadow_->v[0][lane] = plain.lanes >> lane & 1;
    shadow_->v[1][lane] = untouched;
  }
  // bound_ctrl writes zeros where there is no source: those are defined. Tell them from undefined.
  for (unsigned lane = 0; lane < lanes; ++lane)
    shadow_->v[0][lane] += 3; // 3 undefined, 4 defined, 0 made up
  shadow_->set_exec(wave.exec());
  shadow_->gpr_index = 0;
  shadow_->mode = wave.mode;
  moving.execute(*shadow_, moving);
  Value moved{0, plain.origin};
  written = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const std::uint32_t x = shadow_->v[1][lane];
    if (x != untouched)
      written |= lane_bit(lane);
    if (x != 3)
      moved.lanes |= lane_bit(lane);
  }
  return moved;
}

namespace {

/// Instructions whose low dword of the result depends on low dwords of the sources alone.
bool low_stands_alone(std::string_view name) {
  return name == "v_mad_u64_u32" || name == "v_mad_i64_i32" || name == "v_lshl_add_u64";
}

/// Instructions that put parts of several values next to each other: by the rule for parts of
/// registers, the result is defined when one of them is. `control`: what selects the parts.
struct Parts {
  unsigned count = 0;
  std::uint8_t data[3] = {0, 1, 2};
  int control = -1;
};
Parts parts_of(std::string_view name) {
  if (name == "v_pack_b32_f16" || name.starts_with("v_cvt_pk"))
    return {2};
  if (name == "v_perm_b32" || name == "v_alignbit_b32" || name == "v_alignbyte_b32")
    return {2, {0, 1, 0}, 2};
  if (name == "v_bfi_b32")
    return {2, {1, 2, 0}, 0};
  if (name == "v_lshl_or_b32" || name == "v_and_or_b32")
    return {2, {0, 2, 0}, 1};
  return {};
}

} // namespace

/// A 64-bit shift: the dword its amount moves bits into takes them from both dwords of the source,
/// and counts as defined when either of them is.
void UninitCheck::shift64(State& s, const Wave& wave, const Op& op, std::string_view name) {
  const Source& by = op.src[0];
  const Value amount = source(s, wave, op, 0, 0);
  const Value low = source(s, wave, op, 1, 0), high = source(s, wave, op, 1, 1);
  Mask none = 0, wide = 0; // lanes shifted by 0, by 32 or more
  for (unsigned lane = 0; lane < lanes; ++lane) {
    std::uint32_t bits = static_cast<std::uint32_t>(by.value);
    if (by.kind == Source::Kind::vgpr)
      bits = wave.v[by.reg][lane];
    else if (by.kind == Source::Kind::sgpr)
      bits = wave.s[by.reg];
    none |= (bits & 63) == 0 ? lane_bit(lane) : 0;
    wide |= (bits & 63) >= 32 ? lane_bit(lane) : 0;
  }
  const bool right = name != "v_lshlrev_b64";
  const Value &from = right ? high : low, &to = right ? low : high;
  const Mask rest = name == "v_ashrrev_i64" ? from.lanes : all_lanes; // behind the last bit
  Value moved{(to.lanes & none) | (from.lanes & wide) | ((to.lanes | from.lanes) & ~none & ~wide),
              ~from.lanes ? from.origin : to.origin};
  Value kept{(from.lanes & ~wide) | (rest & wide), from.origin};
  for (Value* v : {&moved, &kept}) {
    if (~amount.lanes)
      v->origin = amount.origin;
    v->lanes &= amount.lanes;
  }
  const unsigned dst = op.dst_agpr ? VectorSet::agpr0 + op.dst : op.dst;
  write(s, dst, wave.exec(), right ? moved : kept, op.pc);
  write(s, dst + 1, wave.exec(), right ? kept : moved, op.pc);
}

/// Instructions that are not "every part of the result needs every part of the sources".
bool UninitCheck::special(State& s, const Wave& wave, const Op& op, const OpFacts& facts) {
  const std::string_view name = op.info->mnemonic;
  const Mask exec = wave.exec();
  const unsigned dst = op.dst_agpr ? VectorSet::agpr0 + op.dst : op.dst;
  const auto join = [](Value a, const Value& b) {
    if (~b.lanes)
      a.origin = b.origin;
    a.lanes &= b.lanes;
    return a;
  };
  if (name == "v_readlane_b32" || name == "v_readfirstlane_b32") {
    unsigned lane = exec ? static_cast<unsigned>(__builtin_ctzll(exec)) : 0;
    if (name == "v_readlane_b32")
      lane = (op.src[1].kind == Source::Kind::sgpr ? wave.s[op.src[1].reg]
                                                   : static_cast<std::uint32_t>(op.src[1].value)) &
             63;
    const Value from = source(s, wave, op, 0, 0);
    const unsigned to = op.dst;
    if (to < 128 && to != code_exec && to != code_exec + 1u) {
      s.set_s(to, from.lanes >> lane & 1 ? ~0u : 0);
      s.s_origin[to] = from.origin ? from.origin : op.pc;
    }
    return true;
  }
  if (name == "v_writelane_b32") {
    const unsigned lane =
        (op.src[1].kind == Source::Kind::sgpr ? wave.s[op.src[1].reg]
                                              : static_cast<std::uint32_t>(op.src[1].value)) &
        63;
    // A lane mask with a few undefined bits is not worth losing the others.
    Value from = source(s, wave, op, 0, 0);
    if (op.src[0].kind == Source::Kind::sgpr && s.s(op.src[0].reg) != 0)
      from.lanes = all_lanes;
    write(s, op.dst, lane_bit(lane), from, op.pc);
    return true;
  }
  if (name == "v_swap_b32") {
    const Value a{s.v(op.dst), s.origin[op.dst]}, b = source(s, wave, op, 0, 0);
    write(s, op.dst, exec, b, op.pc);
    write(s, op.src[0].reg, exec, a, op.pc);
    return true;
  }
  if (op.dpp || (op.sdwa && name != "v_cndmask_b32"))
    return false;
  if (name ==
      "v_cndmask_b32") { // SDWA chooses parts of the sources; which lanes take which is alike
    const Value select = lane_mask(s, op.src[2]);
    const Mask chosen = op.src[2].kind == Source::Kind::sgpr ? wave.s64(op.src[2].reg) : 0;
    const Value a = source(s, wave, op, 0, 0), b = source(s, wave, op, 1, 0);
    Value result{(chosen & b.lanes) | (~chosen & a.lanes), 0};
    result.origin = ~a.lanes & ~chosen ? a.origin : b.origin;
    write(s, dst, exec, join(result, select), op.pc);
    return true;
  }
  if ((name == "v_xor_b32" || name == "v_sub_u32" || name == "v_subrev_u32") &&
      is_vector(op.src[0]) && is_vector(op.src[1]) && op.src[0].reg == op.src[1].reg) {
    write(s, dst, exec, {}, op.pc); // zero, whatever it was
    return true;
  }
  if (name == "v_mov_b64") {
    for (unsigned i = 0; i < 2; ++i)
      write(s, dst + i, exec, source(s, wave, op, 0, i), op.pc);
    return true;
  }
  if (name.starts_with("v_pk_") && (name.ends_with("_f32") || name == "v_pk_mov_b32")) {
    // Two independent halves; op_sel and op_sel_hi choose the dword each takes from a source.
    const unsigned sources = op.src[2].kind == Source::Kind::none ? 2 : 3;
    Value half[2];
    for (unsigned h = 0; h < 2; ++h) {
      if (name == "v_pk_mov_b32") {
        half[h] = source(s, wave, op, h, op.op_sel >> h & 1);
        continue;
      }
      for (unsigned i = 0; i < sources; ++i)
        half[h] = join(half[h], source(s, wave, op, i, (h ? op.op_sel_hi : op.op_sel) >> i & 1));
    }
    for (unsigned h = 0; h < 2; ++h)
      write(s, dst + h, exec, half[h], op.pc);
    return true;
  }
  if (const Parts parts = parts_of(name); parts.count != 0) {
    Value value = source(s, wave, op, parts.data[0], 0);
    for (unsigned i = 1; i < parts.count; ++i) {
      const Value other = source(s, wave, op, parts.data[i], 0);
      value = {value.lanes | other.lanes, ~value.lanes ? value.origin : other.origin};
    }
    if (parts.control >= 0)
      value = join(value, source(s, wave, op, static_cast<unsigned>(parts.control), 0));
    write(s, dst, exec, value, op.pc);
    return true;
  }
  if (name == "v_lshrrev_b64" || name == "v_ashrrev_i64" || name == "v_lshlrev_b64") {
    shift64(s, wave, op, name);
    return true;
  }
  if (low_stands_alone(name)) {
    Value low, whole;
    for (unsigned i = 0; i < 3; ++i) {
      if (op.src[i].kind == Source::Kind::none || op.info->src[i] == Type::none)
        continue;
      for (unsigned d = 0; d < dwords(op.info->src[i]); ++d) {
        const Value v = source(s, wave, op, i, d);
        whole = join(whole, v);
        if (d == 0)
          low = join(low, v);
      }
    }
    write(s, dst, exec, low, op.pc);
    write(s, dst + 1, exec, whole, op.pc);
    facts.use.scalar_writes.for_each([&](unsigned r) { s.set_s(r, ~0u); });
    return true;
  }
  return false;
}

void UninitCheck::vector(State& s, const Wave& wave, const Op& op, const OpFacts& facts) {
  const Mask exec = wave.exec();
  if (wave.gpr_index != 0) {
    // Indexed registers: the destination counts as defined.
    const std::uint32_t m0 = wave.s[code_m0];
    const unsigned shift = m0 >> 12 & 8 ? m0 & 0xff : 0;
    facts.use.writes.for_each([&](unsigned r) {
      if (r + shift < VectorSet::agpr0)
        write(s, r + shift, exec, {}, op.pc);
    });
    return;
  }
  // The usual case first: nothing undefined goes in, so nothing undefined comes out.
  if (!facts.use.reads.meets(s.partial()) && !facts.use.scalar_reads.meets(s.partial_scalars()) &&
      !(op.info->flags & op_exec_any) && (!op.dpp || (op.row_mask == 15 && op.bank_mask == 15)))
      [[likely]] {
    if (facts.use.writes.meets(s.partial()))
      facts.use.writes.for_each([&](unsigned r) { write(s, r, exec, {}, op.pc); });
    if (facts.use.scalar_writes.meets(s.partial_scalars()))
      facts.use.scalar_writes.for_each([&](unsigned r) { s.set_s(r, ~0u); });
    return;
  }
  Value value;
  facts.use.reads.for_each([&](unsigned r) {
    if (~s.v(r) & (facts.reads_all_lanes ? all_lanes : exec))
      value.origin = s.origin[r];
    value.lanes &= s.v(r);
  });
  const bool lane_masks =
      op.info->flags & op_carry_in || facts.op->src[3].kind != Source::Kind::none;
  facts.use.scalar_reads.for_each([&](unsigned r) {
    if (s.s(r) == ~0u || r == code_exec || r == code_exec + 1u)
      return;
    const Source& carry = op.src[3].kind != Source::Kind::none ? op.src[3] : op.src[2];
    if (lane_masks && carry.kind == Source::Kind::sgpr && (r == carry.reg || r == carry.reg + 1u))
      value.lanes &= lane_mask(s, carry).lanes;
    else
      value.lanes = 0;
    value.origin = s.s_origin[r];
  });
  const bool clean = (value.lanes & exec) == exec;
  Mask written = exec;
  // DPP: a lane's source may be another lane, so the mask above does not tell.
  if (op.dpp) {
    bool touched = false;
    facts.use.reads.for_each([&](unsigned r) { touched |= s.v(r) != all_lanes; });
    if (touched || !(op.row_mask == 15 && op.bank_mask == 15)) {
      value = {};
      Mask lanes_written = exec;
      const unsigned parts = dwords(op.info->src[0]);
      for (unsigned d = 0; d < parts; ++d) {
        const Value moved = dpp_source(s, wave, op, d, lanes_written);
        if (~moved.lanes)
          value.origin = moved.origin;
        value.lanes &= moved.lanes;
      }
      written = lanes_written;
      const bool selects = std::string_view(op.info->mnemonic) == "v_cndmask_b32";
      const Mask chosen =
          selects && op.src[2].kind == Source::Kind::sgpr ? wave.s64(op.src[2].reg) : 0;
      for (unsigned i = 1; i < 3; ++i)
        if (op.src[i].kind != Source::Kind::none && op.info->src[i] != Type::none)
          for (unsigned d = 0; d < dwords(op.info->src[i]); ++d) {
            const Value v = op.info->flags & op_carry_in && i == 2 ? lane_mask(s, op.src[i])
                                                                   : source(s, wave, op, i, d);
            if (~v.lanes & exec)
              value.origin = v.origin;
            if (selects && i == 1)
              value.lanes = (chosen & v.lanes) | (~chosen & value.lanes);
            else
              value.lanes &= v.lanes;
          }
    }
  } else if (!clean || (op.info->flags & op_exec_any)) {
    if (special(s, wave, op, facts))
      return;
  }
  facts.use.writes.for_each([&](unsigned r) { write(s, r, written, value, op.pc); });
  if (facts.use.scalar_writes.empty())
    return;
  const Mask defined = value.lanes | ~exec; // lanes that are off give zeros
  if (facts.use.scalar_writes.has(code_exec) && ~defined & exec) {
    decides(wave, op, "an undefined value decides EXEC", ~defined & exec, value.origin,
            "a comparison");
    return;
  }
  facts.use.scalar_writes.for_each([&](unsigned r) {
    if (r == code_exec || r == code_exec + 1u)
      return;
    const unsigned first = op.format == Format::vopc && !op.sdwa ? code_vcc : op.sdst;
    s.set_s(r, static_cast<std::uint32_t>(r == first ? defined : defined >> 32));
    if (s.s(r) != ~0u)
      s.s_origin[r] = value.origin ? value.origin : op.pc;
  });
}

/// An element of D needs a row of A, a column of B and itself.
void UninitCheck::matrix(State& s, const Op& op, const OpFacts& facts) {
  const MfmaFact& m = *facts.mfma;
  if (!facts.use.reads.meets(s.partial())) {
    if (facts.use.writes.meets(s.partial()))
      facts.use.writes.for_each([&](unsigned r) { s.set_v(r, all_lanes); });
    return;
  }
  std::uint64_t origin = 0;
  // Undefined rows of A and columns of B, by block.
  bool bad_row[16][32] = {}, bad_column[16][32] = {};
  const auto scan = [&](const Source& from, unsigned slots, unsigned bits, bool is_a) {
    if (!is_vector(from))
      return;
    for (unsigned slot = 0; slot < slots; ++slot) {
      const unsigned r = number_of(from) + slot * bits / 32;
      for (unsigned part = 0; part < std::max(bits / 32, 1u); ++part)
        for (Mask left = ~s.v(r + part); left; left &= left - 1) {
          const auto lane = static_cast<unsigned>(__builtin_ctzll(left));
          const MatrixElement e = is_a ? m.a_element(lane, slot) : m.b_element(lane, slot);
          (is_a ? bad_row[e.block][e.row] : bad_column[e.block][e.column]) = true;
          origin = s.origin[r + part];
        }
    }
  };
  scan(op.src[0], m.a_slots(), bits_of(m.a), true);
  scan(op.src[1], m.b_slots(), bits_of(m.b), false);
  // Broadcasts of blocks and lanes (CBSZ, BLGP) spread what they touch: then all blocks are alike.
  if (op.cbsz || op.blgp)
    for (unsigned block = 1; block < m.blocks; ++block)
      for (unsigned i = 0; i < 32; ++i) {
        bad_row[0][i] |= bad_row[block][i];
        bad_column[0][i] |= bad_column[block][i];
      }
  const unsigned each = bits_of(m.cd) / 32;
  const unsigned dst = op.dst_agpr ? VectorSet::agpr0 + op.dst : op.dst;
  for (unsigned slot = 0; slot < m.d_slots(); ++slot) {
    Mask defined = all_lanes;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const MatrixElement e = m.d_element(lane, slot);
      const unsigned block = op.cbsz || op.blgp ? 0 : e.block;
      if (bad_row[block][e.row] || bad_column[block][e.column])
        defined &= ~lane_bit(lane);
    }
    const Source& c = op.src[2];
    for (unsigned part = 0; part < each; ++part) {
      const unsigned r = slot * each + part;
      const unsigned from = m.sparse ? dst + r : number_of(c) + r;
      if (m.sparse || is_vector(c)) {
        if (~s.v(from))
          origin = s.origin[from];
        defined &= s.v(from);
      }
    }
    for (unsigned part = 0; part < each; ++part)
      write(s, dst + slot * each + part, all_lanes, {defined, origin}, op.pc);
  }
}

} // namespace wavesim
