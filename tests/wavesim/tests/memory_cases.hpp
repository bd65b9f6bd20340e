// What the tests of memory instructions share: random contents, EXEC patterns and whole-state
// comparison, so that a register or byte which an instruction should not touch is noticed.
#pragma once

#include "tests/harness.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace wavesim::test {

inline std::mt19937_64& random_bits() {
  static std::mt19937_64 engine(20240607);
  return engine;
}

inline std::uint32_t random32() {
  return static_cast<std::uint32_t>(random_bits()());
}

/// Uniform in [0, n).
inline std::uint32_t random_below(std::uint32_t n) {
  return static_cast<std::uint32_t>(random_bits()() % n);
}

/// Full, empty, single lanes, halves, and random.
inline std::vector<std::uint64_t> exec_patterns() {
  return {~0ull,
          0,
          1,
          1ull << 63,
          0xffffffffull,
          ~0ull << 32,
          0x5555555555555555ull,
          random_bits()(),
          random_bits()() & random_bits()()};
}

/// The register files as they should be after an instruction: start as a copy, then edited.
struct Registers {
  std::vector<std::uint32_t> bits;

  explicit Registers(const Wave& w) : bits(2 * 256 * lanes) {
    std::memcpy(bits.data(), w.v, sizeof w.v);
    std::memcpy(bits.data() + 256 * lanes, w.a, sizeof w.a);
  }
  std::uint32_t& at(bool agpr, unsigned reg, unsigned lane) {
    return bits[((agpr ? 256u : 0u) + reg) * lanes + lane];
  }
  /// Reports the first difference.
  void expect(const Wave& w, const std::string& what) const {
    const Registers now(w);
    for (std::size_t i = 0; i < bits.size(); ++i)
      if (bits[i] != now.bits[i]) {
        ADD_FAILURE() << what << ": " << (i / lanes >= 256 ? "a" : "v") << i / lanes % 256
                      << " lane " << i % lanes << " is 0x" << std::hex << now.bits[i]
                      << ", expected 0x" << bits[i];
        return;
      }
  }
};

inline void fill_random(Wave& w) {
  for (auto* file : {w.v, w.a})
    for (unsigned r = 0; r < 256; ++r)
      for (unsigned l = 0; l < lanes; ++l)
        file[r][l] = random32();
}

inline void fill_random(std::byte* p, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    p[i] = static_cast<std::byte>(random_bits()());
}

/// Bytes of memory as they should be.
struct Bytes {
  std::vector<std::byte> bits;

  Bytes(const std::byte* p, std::size_t n) : bits(p, p + n) {}
  template <class T>
  T get(std::size_t at) const {
    T x;
    std::memcpy(&x, &bits[at], sizeof x);
    return x;
  }
  template <class T>
  void set(std::size_t at, T x) {
    std::memcpy(&bits[at], &x, sizeof x);
  }
  void expect(const std::byte* p, const std::string& what) const {
    for (std::size_t i = 0; i < bits.size(); ++i)
      if (bits[i] != p[i]) {
        ADD_FAILURE() << what << ": byte " << i << " is " << std::to_integer<int>(p[i])
                      << ", expected " << std::to_integer<int>(bits[i]);
        return;
      }
  }
};

/// Machine::run, keeping the assembled text for the next time.
inline void run_again(Machine& m, const std::string& text) {
  static std::map<std::pair<Simd, std::string>, std::unique_ptr<Program>> programs;
  auto& program = programs[{m.level, text}];
  if (!program)
    program = std::make_unique<Program>(text, m.level);
  m.run(*program);
}

inline bool active(std::uint64_t exec, unsigned lane) {
  return (exec >> lane & 1) != 0;
}

/// A load or store as the ISA describes it: which part of the register it fills or takes.
struct Access {
  const char* suffix; ///< of the mnemonic
  unsigned bytes;
  bool sign = false; ///< loads: extend by sign
  bool d16 = false;  ///< loads: 16 bits of the register change
  bool high = false; ///< d16: the upper half

  unsigned dwords() const { return (bytes + 3) / 4; }

  /// Register value after loading the bytes at p.
  std::uint32_t load(const std::byte* p, std::uint32_t old, unsigned dword) const {
    std::uint64_t raw = 0;
    for (unsigned i = 0; i < (bytes < 4 ? bytes : 4); ++i)
      raw |= std::to_integer<std::uint64_t>(p[4 * dword + i]) << (8 * i);
    if (bytes >= 4)
      return static_cast<std::uint32_t>(raw);
    if (sign && (raw >> (8 * bytes - 1)) != 0)
      raw |= ~std::uint64_t{0} << (8 * bytes);
    const auto value = static_cast<std::uint32_t>(raw);
    if (!d16)
      return value;
    return high ? (old & 0xffff) | value << 16 : (old & 0xffff0000) | (value & 0xffff);
  }
  /// Bytes that storing the register writes.
  void store(std::byte* p, const std::uint32_t* registers) const {
    for (unsigned i = 0; i < bytes; ++i)
      p[i] =
          static_cast<std::byte>((high ? registers[0] >> 16 : registers[i / 4]) >> (8 * (i % 4)));
  }
};

} // namespace wavesim::test
