/// \file
/// One kernel over more workgroups than a dispatch may have.
#pragma once

#include <wavetile/launch/launch.hpp>

namespace wavetile {

/// Starts `kernel`, whose one parameter is a struct, over `groups` workgroups of `threads`
/// work-items in as many dispatches as it takes, in order. `first` is the member by which a
/// dispatch learns where it starts: `step` times the number of its first workgroup. `lds_bytes`:
/// dynamic LDS. For kernels of layers that cannot name `grid_slice`.
template <class Arguments>
status launch_groups(void (*kernel)(Arguments), int64_t groups, int threads, int64_t step,
                     int64_t Arguments::*first, Arguments arguments, hipStream_t stream,
                     int64_t lds_bytes = 0) {
  const grid_plan grid = plan_groups(groups, threads);
  for (int64_t i = 0; i < grid.launches(); ++i) {
    const grid_slice slice = grid.slice(i);
    arguments.*first = slice.first * step;
    const launch_shape shape{.grid = slice.count, .block = threads, .lds_bytes = lds_bytes};
    if (const status outcome = launch(kernel, shape, stream, arguments); !outcome)
      return outcome;
  }
  return {};
}

} // namespace wavetile
