/// \file
/// Which keys a query sees.
#pragma once

#include <wavetile/integers.hpp>

namespace wavetile::kernels {

/// A range of keys: begin … end - 1; empty when they are equal.
struct key_range {
  int begin;
  int end;
};

/// The keys that the causal mask and the window leave to each query. A kernel argument.
///
/// Query q stands at key q + shift, where shift is 0 for `causal_anchor::top_left` and the number
/// of keys less that of queries for `bottom_right`; it sees the keys from `left` before that to
/// `right` after it.
struct visibility {
  /// Beyond every sequence: no limit. Sequences are shorter than 2^30.
  static constexpr int unlimited = 1 << 30;

  int left = unlimited;
  int right = unlimited;
  bool bottom_right = true;

  WAVETILE_HD constexpr int shift(int queries, int keys) const {
    return bottom_right ? keys - queries : 0;
  }

  /// Both ends rise with the query.
  WAVETILE_HD constexpr key_range of(int query, int queries, int keys) const {
    const int place = query + shift(queries, keys);
    const int64_t first = left >= unlimited ? 0 : int64_t{place} - left;
    const int64_t last = right >= unlimited ? keys : int64_t{place} + right + 1;
    key_range range{};
    range.end = last < 0 ? 0 : last > keys ? keys : static_cast<int>(last);
    range.begin = first < 0 ? 0 : first > range.end ? range.end : static_cast<int>(first);
    return range;
  }
};

} // namespace wavetile::kernels
