/// \file
/// How many scores attention computes, counted without a loop over the queries.
#pragma once

#include <wavetile/core/math.hpp>
#include <wavetile/kernels/attention/visibility.hpp>

namespace wavetile::kernels {

inline constexpr int64_t largest_count = 0x7FFFFFFFFFFFFFFF;

/// a b and a + b of numbers that are not negative, or `largest_count` when that is less.
constexpr int64_t saturated_product(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? largest_count : result;
}
constexpr int64_t saturated_sum(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? largest_count : result;
}

/// Sum over i = 0 … count - 1 of min(max(start + i, 0), limit).
constexpr int64_t sum_of_clamped(int64_t start, int64_t count, int64_t limit) {
  // terms that are 0, then those that are start + i, then those that are limit
  const int64_t zeros = start >= 0 ? 0 : -start < count ? -start : count;
  const int64_t until = limit - start; // first that is limit
  const int64_t end = until < zeros ? zeros : until < count ? until : count;
  const int64_t rising = end - zeros;
  return rising * (start + zeros) + rising * (rising - 1) / 2 + (count - end) * limit;
}

/// Sum over i = 0 … count - 1 of floor((start + step i) / divisor), for start >= 0, where step
/// divides divisor.
constexpr int64_t sum_of_quotients(int64_t start, int64_t step, int64_t count, int64_t divisor) {
  const int64_t period = divisor / step; // after which the quotient is one more
  int64_t sum = 0;
  for (int64_t i = 0; i < period && i < count; ++i) {
    const int64_t terms = (count - 1 - i) / period + 1;
    sum += terms * ((start + step * i) / divisor) + terms * (terms - 1) / 2;
  }
  return sum;
}

/// Sum over i = 0 … count - 1 of floor(min(max(start + step i, 0), limit) / divisor), or rounded up
/// with `up`, where step divides divisor.
constexpr int64_t sum_of_clamped_quotients(int64_t start, int64_t step, int64_t count,
                                           int64_t limit, int64_t divisor, bool up) {
  const int64_t more = up ? divisor - 1 : 0;
  const int64_t below = start >= 0 ? 0 : divide_up(-start, step);
  const int64_t zeros = below < count ? below : count;
  const int64_t until = start >= limit ? 0 : divide_up(limit - start, step);
  const int64_t end = until < zeros ? zeros : until < count ? until : count;
  const int64_t inner =
      end == zeros ? 0 : sum_of_quotients(start + step * zeros + more, step, end - zeros, divisor);
  return inner + (count - end) * ((limit + more) / divisor);
}

/// Pairs of query and key that are seen.
constexpr int64_t visible_keys(const visibility& visible, int queries, int keys) {
  const int64_t shift = visible.shift(queries, keys);
  const int64_t ends = visible.right >= visibility::unlimited
                           ? int64_t{queries} * keys
                           : sum_of_clamped(shift + visible.right + 1, queries, keys);
  const int64_t begins = visible.left >= visibility::unlimited
                             ? 0
                             : sum_of_clamped(shift - visible.left, queries, keys);
  return ends - begins;
}

/// Steps of `step_keys` keys that a wave with queries `first` … `last` makes.
constexpr int64_t steps_of_wave(const visibility& visible, int first, int last, int queries,
                                int keys, int step_keys) {
  const int begin = visible.of(first, queries, keys).begin;
  const int end = visible.of(last, queries, keys).end;
  return end > begin ? (end + int64_t{step_keys} - 1) / step_keys - begin / step_keys : 0;
}

/// Steps of all waves over the rows of `packed` heads, `wave_rows` rows each.
constexpr int64_t wave_steps(const visibility& visible, int queries, int keys, int64_t packed,
                             int wave_rows, int step_keys) {
  if (queries == 0 || packed == 0)
    return 0;
  int64_t steps = 0;
  if (packed != 1) {
    // few queries: waves within the rows of one are alike
    const int64_t rows = queries * packed;
    for (int64_t row = 0; row < rows;) {
      const auto first = static_cast<int>(row / packed);
      const int64_t alike = ((first + int64_t{1}) * packed - row) / wave_rows;
      const int64_t last = row + wave_rows < rows ? row + wave_rows - 1 : rows - 1;
      const int64_t waves = alike < 1 ? 1 : alike;
      steps +=
          waves * steps_of_wave(visible, first, alike < 1 ? static_cast<int>(last / packed) : first,
                                queries, keys, step_keys);
      row += waves * wave_rows;
    }
    return steps;
  }
  int64_t waves = queries / wave_rows;
  if (queries % wave_rows != 0)
    steps += steps_of_wave(visible, static_cast<int>(waves * wave_rows), queries - 1, queries, keys,
                           step_keys);
  const int64_t shift = visible.shift(queries, keys);
  const bool all_left = visible.left >= visibility::unlimited;
  const int64_t first = shift - visible.left, last = shift + wave_rows + visible.right;
  // waves that begin behind the last key make no step
  if (!all_left) {
    const int64_t seeing = keys <= first ? 0 : divide_up(keys - first, int64_t{wave_rows});
    waves = seeing < waves ? seeing : waves;
  }
  const int64_t ends =
      visible.right >= visibility::unlimited
          ? waves * ((keys + int64_t{step_keys} - 1) / step_keys)
          : sum_of_clamped_quotients(last, wave_rows, waves, keys, step_keys, true);
  const int64_t begins =
      all_left ? 0 : sum_of_clamped_quotients(first, wave_rows, waves, keys, step_keys, false);
  return steps + ends - begins;
}

} // namespace wavetile::kernels
