#include "counters/lds_clocks.hpp"

#include "machine/wave.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <immintrin.h>
#include <span>

namespace wavesim {

namespace {

constexpr unsigned banks = 32;

constexpr std::uint64_t run(unsigned first, unsigned count) {
  return (count == 64 ? ~0ull : (1ull << count) - 1) << first;
}

constexpr std::uint64_t halves[] = {run(0, 32), run(32, 32)};
constexpr std::uint64_t quarters[] = {run(0, 16), run(16, 16), run(32, 16), run(48, 16)};
constexpr std::uint64_t eighths[] = {run(0, 8),  run(8, 8),  run(16, 8), run(24, 8),
                                     run(32, 8), run(40, 8), run(48, 8), run(56, 8)};
constexpr std::uint64_t wide_reads[] = {run(0, 4) | run(20, 4),  run(4, 4) | run(16, 4),
                                        run(8, 4) | run(28, 4),  run(12, 4) | run(24, 4),
                                        run(32, 4) | run(52, 4), run(36, 4) | run(48, 4),
                                        run(40, 4) | run(60, 4), run(44, 4) | run(56, 4)};

std::span<const std::uint64_t> lanes_of(LdsPhases phases) {
  switch (phases) {
  case LdsPhases::halves:
    return halves;
  case LdsPhases::quarters:
    return quarters;
  case LdsPhases::eighths:
    return eighths;
  case LdsPhases::wide_reads:
    return wide_reads;
  }
  return {};
}

/// The dwords one phase asks each bank for.
class Banks {
public:
  void request(std::uint32_t dword, bool serialise) {
    const unsigned bank = dword % banks;
    if (!serialise)
      for (unsigned i = 0; i < count_[bank]; ++i)
        if (wanted_[bank][i] == dword)
          return;
    wanted_[bank][count_[bank]++] = dword;
    longest_ = std::max<std::uint32_t>(longest_, count_[bank]);
  }
  std::uint32_t longest() const { return longest_; }

private:
  // At most 32 lanes share a phase and a 4-byte access touches at most two dwords of one lane, in
  // different banks, so a bank is asked at most 32 times.
  std::uint32_t wanted_[banks][32];
  std::uint8_t count_[banks] = {};
  std::uint32_t longest_ = 0;
};

} // namespace

static LdsClocks look_at_lanes(LdsPhases phases, unsigned bytes, bool serialise,
                               const std::uint32_t* address, std::uint64_t exec) {
  LdsClocks total;
  for (const std::uint64_t group : lanes_of(phases)) {
    Banks wanted;
    for (std::uint64_t left = group & exec; left != 0; left &= left - 1) {
      const std::uint32_t first = address[std::countr_zero(left)];
      const std::uint32_t last = (first + bytes - 1) / 4;
      for (std::uint32_t dword = first / 4; dword <= last; ++dword)
        wanted.request(dword, serialise);
    }
    total.clocks += std::max<std::uint32_t>(wanted.longest(), 1);
    ++total.phases;
  }
  return total;
}

namespace {

/// An access up to whole dwords that all of its addresses are moved by: that turns the banks and
/// changes no clock. Kernels come back to the same few.
struct Pattern {
  alignas(64) std::uint32_t from_first[lanes]; ///< bytes from the first active lane; inactive: 0
  std::uint64_t exec;                          ///< 0: nothing is known here
  std::uint32_t kind;
  LdsClocks clocks;
};
constexpr std::size_t patterns = 64;

/// Writes the addresses and their distances from `first`; returns all bits of the addresses.
/// Inactive lanes have those of `first`. AVX2 is there: wavesim needs it.
[[gnu::target("avx2")]] std::uint32_t spread_out(const std::uint32_t* address, std::uint32_t offset,
                                                 std::uint64_t exec, std::uint32_t first,
                                                 std::uint32_t* at, std::uint32_t* from_first) {
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i start = _mm256_set1_epi32(static_cast<int>(first));
  const __m256i offsets = _mm256_set1_epi32(static_cast<int>(offset));
  __m256i any = start;
  for (unsigned lane = 0; lane < lanes; lane += 8) {
    const __m256i on =
        _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(exec >> lane & 0xff)), bits);
    __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(address + lane));
    x = _mm256_blendv_epi8(start, _mm256_add_epi32(x, offsets), _mm256_cmpeq_epi32(on, bits));
    any = _mm256_or_si256(any, x);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at + lane), x);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(from_first + lane), _mm256_sub_epi32(x, start));
  }
  const __m128i four = _mm_or_si128(_mm256_castsi256_si128(any), _mm256_extracti128_si256(any, 1));
  const __m128i two = _mm_or_si128(four, _mm_shuffle_epi32(four, 0x4e));
  return static_cast<std::uint32_t>(
      _mm_cvtsi128_si32(_mm_or_si128(two, _mm_shuffle_epi32(two, 0xb1))));
}

[[gnu::target("avx2")]] bool equal(const std::uint32_t* a, const std::uint32_t* b) {
  __m256i difference = _mm256_setzero_si256();
  for (unsigned lane = 0; lane < lanes; lane += 8)
    difference = _mm256_or_si256(
        difference,
        _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + lane)),
                         _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + lane))));
  return _mm256_testz_si256(difference, difference) != 0;
}

} // namespace

LdsClocks lds_clocks(LdsPhases phases, unsigned bytes, bool serialise, const std::uint32_t* address,
                     std::uint32_t offset, std::uint64_t exec) {
  if (exec == 0)
    return {};
  static thread_local std::array<Pattern, patterns> known{};
  alignas(64) std::uint32_t at[lanes], from_first[lanes];
  const std::uint32_t first = address[std::countr_zero(exec)] + offset;
  const std::uint32_t any = spread_out(address, offset, exec, first, at, from_first);
  if (any >> 31 != 0) // sums of address and width may wrap
    return look_at_lanes(phases, bytes, serialise, at, exec);
  const std::uint32_t kind = static_cast<std::uint32_t>(phases) << 16 | bytes << 8 |
                             (first & 3) << 1 | std::uint32_t{serialise};
  const std::uint32_t hash =
      (from_first[1] ^ from_first[22] * 3 ^ from_first[63] * 5 ^ kind) * 0x9e3779b1u;
  Pattern& pattern = known[hash >> 16 & (patterns - 1)];
  if (pattern.exec != exec || pattern.kind != kind || !equal(pattern.from_first, from_first)) {
    pattern.exec = exec;
    pattern.kind = kind;
    std::memcpy(pattern.from_first, from_first, sizeof from_first);
    pattern.clocks = look_at_lanes(phases, bytes, serialise, at, exec);
  }
  return pattern.clocks;
}

} // namespace wavesim
