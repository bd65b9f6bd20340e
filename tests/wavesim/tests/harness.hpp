// Runs gfx942 assembly on one wave inside the test process, without a code object or a launch.
//
//   Machine m;
//   m.vgpr(1, [](unsigned lane) { return lane; });
//   m.run("v_lshlrev_b32 v0, 2, v1");
//   EXPECT_EQ(m.wave.v[0][5], 20u);
//
// Tests that must hold at every SIMD level loop over levels().
#pragma once

#include "isa/decoder.hpp"
#include "machine/dispatch.hpp"
#include "machine/memory_map.hpp"

#include <bit>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace wavesim::test {

/// SIMD levels this host can run.
std::vector<Simd> levels();
const char* name(Simd level);

/// Machine code of gfx942 assembly (labels allowed; branches are resolved). A syntax error fails
/// the current test and gives no code.
std::vector<std::byte> assemble(const std::string& text);

/// Assembly, decoded for one SIMD level; make one and run it often.
class Program {
public:
  explicit Program(const std::string& text, Simd level = simd_level());
  const Op* at(std::uint64_t pc) const;
  const Op& first() const { return ops_.front(); }
  const std::deque<Op>& ops() const { return ops_; } ///< in address order
  std::uint64_t begin() const { return reinterpret_cast<std::uintptr_t>(code_.data()); }
  std::uint64_t end() const { return begin() + code_.size(); }

private:
  std::vector<std::byte> code_;
  std::deque<Op> ops_;
  std::map<std::uint64_t, const Op*> by_pc_;
};

/// One wave of one workgroup, with LDS, scratch and registered memory. All registers start as 0,
/// EXEC as all ones, MODE as clang sets it (round to nearest even, denormals kept, DX10 clamp,
/// IEEE).
class Machine {
public:
  static constexpr std::uint32_t default_mode = 0x3f0;
  static constexpr std::uint32_t lds_bytes = 65536, scratch_bytes = 4096;

  explicit Machine(Simd level = simd_level());
  ~Machine();

  Wave& wave;
  Workgroup& group;
  const Simd level;

  /// Runs from the first instruction to s_endpgm or the end of the text; stops early when the wave
  /// yields or waits at a barrier (call again with the same program to go on: `resume`).
  void run(const std::string& text);
  void run(const Program& program);
  void resume(const Program& program);

  template <class F>
  void vgpr(unsigned reg, F&& value_of_lane) {
    for (unsigned i = 0; i < lanes; ++i)
      wave.v[reg][i] = value_of_lane(i);
  }
  float f32(unsigned reg, unsigned lane) const { return std::bit_cast<float>(wave.v[reg][lane]); }
  std::uint64_t u64(unsigned reg, unsigned lane) const {
    return wave.v[reg][lane] | std::uint64_t{wave.v[reg + 1][lane]} << 32;
  }
  double f64(unsigned reg, unsigned lane) const { return std::bit_cast<double>(u64(reg, lane)); }
  void set_u64(unsigned reg, unsigned lane, std::uint64_t x) {
    wave.v[reg][lane] = static_cast<std::uint32_t>(x);
    wave.v[reg + 1][lane] = static_cast<std::uint32_t>(x >> 32);
  }

  /// Zeroed device memory of exactly this size, known to the memory checks.
  std::byte* allocate(std::size_t bytes);

private:
  struct Parts;
  explicit Machine(std::unique_ptr<Parts> parts, Simd level);
  void publish();
  std::unique_ptr<Parts> parts_;
};

} // namespace wavesim::test
