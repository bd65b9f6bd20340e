/// \file
/// wavesim's counters around a piece of a test; nothing on a real device.
#pragma once

#include "counters/api.h"

#include "hip_check.hpp"

#include <optional>
#include <stdexcept>
#include <vector>

namespace wavetile::test {

/// What the kernels that `run` starts did, counted by wavesim; empty where there is no wavesim (and
/// then `run` is not called). Tests that get nothing skip: GTEST_SKIP().
template <class Run>
std::optional<wavesim_counts> count_kernels(Run&& run) {
  wavesim_counters counters;
  if (!wavesim_counters_find(&counters))
    return std::nullopt;
  WAVETILE_TEST_HIP(hipDeviceSynchronize());
  if (counters.begin() != 0)
    throw std::runtime_error("wavesim is counting already");
  run();
  WAVETILE_TEST_HIP(hipDeviceSynchronize());
  wavesim_counts counts{};
  counts.size = sizeof counts;
  if (counters.end(&counts) != 0)
    throw std::runtime_error("wavesim refused to end the count");
  return counts;
}

/// The instructions of the last count.
inline std::vector<wavesim_instruction> counted_instructions() {
  wavesim_counters counters;
  if (!wavesim_counters_find(&counters))
    return {};
  std::vector<wavesim_instruction> list(counters.instructions(nullptr, 0));
  list.resize(counters.instructions(list.data(), list.size()));
  return list;
}

} // namespace wavetile::test
