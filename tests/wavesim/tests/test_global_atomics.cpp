// GLOBAL and FLAT atomics against formulas, with many lanes on one address, and from two threads.
#include "tests/memory_cases.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <thread>

using namespace wavesim;
using namespace wavesim::test;

namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

/// old, data and (cmpswap) compare as raw bits of `bytes` bytes.
struct Case {
  std::string name;
  unsigned bytes;
  std::function<u64(u64 old, u64 data, u64 compare)> next;
  std::function<u64()> value;
};

template <class U, class I>
void add_integers(std::vector<Case>& cases, const std::string& suffix) {
  const auto add = [&](const char* name, std::function<U(U, U, U)> f) {
    cases.push_back({name + suffix, sizeof(U),
                     [f](u64 o, u64 d, u64 c) {
                       return static_cast<u64>(
                           f(static_cast<U>(o), static_cast<U>(d), static_cast<U>(c)));
                     },
                     [] { return random_below(2) ? random_below(5) : random_bits()(); }});
  };
  const auto s = [](U x) { return static_cast<I>(x); };
  add("swap", [](U, U d, U) { return d; });
  add("cmpswap", [](U o, U d, U c) { return o == c ? d : o; });
  add("add", [](U o, U d, U) { return static_cast<U>(o + d); });
  add("sub", [](U o, U d, U) { return static_cast<U>(o - d); });
  add("smin", [=](U o, U d, U) { return s(d) < s(o) ? d : o; });
  add("umin", [](U o, U d, U) { return d < o ? d : o; });
  add("smax", [=](U o, U d, U) { return s(d) > s(o) ? d : o; });
  add("umax", [](U o, U d, U) { return d > o ? d : o; });
  add("and", [](U o, U d, U) { return o & d; });
  add("or", [](U o, U d, U) { return o | d; });
  add("xor", [](U o, U d, U) { return o ^ d; });
  add("inc", [](U o, U d, U) { return o >= d ? U{0} : static_cast<U>(o + 1); });
  add("dec", [](U o, U d, U) { return o == 0 || o > d ? d : static_cast<U>(o - 1); });
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_integers<u32, i32>(cases, "");
  add_integers<u64, i64>(cases, "_x2");
  // Denormals count: gfx942 keeps them (LLVM's feature list).
  cases.push_back(
      {"add_f32", 4,
       [](u64 o, u64 d, u64) {
         return u64{std::bit_cast<u32>(std::bit_cast<float>(static_cast<u32>(o)) +
                                       std::bit_cast<float>(static_cast<u32>(d)))};
       },
       [] {
         const float scale = random_below(4) == 0 ? 0x1p-140f : 1.0f;
         return u64{std::bit_cast<u32>(scale * (static_cast<float>(random_below(1 << 20)) - 5e5f))};
       }});
  const auto f64 = [](u64 x) { return std::bit_cast<double>(x); };
  const auto bits = [](double x) { return std::bit_cast<u64>(x); };
  const auto number = [] {
    const double scale = random_below(4) == 0 ? 0x1p-1060 : 1.0;
    return std::bit_cast<u64>(scale * (static_cast<double>(random_below(1 << 20)) - 5e5));
  };
  cases.push_back({"add_f64", 8, [=](u64 o, u64 d, u64) { return bits(f64(o) + f64(d)); }, number});
  cases.push_back(
      {"min_f64", 8, [=](u64 o, u64 d, u64) { return bits(std::min(f64(o), f64(d))); }, number});
  cases.push_back(
      {"max_f64", 8, [=](u64 o, u64 d, u64) { return bits(std::max(f64(o), f64(d))); }, number});
  // Packed: multiples of 2^-4 below 16 are exact in both types, so are their sums below 32.
  const auto packed = [](bool bf16, double low, double high) {
    const auto code = [bf16](double x) -> u32 {
      const u32 f = std::bit_cast<u32>(static_cast<float>(x));
      if (bf16)
        return f >> 16;
      if (x == 0)
        return 0;
      return (f >> 16 & 0x8000) | (((f >> 23 & 255) - 112) << 10) | (f >> 13 & 1023);
    };
    return code(low) | code(high) << 16;
  };
  const auto unpacked = [](bool bf16, u64 x) -> double {
    const u32 code = static_cast<u32>(x & 0xffff);
    if (bf16)
      return static_cast<double>(std::bit_cast<float>(code << 16));
    if ((code & 0x7fff) == 0)
      return 0;
    const u32 f = (code & 0x8000) << 16 | ((code >> 10 & 31) + 112) << 23 | (code & 1023) << 13;
    return static_cast<double>(std::bit_cast<float>(f));
  };
  for (const bool bf16 : {false, true})
    cases.push_back({bf16 ? "pk_add_bf16" : "pk_add_f16", 4,
                     [=](u64 o, u64 d, u64) {
                       return u64{packed(bf16, unpacked(bf16, o) + unpacked(bf16, d),
                                         unpacked(bf16, o >> 16) + unpacked(bf16, d >> 16))};
                     },
                     [=] { // up to nine lanes meet: sums stay multiples of 1/2 below 128
                       return u64{packed(bf16, 0.5 * random_below(16), 0.5 * random_below(16))};
                     }});
  return cases;
}

std::string tuple(unsigned first, unsigned bytes) {
  return bytes == 4 ? fmt::format("v{}", first)
                    : fmt::format("v[{}:{}]", first, first + bytes / 4 - 1);
}

void check(const Case& c, Simd level, bool flat, bool returns, bool concurrent, u64 exec) {
  Machine m(level);
  m.group.concurrent = concurrent;
  fill_random(m.wave);
  constexpr std::size_t size = 1024;
  std::byte* block = m.allocate(size);
  const auto put = [&](std::byte* p) {
    const u64 x = c.value();
    std::memcpy(p, &x, c.bytes);
  };
  for (std::size_t at = 0; at < size; at += c.bytes)
    put(block + at);
  for (std::size_t at = 0; at < size; at += c.bytes)
    put(m.group.lds + at);
  const unsigned dwords = c.bytes / 4;
  std::vector<u64> at(lanes), data(lanes), compare(lanes);
  for (unsigned l = 0; l < lanes; ++l) {
    at[l] = (8 + l % 9) * 8 + (random_below(2) ? 0 : 8 - c.bytes);
    const bool in_lds = flat && l % 3 == 1;
    m.set_u64(2, l,
              in_lds ? u64{Dispatch::shared_aperture} << 32 | at[l]
                     : reinterpret_cast<u64>(block) + at[l]);
    for (unsigned half = 0; half < 2; ++half) { // new value below, compare above
      std::byte bytes[8] = {};
      put(bytes);
      if (half == 1 && random_below(2))
        std::memcpy(bytes, (in_lds ? m.group.lds : block) + at[l], c.bytes);
      for (unsigned d = 0; d < dwords; ++d)
        std::memcpy(&m.wave.v[4 + half * dwords + d][l], bytes + 4 * d, 4);
      std::memcpy(half ? &compare[l] : &data[l], bytes, 8);
    }
  }
  m.wave.set_exec(exec);
  Registers after(m.wave);
  Bytes memory(block, size), lds(m.group.lds, size);
  for (unsigned l = 0; l < lanes; ++l) {
    if (!active(exec, l))
      continue;
    Bytes& where = flat && l % 3 == 1 ? lds : memory;
    u64 old = c.bytes == 4 ? where.get<u32>(at[l]) : where.get<u64>(at[l]);
    const u64 next = c.next(old, data[l], compare[l]);
    c.bytes == 4 ? where.set(at[l], static_cast<u32>(next)) : where.set(at[l], next);
    for (unsigned d = 0; returns && d < dwords; ++d)
      after.at(false, 12 + d, l) = static_cast<u32>(old >> 32 * d);
  }
  const bool swap = c.name.starts_with("cmpswap");
  std::string text = fmt::format("{}_atomic_{} ", flat ? "flat" : "global", c.name);
  if (returns)
    text += tuple(12, c.bytes) + ", ";
  text += "v[2:3], " + tuple(4, swap ? 2 * c.bytes : c.bytes) + (flat ? "" : ", off");
  if (returns)
    text += " sc0";
  run_again(m, text);
  memory.expect(block, text);
  lds.expect(m.group.lds, text);
  after.expect(m.wave, text);
}

TEST(GlobalAtomics, EveryOperation) {
  const auto cases = all_cases();
  EXPECT_EQ(cases.size(), 32u);
  for (Simd level : levels())
    for (const Case& c : cases)
      for (const bool flat : {false, true})
        for (const bool returns : {false, true})
          for (const bool concurrent : {false, true})
            for (const u64 exec : exec_patterns())
              check(c, level, flat, returns, concurrent, exec);
}

/// Two host threads on the same dwords: nothing may get lost.
TEST(GlobalAtomics, HoldAcrossThreads) {
  alignas(64) static u32 counters[4] = {};
  const Program program(
      "s_mov_b32 s0, 2000\n"
      "loop:\n"
      "global_atomic_add v[2:3], v4, off\n"
      "global_atomic_inc v[2:3], v5, off\n" // wraps nowhere: another way to add one
      "s_sub_u32 s0, s0, 1\n"
      "s_cmp_lg_u32 s0, 0\n"
      "s_cbranch_scc1 loop\n");
  const auto work = [&program] {
    Machine m;
    // The range is the test's own memory, made known to this machine only.
    Range range;
    range.begin = reinterpret_cast<std::uintptr_t>(counters);
    range.end = range.begin + sizeof counters;
    Dispatch dispatch = *m.group.dispatch;
    dispatch.memory = std::make_shared<const MemorySnapshot>(std::vector<Range>{range});
    m.group.dispatch = &dispatch;
    for (unsigned l = 0; l < lanes; ++l)
      m.set_u64(2, l, range.begin + 4 * (l % 4));
    m.vgpr(4, [](unsigned) { return 1u; });
    m.vgpr(5, [](unsigned) { return ~0u; });
    m.run(program);
  };
  std::thread other(work);
  work();
  other.join();
  for (const u32 x : counters)
    EXPECT_EQ(x, 2u * 2000 * 2 * 16);
}

TEST(GlobalAtomicsDeathTest, MisalignedStops) {
  Machine m;
  std::byte* block = m.allocate(1024);
  for (unsigned l = 0; l < lanes; ++l)
    m.set_u64(2, l, reinterpret_cast<u64>(block) + 4 * l);
  m.run("global_atomic_add v[2:3], v4, off");
  EXPECT_EXIT(m.run("global_atomic_add_x2 v[2:3], v[4:5], off"), testing::ExitedWithCode(70),
              "8-byte atomic of lane 1 .*not a multiple of 8");
  m.set_u64(2, 0, u64{Dispatch::private_aperture} << 32);
  EXPECT_EXIT(m.run("flat_atomic_add v[2:3], v4"), testing::ExitedWithCode(70),
              "atomic on private memory");
}

} // namespace
