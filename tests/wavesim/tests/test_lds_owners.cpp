// The quick looks for races (checks/lds_owners.hpp) against one that keeps the waves of each byte.
// The one by dwords may be suspicious for nothing where two waves share a dword, but must never
// miss a byte that two waves touch, one of them writing; the one by bytes is exact.
#include "checks/lds_addresses.hpp"
#include "checks/lds_owners.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

using namespace wavesim;

namespace {

constexpr std::uint32_t lds_bytes = 4096;

struct Access {
  LdsRow row;
  std::uint64_t lanes = 0;
  unsigned bytes = 0, wave = 0;
  enum class Kind { read, write, atomic } kind = Kind::read;
  LdsSpan span() const {
    return {row.run ? nullptr : row.addresses(),
            row.lowest,
            row.highest,
            static_cast<std::uint8_t>(bytes),
            static_cast<std::uint8_t>(row.low_bits & 15),
            static_cast<std::uint8_t>(wave),
            row.run};
  }
};

template <unsigned Unit>
bool quick_look(const std::vector<Access>& accesses, LdsOwners<Unit>& owners) {
  using enum Access::Kind;
  owners.clear(lds_bytes);
  bool fine = true;
  for (const Access::Kind kind : {write, atomic, read})
    for (const Access& a : accesses)
      if (a.kind == kind)
        fine = (kind == write    ? owners.write(a.span())
                : kind == atomic ? owners.atomic(a.span())
                                 : owners.read(a.span())) &&
               fine;
  return !fine;
}

/// Whether two waves meet in a unit of `granule` bytes, one of them writing, not both by atomics.
bool exact(const std::vector<Access>& accesses, unsigned granule) {
  // By kind: a bit for each wave.
  std::vector<std::uint32_t> who[3] = {std::vector<std::uint32_t>(lds_bytes),
                                       std::vector<std::uint32_t>(lds_bytes),
                                       std::vector<std::uint32_t>(lds_bytes)};
  for (const Access& a : accesses)
    for (unsigned lane = 0; lane < lanes; ++lane)
      if (a.lanes >> lane & 1)
        for (std::uint32_t i = a.row.addresses()[lane]; i < a.row.addresses()[lane] + a.bytes; ++i)
          who[static_cast<unsigned>(a.kind)][i / granule] |= 1u << a.wave;
  const auto several = [](std::uint32_t waves) { return (waves & (waves - 1)) != 0; };
  for (std::size_t i = 0; i < lds_bytes; ++i) {
    const std::uint32_t reads = who[0][i], writes = who[1][i], atomics = who[2][i];
    if ((writes != 0 && several(reads | writes | atomics)) ||
        (atomics != 0 && reads != 0 && several(reads | atomics)))
      return true;
  }
  return false;
}

class Draw {
public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t n) {
    return std::uniform_int_distribution<std::uint32_t>(0, n - 1)(engine_);
  }
  /// Mostly inside of a region of the wave's own, so that some intervals are free of races.
  Access access(unsigned waves, bool aligned) {
    Access a;
    constexpr unsigned widths[] = {1, 2, 4, 8, 12, 16};
    a.bytes = aligned ? widths[2 + below(4)] : widths[below(6)];
    a.wave = below(waves);
    a.kind = static_cast<Access::Kind>(below(3));
    a.lanes = below(3) == 0 ? std::uint64_t{below(~0u)} << 32 | below(~0u) | 1u << below(32)
                            : ~std::uint64_t{0};
    const std::uint32_t own = lds_bytes / waves, unit = aligned ? 4 : 1;
    const std::uint32_t begin = own * (below(8) == 0 ? below(waves) : a.wave);
    const std::uint32_t room = own - a.bytes;
    const std::uint32_t stride = below(3) == 0 ? a.bytes : unit * below(32);
    std::uint32_t base[lanes];
    const std::uint32_t first = below(room / unit) * unit;
    for (unsigned lane = 0; lane < lanes; ++lane)
      base[lane] = begin + (first + lane * stride) % (room / unit * unit);
    const std::uint32_t offset = begin; // any part of the address may come from the instruction
    for (std::uint32_t& b : base)
      b -= offset;
    fill_row(a.row, base, offset, a.lanes, a.bytes);
    return a;
  }

private:
  std::mt19937 engine_;
};

} // namespace

TEST(LdsOwners, MissesNothing) {
  LdsOwners<4> dwords;
  LdsOwners<1> bytes;
  Draw draw(1);
  unsigned races = 0, free = 0, shared_dwords = 0;
  for (unsigned round = 0; round < 4000; ++round) {
    const bool aligned = round % 2 == 0;
    const unsigned waves = 1 + draw.below(16);
    std::vector<Access> accesses;
    for (unsigned i = 0; i < 1 + draw.below(8); ++i)
      accesses.push_back(draw.access(waves, aligned));
    const bool by_dword = quick_look(accesses, dwords), by_byte = quick_look(accesses, bytes);
    ASSERT_EQ(by_byte, exact(accesses, 1)) << round;
    if (aligned)
      ASSERT_EQ(by_dword, by_byte) << round;
    else
      ASSERT_TRUE(by_dword || !by_byte) << round;
    ++(by_byte ? races : free);
    shared_dwords += by_dword && !by_byte;
  }
  EXPECT_GT(races, 200u);
  EXPECT_GT(free, 400u);
  EXPECT_GT(shared_dwords, 5u);
}

TEST(LdsOwners, RowsAreDescribedAsTheyAre) {
  Draw draw(2);
  for (unsigned round = 0; round < 2000; ++round) {
    const Access a = draw.access(4, round % 2 == 0);
    std::uint32_t lowest = ~0u, highest = 0, bits = 0;
    bool run = a.lanes == ~std::uint64_t{0};
    const std::uint32_t* const at = a.row.addresses();
    for (unsigned lane = 0; lane < lanes; ++lane) {
      run = run && at[lane] == at[0] + lane * a.bytes;
      if (!(a.lanes >> lane & 1))
        continue;
      lowest = std::min(lowest, at[lane]);
      highest = std::max(highest, at[lane]);
      bits |= at[lane];
    }
    ASSERT_EQ(a.row.lowest, lowest);
    ASSERT_EQ(a.row.highest, highest);
    ASSERT_EQ(a.row.run, run);
    for (unsigned n = 0; n < 4; ++n)
      ASSERT_EQ((a.row.low_bits & ((2u << n) - 1)) == 0, (bits & ((2u << n) - 1)) == 0);
  }
}

TEST(LdsOwners, LanesOutsideAreSuspicious) {
  LdsOwners<4> owners;
  owners.clear(lds_bytes);
  Access a;
  a.bytes = 4;
  const std::uint32_t base[lanes] = {lds_bytes};
  fill_row(a.row, base, 0, 1, 4);
  EXPECT_FALSE(owners.write(a.span()));
  EXPECT_FALSE(owners.atomic(a.span()));
}
