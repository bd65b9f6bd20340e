// Every scalar and vector ALU instruction gives the same bits at both SIMD levels, on random
// registers (NaN payloads included), with full and partial EXEC and unusual MODE settings.
#include "tests/encodings.hpp"
#include "tests/reference.hpp"

#include "isa/encoding.hpp"

#include <cstring>

using namespace wavesim;
using namespace wavesim::test;

namespace {

void fill(Machine& m, u64 seed) {
  engine random(seed);
  const auto floats = edges<float>();
  const auto halves = edges<half>();
  const auto doubles = edges<double>();
  for (unsigned r = 0; r < 40; r += 2)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      switch (random() % 5) {
      case 0:
        m.set_u64(r, lane, raw(doubles[random() % doubles.size()]));
        break;
      case 1:
        m.wave.v[r][lane] = raw(floats[random() % floats.size()]);
        m.wave.v[r + 1][lane] = raw(floats[random() % floats.size()]);
        break;
      case 2:
        m.wave.v[r][lane] = halves[random() % halves.size()].bits |
                            u32{halves[random() % halves.size()].bits} << 16;
        m.wave.v[r + 1][lane] = static_cast<u32>(random() % 64);
        break;
      default:
        m.set_u64(r, lane, random());
        break;
      }
      m.wave.a[r][lane] = static_cast<u32>(random());
      m.wave.a[r + 1][lane] = static_cast<u32>(random());
    }
  for (u32& s : m.wave.s)
    s = static_cast<u32>(random());
  m.wave.s[code_m0] = 3;
  m.wave.set_exec(random() % 2 ? ~u64{0} : random());
  m.wave.scc = random() & 1;
  constexpr u32 modes[] = {
      Machine::default_mode, Machine::default_mode, 0x1f0, 0x3f5, 0x3fa, 0x3ff, 0x300, 0x8003f0};
  m.wave.mode = modes[random() % 8];
}

bool steers(const Op& op) {
  return !op.info || op.info->flags & (op_branch | op_ends) || op.format == Format::sopp ||
         op.info->unit == Unit::mfma || std::string(op.info->mnemonic).starts_with("s_movrel") ||
         std::string(op.info->mnemonic).starts_with("s_setreg") ||
         std::string(op.info->mnemonic).starts_with("s_getreg");
}

TEST(SimdLevels, SameBitsEverywhere) {
  if (levels().size() < 2)
    GTEST_SKIP() << "this CPU has no AVX-512";
  Decoder narrow(Simd::avx2), wide(Simd::avx512);
  Machine a(Simd::avx2), b(Simd::avx512);
  unsigned instructions = 0;
  for (const Encoding& e : all_encodings()) {
    const Format f = format_of(e.words[0]);
    if (f > Format::vop3p || f == Format::smem)
      continue;
    const auto bytes = std::as_bytes(std::span(e.words));
    const Op x = narrow.decode(bytes, 0), y = wide.decode(bytes, 0);
    if (steers(x))
      continue;
    for (u64 round = 0; round < 12; ++round) {
      fill(a, 1000 * instructions + round);
      fill(b, 1000 * instructions + round);
      x.execute(a.wave, x);
      y.execute(b.wave, y);
      const bool same_vectors = !std::memcmp(a.wave.v, b.wave.v, sizeof(LaneRow) * 48);
      const bool same_accumulators = !std::memcmp(a.wave.a, b.wave.a, sizeof(LaneRow) * 48);
      const bool same_scalars =
          !std::memcmp(a.wave.s, b.wave.s, sizeof a.wave.s) && a.wave.scc == b.wave.scc;
      if (same_vectors && same_accumulators && same_scalars)
        continue;
      for (unsigned r = 0; r < 48; ++r)
        for (unsigned lane = 0; lane < lanes; ++lane)
          if (a.wave.v[r][lane] != b.wave.v[r][lane]) {
            ADD_FAILURE() << narrow.text(bytes, 0) << " mode " << std::hex << a.wave.mode
                          << std::dec << ": v" << r << " lane " << lane << " "
                          << describe(a.wave.v[r][lane]) << " with AVX2, "
                          << describe(b.wave.v[r][lane]) << " with AVX-512; sources "
                          << describe(a.wave.v[2][lane]) << " " << describe(a.wave.v[3][lane])
                          << ", " << describe(a.wave.v[4][lane]) << " "
                          << describe(a.wave.v[5][lane]);
            r = 48;
            break;
          }
      EXPECT_TRUE(same_scalars) << narrow.text(bytes, 0);
      EXPECT_TRUE(same_accumulators) << narrow.text(bytes, 0);
      break;
    }
    ++instructions;
  }
  EXPECT_GT(instructions, 900u);
}

} // namespace
