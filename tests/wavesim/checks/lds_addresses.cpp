#include "checks/lds_addresses.hpp"

#include <bit>
#include <immintrin.h>

namespace wavesim {

namespace {

// AVX2 is there: wavesim needs it.

[[gnu::target("avx2")]] __m256i all(std::uint32_t x) {
  return _mm256_set1_epi32(static_cast<int>(x));
}

enum class Fold { lowest, highest, any };

template <Fold F>
[[gnu::target("avx2")]] __m128i joined(__m128i a, __m128i b) {
  return F == Fold::lowest    ? _mm_min_epu32(a, b)
         : F == Fold::highest ? _mm_max_epu32(a, b)
                              : _mm_or_si128(a, b);
}

template <Fold F>
[[gnu::target("avx2")]] std::uint32_t folded(__m256i x) {
  const __m128i four = joined<F>(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  const __m128i two = joined<F>(four, _mm_shuffle_epi32(four, 0x4e));
  return static_cast<std::uint32_t>(
      _mm_cvtsi128_si32(joined<F>(two, _mm_shuffle_epi32(two, 0xb1))));
}

} // namespace

void LdsRow::spell_out() const {
  const std::uint32_t step = (highest - lowest) / (lanes - 1);
  for (unsigned lane = 0; lane < lanes; ++lane)
    at[lane] = lowest + lane * step;
  spelled_out = true;
}

/// Whether lane i has base[0] + i * bytes.
[[gnu::target("avx2")]] static bool is_run(const std::uint32_t* base, unsigned bytes) {
  const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i step = all(8 * bytes);
  __m256i expected = _mm256_add_epi32(all(base[0]), _mm256_mullo_epi32(numbers, all(bytes)));
  __m256i difference = _mm256_setzero_si256();
  for (unsigned lane = 0; lane < lanes; lane += 8) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(base + lane));
    difference = _mm256_or_si256(difference, _mm256_xor_si256(x, expected));
    expected = _mm256_add_epi32(expected, step);
  }
  return _mm256_testz_si256(difference, difference) != 0;
}

[[gnu::target("avx2")]] void fill_row(LdsRow& row, const std::uint32_t* base, std::uint32_t offset,
                                      std::uint64_t mask, unsigned bytes) {
  const bool full = mask == ~std::uint64_t{0};
  const std::uint32_t first = base[std::countr_zero(mask)] + offset;
  row.run = full && first <= ~std::uint32_t{0} - lanes * bytes && is_run(base, bytes);
  row.spelled_out = !row.run;
  if (row.run) {
    row.lowest = first;
    row.highest = first + (lanes - 1) * bytes;
    row.low_bits = first | bytes;
    return;
  }
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i filler = all(first), offsets = all(offset);
  __m256i low = filler, high = filler, any = filler;
  for (unsigned lane = 0; lane < lanes; lane += 8) {
    __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(base + lane));
    x = _mm256_add_epi32(x, offsets);
    if (!full) {
      const __m256i on =
          _mm256_and_si256(all(static_cast<std::uint32_t>(mask >> lane & 0xff)), bits);
      x = _mm256_blendv_epi8(filler, x, _mm256_cmpeq_epi32(on, bits));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(row.at + lane), x);
    low = _mm256_min_epu32(low, x);
    high = _mm256_max_epu32(high, x);
    any = _mm256_or_si256(any, x);
  }
  row.lowest = folded<Fold::lowest>(low);
  row.highest = folded<Fold::highest>(high);
  row.low_bits = folded<Fold::any>(any);
}

void fill_run(LdsRow& row, std::uint32_t base, std::uint64_t mask, unsigned bytes) {
  LaneRow steps;
  for (unsigned lane = 0; lane < lanes; ++lane)
    steps[lane] = lane * bytes;
  fill_row(row, steps, base, mask, bytes);
}

void lds_addresses(const Wave& wave, const Op& op, const OpFacts& facts, LdsRow rows[2]) {
  const std::uint64_t mask = lanes_of_lds(facts, wave.exec());
  if (!mask)
    return;
  for (unsigned piece = 0; piece < facts.pieces; ++piece) {
    const std::uint32_t offset = facts.piece_offset[piece];
    if (facts.addtid || facts.counts_lanes)
      fill_run(rows[piece], (wave.s[code_m0] & 0xffff) + offset, mask, facts.addtid ? 4 : 0);
    else
      fill_row(rows[piece], wave.v[op.vaddr], offset, mask, facts.bytes);
  }
}

const std::uint32_t* lds_data(const Wave& wave, const Op& op, const OpFacts& facts, unsigned piece,
                              LaneRow& upper) {
  if (!facts.store)
    return nullptr;
  const unsigned first = piece ? op.vdata1 : op.vdata;
  const std::uint32_t* data = op.data_agpr ? wave.a[first] : wave.v[first];
  if (!facts.upper_data)
    return data;
  for (unsigned lane = 0; lane < lanes; ++lane)
    upper[lane] = data[lane] >> 16;
  return upper;
}

} // namespace wavesim
