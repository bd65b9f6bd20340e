/// \file
/// What the tests of waves and workgroups feed to lanes, and how they run one functor per
/// work-item.
#pragma once

#include "device_buffer.hpp"

#include <wavetile/core/hip_types.hpp>
#include <wavetile/launch/launch.hpp>
#include <wavetile/wave/lane.hpp>

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace wavetile::test {

/// Types of sizes that are no power of two.
struct bytes3 {
  unsigned char byte[3];
};
struct words3 { ///< 12 bytes
  std::uint32_t word[3];
};
struct mixed24 {
  double a;
  std::uint32_t b;
  std::uint16_t c;
  unsigned char d[10]; ///< 24 bytes without padding
};

/// A value for work-item `i` whose bits differ from those of all others and, over the items,
/// include NaN payloads and -0: the low byte counts, the others are a hash; a few items are
/// replaced by special bit patterns of the type's size.
template <class T>
T lane_payload(unsigned i) {
  unsigned char bytes[sizeof(T)];
  for (unsigned b = 0; b < sizeof(T); ++b)
    bytes[b] =
        static_cast<unsigned char>(b == 0 ? i : (i * 2654435761u + b * 40503u) >> (b % 3 * 8));
  T value;
  std::memcpy(static_cast<void*>(&value), bytes, sizeof(T));
  if constexpr (sizeof(T) == 4) {
    constexpr std::uint32_t special[] = {0x80000000u, 0x7F800001u, 0xFFC12345u,
                                         0x7FFFFFFFu, 0x00000001u, 0xFF800000u};
    if (i % 11 == 3 && i / 11 < 6)
      std::memcpy(static_cast<void*>(&value), &special[i / 11], 4);
  } else if constexpr (sizeof(T) == 2) {
    constexpr std::uint16_t special[] = {0x8000u, 0x7C01u, 0xFE12u, 0x7F81u, 0xFFC1u, 0x0001u};
    if (i % 11 == 3 && i / 11 < 6)
      std::memcpy(static_cast<void*>(&value), &special[i / 11], 2);
  } else if constexpr (sizeof(T) == 8) {
    constexpr std::uint64_t special[] = {0x8000000000000000u, 0x7FF0000000000001u,
                                         0xFFF8000012345678u, 0x7FFFFFFFFFFFFFFFu,
                                         0x0000000000000001u, 0xFFF0000000000000u};
    if (i % 11 == 3 && i / 11 < 6)
      std::memcpy(static_cast<void*>(&value), &special[i / 11], 8);
  }
  return value;
}

template <class T>
std::vector<T> lane_payloads(unsigned count) {
  std::vector<T> values;
  for (unsigned i = 0; i < count; ++i)
    values.push_back(lane_payload<T>(i));
  return values;
}

template <class Each, class In, class Out>
WAVETILE_KERNEL void run_each(const In* in, Out* out) {
  Each{}(in, out, thread_id());
}

/// One workgroup of `block` work-items, each calling `Each{}(in, out, own number)`; `Out` has
/// `outputs` elements and comes back.
template <class Each, class Out, class In>
std::vector<Out> run_workgroup(const std::vector<In>& in, int block, std::size_t outputs) {
  device_buffer<In> input(in);
  device_buffer<Out> output(outputs);
  const status outcome = launch(run_each<Each, In, Out>, {.grid = 1, .block = block}, nullptr,
                                static_cast<const In*>(input.data()), output.data());
  EXPECT_TRUE(outcome.ok()) << outcome.message();
  return output.download();
}

} // namespace wavetile::test
