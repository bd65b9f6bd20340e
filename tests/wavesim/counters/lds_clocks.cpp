#include "counters/lds_clocks.hpp"

#include <algorithm>
#include <bit>
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

LdsClocks lds_clocks(LdsPhases phases, unsigned bytes, bool serialise, const std::uint32_t* address,
                     std::uint32_t offset, std::uint64_t exec) {
  LdsClocks total;
  if (exec == 0)
    return total;
  for (const std::uint64_t group : lanes_of(phases)) {
    Banks wanted;
    for (std::uint64_t left = group & exec; left != 0; left &= left - 1) {
      const std::uint32_t first = address[std::countr_zero(left)] + offset;
      const std::uint32_t last = (first + bytes - 1) / 4;
      for (std::uint32_t dword = first / 4; dword <= last; ++dword)
        wanted.request(dword, serialise);
    }
    total.clocks += std::max<std::uint32_t>(wanted.longest(), 1);
    ++total.phases;
  }
  return total;
}

} // namespace wavesim
