/// \file
/// One product, d = a bᵀ, from the kernel that a CUDA program would bring to what the library runs.
#pragma once

#include <hip/hip_runtime.h>

#include <wavetile/group/copy.hpp>
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/matrix/global_operand.hpp>
#include <wavetile/matrix/mma.hpp>

namespace ladder {

using wavetile::bf16;
using matrix = wavetile::view<const bf16, 2>;
using result = wavetile::view<float, 2>;

/// As a CUDA tutorial has it: 32 x 32 work-items, one element each; a row of 32 is thought of as a
/// warp, and its 32 work-items read a column of `bs` together. On a wave of 64 lanes with 32 banks
/// all rows of 32 floats start at bank 0, so that the lanes of such a read wait for each other.
/// `Pad` floats behind each row move them apart.
template <int Pad>
__global__ __launch_bounds__(1024) void cuda_port(matrix a, matrix b, result d) {
  constexpr int warp = 32;
  __shared__ float as[warp][warp + Pad];
  __shared__ float bs[warp][warp + Pad];
  const int tx = static_cast<int>(threadIdx.x) % warp, ty = static_cast<int>(threadIdx.x) / warp;
  const std::int64_t row = std::int64_t{blockIdx.y} * warp,
                     column = std::int64_t{blockIdx.x} * warp;
  float sum = 0;
  for (std::int64_t k = 0; k < a.extent[1]; k += warp) {
    as[ty][tx] = static_cast<float>(a(row + ty, k + tx));
    bs[ty][tx] = static_cast<float>(b(column + ty, k + tx));
    __syncthreads();
    for (int i = 0; i < warp; ++i)
      sum += as[ty][i] * bs[tx][i];
    __syncthreads();
  }
  d(row + ty, column + tx) = sum;
}

/// The matrix cores: four waves, 32 x 32 elements each of a tile of 64 x 64, in steps of 64 of k.
/// `Steps` matrix instructions are fed by one read, of 8 or 16 bytes a lane, and writes are as
/// wide. The layout is the cheapest in which neither these reads nor the writes of the tile
/// conflict, chosen by the compiler.
template <int Steps>
struct matrix_cores {
  static constexpr int side = 64, depth = 64;
  using fragments = wavetile::product_fragments<wavetile::shape_32x32<bf16>, bf16>;
  using read_a = wavetile::lds_operand<fragments::a, Steps>;
  using read_b = wavetile::lds_operand<fragments::b, Steps>;
  using plain = wavetile::tile<bf16, wavetile::row_major(side, depth, 2)>;
  static constexpr wavetile::layout_choice choice = wavetile::choose_layout<bf16, side, depth>(
      wavetile::targets::gfx942, 32768, read_a::access,
      wavetile::group::tile_copy<plain, 256, 4 * Steps>::access);
  static_assert(choice.conflict_free);
  using tile = wavetile::tile<bf16, choice.chosen>;
  using copy = wavetile::group::tile_copy<tile, 256, 4 * Steps>;
};

template <int Steps>
__global__ __launch_bounds__(256) void chosen_layout(matrix a, matrix b, result d) {
  using loop = matrix_cores<Steps>;
  __shared__ typename loop::tile::storage memory[2];
  const typename loop::tile as(memory[0]), bs(memory[1]);
  const std::int64_t row = std::int64_t{blockIdx.y} * loop::side;
  const std::int64_t column = std::int64_t{blockIdx.x} * loop::side;
  const int wave = wavetile::wave_id();
  const int down = wave / 2 * 32, right = wave % 2 * 32;
  typename loop::fragments::accumulator sum{};
  for (std::int64_t k = 0; k < a.extent[1]; k += loop::depth) {
    loop::copy::copy(a, row, k, as);
    loop::copy::copy(b, column, k, bs);
    wavetile::group::barrier();
    for (int i = 0; i < loop::depth; i += loop::read_a::depth)
      wavetile::mma(sum, loop::read_a::load(as, down, i), loop::read_b::load(bs, right, i));
    wavetile::group::barrier();
  }
  wavetile::store_accumulator(d, sum, row + down, column + right);
}

} // namespace ladder
