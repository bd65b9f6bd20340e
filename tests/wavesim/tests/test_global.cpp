// FLAT, GLOBAL and SCRATCH loads and stores, and loads straight into LDS.
#include "tests/memory_cases.hpp"

#include <fmt/format.h>

using namespace wavesim;
using namespace wavesim::test;

namespace {

constexpr Access loads[] = {
    {.suffix = "ubyte", .bytes = 1},
    {.suffix = "sbyte", .bytes = 1, .sign = true},
    {.suffix = "ushort", .bytes = 2},
    {.suffix = "sshort", .bytes = 2, .sign = true},
    {.suffix = "ubyte_d16", .bytes = 1, .d16 = true},
    {.suffix = "ubyte_d16_hi", .bytes = 1, .d16 = true, .high = true},
    {.suffix = "sbyte_d16", .bytes = 1, .sign = true, .d16 = true},
    {.suffix = "sbyte_d16_hi", .bytes = 1, .sign = true, .d16 = true, .high = true},
    {.suffix = "short_d16", .bytes = 2, .d16 = true},
    {.suffix = "short_d16_hi", .bytes = 2, .d16 = true, .high = true},
    {.suffix = "dword", .bytes = 4},
    {.suffix = "dwordx2", .bytes = 8},
    {.suffix = "dwordx3", .bytes = 12},
    {.suffix = "dwordx4", .bytes = 16},
};

constexpr Access stores[] = {
    {.suffix = "byte", .bytes = 1},     {.suffix = "byte_d16_hi", .bytes = 1, .high = true},
    {.suffix = "short", .bytes = 2},    {.suffix = "short_d16_hi", .bytes = 2, .high = true},
    {.suffix = "dword", .bytes = 4},    {.suffix = "dwordx2", .bytes = 8},
    {.suffix = "dwordx3", .bytes = 12}, {.suffix = "dwordx4", .bytes = 16},
};

std::string tuple(bool agpr, unsigned first, unsigned count) {
  const char file = agpr ? 'a' : 'v';
  return count == 1 ? fmt::format("{}{}", file, first)
                    : fmt::format("{}[{}:{}]", file, first, first + count - 1);
}

constexpr std::size_t block_bytes = 16384;

/// Ways to say an address; each gives the byte of the block that lane l touches.
enum class Form { vector, scalar_base, flat, count };
enum class Order { run, scattered, unaligned, same, count };

struct Place {
  std::string operands; ///< what follows the data register of a load
  std::string store_front, store_back;
  std::vector<std::uint64_t> at;
};

Place set_addresses(Machine& m, const std::byte* block, Form form, Order order, unsigned bytes) {
  Place place;
  const int offset = form == Form::flat ? 2000 : -1500;
  for (unsigned l = 0; l < lanes; ++l) {
    const std::uint32_t choices = static_cast<std::uint32_t>((block_bytes - 4096) / bytes);
    place.at.push_back(2048 + (order == Order::run         ? l * bytes
                               : order == Order::scattered ? random_below(choices) * bytes
                               : order == Order::unaligned ? random_below(12000)
                                                           : 64u));
  }
  const auto base = reinterpret_cast<std::uint64_t>(block);
  if (form == Form::scalar_base) {
    m.wave.set_s64(4, base);
    m.vgpr(2, [&](unsigned l) { return static_cast<std::uint32_t>(place.at[l] + 1500); });
    place.operands = fmt::format("v2, s[4:5] offset:{}", offset);
    place.store_front = "v2, ";
    place.store_back = fmt::format(", s[4:5] offset:{}", offset);
    return place;
  }
  for (unsigned l = 0; l < lanes; ++l)
    m.set_u64(2, l, base + place.at[l] - static_cast<std::uint64_t>(std::int64_t{offset}));
  const char* off = form == Form::vector ? ", off" : "";
  place.operands = fmt::format("v[2:3]{} offset:{}", off, offset);
  place.store_front = "v[2:3], ";
  place.store_back = fmt::format("{} offset:{}", off, offset);
  return place;
}

template <class F>
void each_case(F&& f) {
  for (Simd level : levels())
    for (int form = 0; form < static_cast<int>(Form::count); ++form)
      for (int order = 0; order < static_cast<int>(Order::count); ++order)
        for (const bool agpr : {false, true})
          for (const std::uint64_t exec : exec_patterns())
            f(level, static_cast<Form>(form), static_cast<Order>(order), agpr, exec);
}

TEST(Global, Loads) {
  for (const Access& access : loads)
    each_case([&](Simd level, Form form, Order order, bool agpr, std::uint64_t exec) {
      Machine m(level);
      fill_random(m.wave);
      std::byte* block = m.allocate(block_bytes);
      fill_random(block, block_bytes);
      const Place place = set_addresses(m, block, form, order, access.bytes);
      m.wave.set_exec(exec);
      Registers after(m.wave);
      for (unsigned l = 0; l < lanes; ++l)
        for (unsigned d = 0; active(exec, l) && d < access.dwords(); ++d) {
          std::uint32_t& x = after.at(agpr, 6 + d, l);
          x = access.load(block + place.at[l], x, d);
        }
      const std::string text =
          fmt::format("{}_load_{} {}, {}", form == Form::flat ? "flat" : "global", access.suffix,
                      tuple(agpr, 6, access.dwords()), place.operands);
      run_again(m, text);
      after.expect(m.wave, text);
    });
}

TEST(Global, Stores) {
  for (const Access& access : stores)
    each_case([&](Simd level, Form form, Order order, bool agpr, std::uint64_t exec) {
      Machine m(level);
      fill_random(m.wave);
      std::byte* block = m.allocate(block_bytes);
      fill_random(block, block_bytes);
      const Place place = set_addresses(m, block, form, order, access.bytes);
      m.wave.set_exec(exec);
      const Registers before(m.wave);
      Bytes after(block, block_bytes);
      for (unsigned l = 0; l < lanes; ++l) { // where lanes overlap, the highest one is seen
        std::uint32_t data[4];
        for (unsigned d = 0; d < 4; ++d)
          data[d] = agpr ? m.wave.a[6 + d][l] : m.wave.v[6 + d][l];
        if (active(exec, l))
          access.store(&after.bits[place.at[l]], data);
      }
      const std::string text =
          fmt::format("{}_store_{} {}{}{}", form == Form::flat ? "flat" : "global", access.suffix,
                      place.store_front, tuple(agpr, 6, access.dwords()), place.store_back);
      run_again(m, text);
      after.expect(block, text);
      before.expect(m.wave, text);
    });
}

TEST(Global, ResultMayReplaceTheAddress) {
  for (Simd level : levels()) {
    Machine m(level);
    std::byte* block = m.allocate(4096);
    fill_random(block, 4096);
    for (unsigned l = 0; l < lanes; ++l)
      m.set_u64(2, l, reinterpret_cast<std::uint64_t>(block) + (l * 37 % 64) * 16);
    m.run("global_load_dwordx4 v[2:5], v[2:3], off");
    for (unsigned l = 0; l < lanes; ++l)
      for (unsigned d = 0; d < 4; ++d) {
        std::uint32_t x;
        std::memcpy(&x, block + (l * 37 % 64) * 16 + 4 * d, 4);
        EXPECT_EQ(m.wave.v[2 + d][l], x);
      }
  }
}

TEST(Global, SeveralAllocationsInOneInstruction) {
  for (Simd level : levels()) {
    Machine m(level);
    std::byte* blocks[3] = {m.allocate(512), m.allocate(512), m.allocate(512)};
    for (std::byte* b : blocks)
      fill_random(b, 512);
    for (unsigned l = 0; l < lanes; ++l)
      m.set_u64(2, l, reinterpret_cast<std::uint64_t>(blocks[l % 3] + 8 * l));
    m.run("global_load_dwordx2 v[4:5], v[2:3], off");
    for (unsigned l = 0; l < lanes; ++l) {
      std::uint64_t x;
      std::memcpy(&x, blocks[l % 3] + 8 * l, 8);
      EXPECT_EQ(m.u64(4, l), x);
    }
  }
}

void run_at_end(const char* text, std::size_t bytes) {
  Machine m;
  std::byte* block = m.allocate(bytes);
  for (unsigned l = 0; l < lanes; ++l)
    m.set_u64(2, l, reinterpret_cast<std::uint64_t>(block) + 4 * l);
  run_again(m, text);
}

TEST(GlobalDeathTest, OneByteBeyondTheAllocationFaults) {
  run_at_end("global_load_dword v4, v[2:3], off", 256); // exactly fits
  EXPECT_EXIT(run_at_end("global_load_dword v4, v[2:3], off", 255), testing::ExitedWithCode(70),
              "read");
  EXPECT_EXIT(run_at_end("global_store_dword v[2:3], v4, off", 255), testing::ExitedWithCode(70),
              "write");
  EXPECT_EXIT(run_at_end("global_load_dword v4, v[2:3], off offset:-4", 256),
              testing::ExitedWithCode(70), "read");
  EXPECT_EXIT(run_at_end("flat_load_dword v4, v[2:3] offset:4", 256), testing::ExitedWithCode(70),
              "read");
  EXPECT_EXIT(run_at_end("global_atomic_add v[2:3], v4, off", 255), testing::ExitedWithCode(70),
              "write");
}

TEST(GlobalDeathTest, InactiveLanesMayHoldAnything) {
  Machine m;
  std::byte* block = m.allocate(64);
  for (unsigned l = 0; l < lanes; ++l)
    m.set_u64(2, l, l == 7 ? reinterpret_cast<std::uint64_t>(block) : 0xdead'beef'0000'0000ull + l);
  m.wave.set_exec(1ull << 7);
  m.run("global_load_dword v4, v[2:3], off\nglobal_store_dword v[2:3], v4, off");
  m.wave.set_exec(1ull << 7 | 1ull << 9);
  EXPECT_EXIT(m.run("global_load_dword v4, v[2:3], off"), testing::ExitedWithCode(70), "lane 9");
}

// ------------------------------------------------------------------------------------- FLAT

/// Where a private byte lies in the wave's scratch block: dword d of lane l at (64 d + l) * 4.
unsigned private_index(unsigned lane, unsigned byte) {
  return (byte / 4 * 64 + lane) * 4 + byte % 4;
}

TEST(Flat, ChoosesSpaceLaneByLane) {
  for (Simd level : levels())
    for (const bool store : {false, true})
      for (const Access& access : store ? std::vector<Access>(std::begin(stores), std::end(stores))
                                        : std::vector<Access>(std::begin(loads), std::end(loads)))
        for (const std::uint64_t exec : exec_patterns()) {
          Machine m(level);
          fill_random(m.wave);
          std::byte* block = m.allocate(block_bytes);
          fill_random(block, block_bytes);
          fill_random(m.group.lds, Machine::lds_bytes);
          std::vector<std::byte> priv(m.wave.scratch, m.wave.scratch + 64 * Machine::scratch_bytes);
          for (std::byte& x : priv)
            x = static_cast<std::byte>(random_bits()());
          std::memcpy(m.wave.scratch, priv.data(), priv.size());
          std::vector<std::uint64_t> at(lanes);
          for (unsigned l = 0; l < lanes; ++l) {
            at[l] = random_below(200);
            constexpr std::uint64_t high[3] = {0, Dispatch::shared_aperture,
                                               Dispatch::private_aperture};
            const unsigned space = l % 5 < 3 ? l % 5 : random_below(3);
            if (space == 1)
              at[l] += 300 * l;
            m.set_u64(2, l,
                      space ? high[space] << 32 | at[l]
                            : reinterpret_cast<std::uint64_t>(block) + (at[l] += 200 * l));
          }
          m.wave.set_exec(exec);
          Registers after(m.wave);
          Bytes global(block, block_bytes), lds(m.group.lds, Machine::lds_bytes);
          for (unsigned l = 0; l < lanes; ++l) {
            if (!active(exec, l))
              continue;
            const std::uint64_t high = m.u64(2, l) >> 32;
            std::byte own[16]; // private bytes lie apart in memory
            for (unsigned i = 0; high == Dispatch::private_aperture && i < access.bytes; ++i)
              own[i] = priv[private_index(l, static_cast<unsigned>(at[l]) + i)];
            std::byte* place = high == Dispatch::shared_aperture    ? &lds.bits[at[l]]
                               : high == Dispatch::private_aperture ? own
                                                                    : &global.bits[at[l]];
            std::uint32_t data[4] = {};
            for (unsigned d = 0; d < access.dwords(); ++d) {
              data[d] = m.wave.v[6 + d][l];
              if (!store)
                after.at(false, 6 + d, l) = access.load(place, data[d], d);
            }
            if (store)
              access.store(place, data);
            if (store && place == own)
              for (unsigned i = 0; i < access.bytes; ++i)
                priv[private_index(l, static_cast<unsigned>(at[l]) + i)] = own[i];
          }
          const std::string data = tuple(false, 6, access.dwords());
          const std::string text =
              store ? fmt::format("flat_store_{} v[2:3], {}", access.suffix, data)
                    : fmt::format("flat_load_{} {}, v[2:3]", access.suffix, data);
          run_again(m, text);
          after.expect(m.wave, text);
          global.expect(block, text);
          lds.expect(m.group.lds, text);
          ASSERT_EQ(std::memcmp(priv.data(), m.wave.scratch, priv.size()), 0) << text;
        }
}

TEST(FlatDeathTest, BeyondLdsAndPrivateMemoryFaults) {
  const auto run = [](std::uint64_t address) {
    Machine m;
    m.wave.set_exec(1);
    m.set_u64(2, 0, address);
    m.run("flat_load_dword v4, v[2:3]");
  };
  const std::uint64_t shared = std::uint64_t{Dispatch::shared_aperture} << 32;
  const std::uint64_t own = std::uint64_t{Dispatch::private_aperture} << 32;
  run(shared + Machine::lds_bytes - 4);
  run(own + Machine::scratch_bytes - 4);
  EXPECT_EXIT(run(shared + Machine::lds_bytes - 3), testing::ExitedWithCode(70), "read");
  EXPECT_EXIT(run(own + Machine::scratch_bytes - 3), testing::ExitedWithCode(70), "read");
}

// ---------------------------------------------------------------------------------- SCRATCH

/// The four address forms, each giving private byte `at` (uniform without a VGPR).
TEST(Scratch, EveryFormAndWidth) {
  for (Simd level : levels())
    for (const Access& access : stores)
      for (unsigned form = 0; form < 4; ++form)
        for (const unsigned misalign : {0u, 1u, 3u})
          for (const std::uint64_t exec : exec_patterns()) {
            Machine m(level);
            fill_random(m.wave);
            const bool vector = form & 1, scalar = form & 2;
            const int offset = vector || scalar ? -40 : 72;
            std::vector<unsigned> at(lanes);
            m.wave.s[7] = 100 + misalign;
            m.vgpr(2,
                   [&](unsigned) { return 40 + 4 * random_below(200) + (scalar ? 0 : misalign); });
            for (unsigned l = 0; l < lanes; ++l)
              at[l] = static_cast<unsigned>(offset + static_cast<int>(vector ? m.wave.v[2][l] : 0) +
                                            static_cast<int>(scalar ? m.wave.s[7] : 0));
            const std::string address = fmt::format("{}, {} offset:{}", vector ? "v2" : "off",
                                                    scalar ? "s7" : "off", offset);
            std::vector<std::byte> memory(m.wave.scratch,
                                          m.wave.scratch + 64 * Machine::scratch_bytes);
            for (unsigned l = 0; l < lanes; ++l) {
              std::byte data[16];
              std::uint32_t registers[4];
              for (unsigned d = 0; d < 4; ++d)
                registers[d] = m.wave.v[6 + d][l];
              access.store(data, registers);
              for (unsigned i = 0; active(exec, l) && i < access.bytes; ++i)
                memory[private_index(l, at[l] + i)] = data[i];
            }
            m.wave.set_exec(exec);
            const std::string text =
                fmt::format("scratch_store_{} {}, {}, {}", access.suffix, vector ? "v2" : "off",
                            tuple(false, 6, access.dwords()),
                            fmt::format("{} offset:{}", scalar ? "s7" : "off", offset));
            run_again(m, text);
            ASSERT_EQ(std::memcmp(memory.data(), m.wave.scratch, memory.size()), 0) << text;
            for (const Access& load : loads) {
              if (load.bytes != access.bytes)
                continue;
              Registers after(m.wave);
              for (unsigned l = 0; l < lanes; ++l) {
                std::byte data[16];
                for (unsigned i = 0; i < load.bytes; ++i)
                  data[i] = memory[private_index(l, at[l] + i)];
                for (unsigned d = 0; active(exec, l) && d < load.dwords(); ++d) {
                  std::uint32_t& x = after.at(true, 10 + d, l);
                  x = load.load(data, x, d);
                }
              }
              const std::string back = fmt::format("scratch_load_{} {}, {}", load.suffix,
                                                   tuple(true, 10, load.dwords()), address);
              run_again(m, back);
              after.expect(m.wave, back);
            }
          }
}

TEST(ScratchDeathTest, OutsidePrivateMemoryFaults) {
  const auto run = [](unsigned address, const char* text) {
    Machine m;
    m.vgpr(2, [&](unsigned) { return address; });
    run_again(m, text);
  };
  run(Machine::scratch_bytes - 4, "scratch_load_dword v1, v2, off");
  EXPECT_EXIT(run(Machine::scratch_bytes - 3, "scratch_load_dword v1, v2, off"),
              testing::ExitedWithCode(70), "read");
  EXPECT_EXIT(run(0, "scratch_store_dword v2, v1, off offset:-4"), testing::ExitedWithCode(70),
              "write");
  EXPECT_EXIT(run(0, "scratch_store_dword off, v1, off offset:-4"), testing::ExitedWithCode(70),
              "write");
}

// ------------------------------------------------------------------------ loads into LDS

TEST(LdsDirect, GlobalAndScratch) {
  for (Simd level : levels())
    for (const bool scratch : {false, true})
      for (const Access& access : loads) {
        if (access.d16 || access.bytes > 4)
          continue;
        for (const std::uint64_t exec : exec_patterns()) {
          Machine m(level);
          fill_random(m.wave);
          fill_random(m.group.lds, Machine::lds_bytes);
          std::byte* block = m.allocate(block_bytes);
          fill_random(block, block_bytes);
          m.run("scratch_store_dwordx4 off, v[40:43], off offset:16");
          m.wave.s[code_m0] = 0xfff02003; // bits [17:2] count
          m.wave.s[code_m0] &= ~0x30000u;
          m.wave.set_s64(4, reinterpret_cast<std::uint64_t>(block));
          m.vgpr(2, [&](unsigned) { return scratch ? random_below(13) : random_below(16000); });
          m.wave.set_exec(exec);
          Bytes lds(m.group.lds, Machine::lds_bytes);
          for (unsigned l = 0; l < lanes; ++l) {
            std::byte own[16];
            for (unsigned d = 0; d < 4; ++d)
              std::memcpy(own + 4 * d, &m.wave.v[40 + d][l], 4);
            if (active(exec, l))
              lds.set<std::uint32_t>(
                  0x2000 + 16 + 4 * l,
                  access.load(scratch ? own + m.wave.v[2][l] : block + m.wave.v[2][l] + 16, 0, 0));
          }
          const Registers before(m.wave);
          const std::string text =
              scratch ? fmt::format("scratch_load_lds_{} v2, off offset:16", access.suffix)
                      : fmt::format("global_load_lds_{} v2, s[4:5] offset:16", access.suffix);
          run_again(m, text);
          lds.expect(m.group.lds, text);
          before.expect(m.wave, text);
        }
      }
}

} // namespace
