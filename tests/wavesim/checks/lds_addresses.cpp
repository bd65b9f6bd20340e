#include "checks/lds_addresses.hpp"

#include <string_view>

namespace wavesim {

void lds_addresses(const Wave& wave, const Op& op, const OpFacts& facts, LaneRow rows[2]) {
  const std::uint32_t m0 = wave.s[code_m0] & 0xffff;
  for (unsigned piece = 0; piece < facts.pieces; ++piece) {
    std::uint32_t* row = rows[piece];
    const std::uint32_t offset = facts.piece_offset[piece];
    if (facts.addtid || facts.counts_lanes) {
      for (unsigned lane = 0; lane < lanes; ++lane)
        row[lane] = m0 + offset + (facts.addtid ? 4 * lane : 0);
      continue;
    }
    const std::uint32_t* base = wave.v[op.vaddr];
    for (unsigned lane = 0; lane < lanes; ++lane)
      row[lane] = base[lane] + offset;
  }
}

const std::uint32_t* lds_data(const Wave& wave, const Op& op, const OpFacts& facts, unsigned piece,
                              LaneRow& upper) {
  if (!facts.store)
    return nullptr;
  const unsigned first = piece ? op.vdata1 : op.vdata;
  const std::uint32_t* data = op.data_agpr ? wave.a[first] : wave.v[first];
  if (!std::string_view(op.info->mnemonic).ends_with("_d16_hi"))
    return data;
  for (unsigned lane = 0; lane < lanes; ++lane)
    upper[lane] = data[lane] >> 16;
  return upper;
}

} // namespace wavesim
