// MUBUF loads, stores and atomics: addresses, bounds of raw and structured descriptors, LDS forms.
#include "machine/buffer_rule.hpp"
#include "tests/memory_cases.hpp"

#include <fmt/format.h>

using namespace wavesim;
using namespace wavesim::test;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

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

constexpr std::size_t block_bytes = 8192;

/// One way to address a buffer, with the place and validity of each byte worked out by hand.
struct Addressing {
  bool idxen = false, offen = false;
  u32 stride = 0, records = 0;
  u32 soffset = 0;
  unsigned immediate = 0;
  u32 index[lanes] = {}, voffset[lanes] = {};

  u64 place(unsigned lane) const {
    return u64{soffset} + u64{idxen ? index[lane] : 0} * stride + (offen ? voffset[lane] : 0) +
           immediate;
  }
  /// Whether the piece of `bytes` bytes that starts `from` bytes into the lane's datum is in
  /// bounds.
  bool valid(unsigned lane, unsigned from, unsigned bytes) const {
    if (idxen && stride != 0)
      return index[lane] < records;
    const u64 offset =
        u64{offen ? voffset[lane] : 0} + immediate + (buffer_soffset_checked() ? soffset : 0);
    return offset + from + bytes <= records;
  }
  std::string operands() const {
    const char* vaddr = idxen && offen ? "v[2:3]" : idxen || offen ? "v2" : "off";
    return fmt::format("{}, s[8:11], s20{}{} offset:{}", vaddr, idxen ? " idxen" : "",
                       offen ? " offen" : "", immediate);
  }
  void set(Machine& m, const std::byte* block) const {
    const auto base = reinterpret_cast<u64>(block);
    m.wave.s[8] = static_cast<u32>(base);
    m.wave.s[9] = static_cast<u32>(base >> 32) | stride << 16;
    m.wave.s[10] = records;
    m.wave.s[11] = 0x00020000;
    m.wave.s[20] = soffset;
    if (idxen)
      m.vgpr(2, [&](unsigned l) { return index[l]; });
    if (offen)
      m.vgpr(idxen ? 3 : 2, [&](unsigned l) { return voffset[l]; });
  }
};

/// Raw and structured descriptors whose bound cuts through the lanes.
std::vector<Addressing> addressings() {
  std::vector<Addressing> all;
  for (const bool idxen : {false, true})
    for (const bool offen : {false, true})
      for (const u32 stride : {0u, 48u}) {
        Addressing a;
        a.idxen = idxen;
        a.offen = offen;
        a.stride = stride;
        a.soffset = 128;
        a.immediate = 36;
        a.records = idxen && stride ? 40 : 700;
        for (unsigned l = 0; l < lanes; ++l) {
          a.index[l] = l;
          a.voffset[l] = idxen && stride ? 4 * random_below(8) : 12 * l - (l % 2) * 4;
        }
        if (offen && !(idxen && stride)) // far out of bounds, and a sum that does not wrap
          a.voffset[13] = 0xfffffff0;
        if (idxen && stride)
          a.index[21] = 0xffffffff;
        all.push_back(a);
        a.records = 0;
        all.push_back(a);
      }
  return all;
}

std::string tuple(bool agpr, unsigned first, unsigned count) {
  const char file = agpr ? 'a' : 'v';
  return count == 1 ? fmt::format("{}{}", file, first)
                    : fmt::format("{}[{}:{}]", file, first, first + count - 1);
}

template <class F>
void each_case(F&& f) {
  for (const bool checked : {true, false}) {
    set_buffer_soffset_checked(checked);
    for (Simd level : levels())
      for (const Addressing& a : addressings())
        for (const bool agpr : {false, true})
          for (const u64 exec : exec_patterns())
            f(level, a, agpr, exec);
  }
  set_buffer_soffset_checked(true);
}

TEST(Buffer, LoadsAreClampedDwordByDword) {
  for (const Access& access : loads)
    each_case([&](Simd level, const Addressing& a, bool agpr, u64 exec) {
      Machine m(level);
      fill_random(m.wave);
      std::byte* block = m.allocate(block_bytes);
      fill_random(block, block_bytes);
      a.set(m, block);
      m.wave.set_exec(exec);
      Registers after(m.wave);
      const unsigned piece = access.bytes < 4 ? access.bytes : 4;
      for (unsigned l = 0; l < lanes; ++l)
        for (unsigned d = 0; active(exec, l) && d < access.dwords(); ++d) {
          u32& x = after.at(agpr, 6 + d, l);
          const std::byte nothing[16] = {};
          x = a.valid(l, 4 * d, piece) ? access.load(block + a.place(l), x, d)
                                       : access.load(nothing, x, d);
        }
      const std::string text = fmt::format("buffer_load_{} {}, {}", access.suffix,
                                           tuple(agpr, 6, access.dwords()), a.operands());
      run_again(m, text);
      after.expect(m.wave, text);
    });
}

TEST(Buffer, StoresAreClampedDwordByDword) {
  for (const Access& access : stores)
    each_case([&](Simd level, const Addressing& a, bool agpr, u64 exec) {
      Machine m(level);
      fill_random(m.wave);
      std::byte* block = m.allocate(block_bytes);
      fill_random(block, block_bytes);
      a.set(m, block);
      m.wave.set_exec(exec);
      const Registers before(m.wave);
      Bytes after(block, block_bytes);
      const unsigned piece = access.bytes < 4 ? access.bytes : 4;
      for (unsigned l = 0; l < lanes; ++l) {
        u32 data[4];
        for (unsigned d = 0; d < 4; ++d)
          data[d] = agpr ? m.wave.a[6 + d][l] : m.wave.v[6 + d][l];
        std::byte bytes[16];
        access.store(bytes, data);
        for (unsigned i = 0; active(exec, l) && i < access.bytes; ++i)
          if (a.valid(l, i / 4 * 4, piece))
            after.bits[a.place(l) + i] = bytes[i];
      }
      const std::string text = fmt::format("buffer_store_{} {}, {}", access.suffix,
                                           tuple(agpr, 6, access.dwords()), a.operands());
      run_again(m, text);
      after.expect(block, text);
      before.expect(m.wave, text);
    });
}

TEST(Buffer, LoadsIntoLds) {
  for (const Access& access : loads) {
    if (access.d16 || access.bytes > 4)
      continue;
    each_case([&](Simd level, const Addressing& a, bool, u64 exec) {
      if (a.idxen && a.offen)
        return; // the assembler has no such form
      Machine m(level);
      fill_random(m.wave);
      fill_random(m.group.lds, Machine::lds_bytes);
      std::byte* block = m.allocate(block_bytes);
      fill_random(block, block_bytes);
      a.set(m, block);
      m.wave.s[code_m0] = 0x7fff1000; // the lower half counts
      m.wave.set_exec(exec);
      const Registers before(m.wave);
      Bytes lds(m.group.lds, Machine::lds_bytes);
      const std::byte nothing[4] = {};
      for (unsigned l = 0; l < lanes; ++l)
        if (active(exec, l))
          lds.set(0x1000 + a.immediate + 4 * l,
                  access.load(a.valid(l, 0, access.bytes) ? block + a.place(l) : nothing, 0, 0));
      const std::string text = fmt::format("buffer_load_{} {} lds", access.suffix, a.operands());
      run_again(m, text);
      lds.expect(m.group.lds, text);
      before.expect(m.wave, text);
    });
  }
}

struct AtomicCase {
  const char* name;
  unsigned bytes;
  u64 (*next)(u64 old, u64 data, u64 compare);
};

float f32(u64 x) {
  return std::bit_cast<float>(static_cast<u32>(x));
}

constexpr AtomicCase atomics[] = {
    {"swap", 4, [](u64, u64 d, u64) { return d; }},
    {"cmpswap", 4, [](u64 o, u64 d, u64 c) { return o == c ? d : o; }},
    {"add", 4, [](u64 o, u64 d, u64) { return (o + d) & 0xffffffff; }},
    {"sub", 4, [](u64 o, u64 d, u64) { return (o - d) & 0xffffffff; }},
    {"smin", 4,
     [](u64 o, u64 d, u64) {
       return static_cast<std::int32_t>(d) < static_cast<std::int32_t>(o) ? d : o;
     }},
    {"umin", 4, [](u64 o, u64 d, u64) { return d < o ? d : o; }},
    {"smax", 4,
     [](u64 o, u64 d, u64) {
       return static_cast<std::int32_t>(d) > static_cast<std::int32_t>(o) ? d : o;
     }},
    {"umax", 4, [](u64 o, u64 d, u64) { return d > o ? d : o; }},
    {"and", 4, [](u64 o, u64 d, u64) { return o & d; }},
    {"or", 4, [](u64 o, u64 d, u64) { return o | d; }},
    {"xor", 4, [](u64 o, u64 d, u64) { return o ^ d; }},
    {"inc", 4, [](u64 o, u64 d, u64) { return o >= d ? 0 : o + 1; }},
    {"dec", 4, [](u64 o, u64 d, u64) { return o == 0 || o > d ? d : o - 1; }},
    {"add_f32", 4, [](u64 o, u64 d, u64) { return u64{std::bit_cast<u32>(f32(o) + f32(d))}; }},
    {"swap_x2", 8, [](u64, u64 d, u64) { return d; }},
    {"cmpswap_x2", 8, [](u64 o, u64 d, u64 c) { return o == c ? d : o; }},
    {"add_x2", 8, [](u64 o, u64 d, u64) { return o + d; }},
    {"sub_x2", 8, [](u64 o, u64 d, u64) { return o - d; }},
    {"smin_x2", 8,
     [](u64 o, u64 d, u64) {
       return static_cast<std::int64_t>(d) < static_cast<std::int64_t>(o) ? d : o;
     }},
    {"umin_x2", 8, [](u64 o, u64 d, u64) { return d < o ? d : o; }},
    {"smax_x2", 8,
     [](u64 o, u64 d, u64) {
       return static_cast<std::int64_t>(d) > static_cast<std::int64_t>(o) ? d : o;
     }},
    {"umax_x2", 8, [](u64 o, u64 d, u64) { return d > o ? d : o; }},
    {"and_x2", 8, [](u64 o, u64 d, u64) { return o & d; }},
    {"or_x2", 8, [](u64 o, u64 d, u64) { return o | d; }},
    {"xor_x2", 8, [](u64 o, u64 d, u64) { return o ^ d; }},
    {"inc_x2", 8, [](u64 o, u64 d, u64) { return o >= d ? 0 : o + 1; }},
    {"dec_x2", 8, [](u64 o, u64 d, u64) { return o == 0 || o > d ? d : o - 1; }},
};

TEST(Buffer, AtomicsAreAllOrNothing) {
  for (const AtomicCase& c : atomics)
    for (Simd level : levels())
      for (const bool returns : {false, true})
        for (const u64 exec : exec_patterns()) {
          Machine m(level);
          fill_random(m.wave);
          std::byte* block = m.allocate(1024);
          const bool is_float = std::string(c.name) == "add_f32";
          const auto put = [&](void* to) { // small integers, or numbers that add exactly
            const u64 x = is_float ? std::bit_cast<u32>(static_cast<float>(random_below(99)))
                                   : u64{random_below(6)} - random_below(2);
            std::memcpy(to, &x, c.bytes);
          };
          for (unsigned at = 0; at < 1024; at += c.bytes)
            put(block + at);
          Addressing a;
          a.offen = true;
          a.soffset = 16;
          a.immediate = 8;
          a.records = 84; // cuts through an 8-byte datum
          for (unsigned l = 0; l < lanes; ++l)
            a.voffset[l] = random_below(16) * c.bytes;
          a.set(m, block);
          const unsigned dwords = c.bytes / 4;
          std::vector<u64> data(lanes), compare(lanes);
          for (unsigned l = 0; l < lanes; ++l) {
            put(&data[l]);
            put(&compare[l]);
            for (unsigned d = 0; d < dwords; ++d) {
              m.wave.v[6 + d][l] = static_cast<u32>(data[l] >> 32 * d);
              m.wave.v[6 + dwords + d][l] = static_cast<u32>(compare[l] >> 32 * d);
            }
          }
          m.wave.set_exec(exec);
          Registers after(m.wave);
          Bytes memory(block, 1024);
          for (unsigned l = 0; l < lanes; ++l) {
            if (!active(exec, l))
              continue;
            u64 old = 0;
            if (a.valid(l, 0, c.bytes)) {
              old = c.bytes == 4 ? memory.get<u32>(a.place(l)) : memory.get<u64>(a.place(l));
              const u64 next = c.next(old, data[l], compare[l]);
              c.bytes == 4 ? memory.set(a.place(l), static_cast<u32>(next))
                           : memory.set(a.place(l), next);
            }
            for (unsigned d = 0; returns && d < dwords; ++d)
              after.at(false, 6 + d, l) = static_cast<u32>(old >> 32 * d);
          }
          const unsigned count = std::string(c.name).starts_with("cmpswap") ? 2 * dwords : dwords;
          const std::string text =
              fmt::format("buffer_atomic_{} {}, {}{}", c.name, tuple(false, 6, count), a.operands(),
                          returns ? " sc0" : "");
          run_again(m, text);
          memory.expect(block, text);
          after.expect(m.wave, text);
        }
}

TEST(Buffer, FloatAtomics) {
  for (Simd level : levels()) {
    Machine m(level);
    std::byte* block = m.allocate(256);
    Addressing a;
    a.records = 256;
    a.set(m, block);
    const double start[3] = {1.5, -2.0, 7.0};
    std::memcpy(block, start, sizeof start);
    for (unsigned l = 0; l < lanes; ++l)
      m.set_u64(6, l, std::bit_cast<u64>(0.25 * l));
    m.vgpr(9, [](unsigned) { return 0x3c004000u; }); // fp16 pair (2, 1)
    m.run("buffer_atomic_add_f64 v[6:7], off, s[8:11], 0\n"
          "buffer_atomic_max_f64 v[6:7], off, s[8:11], 0 offset:8\n"
          "buffer_atomic_min_f64 v[6:7], off, s[8:11], 0 offset:16\n"
          "buffer_atomic_pk_add_f16 v9, off, s[8:11], 0 offset:24");
    double end[3];
    u32 halves;
    std::memcpy(end, block, sizeof end);
    std::memcpy(&halves, block + 24, 4);
    EXPECT_EQ(end[0], 1.5 + 0.25 * 63 * 32);
    EXPECT_EQ(end[1], 15.75);
    EXPECT_EQ(end[2], 0.0);
    EXPECT_EQ(halves, 0x54005800u); // 128 and 64
  }
}

TEST(Buffer, EmptyDescriptorReadsZero) {
  for (Simd level : levels()) {
    Machine m(level);
    fill_random(m.wave);
    m.run("buffer_load_dwordx4 v[4:7], off, s[8:11], 0\n"
          "buffer_store_dwordx4 v[8:11], off, s[8:11], 0");
    for (unsigned r = 4; r < 8; ++r)
      for (unsigned l = 0; l < lanes; ++l)
        EXPECT_EQ(m.wave.v[r][l], 0u);
  }
}

TEST(Buffer, CacheInstructionsDoNothing) {
  Machine m;
  fill_random(m.wave);
  const Registers before(m.wave);
  m.run("buffer_wbl2 sc1\nbuffer_inv sc0 sc1");
  before.expect(m.wave, "buffer_wbl2, buffer_inv");
}

TEST(BufferDeathTest, WhatIsNotImplementedStops) {
  const auto run = [](u32 word1, u32 word3, const char* text) {
    Machine m;
    m.wave.s[9] = word1;
    m.wave.s[10] = 64;
    m.wave.s[11] = word3;
    m.run(text);
  };
  const char* load = "buffer_load_dword v1, off, s[8:11], 0";
  EXPECT_EXIT(run(1u << 31, 0, load), testing::ExitedWithCode(70), "swizzled buffers");
  EXPECT_EXIT(run(0, 1u << 23, load), testing::ExitedWithCode(70), "thread number");
  EXPECT_EXIT(run(0, 0, "buffer_load_format_x v1, off, s[8:11], 0"), testing::ExitedWithCode(70),
              "buffer_load_format_x");
  EXPECT_EXIT(run(0, 0, "tbuffer_load_format_x v1, off, s[8:11], 0 format:[BUF_DATA_FORMAT_32]"),
              testing::ExitedWithCode(70), "tbuffer_load_format_x");
  // In bounds of the descriptor, but no memory of the program.
  EXPECT_EXIT(run(0x7fff, 0, load), testing::ExitedWithCode(70), "read");
}

} // namespace
