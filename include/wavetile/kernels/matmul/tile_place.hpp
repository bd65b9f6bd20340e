/// \file
/// Which tile of which product a workgroup computes.
#pragma once

#include <wavetile/arch/instructions.hpp>
#include <wavetile/kernels/matmul/problem.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// The tile of a workgroup.
struct tile_place {
  int64_t batch = 0, split = 0;
  int64_t row = 0, column = 0; ///< of tiles
  int64_t splits = 1, split_k = 0;
  int64_t first_partial = 0; ///< elements before the sums of this part of the product
};

/// Number `position` among what `First` counts of a list: the last product that starts at or before
/// it.
template <auto First, class Types>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE int64_t find_listed(const matmul_listed_task<Types>* list,
                                                          int64_t count, int64_t position) {
  int64_t low = 0, high = count; // the one wanted is in [low, high)
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    if (list[middle].*First <= position)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// Which tile of which product workgroup `group` computes; `task` becomes that product.
/// `TileM` x `TileN` is a tile of D.
template <int TileM, int TileN, class Types>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE tile_place place_of(const matmul_arguments<Types>& arguments,
                                                          matmul_task<Types>& task, int64_t group) {
  const int64_t position = arguments.order.position(group);
  tile_place place;
  if (arguments.list != nullptr) {
    place.batch = find_listed<&matmul_listed_task<Types>::first_tile>(arguments.list,
                                                                      arguments.batches, position);
    const matmul_listed_task<Types>& found = arguments.list[place.batch];
    task = found.task;
    const uint32_t in_task = static_cast<uint32_t>(position - found.first_tile);
    const uint32_t splits = static_cast<uint32_t>(found.splits);
    const uint32_t rows = static_cast<uint32_t>((task.m + (TileM - 1)) / TileM);
    const uint32_t tile = in_task / splits;
    place.split = in_task % splits;
    place.column = tile / rows;
    place.row = tile % rows;
    place.splits = found.splits;
    place.split_k = found.split_k;
    place.first_partial = found.first_partial + place.split * task.m * task.n;
    return place;
  }
  task = arguments.task;
  place.batch = arguments.tiles.quotient(position);
  const int64_t in_batch = position - place.batch * arguments.tiles.divisor();
  const int64_t tile = arguments.splits.quotient(in_batch);
  place.split = in_batch - tile * arguments.splits.divisor();
  place.splits = arguments.splits.divisor();
  place.split_k = arguments.split_k;
  place.first_partial = (place.batch * place.splits + place.split) * task.m * task.n;
  const auto at = arguments.path.at(tile);
  place.row = at.row;
  place.column = at.column;
  task.a += place.batch * arguments.batch_a;
  task.b += place.batch * arguments.batch_b;
  task.c += place.batch * arguments.batch_c;
  task.d += place.batch * arguments.batch_d;
  return place;
}

/// The same of the calling workgroup.
template <int TileM, int TileN, class Types>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE tile_place
place_of_group(const matmul_arguments<Types>& arguments, matmul_task<Types>& task) {
  return place_of<TileM, TileN>(
      arguments, task, arguments.first_group + static_cast<int64_t>(instruction::workgroup_x()));
}

} // namespace wavetile::kernels

#endif
