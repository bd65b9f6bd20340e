// One valid encoding of every gfx942 instruction in every format, found by trying opcode numbers.
#pragma once

#include "isa/decoder.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace wavesim::test {

struct Encoding {
  std::string mnemonic; ///< as LLVM prints it, suffix included
  std::array<std::uint32_t, 2> words{};
  unsigned bytes = 0;
};

inline std::string mnemonic_of(const std::string& text) {
  return text.substr(0, text.find_first_of(" \t\n"));
}

inline std::string without_suffix(std::string mnemonic) {
  for (const std::string suffix : {"_e32", "_e64", "_sdwa", "_dpp"})
    if (mnemonic.ends_with(suffix))
      mnemonic.resize(mnemonic.size() - suffix.size());
  return mnemonic;
}

/// Tries opcode numbers of all formats, with even, aligned registers where a format wants them.
/// Each (mnemonic with suffix) comes once.
inline std::vector<Encoding> all_encodings() {
  using u32 = std::uint32_t;
  Decoder decoder;
  std::vector<Encoding> found;
  std::set<std::string> seen;
  const auto attempt = [&](u32 w0, u32 w1) {
    const std::array<u32, 2> words{w0, w1};
    const auto bytes = std::as_bytes(std::span(words));
    const std::string text = decoder.text(bytes, 0);
    if (text.starts_with("no gfx942"))
      return;
    const Op op = decoder.decode(bytes, 0);
    if (seen.insert(mnemonic_of(text)).second)
      found.push_back({mnemonic_of(text), words, op.size});
  };
  for (u32 op = 0; op < 62; ++op) {
    attempt(op << 25 | 6u << 17 | 4u << 9 | 0x102, 0);
    attempt(op << 25 | 6u << 17 | 4u << 9 | 0xf9, 0x06060602u);               // SDWA
    attempt(op << 25 | 6u << 17 | 4u << 9 | 0xfa, 0xff000002u | 0x111u << 8); // DPP row_shr
    attempt(op << 25 | 6u << 17 | 4u << 9 | 0xfa, 0xff000002u | 0x155u << 8); // DPP row_newbcast
  }
  for (u32 op = 0; op < 256; ++op) {
    attempt(0x3fu << 25 | 6u << 17 | op << 9 | 0x102, 0);
    attempt(0x3fu << 25 | op << 9, 0);
    attempt(0x3fu << 25 | 6u << 17 | op << 9 | 0xf9, 0x00060602u);
    attempt(0x3fu << 25 | 6u << 17 | op << 9 | 0xfa, 0xff000002u | 0x111u << 8);
    attempt(0x3fu << 25 | 6u << 17 | op << 9 | 0xfa, 0xff000002u | 0x155u << 8);
    attempt(0x3eu << 25 | op << 17 | 4u << 9 | 0x102, 0);
    attempt(0x3eu << 25 | op << 17 | 4u << 9 | 0xf9, 0x06060002u);
    attempt(0x17du << 23 | 6u << 16 | op << 8 | 2, 0);
    for (u32 imm : {2u, 3u})
      attempt(0x30u << 26 | op << 18 | imm / 2 << 17 | 8u << 6 | 4, 16);
    attempt(0x30u << 26 | op << 18 | 8u << 6, 0);
    attempt(0x30u << 26 | op << 18, 0);
    for (u32 w1 : {0x08060402u, 0x08000402u, 0x08000002u, 0x00060402u, 0x00000402u, 0x00000002u,
                   0x08000000u, 0x00000000u, 0x08060400u, 0x00000400u})
      attempt(0x36u << 26 | op << 17, w1);
    attempt(0x36u << 26 | op << 17 | 1u << 16, 0);
    attempt(0x36u << 26 | op << 17 | 1u << 16, 0x00000402u);
  }
  for (u32 op = 0; op < 1024; ++op)
    for (u32 w1 : {0x102u | 0x104u << 9 | 0x108u << 18, 0x102u | 4u << 9, 0x102u | 0x104u << 9,
                   0x102u, 2u | 4u << 9, 2u | 0x80u << 9, 0u, 0x102u | 0x104u << 9 | 4u << 18})
      attempt(0x34u << 26 | op << 16 | 6, w1);
  for (u32 op = 0; op < 128; ++op) {
    for (u32 w1 :
         {0x102u | 0x104u << 9 | 0x108u << 18 | 3u << 27, 0x102u | 0x104u << 9 | 0x108u << 18,
          0x102u | 0x104u << 9 | 3u << 27, 0x102u | 3u << 27})
      for (u32 low : {0u, 0x4000u})
        attempt(0x1a7u << 23 | op << 16 | low | 0x10, w1);
    attempt(2u << 30 | op << 23 | 6u << 16 | 4u << 8 | 2, 0);
    attempt(0x17eu << 23 | op << 16 | 4u << 8 | 2, 0);
    attempt(0x17fu << 23 | op << 16, 0);
    for (u32 segment = 0; segment < 3; ++segment)
      for (u32 low : {0u, 0x2000u, 0x10000u})
        for (u32 w1 : {0x087f0402u, 0x087f0002u, 0x007f0402u, 0x007f0002u, 0x08000402u, 0x08000002u,
                       0x00000402u, 0x00000000u, 0x007f0000u})
          attempt(0x37u << 26 | op << 18 | segment << 14 | low, w1);
    for (u32 low : {0x1000u, 0u, 0x5000u, 0x11000u, 0x4000u})
      for (u32 w1 : {0x80010402u, 0u, 0x80010002u})
        attempt(0x38u << 26 | op << 18 | low, w1);
    attempt(0x3au << 26 | (op & 15) << 15 | 0x1000, 0x80010402u);
  }
  for (u32 op = 0; op < 32; ++op)
    for (u32 simm : {1u, 0x1801u})
      attempt(0xbu << 28 | op << 23 | 2u << 16 | simm, 0);
  return found;
}

} // namespace wavesim::test
