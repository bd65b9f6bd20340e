/// \file
/// Which key positions a causal mask shows to a query.
#pragma once

#include <wavetile/core/status.hpp>
#include <wavetile/kernels/rows/divider.hpp>

namespace wavetile {

/// Where the diagonal of a causal mask of q_len queries and k_len keys ends.
enum class causal_anchor : uint8_t {
  bottom_right, ///< the last query sees every key: query q sees keys 0 … q + k_len - q_len
  top_left      ///< the first query sees the first key: query q sees keys 0 … q
};

namespace kernels {

/// The number of keys a query sees, from the number of its row. A kernel argument.
struct causal_limit {
  divider queries; ///< q_len: a row's query is its number modulo this
  int64_t shift =
      0; ///< query q sees the first q + shift keys, never less than none nor more than all

  WAVETILE_HD WAVETILE_FORCE_INLINE constexpr int64_t visible(int64_t row, int64_t keys) const {
    const int64_t count = queries.remainder(row) + shift;
    return count < 0 ? 0 : (count < keys ? count : keys);
  }
};

constexpr status check_anchor(causal_anchor anchor) {
  return wavetile::detail::check_enumerator("anchor", anchor, causal_anchor::top_left,
                                            "bottom_right, top_left");
}

constexpr causal_limit make_causal_limit(int64_t queries, int64_t keys, causal_anchor anchor) {
  return {divider(queries), anchor == causal_anchor::top_left ? 1 : keys - queries + 1};
}

} // namespace kernels

} // namespace wavetile
