/// \file
/// The arithmetic of RMSNorm and LayerNorm on one row, in fp32.
///
///     rms    v = h f w + b,         f = 1 / sqrt(sum of h^2 / n + epsilon)
///     layer  v = (h - m) f w + b,   m = sum of h / n, f = 1 / sqrt(sum of (h - m)^2 / n + epsilon)
///
/// The squares of LayerNorm are of differences from the mean, never a difference of two sums, which
/// would lose all digits where the mean is large.
#pragma once

#include <wavetile/core/math.hpp>
#include <wavetile/kernels/norms/problem.hpp>
#include <wavetile/kernels/rows/row_tile.hpp>
#include <wavetile/kernels/rows/team.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// Bits of |x|: as integers they order magnitudes, a NaN above all.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE int magnitude_bits(float x) {
  return static_cast<int>(float_bits(x) & 0x7FFFFFFFu);
}

/// What a row's elements are normalised with.
struct norm_statistics {
  float mean = 0;
  float factor = 1;

  /// From the sum of squares.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void finish(float squares, float per_column,
                                                    float epsilon) {
    factor = rsqrt(fma(squares, per_column, epsilon));
  }
  /// `weight` and `bias` are 1 and 0 where there are none.
  template <norm_kind Kind>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float operator()(float h, float weight, float bias) const {
    const float centred = Kind == norm_kind::layer ? h - mean : h;
    return fma(centred * factor, weight, bias);
  }
};

/// From a value to a result of the output type.
template <norm_scaling Scaling, class Output>
struct norm_quantiser {
  float factor = 1;

  /// The scale of a row whose largest |v| has these bits. Below 2^-100 its reciprocal would leave
  /// fp32, so smaller rows are scaled as if that were in them.
  static WAVETILE_DEVICE WAVETILE_FORCE_INLINE float scale_of(int largest_bits, float& factor) {
    constexpr float limit = static_cast<float>(numeric_traits<Output>::highest());
    constexpr int least = 0x0D800000; // 2^-100
    const float largest =
        float_from_bits(static_cast<uint32_t>(largest_bits < least ? least : largest_bits));
    factor = limit / largest;
    return largest / limit;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float operator()(float value) const {
    return Scaling == norm_scaling::none ? value : value * factor;
  }
};

/// A lane's share of weight or bias: kept in registers, or read again for every row. `T` is what
/// pointers point to; without `Present` every element is `Neutral`.
template <class T, int Chunk, int Slots, bool Present, bool Kept, int Neutral>
class norm_parameters {
public:
  template <class Share>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE norm_parameters(const T* from, const Share& share)
      : from_(from) {
    if constexpr (Present && Kept)
      tile_.load(from, share, share.all);
  }
  /// For chunks the lane owns.
  template <class Share>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<float, Chunk> chunk(const Share& share, int slot) {
    vec<float, Chunk> values;
    vec<T, Chunk> raw{};
    if constexpr (Present && Kept)
      raw = tile_.chunk(slot);
    else if constexpr (Present)
      __builtin_memcpy(&raw, share.at(from_, slot), sizeof raw);
#pragma unroll
    for (int e = 0; e < Chunk; ++e)
      values[e] = Present ? convert<float>(raw[e]) : static_cast<float>(Neutral);
    return values;
  }
  /// For lanes that have a column of the tail.
  template <class Share>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float tail(const Share& share) const {
    if constexpr (Present && Kept)
      return convert<float>(tile_.tail());
    else if constexpr (Present)
      return convert<float>(from_[share.tail_column()]);
    else
      return static_cast<float>(Neutral);
  }

private:
  static constexpr int held = Present && Kept ? Slots : 1;
  using element = wavetile::detail::conditional_t<Present && Kept, T, uint32_t>;
  const T* from_;
  row_tile<element, Chunk, held> tile_;
};

} // namespace wavetile::kernels

#endif
