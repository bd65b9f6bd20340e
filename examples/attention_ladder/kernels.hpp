/// \file
/// Attention of one head, o = softmax(q kᵀ / sqrt(d)) v, from the kernel that a CUDA program would
/// bring to one that is written for waves of 64 lanes.
#pragma once

#include <hip/hip_runtime.h>

#include <wavetile/group/barrier.hpp>
#include <wavetile/group/copy.hpp>
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/wave/reduce.hpp>

namespace ladder {

using wavetile::bf16;
using rows_in = wavetile::view<const bf16, 2>; ///< position x element
using rows_out = wavetile::view<float, 2>;

inline constexpr int elements = 64; ///< of a head
inline constexpr float score_scale = 0.125f;

/// What a CUDA program takes a warp to be.
inline constexpr int warp = 32;

/// A warp's sum in all of its lanes, as a CUDA program writes it. `Lanes` is the width of the last
/// step: left out there, where it is 32, and 64 on this device, so that lane 0 is then that of the
/// *wave*, and every second warp gets its neighbour's sum.
template <int Lanes>
__device__ inline float warp_sum(float value) {
  for (int step = warp / 2; step > 0; step /= 2)
    value += __shfl_down(value, static_cast<unsigned>(step), Lanes);
  return __shfl(value, 0, Lanes);
}

template <int Lanes>
__device__ inline float warp_max(float value) {
  for (int step = warp / 2; step > 0; step /= 2)
    value = fmaxf(value, __shfl_down(value, static_cast<unsigned>(step), Lanes));
  return __shfl(value, 0, Lanes);
}

/// One query's running softmax: a lane has one key of each step.
template <int Lanes>
__device__ inline float next_weight(float score, float& top, float& sum, float& rescale) {
  const float next = fmaxf(top, warp_max<Lanes>(score));
  const float weight = __expf(score - next);
  rescale = __expf(top - next);
  sum = sum * rescale + warp_sum<Lanes>(weight);
  top = next;
  return weight;
}

/// As a CUDA tutorial starts: a warp takes a query, a lane a key, and each reads the rows that it
/// needs from memory. Weights go through LDS to those that sum v, two elements a lane.
template <int Lanes>
__global__ __launch_bounds__(256) void cuda_port(rows_in q, rows_in k, rows_in v, rows_out o) {
  __shared__ float weights[8][warp];
  const int lane = static_cast<int>(threadIdx.x) % warp, own = static_cast<int>(threadIdx.x) / warp;
  const std::int64_t query = std::int64_t{blockIdx.x} * 8 + own;
  float top = -1e30f, sum = 0, low = 0, high = 0;
  for (std::int64_t first = 0; first < k.extent[0]; first += warp) {
    float score = 0;
    for (int e = 0; e < elements; ++e)
      score += static_cast<float>(q(query, e)) * static_cast<float>(k(first + lane, e));
    float rescale;
    weights[own][lane] = next_weight<Lanes>(score * score_scale, top, sum, rescale);
    __syncthreads();
    low *= rescale;
    high *= rescale;
    for (int j = 0; j < warp; ++j) {
      low += weights[own][j] * static_cast<float>(v(first + j, lane));
      high += weights[own][j] * static_cast<float>(v(first + j, lane + warp));
    }
    __syncthreads();
  }
  o(query, lane) = low / sum;
  o(query, lane + warp) = high / sum;
}

/// The same with the warps of a workgroup sharing tiles of 32 keys in LDS. A lane reads its key's
/// row there: rows of 64 floats all start at bank 0, so the lanes wait for each other. `Pad`
/// floats behind each row move them apart.
template <int Pad>
__global__ __launch_bounds__(256) void tiled(rows_in q, rows_in k, rows_in v, rows_out o) {
  __shared__ float queries[8][elements];
  __shared__ float keys[warp][elements + Pad], values[warp][elements + Pad];
  __shared__ float weights[8][warp];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % warp, own = thread / warp;
  const std::int64_t query = std::int64_t{blockIdx.x} * 8 + own;
  for (int e = lane; e < elements; e += warp)
    queries[own][e] = static_cast<float>(q(query, e));
  float top = -1e30f, sum = 0, low = 0, high = 0;
  for (std::int64_t first = 0; first < k.extent[0]; first += warp) {
    for (int i = thread; i < warp * elements; i += 256) {
      keys[i / elements][i % elements] = static_cast<float>(k(first + i / elements, i % elements));
      values[i / elements][i % elements] =
          static_cast<float>(v(first + i / elements, i % elements));
    }
    __syncthreads();
    float score = 0;
    for (int e = 0; e < elements; ++e)
      score += queries[own][e] * keys[lane][e];
    float rescale;
    weights[own][lane] = next_weight<warp>(score * score_scale, top, sum, rescale);
    __syncthreads();
    low *= rescale;
    high *= rescale;
    for (int j = 0; j < warp; ++j) {
      low += weights[own][j] * values[j][lane];
      high += weights[own][j] * values[j][lane + warp];
    }
    __syncthreads();
  }
  o(query, lane) = low / sum;
  o(query, lane + warp) = high / sum;
}

/// For waves: 64 keys a step, one a lane, and `queries` queries a wave, so that what is read of a
/// key or a value serves them all. Tiles stay bf16, a lane reads 16 bytes of its key at once, and
/// the layout is one in which these reads and the writes do not conflict, chosen by the compiler.
/// Maxima and sums are combined across lanes by the vector unit, not through LDS.
struct for_waves {
  static constexpr int keys = 64, waves = 4, queries = 4, threads = 256;
  using plain = wavetile::tile<bf16, wavetile::row_major(keys, elements, 2)>;
  static constexpr wavetile::lds_access row_of_lane = wavetile::lds_read(16, [](int lane) {
    return wavetile::coordinate{lane, 0};
  });
  static constexpr wavetile::layout_choice choice = wavetile::choose_layout<bf16, keys, elements>(
      wavetile::targets::gfx942, 32768, row_of_lane,
      wavetile::group::tile_copy<plain, threads, 8>::access);
  static_assert(choice.conflict_free);
  using tile = wavetile::tile<bf16, choice.chosen>;
  using copy = wavetile::group::tile_copy<tile, threads, 8>;
  static_assert(keys == wavetile::wave_size);
};

__global__ __launch_bounds__(for_waves::threads) void wave_aware(rows_in q, rows_in k, rows_in v,
                                                                 rows_out o) {
  using cut = for_waves;
  __shared__ cut::tile::storage memory[2];
  __shared__ float queries[cut::waves][elements][cut::queries];
  __shared__ float weights[cut::waves][cut::keys][cut::queries];
  const cut::tile keys(memory[0]), values(memory[1]);
  const int lane = wavetile::lane_id(), wave = wavetile::wave_id();
  const std::int64_t query = (std::int64_t{blockIdx.x} * cut::waves + wave) * cut::queries;
  for (int i = 0; i < cut::queries; ++i)
    queries[wave][lane][i] = static_cast<float>(q(query + i, lane));
  float top[cut::queries], sum[cut::queries] = {}, out[cut::queries] = {};
  for (float& each : top)
    each = -1e30f;
  for (std::int64_t first = 0; first < k.extent[0]; first += cut::keys) {
    cut::copy::copy(k, first, 0, keys);
    cut::copy::copy(v, first, 0, values);
    wavetile::group::barrier();
    float score[cut::queries] = {};
    for (int e = 0; e < elements; e += 8) {
      const auto run = keys.template read_vec<8>(lane, e);
      for (int j = 0; j < 8; ++j)
        for (int i = 0; i < cut::queries; ++i)
          score[i] += queries[wave][e + j][i] * static_cast<float>(run[j]);
    }
    for (int i = 0; i < cut::queries; ++i) {
      const float scaled = score[i] * score_scale;
      const float next = fmaxf(top[i], wavetile::wave::all_reduce(scaled, wavetile::op::maximum{}));
      const float weight = __expf(scaled - next), rescale = __expf(top[i] - next);
      sum[i] = sum[i] * rescale + weight; // a lane's own keys; together at the end
      out[i] *= rescale;
      top[i] = next;
      weights[wave][lane][i] = weight;
    }
    wavetile::group::barrier();
    for (int j = 0; j < cut::keys; ++j) {
      const float value = static_cast<float>(values.read(j, lane));
      for (int i = 0; i < cut::queries; ++i)
        out[i] += weights[wave][j][i] * value;
    }
    wavetile::group::barrier();
  }
  for (int i = 0; i < cut::queries; ++i)
    o(query + i, lane) = out[i] / wavetile::wave::all_reduce(sum[i], wavetile::op::plus{});
}

} // namespace ladder
