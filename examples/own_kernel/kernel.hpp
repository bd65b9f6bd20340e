/// \file
/// A kernel that the library does not have, made of its parts: a product whose tiles are scaled to
/// 8 bits, each by its own largest magnitude.
///
///     y = x w^T + bias                       rows x columns, fp32 in registers only
///     scale[i,j] = max |y| of tile (i,j) / 127,  q = y / scale, rounded to int8
///
/// A scale is at least 2^-126, the least with a reciprocal in fp32, so numbers of tiny tiles become
/// small ones and those of a tile of zeros 0. What is not finite in a tile makes its scale so, too:
/// NaN, else infinity; its q then mean nothing.
#pragma once

#include <hip/hip_runtime.h>

#include <wavetile/group/barrier.hpp>
#include <wavetile/group/direct_copy.hpp>
#include <wavetile/group/reduce.hpp>
#include <wavetile/launch/launch.hpp>
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/matrix/accumulator.hpp>
#include <wavetile/matrix/global_operand.hpp>
#include <wavetile/matrix/mma.hpp>

namespace own {

using wavetile::bf16;
namespace group = wavetile::group;
inline constexpr int side = 64, depth = 64, threads = 256; ///< four waves of 32 x 32 elements

// 1. What is done with a tile in LDS: one read of 16 bytes a lane feeds two matrix instructions;
//    tiles at the edge of a matrix come through registers, 4 bytes a lane. (Whole ones are written
//    dword after dword by the loads themselves, which no layout can hurt.)
using fragments = wavetile::product_fragments<wavetile::shape_32x32<bf16>, bf16>;
using operand_x = wavetile::lds_operand<fragments::a, 2>;
using operand_w = wavetile::lds_operand<fragments::b, 2>;
using plain = wavetile::tile<bf16, wavetile::row_major(side, depth, 2)>;

// 2. The cheapest layout without bank conflicts for all of that, found and proved by the compiler.
inline constexpr wavetile::layout_choice choice = wavetile::choose_layout<bf16, side, depth>(
    wavetile::targets::gfx942, 16384, operand_x::access, operand_w::access,
    group::tile_copy<plain, threads, 2>::access);
static_assert(choice.conflict_free);
using tile = wavetile::tile<bf16, choice.chosen>;
using copy = group::direct_copy<tile, threads>;
using largest_of_group = group::reduce<float, threads>;

// 3. The workgroup's LDS: two stages of both tiles, and in their place, behind the last barrier of
//    the loop, when nobody reads them any more, what the reduction needs. 32,768 bytes: two
//    workgroups on a compute unit.
struct stages {
  tile::storage x[2], w[2];
};
union members {
  stages tiles;
  largest_of_group::storage largest;
};
static_assert(2 * sizeof(members) <= wavetile::targets::gfx942.lds_bytes);

struct arguments {
  wavetile::view<const bf16, 2> x, w;
  const float* bias; ///< of each column
  wavetile::view<std::int8_t, 2> q;
  wavetile::view<float, 2> scale; ///< of each tile
};

__global__ __launch_bounds__(threads, 2) void scaled_product(arguments args) {
  __shared__ members memory;
  const std::int64_t row = std::int64_t{blockIdx.y} * side;
  const std::int64_t column = std::int64_t{blockIdx.x} * side;
  const int wave = wavetile::wave_id(), down = wave / 2 * 32, right = wave % 2 * 32;

  // 4. A stage is on its way while the one before is multiplied. The barrier says two things: what
  //    all waves have waited for is there, and nobody reads the stage that comes to be written.
  fragments::accumulator sum{};
  const std::int64_t end = args.x.extent[1];
  int stage = 0;
  for (std::int64_t k = 0; k < end + depth; k += depth, stage = 1 - stage) {
    if (k < end) {
      copy::start(args.x, row, k, tile(memory.tiles.x[stage]));
      copy::start(args.w, column, k, tile(memory.tiles.w[stage]));
    }
    const tile x(memory.tiles.x[1 - stage]), w(memory.tiles.w[1 - stage]);
    if (k > 0)
      for (int i = 0; i < depth; i += operand_x::depth)
        wavetile::mma(sum, operand_x::load(x, down, i), operand_w::load(w, right, i));
    copy::wait();
    group::barrier();
  }

  // 5. A lane has 16 elements of one column, and knows which: the bias, and nothing outside the
  //    matrix.
  const auto left = [](std::int64_t extent, std::int64_t first) { // of the tile
    return static_cast<int>(extent - first < side ? extent - first : side);
  };
  const int rows = left(args.q.extent[0], row), columns = left(args.q.extent[1], column);
  const int lane = wavetile::lane_id();
  const int own = right + fragments::accumulator::element(lane, 0).column;
  const float bias = own < columns ? args.bias[column + own] : 0.0f;
  float largest = 0;
  wavetile::transform(sum, down, right, lane, [&](float y, int r, int c) {
    y = r < rows && c < columns ? y + bias : 0.0f;
    largest = wavetile::maximum(largest, fabsf(y)); // NaN where one is, which fmaxf drops
    return y;
  });

  // 6. The largest of the workgroup, in all its work-items; then to 8 bits, to nearest.
  largest = largest_of_group::to_all(largest, wavetile::op::maximum{}, memory.largest);
  const float scale = wavetile::maximum(largest / 127, 0x1p-126f);
  if (wavetile::thread_id() == 0)
    args.scale(blockIdx.y, blockIdx.x) = scale;
  const float factor = 1 / scale;
  wavetile::transform(sum, 0, 0, lane, [&](float y, int, int) { return y * factor; });
  wavetile::store_accumulator(args.q, sum, row + down, column + right);
}

/// Starts it, or says which argument is wrong. x: rows x k, w: columns x k, their rows at multiples
/// of 4 bytes; q: rows x columns; scale: a number for each tile. Elements of a row lie next to each
/// other.
inline wavetile::status scale_product(const arguments& args, hipStream_t stream = nullptr) {
  using wavetile::status, wavetile::status_code;
  const struct {
    const char* name;
    const void* data;
    std::uintptr_t bytes; ///< of which its address is a multiple
  } arrays[] = {{"x", args.x.data, 4},
                {"w", args.w.data, 4},
                {"bias", args.bias, 4},
                {"q", args.q.data, 1},
                {"scale", args.scale.data, 4}};
  for (const auto& one : arrays) {
    const auto address = reinterpret_cast<std::uintptr_t>(one.data);
    if (address == 0)
      return status::failure(status_code::null_pointer, one.name, "null pointer");
    if (address % one.bytes != 0)
      return status::failure(status_code::misaligned, one.name, static_cast<std::int64_t>(address),
                             "a multiple of 4 bytes");
  }
  const auto tiles = [](std::int64_t extent) { return (extent + side - 1) / side; };
  const struct {
    const char* name;
    std::int64_t value, allowed;
  } numbers[] = {{"w.extent[1]", args.w.extent[1], args.x.extent[1]},
                 {"q.extent[0]", args.q.extent[0], args.x.extent[0]},
                 {"q.extent[1]", args.q.extent[1], args.w.extent[0]},
                 {"scale.extent[0]", args.scale.extent[0], tiles(args.x.extent[0])},
                 {"scale.extent[1]", args.scale.extent[1], tiles(args.w.extent[0])},
                 {"x.stride[1]", args.x.stride[1], 1},
                 {"w.stride[1]", args.w.stride[1], 1},
                 {"q.stride[1]", args.q.stride[1], 1},
                 {"x.stride[0]", args.x.stride[0], args.x.stride[0] & ~std::int64_t{1}},
                 {"w.stride[0]", args.w.stride[0], args.w.stride[0] & ~std::int64_t{1}}};
  for (const auto& one : numbers)
    if (one.value != one.allowed)
      return status::failure(status_code::unsupported_shape, one.name, one.value, "")
          .append(one.allowed);
  return wavetile::launch(scaled_product,
                          {.grid = {args.scale.extent[1], args.scale.extent[0]}, .block = threads},
                          stream, args);
}

} // namespace own
