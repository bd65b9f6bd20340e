// DS reads and writes against byte-wise formulas.
#include "tests/memory_cases.hpp"

#include <fmt/format.h>

using namespace wavesim;
using namespace wavesim::test;

namespace {

constexpr Access reads[] = {
    {.suffix = "u8", .bytes = 1},
    {.suffix = "i8", .bytes = 1, .sign = true},
    {.suffix = "u16", .bytes = 2},
    {.suffix = "i16", .bytes = 2, .sign = true},
    {.suffix = "u8_d16", .bytes = 1, .d16 = true},
    {.suffix = "u8_d16_hi", .bytes = 1, .d16 = true, .high = true},
    {.suffix = "i8_d16", .bytes = 1, .sign = true, .d16 = true},
    {.suffix = "i8_d16_hi", .bytes = 1, .sign = true, .d16 = true, .high = true},
    {.suffix = "u16_d16", .bytes = 2, .d16 = true},
    {.suffix = "u16_d16_hi", .bytes = 2, .d16 = true, .high = true},
    {.suffix = "b32", .bytes = 4},
    {.suffix = "b64", .bytes = 8},
    {.suffix = "b96", .bytes = 12},
    {.suffix = "b128", .bytes = 16},
};

constexpr Access writes[] = {
    {.suffix = "b8", .bytes = 1},   {.suffix = "b8_d16_hi", .bytes = 1, .high = true},
    {.suffix = "b16", .bytes = 2},  {.suffix = "b16_d16_hi", .bytes = 2, .high = true},
    {.suffix = "b32", .bytes = 4},  {.suffix = "b64", .bytes = 8},
    {.suffix = "b96", .bytes = 12}, {.suffix = "b128", .bytes = 16},
};

/// How the lanes' addresses are made.
enum class Pattern { scattered, unaligned, run, below, beyond, count };

std::uint32_t address_of(Pattern p, unsigned lane, unsigned bytes) {
  switch (p) {
  case Pattern::scattered:
    return random_below(60000 / bytes) * bytes;
  case Pattern::unaligned:
    return random_below(60000);
  case Pattern::run:
    return 512 + lane * bytes;
  case Pattern::below: // negative; an offset may bring the sum to 0 or more
    return 0 - random_below(3000);
  default: // around the end of LDS, and far beyond
    return lane % 8 == 0 ? random32() : Machine::lds_bytes - 40 + random_below(64);
  }
}

std::string registers(char file, unsigned first, unsigned count) {
  return count == 1 ? fmt::format("{}{}", file, first)
                    : fmt::format("{}[{}:{}]", file, first, first + count - 1);
}

bool inside(std::uint64_t at, unsigned bytes) {
  return at + bytes <= Machine::lds_bytes;
}

TEST(LdsRead, EveryWidthAndAddress) {
  for (Simd level : levels())
    for (const Access& access : reads)
      for (int p = 0; p < static_cast<int>(Pattern::count); ++p)
        for (const bool agpr : {false, true})
          for (const std::uint64_t exec : exec_patterns()) {
            Machine m(level);
            fill_random(m.wave);
            fill_random(m.group.lds, Machine::lds_bytes);
            const unsigned offset = p == static_cast<int>(Pattern::beyond) ? 8 : random_below(4096);
            m.vgpr(1, [&](unsigned l) {
              return address_of(static_cast<Pattern>(p), l, access.bytes);
            });
            m.wave.set_exec(exec);
            Registers expected(m.wave);
            for (unsigned l = 0; l < lanes; ++l) {
              if (!active(exec, l))
                continue;
              const std::uint32_t at = m.wave.v[1][l] + offset; // wraps at 2^32
              const std::byte nothing[16] = {};
              for (unsigned d = 0; d < access.dwords(); ++d) {
                std::uint32_t& x = expected.at(agpr, 4 + d, l);
                x = access.load(inside(at, access.bytes) ? m.group.lds + at : nothing, x, d);
              }
            }
            const std::string text =
                fmt::format("ds_read_{} {}, v1 offset:{}", access.suffix,
                            registers(agpr ? 'a' : 'v', 4, access.dwords()), offset);
            run_again(m, text);
            expected.expect(m.wave, text);
          }
}

TEST(LdsRead, ResultMayReplaceTheAddress) {
  for (Simd level : levels())
    for (const char* text :
         {"ds_read_b32 v2, v2", "ds_read_b128 v[2:5], v2", "ds_read_b64 v[2:3], v3",
          "ds_read2_b32 v[2:3], v2 offset0:1 offset1:5", "ds_read2_b64 v[2:5], v2 offset1:9"}) {
      Machine m(level), reference(level);
      fill_random(m.group.lds, Machine::lds_bytes);
      std::memcpy(reference.group.lds, m.group.lds, Machine::lds_bytes);
      for (Machine* x : {&m, &reference})
        for (unsigned r : {2u, 3u, 9u})
          x->vgpr(r, [](unsigned l) { return (l * 97 % 64) * 16; });
      run_again(m, text);
      std::string apart = text; // the same with the address elsewhere
      const std::size_t comma = apart.find(", v");
      apart.replace(comma, 4, ", v9");
      reference.run(apart);
      for (unsigned r = 2; r < 6; ++r)
        for (unsigned l = 0; l < lanes; ++l)
          EXPECT_EQ(m.wave.v[r][l], reference.wave.v[r][l]) << text << ": v" << r << " lane " << l;
    }
}

TEST(LdsWrite, EveryWidthAndAddress) {
  for (Simd level : levels())
    for (const Access& access : writes)
      for (int p = 0; p < static_cast<int>(Pattern::count); ++p)
        for (const bool agpr : {false, true})
          for (const std::uint64_t exec : exec_patterns()) {
            Machine m(level);
            fill_random(m.wave);
            fill_random(m.group.lds, Machine::lds_bytes);
            const unsigned offset = p == static_cast<int>(Pattern::beyond) ? 8 : random_below(4096);
            m.vgpr(1, [&](unsigned l) {
              return address_of(static_cast<Pattern>(p), l, access.bytes);
            });
            m.wave.set_exec(exec);
            const Registers before(m.wave);
            Bytes expected(m.group.lds, Machine::lds_bytes + 64);
            for (unsigned l = 0; l < lanes; ++l) {
              const std::uint32_t at = m.wave.v[1][l] + offset; // wraps at 2^32
              if (!active(exec, l) || !inside(at, access.bytes))
                continue;
              std::uint32_t data[4];
              for (unsigned d = 0; d < 4; ++d)
                data[d] = agpr ? m.wave.a[4 + d][l] : m.wave.v[4 + d][l];
              access.store(&expected.bits[at], data);
            }
            const std::string text =
                fmt::format("ds_write_{} v1, {} offset:{}", access.suffix,
                            registers(agpr ? 'a' : 'v', 4, access.dwords()), offset);
            run_again(m, text);
            expected.expect(m.group.lds, text);
            before.expect(m.wave, text);
          }
}

TEST(LdsPair, ReadAndWriteTwoPlaces) {
  for (Simd level : levels())
    for (const bool write : {false, true})
      for (const bool st64 : {false, true})
        for (const unsigned bytes : {4u, 8u})
          for (const auto& [o0, o1] : {std::pair{0u, 1u}, {3u, 200u}, {255u, 7u}, {9u, 9u}})
            for (const std::uint64_t exec : exec_patterns()) {
              Machine m(level);
              fill_random(m.wave);
              fill_random(m.group.lds, Machine::lds_bytes);
              m.vgpr(1, [&](unsigned) { return random_below(40000 / bytes) * bytes; });
              m.wave.set_exec(exec);
              Registers registers_after(m.wave);
              Bytes lds_after(m.group.lds, Machine::lds_bytes + 64);
              const unsigned unit = bytes * (st64 ? 64 : 1), dwords = bytes / 4;
              // Two passes over all lanes: the second place is accessed after the first.
              for (unsigned which = 0; which < 2; ++which)
                for (unsigned l = 0; l < lanes; ++l) {
                  const std::uint32_t at = m.wave.v[1][l] + (which ? o1 : o0) * unit;
                  if (!active(exec, l))
                    continue;
                  for (unsigned d = 0; d < dwords; ++d) {
                    if (!write)
                      registers_after.at(false, 4 + which * dwords + d, l) =
                          inside(at, bytes) ? lds_after.get<std::uint32_t>(at + 4 * d) : 0;
                    else if (inside(at, bytes) && (which == 0 || o0 != o1))
                      lds_after.set(at + 4 * d, m.wave.v[(which ? 8 : 4) + d][l]);
                  }
                }
              const std::string name = fmt::format("ds_{}2{}_b{}", write ? "write" : "read",
                                                   st64 ? "st64" : "", 8 * bytes);
              const std::string text =
                  write ? fmt::format("{} v1, {}, {} offset0:{} offset1:{}", name,
                                      registers('v', 4, dwords), registers('v', 8, dwords), o0, o1)
                        : fmt::format("{} {}, v1 offset0:{} offset1:{}", name,
                                      registers('v', 4, 2 * dwords), o0, o1);
              run_again(m, text);
              registers_after.expect(m.wave, text);
              lds_after.expect(m.group.lds, text);
            }
}

TEST(LdsAddtid, LaneNumberTimesFour) {
  for (Simd level : levels()) {
    Machine m(level);
    fill_random(m.wave);
    fill_random(m.group.lds, Machine::lds_bytes);
    m.wave.s[code_m0] = 0xabcd0400; // only the lower half counts
    m.run("ds_read_addtid_b32 v7 offset:8\n"
          "ds_write_addtid_b32 v9 offset:4096");
    for (unsigned l = 0; l < lanes; ++l) {
      std::uint32_t x;
      std::memcpy(&x, m.group.lds + 0x400 + 8 + 4 * l, 4);
      EXPECT_EQ(m.wave.v[7][l], x);
      std::memcpy(&x, m.group.lds + 0x400 + 4096 + 4 * l, 4);
      EXPECT_EQ(m.wave.v[9][l], x);
    }
  }
}

TEST(LdsDeathTest, GlobalWaveSyncStops) {
  Machine m;
  EXPECT_EXIT(m.run("ds_gws_barrier v2 gds"), testing::ExitedWithCode(70), "ds_gws_barrier");
  EXPECT_EXIT(m.run("ds_gws_init v2 gds"), testing::ExitedWithCode(70), "ds_gws_init");
  EXPECT_EXIT(m.run("ds_gws_sema_v gds"), testing::ExitedWithCode(70), "ds_gws_sema_v");
}

TEST(LdsNop, DoesNothing) {
  Machine m;
  fill_random(m.wave);
  const Registers before(m.wave);
  m.run("ds_nop");
  before.expect(m.wave, "ds_nop");
}

} // namespace
