/// \file
/// Getting a list of products to the device without a copy: as arguments of small kernels.
#pragma once

#include <wavetile/kernels/matmul/problem.hpp>
#include <wavetile/wave/lane.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// As many entries as fit the 4 KiB that a kernel's arguments may have.
template <class Types>
struct matmul_list_arguments {
  static constexpr int capacity = static_cast<int>(3584 / sizeof(matmul_listed_task<Types>));
  matmul_listed_task<Types> entries[capacity];
  matmul_listed_task<Types>* to;
  int count;
};

/// Writes the entries: what a stream does later finds them in order, also in a replayed graph.
template <class Types>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(matmul_wave_size) void matmul_write_list(
    matmul_list_arguments<Types> arguments) {
  const int entry = thread_id();
  if (entry < arguments.count)
    arguments.to[entry] = arguments.entries[entry];
}

} // namespace wavetile::kernels

#endif
