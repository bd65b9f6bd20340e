// Definedness through memory instructions and moves between lanes.
#include "checks/findings.hpp"
#include "checks/lds_addresses.hpp"
#include "checks/uninit_check.hpp"
#include "machine/dispatch.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <string_view>

namespace wavesim {

namespace {

constexpr std::uint16_t no_saddr = 0x7f;

std::string vector_name(unsigned r) {
  return r < VectorSet::agpr0 ? fmt::format("v{}", r) : fmt::format("a{}", r - VectorSet::agpr0);
}

template <class F>
void for_each_lane(std::uint64_t mask, F&& f) {
  for (; mask; mask &= mask - 1)
    f(static_cast<unsigned>(__builtin_ctzll(mask)));
}

unsigned data_register(const Op& op, unsigned reg) {
  return op.data_agpr ? VectorSet::agpr0 + reg : reg;
}

} // namespace

void UninitCheck::check_address(State& s, const Wave& wave, const Op& op, unsigned first,
                                unsigned count) {
  const Mask exec = wave.exec();
  for (unsigned r = first; r < first + count; ++r)
    if (const Mask bad = exec & ~s.v(r)) [[unlikely]] {
      decides(wave, op, "an undefined value decides an address", bad, s.origin[r], vector_name(r));
      s.set_v(r, s.v(r) | exec);
    }
}

void UninitCheck::check_scalar_address(State& s, const Wave& wave, const Op& op, unsigned first,
                                       unsigned count) {
  for (unsigned r = first; r < first + count && r < 128; ++r)
    if (s.s(r) != ~0u) [[unlikely]] {
      decides(wave, op, "an undefined value decides an address", 0, s.s_origin[r],
              fmt::format("s{}", r));
      s.set_s(r, ~0u);
    }
}

namespace {

/// Whether all bytes that the lanes of the row touch are defined.
template <class Word>
bool all_defined(const std::uint8_t* defined, const LdsRow& row, unsigned words) {
  constexpr auto ones = static_cast<Word>(std::numeric_limits<Word>::max() / 0xff);
  const std::uint32_t* const at = row.addresses();
  Word all = ones;
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned i = 0; i < words; ++i) {
      Word w;
      std::memcpy(&w, &defined[at[lane] + i * sizeof w], sizeof w);
      all &= w;
    }
  return all == ones;
}

/// All bytes that the lanes of the row touch become defined. Lanes that do not count repeat the
/// address of one that does.
template <unsigned Bytes>
void set_defined(std::uint8_t* defined, const LdsRow& row) {
  constexpr std::uint8_t ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const std::uint32_t* const at = row.addresses();
  for (unsigned lane = 0; lane < lanes; ++lane)
    std::memcpy(&defined[at[lane]], ones, Bytes);
}

/// Bit l: whether any byte of the width at address l, `ahead` bytes further on, is defined.
template <class Word>
std::uint64_t any_defined(const std::uint8_t* defined, const LdsRow& row, unsigned ahead) {
  const std::uint32_t* const at = row.addresses();
  std::uint64_t mask = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Word w;
    std::memcpy(&w, &defined[at[lane] + ahead], sizeof w);
    mask |= std::uint64_t{w != 0} << lane;
  }
  return mask;
}

} // namespace

/// Loads of lanes that are all inside of LDS.
void UninitCheck::lds_load(State& s, const Op& op, const OpFacts& facts, const LdsRow& row,
                           unsigned first, Mask mask) {
  const std::uint8_t* const bytes = lds_.data();
  const unsigned dwords = (facts.bytes + 3u) / 4;
  const auto run_defined = [&] {
    return !std::memchr(bytes + row.lowest, 0, std::size_t{lanes} * facts.bytes);
  };
  const bool clean = row.run            ? run_defined()
                     : facts.bytes == 1 ? all_defined<std::uint8_t>(bytes, row, 1)
                     : facts.bytes == 2 ? all_defined<std::uint16_t>(bytes, row, 1)
                     : facts.bytes % 8  ? all_defined<std::uint32_t>(bytes, row, dwords)
                                        : all_defined<std::uint64_t>(bytes, row, dwords / 2);
  for (unsigned d = 0; d < dwords; ++d) {
    Mask defined = ~Mask{0};
    if (!clean)
      defined = facts.bytes == 1   ? any_defined<std::uint8_t>(bytes, row, 0)
                : facts.bytes == 2 ? any_defined<std::uint16_t>(bytes, row, 0)
                                   : any_defined<std::uint32_t>(bytes, row, 4 * d);
    write(s, first + d, mask, {defined, op.pc}, op.pc);
  }
}

/// Stores of lanes that are all inside of LDS.
void UninitCheck::lds_store(State& s, const OpFacts& facts, const LdsRow& row, unsigned first,
                            Mask mask) {
  const unsigned dwords = (facts.bytes + 3u) / 4, width = std::min<unsigned>(facts.bytes, 4);
  Mask all = ~Mask{0};
  for (unsigned d = 0; d < dwords; ++d)
    all &= s.v(first + d);
  std::uint8_t* const bytes = lds_.data();
  if ((all & mask) == mask) {
    if (row.run) {
      std::memset(&bytes[row.lowest], 1, std::size_t{lanes} * facts.bytes);
      return;
    }
    switch (facts.bytes) {
    case 1:
      set_defined<1>(bytes, row);
      break;
    case 2:
      set_defined<2>(bytes, row);
      break;
    case 4:
      set_defined<4>(bytes, row);
      break;
    case 8:
      set_defined<8>(bytes, row);
      break;
    case 12:
      set_defined<12>(bytes, row);
      break;
    default:
      set_defined<16>(bytes, row);
    }
    return;
  }
  for (unsigned d = 0; d < dwords; ++d) {
    const Mask defined = s.v(first + d);
    for_each_lane(mask, [&](unsigned lane) {
      std::memset(&bytes[row.addresses()[lane] + 4 * d], defined >> lane & 1 ? 1 : 0, width);
    });
  }
}

/// One piece of an access to LDS: `first` is the data register (a destination of loads, a source of
/// writes).
void UninitCheck::lds_access(State& s, const Op& op, const OpFacts& facts, const LdsRow& row,
                             unsigned first, Mask mask) {
  if (!facts.store && facts.use.writes.empty())
    return; // an atomic that returns nothing
  Mask inside = mask;
  if (std::uint64_t{row.highest} + facts.bytes > lds_bytes_) [[unlikely]] {
    inside = 0;
    for_each_lane(mask, [&](unsigned lane) {
      if (std::uint64_t{row.addresses()[lane]} + facts.bytes <= lds_bytes_)
        inside |= std::uint64_t{1} << lane;
    });
    // Outside of LDS zeros are read.
    for (unsigned d = 0; !facts.store && d < (facts.bytes + 3u) / 4; ++d)
      write(s, first + d, mask & ~inside, {}, op.pc);
    if (!inside)
      return;
    LdsRow rest;
    fill_row(rest, row.addresses(), 0, inside, facts.bytes);
    lds_access(s, op, facts, rest, first, inside);
    return;
  }
  if (facts.store)
    lds_store(s, facts, row, first, inside);
  else
    lds_load(s, op, facts, row, first, inside);
}

void UninitCheck::lds(State& s, const Wave& wave, const Op& op, const OpFacts& facts,
                      const LdsRow* rows) {
  const Mask exec = wave.exec();
  if (!exec)
    return;
  if (facts.addtid || facts.counts_lanes)
    check_scalar_address(s, wave, op, code_m0, 1);
  else
    check_address(s, wave, op, op.vaddr, 1);
  const unsigned dwords = (facts.bytes + 3u) / 4;
  if (facts.atomic) {
    // The memory stays what it was; operands that are undefined make it so.
    if (!facts.use.writes.empty() && facts.pieces == 1)
      lds_access(s, op, facts, rows[0], data_register(op, op.dst), exec);
    else
      facts.use.writes.for_each([&](unsigned r) { write(s, r, exec, {}, op.pc); });
    if (!facts.counts_lanes)
      for (unsigned d = 0; d < dwords; ++d) {
        const Mask bad = exec & ~s.v(data_register(op, op.vdata) + d);
        for_each_lane(bad, [&](unsigned lane) {
          if (std::uint64_t{rows[0].addresses()[lane]} + facts.bytes <= lds_bytes_)
            std::memset(&lds_[rows[0].addresses()[lane] + 4 * d], 0, 4);
        });
      }
    return;
  }
  for (unsigned piece = 0; piece < facts.pieces; ++piece) {
    const unsigned reg = facts.store ? (piece ? op.vdata1 : op.vdata) : op.dst + piece * dwords;
    lds_access(s, op, facts, rows[piece], data_register(op, reg), exec);
  }
  // Equal offsets: one access fills both halves.
  if (facts.load && facts.pieces == 1)
    facts.use.writes.for_each([&](unsigned r) {
      if (r >= data_register(op, op.dst) + dwords)
        s.set_v(r, s.v(data_register(op, op.dst)));
    });
}

/// ds_swizzle, ds_permute, ds_bpermute: the instruction itself, run on ones and zeros.
void UninitCheck::lane_move(State& s, const Wave& wave, const Op& op, const OpFacts& facts) {
  const Mask exec = wave.exec();
  if (!exec || facts.use.writes.empty())
    return;
  const bool swizzle = std::string_view(op.info->mnemonic) == "ds_swizzle_b32";
  const unsigned from = swizzle ? op.vaddr : data_register(op, op.vdata);
  if (!swizzle && (exec & ~s.v(op.vaddr)))
    check_address(s, wave, op, op.vaddr, 1);
  if ((s.v(from) & exec) == exec) {
    facts.use.writes.for_each([&](unsigned r) { write(s, r, exec, {}, op.pc); });
    return;
  }
  Op moving = op;
  moving.data_agpr = moving.dst_agpr = false;
  moving.vaddr = 0;
  moving.vdata = static_cast<std::uint16_t>(swizzle ? 0 : 1);
  moving.dst = 2;
  std::memcpy(shadow_->v[0], wave.v[op.vaddr], sizeof(LaneRow));
  for (unsigned lane = 0; lane < lanes; ++lane)
    shadow_->v[moving.vdata][lane] = s.v(from) >> lane & 1 ? 0 : 1; // zeros made up are defined
  shadow_->set_exec(exec);
  shadow_->tally = nullptr;
  op.execute(*shadow_, moving);
  Mask defined = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    defined |= Mask{shadow_->v[2][lane] == 0} << lane;
  facts.use.writes.for_each([&](unsigned r) {
    write(s, r, exec, {defined, s.origin[from]}, op.pc);
  });
}

void UninitCheck::private_memory(State& s, const Op& op, const OpFacts& facts,
                                 const std::int64_t* offset, Mask mask) {
  const unsigned dwords = (facts.bytes + 3u) / 4, width = std::min<unsigned>(facts.bytes, 4);
  const unsigned first = data_register(op, facts.store ? op.vdata : op.dst);
  const auto place = [&](unsigned lane, std::int64_t byte) {
    return static_cast<std::size_t>(byte) / 4 * lanes + lane;
  };
  for (unsigned d = 0; d < dwords; ++d) {
    Mask defined = facts.store ? s.v(first + d) : 0;
    for_each_lane(mask, [&](unsigned lane) {
      for (unsigned i = 0; i < width; ++i) {
        const std::int64_t byte = offset[lane] + 4 * d + i;
        const std::size_t at = place(lane, byte);
        if (byte < 0 || at >= s.scratch.size())
          return; // a fault of its own
        const auto bit = static_cast<std::uint8_t>(1u << byte % 4);
        if (!facts.store) {
          defined |= Mask{(s.scratch[at] & bit) != 0} << lane;
          continue;
        }
        s.scratch[at] = static_cast<std::uint8_t>(defined >> lane & 1 ? s.scratch[at] | bit
                                                                      : s.scratch[at] & ~bit);
        s.scratch_used = std::max(s.scratch_used, at + 1);
      }
    });
    if (!facts.store)
      write(s, first + d, mask, {defined, op.pc}, op.pc);
  }
}

void UninitCheck::memory(State& s, const Wave& wave, const Op& op, const OpFacts& facts) {
  const Mask exec = wave.exec();
  if (!exec || facts.bytes == 0)
    return;
  // Addresses.
  if (op.format == Format::mubuf) {
    check_scalar_address(s, wave, op, op.saddr, 4);
    if (op.has_vaddr)
      check_address(s, wave, op, op.vaddr, op.offen && op.idxen ? 2 : 1);
    if (op.soffset.kind == Source::Kind::sgpr)
      check_scalar_address(s, wave, op, op.soffset.reg, 1);
  } else if (op.segment == Segment::scratch) {
    if (op.has_vaddr)
      check_address(s, wave, op, op.vaddr, 1);
    if (op.saddr != no_saddr)
      check_scalar_address(s, wave, op, op.saddr, 1);
  } else {
    const bool scalar_base = op.segment == Segment::global && op.saddr != no_saddr;
    check_address(s, wave, op, op.vaddr, scalar_base ? 1 : 2);
    if (scalar_base)
      check_scalar_address(s, wave, op, op.saddr, 2);
  }
  if (facts.lds_direct) {
    const std::uint32_t base =
        (wave.s[code_m0] & (op.format == Format::mubuf ? 0xffffu : 0x3fffcu)) +
        static_cast<std::uint32_t>(op.offset);
    for_each_lane(exec, [&](unsigned lane) {
      if (std::uint64_t{base} + 4 * lane + 4 <= lds_bytes_)
        std::memset(&lds_[base + 4 * lane], 1, 4);
    });
    return;
  }
  Mask global = exec;
  std::int64_t offset[lanes];
  if (op.segment == Segment::scratch) {
    const std::int64_t base =
        (op.saddr == no_saddr ? 0 : std::int64_t{wave.s[op.saddr]}) + op.offset;
    for (unsigned lane = 0; lane < lanes; ++lane)
      offset[lane] = base + (op.has_vaddr ? std::int64_t{wave.v[op.vaddr][lane]} : 0);
    private_memory(s, op, facts, offset, exec);
    return;
  }
  if (op.segment == Segment::flat) {
    const std::uint32_t* low = wave.v[op.vaddr];
    const std::uint32_t* high = low + lanes;
    Mask to_lds = 0, to_private = 0;
    for_each_lane(exec, [&](unsigned lane) {
      const Mask bit = Mask{1} << lane;
      const std::uint64_t at =
          (low[lane] | std::uint64_t{high[lane]} << 32) + static_cast<std::uint64_t>(op.offset);
      if (at >> 32 == Dispatch::shared_aperture)
        to_lds |= bit;
      if (at >> 32 == Dispatch::private_aperture)
        to_private |= bit;
      offset[lane] = static_cast<std::int64_t>(static_cast<std::uint32_t>(at));
    });
    global &= ~(to_lds | to_private);
    if (to_lds && !facts.atomic) {
      LdsRow row;
      fill_row(row, low, static_cast<std::uint32_t>(op.offset), to_lds, facts.bytes);
      lds_access(s, op, facts, row, data_register(op, facts.store ? op.vdata : op.dst), to_lds);
    }
    if (to_private && !facts.atomic)
      private_memory(s, op, facts, offset, to_private);
  }
  if (!global)
    return;
  if (facts.store || facts.atomic) {
    // Compare-and-swap takes two values.
    const unsigned values = facts.atomic && std::string_view(op.info->mnemonic).find("cmpswap") !=
                                                std::string_view::npos
                                ? 2
                                : 1;
    for (unsigned d = 0; d < values * ((facts.bytes + 3u) / 4); ++d) {
      const unsigned r = data_register(op, op.vdata) + d;
      if (const Mask bad = global & ~s.v(r)) [[unlikely]] {
        decides(wave, op, "an undefined value is written to memory", bad, s.origin[r],
                vector_name(r));
        s.set_v(r, s.v(r) | global);
      }
    }
  }
  facts.use.writes.for_each([&](unsigned r) { write(s, r, global, {}, op.pc); });
}

} // namespace wavesim
