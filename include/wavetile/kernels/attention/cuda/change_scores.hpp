/// \file
/// Caps, masks and visibility for the scores of a step, on NVIDIA GPUs.
#pragma once

#include <wavetile/core/convert.hpp>
#include <wavetile/kernels/attention/cuda/tile_rows.hpp>
#include <wavetile/kernels/attention/scores.hpp>
#include <wavetile/matrix/warp_fragment.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// Scores of a wave: for each 16 queries accumulators of 8 keys.
template <class T, int RowTiles, int KeyTiles>
using score_block = warp_accumulator<T>[RowTiles][KeyTiles];

/// A row of a lane's accumulators: half `half` of row tile `tile`.
WAVETILE_HD constexpr int accumulator_row(int tile, int half, int lane) {
  return 16 * tile + 8 * half + lane / 4;
}

/// Calls `f(score, key)` for the scores of one row of the lane; `key` relative to the step.
template <class T, int KeyTiles, class F>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void each_score(warp_accumulator<T> (&scores)[KeyTiles],
                                                      int half, int lane, const F& f) {
#pragma unroll
  for (int n = 0; n < KeyTiles; ++n)
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      float& score = scores[n].value[2 * half + c];
      score = f(score, 8 * n + lane % 4 * 2 + c);
    }
}

/// The exponent of a key with its element of a mask by array; -infinity where that hides it.
template <class Mask>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float
masked_exponent(float exponent, typename Mask::element element, float scale) {
  if constexpr (Mask::kind == mask_kind::keep) {
    return element != 0 ? exponent : -INFINITY;
  } else {
    const float bias = convert<float>(element);
    const float sum = fma(bias, scale, exponent);
    const float low = sum < -largest_exponent ? -largest_exponent : sum;
    return bias == -INFINITY ? bias : low > largest_exponent ? largest_exponent : low;
  }
}

/// Caps and masks by array; scores become exponents where there are caps or additive masks.
template <class Types, class T, int RowTiles, int KeyTiles>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
change_scores(score_block<T, RowTiles, KeyTiles>& scores, const attention_arguments<Types>& args,
              const tile_rows& rows, int wave_row, int lane, int64_t batch, int first) {
  constexpr bool additive = Types::mask::kind == mask_kind::additive;
  const bool capped = args.cap != 0;
  if (Types::mask::kind == mask_kind::none && !capped)
    return;
#pragma unroll
  for (int m = 0; m < RowTiles; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (capped || additive)
        each_score(scores[m], h, lane, [&](float score, int) {
          const float x = score * args.score_scale;
          return capped ? args.cap * cap_score(x) : x;
        });
      if constexpr (Types::mask::kind != mask_kind::none) {
        const auto place = rows.of(wave_row + accumulator_row(m, h, lane));
        const auto* mask = args.mask + batch * args.mask_steps.batch +
                           place.head * args.mask_steps.head + place.query * args.mask_steps.row +
                           first;
        const int limit = rows.keys - first;
        each_score(scores[m], h, lane, [&](float exponent, int key) {
          return key < limit
                     ? masked_exponent<typename Types::mask>(exponent, mask[key], args.mask_scale)
                     : exponent;
        });
      }
    }
}

/// Hides what a step's queries do not see.
template <class T, int RowTiles, int KeyTiles>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
hide_scores(score_block<T, RowTiles, KeyTiles>& scores, const visibility& visible,
            const tile_rows& rows, int wave_row, int lane, int first) {
#pragma unroll
  for (int m = 0; m < RowTiles; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const key_range seen = visible.of(rows.of(wave_row + accumulator_row(m, h, lane)).query,
                                        rows.queries, rows.keys);
      const auto count = static_cast<uint32_t>(seen.end - seen.begin);
      const auto start = static_cast<uint32_t>(first - seen.begin);
      each_score(scores[m], h, lane, [&](float score, int key) {
        return start + static_cast<uint32_t>(key) < count ? score : -INFINITY;
      });
    }
}

} // namespace wavetile::kernels

#endif
