/// \file
/// fp64 arithmetic that knows how far bf16 kernels may be from it.
///
/// Each number carries the variance of the error that a computation has which rounds to bf16 where
/// `round_to_bf16` stands. A rounding is off by up to half a unit in the last place, evenly, and
/// independently of others; through each operation errors pass as its derivative says. fp32
/// arithmetic in between is off by some 2^-20 of its terms, far less than the 2^-8 of a bf16.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace example {

struct estimate {
  double value = 0, variance = 0;
};

/// Rows of estimates.
struct estimates {
  std::size_t columns = 0;
  std::vector<estimate> data = {};

  estimates(std::size_t row_count, std::size_t column_count)
      : columns(column_count), data(row_count * column_count) {}
  std::size_t rows() const { return data.size() / columns; }
  estimate& operator()(std::size_t row, std::size_t column) { return data[row * columns + column]; }
  const estimate& operator()(std::size_t row, std::size_t column) const {
    return data[row * columns + column];
  }
};

/// Deviations that an error may have: of normally distributed errors one in 10^15 is beyond.
inline constexpr double allowed_deviations = 8;

inline constexpr double bf16_bits = 8; ///< of a significand

inline estimate round_to_bf16(estimate x) {
  if (x.value != 0) {
    const double half_unit = std::ldexp(1.0, std::ilogb(x.value) - static_cast<int>(bf16_bits));
    x.variance += half_unit * half_unit / 3; // even between -half_unit and half_unit
  }
  return x;
}

/// A weight or an input: exact.
using numbers = std::vector<double>;

/// y = x wᵀ, for w of `count` rows, not rounded.
inline estimates product(const estimates& x, const numbers& w, std::size_t count) {
  estimates y(x.rows(), count);
  for (std::size_t i = 0; i < x.rows(); ++i)
    for (std::size_t j = 0; j < count; ++j)
      for (std::size_t k = 0; k < x.columns; ++k) {
        const double weight = w[j * x.columns + k];
        y(i, j).value += x(i, k).value * weight;
        y(i, j).variance += x(i, k).variance * weight * weight;
      }
  return y;
}

inline estimates rounded(estimates x) {
  for (estimate& each : x.data)
    each = round_to_bf16(each);
  return x;
}

/// x + y, whose errors are independent.
inline estimates sum(estimates x, const estimates& y) {
  for (std::size_t i = 0; i < x.data.size(); ++i) {
    x.data[i].value += y.data[i].value;
    x.data[i].variance += y.data[i].variance;
  }
  return x;
}

/// x / sqrt(mean of x² + added) w
inline estimates rms_norm(const estimates& x, const numbers& w, double added) {
  estimates y(x.rows(), x.columns);
  const auto n = static_cast<double>(x.columns);
  for (std::size_t i = 0; i < x.rows(); ++i) {
    double squares = 0, of_sum = 0;
    for (std::size_t j = 0; j < x.columns; ++j) {
      squares += x(i, j).value * x(i, j).value;
      of_sum += x(i, j).value * x(i, j).value * x(i, j).variance;
    }
    const double factor = 1 / std::sqrt(squares / n + added);
    // d factor = -factor³ sum of x dx / n
    const double of_factor = std::pow(factor, 6) * of_sum / (n * n);
    for (std::size_t j = 0; j < x.columns; ++j) {
      const estimate& from = x(i, j);
      y(i, j).value = from.value * factor * w[j];
      y(i, j).variance =
          w[j] * w[j] * (factor * factor * from.variance + from.value * from.value * of_factor);
    }
  }
  return y;
}

/// silu(x[2j]) x[2j + 1]
inline estimates swiglu(const estimates& x) {
  estimates y(x.rows(), x.columns / 2);
  for (std::size_t i = 0; i < x.rows(); ++i)
    for (std::size_t j = 0; j < y.columns; ++j) {
      const estimate &gate = x(i, 2 * j), &up = x(i, 2 * j + 1);
      const double sigmoid = 1 / (1 + std::exp(-gate.value));
      const double silu = gate.value * sigmoid;
      const double slope = sigmoid * (1 + gate.value * (1 - sigmoid)) * up.value;
      y(i, j) = {silu * up.value, slope * slope * gate.variance + silu * silu * up.variance};
    }
  return y;
}

/// Elements d and d + n/2 of columns `first` … of a row, turned by the angle of d.
inline void turn(estimates& x, std::size_t row, std::size_t first, std::size_t n,
                 const double* cosine, const double* sine) {
  for (std::size_t d = 0; d < n / 2; ++d) {
    const double c = cosine[d], s = sine[d];
    const estimate a = x(row, first + d), b = x(row, first + d + n / 2);
    x(row, first + d) =
        round_to_bf16({a.value * c - b.value * s, a.variance * c * c + b.variance * s * s});
    x(row, first + d + n / 2) =
        round_to_bf16({a.value * s + b.value * c, a.variance * s * s + b.variance * c * c});
  }
}

/// One query of a head of causal attention: row `i` of x, columns `q`, over rows 0 … i, columns `k`
/// and `v`, n each, to columns `to` of row `result` of o.
inline void attend(const estimates& x, std::size_t i, std::size_t q, std::size_t k, std::size_t v,
                   std::size_t n, estimates& o, std::size_t result, std::size_t to) {
  const double scale = 1 / std::sqrt(static_cast<double>(n));
  numbers p(i + 1), of_key(i + 1); // probabilities, variance of scores that keys contribute
  double top = -INFINITY, total = 0;
  for (std::size_t j = 0; j <= i; ++j) {
    for (std::size_t d = 0; d < n; ++d) {
      p[j] += scale * x(i, q + d).value * x(j, k + d).value;
      of_key[j] += scale * scale * x(i, q + d).value * x(i, q + d).value * x(j, k + d).variance;
    }
    top = std::max(top, p[j]);
  }
  for (double& each : p)
    total += each = std::exp(each - top);
  for (double& each : p)
    each /= total;
  for (std::size_t e = 0; e < n; ++e) {
    estimate out;
    for (std::size_t j = 0; j <= i; ++j)
      out.value += p[j] * x(j, v + e).value;
    for (std::size_t j = 0; j <= i; ++j) {
      const double value = x(j, v + e).value, slope = p[j] * (value - out.value);
      const double rounding = std::ldexp(p[j] * value, -static_cast<int>(bf16_bits));
      out.variance += p[j] * p[j] * x(j, v + e).variance + slope * slope * of_key[j] +
                      rounding * rounding / 3; // of the probability, for the product with v
    }
    // an error of an element of q is in all scores of the row
    for (std::size_t d = 0; d < n; ++d) {
      double slope = 0;
      for (std::size_t j = 0; j <= i; ++j)
        slope += p[j] * (x(j, v + e).value - out.value) * scale * x(j, k + d).value;
      out.variance += slope * slope * x(i, q + d).variance;
    }
    o(result, to + e) = round_to_bf16(out);
  }
}

} // namespace example
