/// \file
/// Softmax and its relatives in fp64, written from their definition, and the error that the kernels
/// may make.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace wavetile::test {

/// One row of a problem. `hidden` is empty or has an entry for each element; `bias` likewise.
struct softmax_row {
  std::vector<double> x;
  std::vector<char> hidden;
  std::vector<double> bias;
  double scale = 1;
  bool has_mask = false; ///< whether "hidden altogether" means zeros rather than NaN

  double logit(std::size_t i) const { return scale * x[i] + (bias.empty() ? 0 : bias[i]); }
  bool is_hidden(std::size_t i) const {
    return (!hidden.empty() && hidden[i] != 0) ||
           (!bias.empty() && std::isinf(bias[i]) && bias[i] < 0);
  }
};

/// exp(l) / sum exp(l), or its logarithm.
inline std::vector<double> softmax_reference(const softmax_row& row, bool logarithm) {
  const std::size_t n = row.x.size();
  const double infinite = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  double largest = -infinite;
  bool any_shown = false, any_nan = false;
  for (std::size_t i = 0; i < n; ++i) {
    if (row.is_hidden(i))
      continue;
    any_shown = true;
    const double l = row.logit(i);
    any_nan = any_nan || std::isnan(l) || l == infinite;
    largest = std::fmax(largest, l);
  }
  if (!any_shown && row.has_mask)
    return std::vector<double>(n, logarithm ? -infinite : 0.0);
  if (any_nan || largest == -infinite)
    return std::vector<double>(n, nan);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (!row.is_hidden(i))
      sum += std::exp(row.logit(i) - largest);
  std::vector<double> result(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double difference = row.is_hidden(i) ? -infinite : row.logit(i) - largest;
    result[i] = logarithm ? difference - std::log(sum) : std::exp(difference) / sum;
  }
  return result;
}

/// Half a unit in the last place of a result type, relative, and half its smallest number.
struct rounding {
  double relative;
  double absolute;
};
template <class T>
rounding rounding_of();

/// What softmax may differ from the reference, at an element with value y.
///
/// With u = 2^-24: l - m and its product with the rounded scale log2(e) make an exponent t with a
/// relative error of 4u (2u for the constant, u for each operation; one more for the fma of an
/// additive mask, whose own error is u |l|, at most u times the largest logit L, added to both
/// terms of the difference). v_exp_f32 adds 2u. So exp has a relative error of 4u ln2 |t| + 2u + 4u
/// L. The sum has the mean of its terms' errors, where the weighted mean of |t| ln2 = m - l is at
/// most ln n, and u for each addition a term goes through: at most 16 in a lane's chain, 3 over the
/// chunk, 6 in a wave and 4 over waves in registers, else the number of chunks a lane reads
/// (`chain`). The reciprocal and the last product add 3u. A term's |t| ln2 is ln(1 / y) at most.
inline double softmax_bound(double y, std::size_t n, double largest_bias, double chain,
                            rounding out) {
  const double u = std::ldexp(1.0, -24);
  if (y == 0)
    return std::ldexp(1.0, -126) + out.absolute; // v_exp_f32 makes no denormals
  const double logs = std::log(1 / y) + std::log(static_cast<double>(n));
  const double relative = u * (4 * logs + 8 * largest_bias + 2 + 2 + 13 + chain + 3);
  return y * (relative + out.relative) + std::ldexp(1.0, -126) + out.absolute;
}

/// The same for log_softmax: l - m has a relative error of 2u (the scale's product rounds once
/// more), the logarithm of the sum the sum's relative error as an absolute one and 3u of its own
/// size.
inline double log_softmax_bound(double y, std::size_t n, double largest_bias, double chain,
                                rounding out) {
  const double u = std::ldexp(1.0, -24);
  const double log_n = std::log(static_cast<double>(n));
  const double absolute = u * (4 * log_n + 8 * largest_bias + 2 + 13 + chain + 3 * log_n + 1);
  return std::fabs(y) * (3 * u + out.relative) + absolute + out.absolute;
}

} // namespace wavetile::test
