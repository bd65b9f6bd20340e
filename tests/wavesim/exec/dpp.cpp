#include "exec/dpp.hpp"

#include <array>

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

constexpr unsigned row_size = 16, controls = 512;

/// The lane that lane n reads, or −1.
constexpr int source_lane(unsigned control, unsigned n) {
  const int lane = static_cast<int>(n), row = lane & ~15, at = lane & 15;
  const int count = static_cast<int>(control & 15);
  if (control < 0x100)
    return (lane & ~3) | static_cast<int>(control >> 2 * (n & 3) & 3);
  if (control > 0x100 && control < 0x110)
    return at + count < 16 ? lane + count : -1;
  if (control > 0x110 && control < 0x120)
    return at >= count ? lane - count : -1;
  if (control > 0x120 && control < 0x130)
    return row | ((at - count) & 15);
  switch (control) {
  case 0x130:
    return lane < 63 ? lane + 1 : -1;
  case 0x134:
    return (lane + 1) & 63;
  case 0x138:
    return lane > 0 ? lane - 1 : -1;
  case 0x13c:
    return (lane - 1) & 63;
  case 0x140:
    return row | (15 - at);
  case 0x141:
    return (lane & ~7) | (7 - (lane & 7));
  case 0x142:
    return lane > 15 ? row - 1 : -1;
  case 0x143:
    return lane > 31 ? 31 : -1;
  default:
    return control >= 0x150 && control < 0x160 ? row | count : -1;
  }
}

constexpr bool defined(unsigned control) {
  return control < 0x130
             ? (control & 15) != 0 || control < 0x100
             : control == 0x130 || control == 0x134 || control == 0x138 || control == 0x13c ||
                   (control >= 0x140 && control <= 0x143) || (control >= 0x150 && control < 0x160);
}

DppPattern make_pattern(unsigned control) {
  DppPattern p;
  p.known = defined(control);
  for (unsigned i = 0; i < lanes; ++i) {
    const int from = source_lane(control, i);
    if (from < 0)
      continue;
    p.from[i] = static_cast<std::uint8_t>(from);
    p.valid |= std::uint64_t{1} << i;
  }
  for (unsigned i = 0; i < lanes; ++i) {
    const bool has = p.valid >> i & 1, first_has = p.valid >> i % row_size & 1;
    if (has != first_has || (has && p.from[i] != p.from[i % row_size] + i / row_size * row_size))
      p.within_rows = false;
    const unsigned row = i / row_size * row_size;
    if (has != (p.valid >> row & 1) || (has && p.from[i] != p.from[row]))
      p.rows_uniform = false;
  }
  return p;
}

std::array<DppPattern, controls> make_patterns() {
  std::array<DppPattern, controls> all;
  for (unsigned c = 0; c < controls; ++c)
    all[c] = make_pattern(c);
  return all;
}

#ifdef __AVX512F__
void permute_rows(const DppPattern& p, const std::uint32_t* in, std::uint32_t* out) {
  const __m512i index =
      _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p.from)));
  const auto keep = static_cast<__mmask16>(p.valid);
  for (unsigned i = 0; i < lanes; i += row_size)
    _mm512_store_si512(out + i,
                       _mm512_maskz_permutexvar_epi32(keep, index, _mm512_load_si512(in + i)));
}
#else
void permute_rows(const DppPattern& p, const std::uint32_t* in, std::uint32_t* out) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  __m256i index[2], keep[2], upper[2];
  for (unsigned h = 0; h < 2; ++h) {
    std::uint64_t bytes;
    std::memcpy(&bytes, p.from + 8 * h, 8);
    index[h] = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(bytes)));
    upper[h] = _mm256_cmpgt_epi32(index[h], _mm256_set1_epi32(7));
    const __m256i part = _mm256_set1_epi32(static_cast<int>(p.valid >> 8 * h & 0xff));
    keep[h] = _mm256_cmpeq_epi32(_mm256_and_si256(part, bit), bit);
  }
  for (unsigned i = 0; i < lanes; i += row_size) {
    const __m256i low = _mm256_load_si256(reinterpret_cast<const __m256i*>(in + i));
    const __m256i high = _mm256_load_si256(reinterpret_cast<const __m256i*>(in + i + 8));
    for (unsigned h = 0; h < 2; ++h) {
      const __m256i a = _mm256_permutevar8x32_epi32(low, index[h]);
      const __m256i b = _mm256_permutevar8x32_epi32(high, index[h]);
      _mm256_store_si256(reinterpret_cast<__m256i*>(out + i + 8 * h),
                         _mm256_and_si256(_mm256_blendv_epi8(a, b, upper[h]), keep[h]));
    }
  }
}
#endif

} // namespace

const DppPattern& dpp_pattern(unsigned control) {
  static const std::array<DppPattern, controls> patterns = make_patterns();
  return patterns[control & (controls - 1)];
}

void permute_row(const DppPattern& p, const std::uint32_t* in, std::uint32_t* out) {
  if (p.within_rows)
    return permute_rows(p, in, out);
  if (p.rows_uniform) { // row broadcasts
    for (unsigned row = 0; row < lanes; row += row_size) {
      const std::uint32_t x = p.valid >> row & 1 ? in[p.from[row]] : 0;
      for (unsigned i = 0; i < row_size; ++i)
        out[row + i] = x;
    }
    return;
  }
  alignas(64) std::uint32_t mask[lanes];
  spread_mask(mask, p.valid);
  for (unsigned i = 0; i < lanes; ++i)
    out[i] = in[p.from[i]] & mask[i];
}

std::uint64_t dpp_readable(const DppPattern& p, std::uint64_t exec) {
  if (exec == all_lanes)
    return p.valid;
  Row active, moved;
  spread_mask(active, exec);
  permute_row(p, active, moved);
  return gather_mask(moved);
}

} // namespace wavesim::WAVESIM_SIMD_NS
