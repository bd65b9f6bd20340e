/// \file
/// Attention in fp64, written from its definition, and the error that the kernels may make.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace wavetile::test {

/// One query against the keys of its head. `visible` tells which count; `bias` is empty or has a
/// number for each key.
struct attention_row {
  const double* q = nullptr; ///< qk numbers
  const double* k = nullptr; ///< keys x qk
  const double* v = nullptr; ///< keys x value
  std::size_t keys = 0, qk = 0, value = 0;
  double scale = 1, softcap = 0;
  std::vector<char> visible = {};
  std::vector<double> bias = {};
};

struct attention_result {
  std::vector<double> o;
  double lse = 0;
  // for the bound
  std::vector<double> weighted; ///< sum p |v| / sum p
  std::vector<double> spread; ///< sum |v| over the visible keys / sum p, p relative to the maximum
  double largest_product = 0; ///< over visible keys, of scale sum |q k|
  double largest_logit = 0;   ///< and of |logit|
};

inline attention_result attention_reference(const attention_row& row) {
  const double infinite = std::numeric_limits<double>::infinity();
  attention_result result;
  result.o.assign(row.value, 0.0);
  result.weighted.assign(row.value, 0.0);
  result.spread.assign(row.value, 0.0);
  std::vector<double> logit(row.keys, -infinite);
  double largest = -infinite;
  for (std::size_t j = 0; j < row.keys; ++j) {
    if (!row.visible[j])
      continue;
    double dot = 0, magnitude = 0;
    for (std::size_t d = 0; d < row.qk; ++d) {
      dot += row.q[d] * row.k[j * row.qk + d];
      magnitude += std::fabs(row.q[d] * row.k[j * row.qk + d]);
    }
    double l = dot * row.scale;
    result.largest_product = std::fmax(result.largest_product, magnitude * std::fabs(row.scale));
    if (row.softcap > 0)
      l = row.softcap * std::tanh(l / row.softcap);
    if (!row.bias.empty())
      l += row.bias[j];
    logit[j] = l;
    if (l != -infinite)
      result.largest_logit = std::fmax(result.largest_logit, std::fabs(l));
    largest = std::fmax(largest, l);
  }
  if (largest == -infinite) {
    result.lse = -infinite;
    return result;
  }
  double sum = 0;
  for (std::size_t j = 0; j < row.keys; ++j) {
    if (!row.visible[j])
      continue;
    const double p = std::exp(logit[j] - largest);
    sum += p;
    for (std::size_t d = 0; d < row.value; ++d) {
      const double x = row.v[j * row.value + d];
      if (p != 0) // a hidden key's infinity is no matter
        result.o[d] += p * x;
      result.weighted[d] += p * std::fabs(x);
      result.spread[d] += std::fabs(x);
    }
  }
  for (std::size_t d = 0; d < row.value; ++d) {
    result.o[d] /= sum;
    result.weighted[d] /= sum;
    result.spread[d] /= sum;
  }
  result.lse = largest + std::log(sum);
  return result;
}

/// Half a unit in the last place of a type, relative, and half its smallest number.
struct rounding_unit {
  double relative;
  double absolute;
};

/// Relative error of a probability against the others.
///
/// With u = 2^-24. The dot product: products of 16-bit numbers are exact; the instruction cuts each
/// group of 8 of them 24 bits below the largest term and rounds the sum with what there was, so
/// each group of k adds at most (8 + 1) u of the running magnitude, at most m = sum |q k|: 9 u m qk
/// / 8 in all. The rounded scale, the product with it, log2 e, the subtraction of the reference and
/// the additive mask's fma add 6 u of the logit each side. A cap's tanh x is 1 - 2 r from
/// |x| = 1/8 on, r from two operations of 1 ulp and two roundings: 8 u of the cap, which is at most
/// 8.1 times the logit there; below, a series with less. It passes on errors of its argument at
/// most. exp2 adds 2 u. A probability is compared with one of another key: twice all that.
inline double probability_error(const attention_result& r, std::size_t qk, double softcap) {
  const double u = std::ldexp(1.0, -24);
  const double dot = 9 * u * r.largest_product * static_cast<double>(qk) / 8;
  const double cap = std::fmin(softcap, 8.1 * r.largest_product);
  return 2 * (dot + 8 * u * (r.largest_logit + cap) + 2 * u);
}

/// What element d of a result may differ from the reference.
///
/// Every probability has the error above and is rounded to the input type for the product with v,
/// unit `input`; below that type's normal range the error is absolute (`input.absolute`; the sum of
/// probabilities is at least 1, as the largest one is at least 1). Each of the keys / 8 groups of
/// products adds (8 + 1) u of the running magnitude as above, and the sum of probabilities one u a
/// key at most. A probability may also vanish below 2^-126. Rescaling: one u for each of at most
/// keys / 32 steps. The reciprocal and last product add 3 u, the result's rounding its own.
inline double attention_bound(const attention_result& r, std::size_t d, std::size_t keys,
                              std::size_t qk, double softcap, rounding_unit input,
                              rounding_unit output) {
  const double u = std::ldexp(1.0, -24);
  const double n = static_cast<double>(keys);
  const double relative = probability_error(r, qk, softcap) + input.relative +
                          u * (9 * (n / 8 + 1) + n + 2 * (n / 32 + 1) + 3);
  const double absolute = (input.absolute + std::ldexp(1.0, -126)) * r.spread[d];
  const double before = relative * r.weighted[d] + absolute;
  return before + output.relative * (std::fabs(r.o[d]) + before) + output.absolute;
}

/// The same for the LSE: the logarithm turns the sum's relative error into an absolute one, and
/// makes 4 u of its own size and of the reference's.
inline double lse_bound(const attention_result& r, std::size_t keys, std::size_t qk,
                        double softcap) {
  const double u = std::ldexp(1.0, -24);
  const double n = static_cast<double>(keys);
  return probability_error(r, qk, softcap) + u * (2 * n + 3) +
         4 * u * (2 * r.largest_logit + std::log(n + 1) + 8);
}

} // namespace wavetile::test
