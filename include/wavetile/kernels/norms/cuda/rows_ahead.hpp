/// \file
/// RMSNorm and LayerNorm of rows of 16-bit elements that a workgroup holds in few registers: while
/// it works on one, the loads of its next are under way, and the waves meet once a row.
///
/// Each wave has sums of its own elements: their count c, mean m, squares S of the differences from
/// m, and rest r, the sum of those differences, zero but for the rounding of m. Of all waves
///
///     mean = (sum of c m + r) / n,   squares = sum of S + 2 d r + c d^2,   d = m - mean
///
/// which holds for any m: its rounding adds nothing to the error, however the means of waves
/// differ.
#pragma once

#include <wavetile/kernels/norms/arithmetic.hpp>
#include <wavetile/kernels/rows/cuda/butterfly.hpp>
#include <wavetile/kernels/rows/cuda/wide_access.hpp>
#include <wavetile/kernels/rows/pairs.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// Whether `norm_workgroup` works so.
template <class Types, norm_config Config>
inline constexpr bool
    goes_ahead = norm_goes_ahead(Config, Types::chunk, Types::chunk_bytes, Types::parameter_bytes,
                                 !Types::has_residual && Types::scaling == norm_scaling::none);

/// Statistics of the waves of a workgroup for two rows in turn.
template <int Waves>
struct norm_ahead_storage {
  alignas(16) float4 of_wave[2][Waves];
};

/// What a lane has of a row as read. `Wide`: all rows start at multiples of 16 bytes. Their loads
/// are apart from those of other rows: where either could be meant, each would be waited for.
template <class T, int Chunk, int Slots, bool Wide>
class row_ahead {
public:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(const T* row, const row_share<Chunk>& share) {
    if constexpr (Wide) {
#pragma unroll
      for (int k = 0; k < Slots; ++k)
        if (share.owns(k, share.all))
          words_[k] = *reinterpret_cast<const uint4*>(share.at(row, k));
      if (share.owns_tail(share.all))
        tail_ = row[share.tail_column()];
    } else {
      tile_.load(row, share, share.all);
      tail_ = tile_.tail();
    }
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, Chunk> chunk(int k) {
    if constexpr (Wide) {
      vec<T, Chunk> result;
      static_assert(sizeof result == sizeof words_[k]);
      __builtin_memcpy(&result, &words_[k], sizeof result);
      return result;
    } else {
      return tile_.chunk(k);
    }
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE T tail() const {
    return tail_;
  }

private:
  uint4 words_[Wide ? Slots : 1] = {};
  row_tile<T, Chunk, Wide ? 1 : Slots> tile_;
  T tail_{};
};

/// The rows of a workgroup. `Parameters`: `row_parameters` of rows.hpp.
template <class Parameters, bool Wide, class Types, norm_config Config>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
norm_rows_ahead(const norm_arguments<Types>& args, const row_share<Types::chunk>& share,
                uint32_t first, norm_ahead_storage<Config.waves>& memory) {
  constexpr int chunk = Types::chunk;
  constexpr int slots = Config.slots;
  constexpr norm_kind kind = Types::kind;
  using held = typename Types::held;
  Parameters parameters(args, share);
  const butterfly_team wave;
  const auto lane = static_cast<uint32_t>(lane_id());
  const bool has_tail = share.owns_tail(share.all);
  int owned = has_tail ? 1 : 0;
#pragma unroll
  for (int k = 0; k < slots; ++k)
    owned += share.owns(k, share.all) ? chunk : 0;
  const float count = wave.template all_reduce<0>(static_cast<float>(owned), op::plus{});
  const float per_count = count > 0 ? 1.0f / count : 0.0f;

  int64_t offset[4];
  row_ahead<held, chunk, slots, Wide> next;
  args.map.locate(first < args.rows ? first : 0, offset);
  next.load(args.x + offset[0], share);
  int turn = 0;
  for (int64_t row = first; row < args.rows; row += args.teams) {
    auto h = next;
    const int64_t to = offset[1];
    if (row + args.teams < args.rows) {
      args.map.locate(row + args.teams, offset);
      next.load(args.x + offset[0], share);
    }
    const float tail = has_tail ? convert<float>(h.tail()) : 0.0f;
    const auto read = [&](int k) {
      const auto raw = h.chunk(k);
      vec<float, chunk> values;
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        values[e] = convert<float>(raw[e]);
      return values;
    };
    float mean = 0, rest = 0;
    if constexpr (kind == norm_kind::layer) {
      vec<float, chunk> sums{};
#pragma unroll
      for (int k = 0; k < slots; ++k)
        if (share.owns(k, share.all))
          sums = add(sums, read(k));
      mean = wave.template all_reduce<0>(sum_of(sums) + tail, op::plus{}) * per_count;
    }
    vec<float, chunk> squares{}, rests{};
#pragma unroll
    for (int k = 0; k < slots; ++k)
      if (share.owns(k, share.all)) {
        auto values = read(k);
        if constexpr (kind == norm_kind::layer) {
          values = subtract(values, spread<chunk>(mean));
          rests = add(rests, values);
        }
        squares = multiply_add(values, values, squares);
      }
    const float tail_centred = has_tail ? tail - mean : 0.0f;
    const float own =
        wave.template all_reduce<0>(fma(tail_centred, tail_centred, sum_of(squares)), op::plus{});
    if constexpr (kind == norm_kind::layer)
      rest = wave.template all_reduce<0>(sum_of(rests) + tail_centred, op::plus{});
    float4(&all)[Config.waves] = memory.of_wave[turn];
    turn ^= 1;
    if (lane == 0)
      all[wave_id()] = float4{count, mean, own, rest};
    group::barrier();

    const float4 other =
        lane < static_cast<uint32_t>(Config.waves) ? all[lane] : float4{0, 0, 0, 0};
    norm_statistics statistics;
    float total = other.z;
    if constexpr (kind == norm_kind::layer) {
      statistics.mean =
          wave.template all_reduce<0>(fma(other.x, other.y, other.w), op::plus{}) * args.per_column;
      const float d = other.y - statistics.mean;
      total = fma(d, fma(other.x, d, 2 * other.w), total);
      if (lane >= static_cast<uint32_t>(Config.waves))
        total = 0;
    }
    statistics.finish(wave.template all_reduce<0>(total, op::plus{}), args.per_column,
                      args.epsilon);
    const auto value_of = [&](float value, float weight, float bias) {
      return statistics.template operator()<kind>(value, weight, bias);
    };
    auto* const y = args.y + to;
#pragma unroll
    for (int k = 0; k < slots; ++k)
      if (share.owns(k, share.all)) {
        auto values = read(k);
        const auto weight = parameters.weight.chunk(share, k);
        const auto bias = parameters.bias.chunk(share, k);
#pragma unroll
        for (int e = 0; e < chunk; ++e)
          values[e] = value_of(values[e], weight[e], bias[e]);
        store_chunk_at<Wide>(share.at(y, k), convert<typename Types::output>(values));
      }
    if (has_tail)
      y[share.tail_column()] = convert<typename Types::output>(
          value_of(tail, parameters.weight.tail(share), parameters.bias.tail(share)));
  }
}

/// Whether every row of x and y starts at a multiple of 16 bytes.
template <class Types>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool rows_are_wide(const norm_arguments<Types>& args) {
  const auto steps = [&](int array) {
    const auto& stride = args.map.stride[array];
    return stride[0] | stride[1] | stride[2];
  };
  return are_wide(args.x, args.y) && (steps(0) * static_cast<int>(sizeof(typename Types::held)) |
                                      steps(1) * static_cast<int>(sizeof(typename Types::output))) %
                                             16 ==
                                         0;
}

} // namespace wavetile::kernels

#endif
