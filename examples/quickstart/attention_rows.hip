#include "quickstart/data.hpp"
#include "quickstart/table.hpp"

#include <wavetile/attention.hpp>

#include <algorithm>

namespace quickstart {
namespace {

using wavetile::make_view;

struct attention_case {
  const char* name = "attention";
  std::int64_t queries = 0, keys = 0, heads = 1, kv_heads = 1, elements = 128;
  bool causal = false;
};

/// Largest |value| of an array.
double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double x : values)
    result = std::max(result, std::abs(x));
  return result;
}

/// fp64, from the definition, of one query; also sum p |v| / sum p, by which errors grow.
void reference_row(const double* q, const std::vector<double>& k, const std::vector<double>& v,
                   std::int64_t visible, std::int64_t elements, std::vector<double>& o,
                   std::vector<double>& magnitude) {
  const auto d = static_cast<std::size_t>(elements);
  std::vector<double> p(static_cast<std::size_t>(visible));
  double top = -INFINITY, sum = 0;
  for (std::size_t j = 0; j < p.size(); ++j) {
    double dot = 0;
    for (std::size_t e = 0; e < d; ++e)
      dot += q[e] * k[j * d + e];
    p[j] = dot / std::sqrt(static_cast<double>(elements));
    top = std::max(top, p[j]);
  }
  std::fill(o.begin(), o.end(), 0.0);
  std::fill(magnitude.begin(), magnitude.end(), 0.0);
  for (std::size_t j = 0; j < p.size(); ++j) {
    const double weight = std::exp(p[j] - top);
    sum += weight;
    for (std::size_t e = 0; e < d; ++e) {
      o[e] += weight * v[j * d + e];
      magnitude[e] += weight * std::abs(v[j * d + e]);
    }
  }
  for (std::size_t e = 0; e < d; ++e) {
    o[e] /= sum;
    magnitude[e] /= sum;
  }
}

template <class T>
void attention_row(table& out, const attention_case& c) {
  const std::int64_t d = c.elements;
  const auto q = random_values<T>(c.queries * c.heads * d, 1);
  const auto k = random_values<T>(c.keys * c.kv_heads * d, 2);
  const auto v = random_values<T>(c.keys * c.kv_heads * d, 3);
  const example::device_array<T> device_q{std::span<const T>(q)}, device_k{std::span<const T>(k)},
      device_v{std::span<const T>(v)}, device_o(q.size());
  const auto input = [&](const example::device_array<T>& array, std::int64_t rows,
                         std::int64_t heads) {
    return make_view(static_cast<const T*>(array.data()), 1, heads, rows, d);
  };
  const auto moved = count([&] {
    return wavetile::attention(
        input(device_q, c.queries, c.heads), input(device_k, c.keys, c.kv_heads),
        input(device_v, c.keys, c.kv_heads), make_view(device_o.data(), 1, c.heads, c.queries, d),
        {.causal = c.causal, .axes = wavetile::attention_axes::bhsd});
  });
  const std::vector<T> o = device_o.to_host();

  const auto doubles = [](const std::vector<T>& values, std::int64_t first, std::int64_t number) {
    std::vector<double> result;
    for (std::int64_t i = first; i < first + number; ++i)
      result.push_back(as_double(values[static_cast<std::size_t>(i)]));
    return result;
  };
  accuracy result;
  std::vector<double> expected(static_cast<std::size_t>(d)), magnitude(expected.size());
  for (std::int64_t h = 0; h < c.heads; ++h) {
    const std::int64_t g = h / (c.heads / c.kv_heads);
    const auto head_k = doubles(k, g * c.keys * d, c.keys * d);
    const auto head_v = doubles(v, g * c.keys * d, c.keys * d);
    const auto head_q = doubles(q, h * c.queries * d, c.queries * d);
    // an fp32 score has an error of a few 2^-24 for each product, the largest of which is
    const double product = largest(head_q) * largest(head_k) * std::sqrt(static_cast<double>(d));
    // every eighth query, as fp64 takes its time
    for (std::int64_t i = 0; i < c.queries; i += 8) {
      const std::int64_t visible =
          c.causal ? std::max<std::int64_t>(0, i + 1 + c.keys - c.queries) : c.keys;
      reference_row(head_q.data() + i * d, head_k, head_v, visible, d, expected, magnitude);
      for (std::size_t e = 0; e < expected.size(); ++e)
        // probabilities are rounded to T for the product with v, the result once more
        result.add(as_double(o[static_cast<std::size_t>((h * c.queries + i) * d) + e]), expected[e],
                   rounding<T> * (magnitude[e] + std::abs(expected[e])) +
                       (0x1p-20 * product + 0x1p-14) * magnitude[e] + 0x1p-24);
    }
  }
  out.row(c.name,
          std::to_string(c.heads) + " x " + std::to_string(c.queries) + " x " + std::to_string(d),
          dtype_name<T>, result, moved,
          (2 * static_cast<std::uint64_t>(q.size()) + k.size() + v.size()) * sizeof(T));
}

} // namespace

void attention_rows(table& out) {
  attention_row<wavetile::bf16>(
      out, {.queries = 256, .keys = 256, .heads = 4, .kv_heads = 2, .elements = 128});
  attention_row<wavetile::fp16>(out, {.name = "attention, causal",
                                      .queries = 384,
                                      .keys = 384,
                                      .heads = 4,
                                      .kv_heads = 1,
                                      .elements = 64,
                                      .causal = true});
}

} // namespace quickstart
