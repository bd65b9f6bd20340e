/// \file
/// Weight or bias of the columns that a lane comes to next.
#pragma once

#include <wavetile/core/convert.hpp>
#include <wavetile/kernels/rows/pairs.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// The chunks of weight or bias that a lane needs next; `Neutral` where there are none. `Ahead`:
/// kept from one step to the next, else loaded where they are used. `Wide`: from a multiple of 16
/// bytes on.
template <class T, int Chunk, int AtOnce, bool Present, int Neutral, bool Wide, bool Ahead>
class next_parameters {
public:
  next_parameters() = default;
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE explicit next_parameters(const T* from) : from_(from) {}

  template <class Part>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(const Part& part, int step) {
    if constexpr (!Ahead) {
    } else if constexpr (Present && Wide) {
      const bool whole = part.whole(step);
#pragma unroll
      for (int i = 0; i < AtOnce; ++i)
        if (whole || part.owns(step, i)) {
          const auto* words = reinterpret_cast<const word*>(from_ + part.column(step, i));
#pragma unroll
          for (int k = 0; k < words_of_chunk; ++k)
            words_[i][k] = words[k];
        }
    } else if constexpr (Present) {
#pragma unroll
      for (int i = 0; i < AtOnce; ++i)
        if (part.owns(step, i)) {
          const vec<T, Chunk> raw = by_elements(from_ + part.column(step, i));
          __builtin_memcpy(words_[i], &raw, sizeof raw);
        }
    }
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<float, Chunk> chunk(int i) const {
    if constexpr (Present && Ahead) {
      return converted(words_[i]);
    } else {
      return spread<Chunk>(static_cast<float>(Neutral));
    }
  }
  /// A chunk that the lane owns, from memory.
  template <class Part>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<float, Chunk> chunk_of(const Part& part, int step,
                                                                   int i) const {
    if constexpr (Present) {
      const T* const from = from_ + part.column(step, i);
      word words[words_of_chunk];
      if constexpr (Wide) {
#pragma unroll
        for (int k = 0; k < words_of_chunk; ++k)
          words[k] = reinterpret_cast<const word*>(from)[k];
      } else {
        const vec<T, Chunk> raw = by_elements(from);
        __builtin_memcpy(words, &raw, sizeof raw);
      }
      return converted(words);
    } else {
      return spread<Chunk>(static_cast<float>(Neutral));
    }
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float at(int64_t column) const {
    if constexpr (Present)
      return convert<float>(from_[column]);
    else
      return static_cast<float>(Neutral);
  }

private:
  static constexpr int chunk_bytes = Chunk * static_cast<int>(sizeof(T));
  using word = wavetile::detail::conditional_t<chunk_bytes % 16 == 0, uint4, uint2>;
  static constexpr int words_of_chunk = Present ? chunk_bytes / static_cast<int>(sizeof(word)) : 1;
  static_assert(!Present || chunk_bytes % static_cast<int>(sizeof(word)) == 0);

  static WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, Chunk> by_elements(const T* from) {
    vec<T, Chunk> raw;
#pragma unroll
    for (int e = 0; e < Chunk; ++e)
      raw[e] = from[e];
    return raw;
  }
  static WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<float, Chunk>
  converted(const word (&words)[words_of_chunk]) {
    vec<T, Chunk> raw;
    __builtin_memcpy(&raw, words, sizeof raw);
    vec<float, Chunk> values;
#pragma unroll
    for (int e = 0; e < Chunk; ++e)
      values[e] = convert<float>(raw[e]);
    return values;
  }

  const T* from_;
  word words_[Present && Ahead ? AtOnce : 1][words_of_chunk];
};

} // namespace wavetile::kernels

#endif
