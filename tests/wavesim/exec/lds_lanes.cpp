// ds_swizzle, ds_permute and ds_bpermute: data moves between lanes, LDS memory is not touched.
#include "exec/lds_access.hpp"
#include "exec/lds_families.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

namespace {

/// out[lane] = data[source[lane]], sources 0 … 63. Lanes outside `valid` count as zero.
void pull(Row& out, const std::uint32_t* data, const std::uint32_t* source, std::uint64_t valid) {
#ifdef __AVX512F__
  const auto part = [&](unsigned i) {
    return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(valid >> i), data + i);
  };
  const __m512i d0 = part(0), d1 = part(16), d2 = part(32), d3 = part(48);
  for (unsigned i = 0; i < lanes; i += 16) {
    const __m512i from = _mm512_load_si512(source + i);
    const __m512i low = _mm512_permutex2var_epi32(d0, from, d1);
    const __m512i high = _mm512_permutex2var_epi32(d2, from, d3);
    const __mmask16 upper = _mm512_test_epi32_mask(from, _mm512_set1_epi32(32));
    _mm512_store_si512(out.lane + i, _mm512_mask_blend_epi32(upper, low, high));
  }
#else
  Row known;
  spread_mask(known, valid);
  for (unsigned lane = 0; lane < lanes; ++lane)
    known.lane[lane] &= data[lane];
  for (unsigned lane = 0; lane < lanes; ++lane)
    out.lane[lane] = known.lane[source[lane] & 63];
#endif
}

std::uint32_t reversed5(std::uint32_t x) {
  return (x & 1) << 4 | (x & 2) << 2 | (x & 4) | (x & 8) >> 2 | (x & 16) >> 4;
}

/// Source lane of every lane for a swizzle pattern (the 16-bit offset).
void swizzle_sources(Row& source, std::uint32_t pattern) {
  const std::uint32_t low = pattern & 31, middle = pattern >> 5 & 31, high = pattern >> 10 & 31;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    std::uint32_t from;
    if (pattern >= 0xe000) // FFT: bit reversal inside groups that bits [4:0] fix
      from = reversed5(lane & 31) >> std::popcount(low) | (lane & low);
    else if (pattern >= 0xc000) { // rotate by [9:5], right when bit 10 is set; bits [4:0] stay
      const std::uint32_t turned = pattern & 0x400 ? lane - middle : lane + middle;
      from = (lane & low) | (turned & ~low & 31);
    } else if (pattern & 0x8000) // any of the four lanes of the own quad
      from = (lane & 28) | (pattern >> 2 * (lane & 3) & 3);
    else
      from = ((lane & low) | middle) ^ high;
    source.lane[lane] = (from & 31) | (lane & 32);
  }
}

void swizzle(Wave& w, const Op& op) {
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  lds_record(w, op, exec);
  Row source, out;
  swizzle_sources(source, static_cast<std::uint32_t>(op.offset) & 0xffff);
  pull(out, w.v[op.vaddr], source, exec); // the data sits where others have the address
  store_row(register_row(w, op.data_agpr, op.dst), out, exec);
}

/// The lane an address names: (address + offset) / 4 modulo 64.
std::uint32_t lane_of(const Wave& w, const Op& op, unsigned lane) {
  return (w.v[op.vaddr][lane] + static_cast<std::uint32_t>(op.offset)) >> 2 & 63;
}

void bpermute(Wave& w, const Op& op) {
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  lds_record(w, op, exec);
  Row source, out;
  for (unsigned lane = 0; lane < lanes; ++lane)
    source.lane[lane] = lane_of(w, op, lane);
  pull(out, register_row(w, op.data_agpr, op.vdata), source, exec);
  store_row(register_row(w, op.data_agpr, op.dst), out, exec);
}

void permute(Wave& w, const Op& op) {
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  lds_record(w, op, exec);
  const std::uint32_t* data = register_row(w, op.data_agpr, op.vdata);
  Row out; // a lane nobody sends to gets zero; of several senders the highest lane wins
  spread(out, 0);
  for_each_lane(exec, [&](unsigned lane) { out.lane[lane_of(w, op, lane)] = data[lane]; });
  store_row(register_row(w, op.data_agpr, op.dst), out, exec);
}

OpInfo lane_info(const char* name, Handler handler) {
  return {.mnemonic = name, .handler = handler, .unit = Unit::lds, .dst = Type::b32};
}

} // namespace

void register_lds_lanes(OpTable& table) {
  table.add(lane_info("ds_swizzle_b32", swizzle));
  table.add(lane_info("ds_permute_b32", permute));
  table.add(lane_info("ds_bpermute_b32", bpermute));
}

} // namespace wavesim::WAVESIM_SIMD_NS
