#include "machine/scalar_constants.hpp"

#include "loader/code_object.hpp"

#include <cstring>
#include <string_view>

namespace wavesim {

void ScalarConstants::clear() {
  words_.fill(std::nullopt);
  carry_.reset();
}

std::optional<std::uint64_t> ScalarConstants::pair(unsigned reg) const {
  if (reg + 1 >= words_.size() || !words_[reg] || !words_[reg + 1])
    return std::nullopt;
  return *words_[reg] | std::uint64_t{*words_[reg + 1]} << 32;
}

ScalarConstants::Word ScalarConstants::word(const Source& source) const {
  if (source.kind == Source::Kind::constant)
    return static_cast<std::uint32_t>(source.value);
  if (source.kind == Source::Kind::sgpr && source.reg < words_.size())
    return words_[source.reg];
  return std::nullopt;
}

void ScalarConstants::set(unsigned reg, Word value) {
  if (reg < words_.size())
    words_[reg] = value;
}

void ScalarConstants::set_pair(unsigned reg, std::optional<std::uint64_t> value) {
  set(reg, value ? Word(static_cast<std::uint32_t>(*value)) : std::nullopt);
  set(reg + 1, value ? Word(static_cast<std::uint32_t>(*value >> 32)) : std::nullopt);
}

void ScalarConstants::forget(unsigned reg, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    set(reg + i, std::nullopt);
}

void ScalarConstants::forget_results(const Op& op) {
  switch (op.format) {
  case Format::sop1:
  case Format::sop2:
  case Format::sopk:
    forget(op.dst, dwords(op.info->dst));
    carry_.reset();
    break;
  case Format::smem:
    forget(op.dst, dwords(op.info->dst));
    break;
  case Format::sopc:
    carry_.reset();
    break;
  case Format::sopp:
  case Format::ds:
  case Format::flat:
  case Format::mubuf:
    break;
  default:
    // Vector instructions: compares, carries and lane reads have a scalar destination.
    forget(op.sdst, 2);
    if (op.info->flags & op_writes_scalar)
      forget(op.dst, 2);
  }
}

void ScalarConstants::step(const Op& op) {
  const std::string_view name = op.info->mnemonic;
  if (name == "s_getpc_b64") {
    set_pair(op.dst, op.pc + op.size);
  } else if (name == "s_mov_b32") {
    set(op.dst, word(op.src[0]));
  } else if (name == "s_movk_i32") {
    set(op.dst, static_cast<std::uint32_t>(op.imm));
  } else if (name == "s_mov_b64") {
    const Source& from = op.src[0];
    if (from.kind == Source::Kind::constant)
      set_pair(op.dst, from.value);
    else if (from.kind == Source::Kind::sgpr)
      set_pair(op.dst, pair(from.reg));
    else
      forget(op.dst, 2);
  } else if (name == "s_add_u32" || name == "s_addc_u32") {
    const Word a = word(op.src[0]);
    const Word b = word(op.src[1]);
    const std::optional<bool> carry_in = name == "s_add_u32" ? false : carry_;
    if (a && b && carry_in) {
      const std::uint64_t sum = std::uint64_t{*a} + *b + (*carry_in ? 1u : 0u);
      set(op.dst, static_cast<std::uint32_t>(sum));
      carry_ = (sum >> 32) != 0;
    } else {
      forget(op.dst, 1);
      carry_.reset();
    }
  } else if (name == "s_load_dwordx2" && op.soffset.kind == Source::Kind::none) {
    const auto base = pair(op.saddr);
    set_pair(op.dst, base ? object_.constant64(*base + static_cast<std::uint64_t>(
                                                           static_cast<std::int64_t>(op.imm)))
                          : std::nullopt);
  } else {
    forget_results(op);
  }
}

} // namespace wavesim
