// Attention: whole sequences (prefill) and one query over a cache (decode), bf16.
#include "common/data.hpp"
#include "common/device_run.hpp"

#include <wavetile/attention.hpp>
#include <wavetile/attention_decode.hpp>

#include <cmath>

namespace {

using namespace wavetile;

struct shape {
  std::int64_t batch, q_heads, kv_heads, queries, keys, elements;
  bool causal = false;

  std::string text() const {
    return std::to_string(batch) + "x" + std::to_string(q_heads) + "/" + std::to_string(kv_heads) +
           "x" + std::to_string(queries) + "x" + std::to_string(keys) + "x" +
           std::to_string(elements);
  }
  std::int64_t q_count() const { return batch * q_heads * queries * elements; }
  std::int64_t kv_count() const { return batch * kv_heads * keys * elements; }
  /// Keys that query i sees, anchored bottom-right.
  std::int64_t visible(std::int64_t i) const {
    return causal ? std::max<std::int64_t>(0, i + 1 + keys - queries) : keys;
  }
  /// Two products over all visible pairs of query and key.
  double flops() const {
    double pairs = 0;
    for (std::int64_t i = 0; i < queries; ++i)
      pairs += static_cast<double>(visible(i));
    return 4 * pairs * static_cast<double>(batch * q_heads * elements);
  }
};

/// Some queries of the first and last head against fp64; arrays are batch, head, row, element.
/// Bound: probabilities and the result are rounded to bf16; an fp32 score has an error of a few
/// 2^-24 for each product.
void verify(const std::vector<bf16>& q, const std::vector<bf16>& k, const std::vector<bf16>& v,
            const std::vector<bf16>& o, const shape& s) {
  const auto wide = [](bf16 x) { return static_cast<double>(static_cast<float>(x)); };
  const auto d = static_cast<std::size_t>(s.elements);
  for (const std::int64_t head : {std::int64_t{0}, s.batch * s.q_heads - 1}) {
    const std::int64_t kv_head =
        head / s.q_heads * s.kv_heads + head % s.q_heads / (s.q_heads / s.kv_heads);
    const bf16* keys = k.data() + kv_head * s.keys * s.elements;
    const bf16* values = v.data() + kv_head * s.keys * s.elements;
    for (const std::int64_t query : {std::int64_t{0}, s.queries / 3, s.queries - 1}) {
      const std::size_t row = static_cast<std::size_t>(head * s.queries + query) * d;
      std::vector<double> p(static_cast<std::size_t>(s.visible(query)));
      double top = -INFINITY, terms = 0, sum = 0;
      for (std::size_t j = 0; j < p.size(); ++j) {
        double dot = 0, absolute = 0;
        for (std::size_t e = 0; e < d; ++e) {
          dot += wide(q[row + e]) * wide(keys[j * d + e]);
          absolute += std::fabs(wide(q[row + e]) * wide(keys[j * d + e]));
        }
        p[j] = dot / std::sqrt(static_cast<double>(d));
        top = std::max(top, p[j]);
        terms = std::max(terms, absolute / std::sqrt(static_cast<double>(d)));
      }
      std::vector<double> expected(d), magnitude(d);
      for (std::size_t j = 0; j < p.size(); ++j) {
        const double weight = std::exp(p[j] - top);
        sum += weight;
        for (std::size_t e = 0; e < d; ++e) {
          expected[e] += weight * wide(values[j * d + e]);
          magnitude[e] += weight * std::fabs(wide(values[j * d + e]));
        }
      }
      for (std::size_t e = 0; e < d; ++e) {
        const double want = expected[e] / sum, got = wide(o[row + e]);
        const double bound = 0x1p-8 * (magnitude[e] / sum + std::fabs(want)) +
                             (0x1p-20 * terms + 0x1p-14) * magnitude[e] / sum;
        if (!(std::fabs(got - want) <= bound))
          throw std::runtime_error("wrong result in head " + std::to_string(head) + ", query " +
                                   std::to_string(query) + ", element " + std::to_string(e) + ": " +
                                   std::to_string(got) + ", expected " + std::to_string(want));
      }
    }
  }
}

void run(benchmark::State& state, const shape& s, bool decode) {
  bench::rotating_array<bf16> q(s.q_count()), k(s.kv_count()), v(s.kv_count()), o(s.q_count());
  const auto values_q = bench::normals<bf16>(s.q_count(), 51);
  const auto values_k = bench::normals<bf16>(s.kv_count(), 52);
  const auto values_v = bench::normals<bf16>(s.kv_count(), 53);
  q.fill(values_q);
  k.fill(values_k);
  v.fill(values_v);
  o.poison();
  const auto queries = [&](auto* data) {
    return make_view(data, s.batch, s.q_heads, s.queries, s.elements);
  };
  const auto cache = [&](bf16* data) {
    return make_view(static_cast<const bf16*>(data), s.batch, s.kv_heads, s.keys, s.elements);
  };
  attention_decode_options over_cache{.causal = s.causal, .axes = attention_axes::bhsd};
  std::int64_t workspace_bytes = 0;
  if (decode) {
    device_info device;
    bench::check(stream_device(nullptr, device));
    const auto problem =
        attention_decode_problem_of(queries(static_cast<const bf16*>(q.at(0))), cache(k.at(0)),
                                    cache(v.at(0)), queries(o.at(0)), over_cache);
    workspace_bytes = plan_decode(problem, device, 0).best_workspace_bytes;
  }
  const bench::rotating_array<unsigned char> workspace(workspace_bytes);
  if (workspace_bytes > 0)
    over_cache.memory = {workspace.at(0), workspace_bytes};
  const auto launch = [&](std::int64_t turn) {
    const auto in = queries(static_cast<const bf16*>(q.at(turn)));
    const auto keys = cache(k.at(turn)), values = cache(v.at(turn));
    const auto out = queries(o.at(turn));
    bench::check(decode ? attention_decode(in, keys, values, out, over_cache)
                        : attention(in, keys, values, out,
                                    {.causal = s.causal, .axes = attention_axes::bhsd}));
  };
  launch(0);
  verify(values_q, values_k, values_v, o.download(), s);
  bench::measure(state,
                 {.bytes_read = 2 * (s.q_count() + 2 * s.kv_count()),
                  .bytes_written = 2 * s.q_count(),
                  .flops = s.flops(),
                  .flops_per_clock = bench::matrix_16_bit},
                 launch);
}

void register_all() {
  const bool simulated = bench::current().simulated;
  std::vector<shape> prefill_on_gpu; // 16,384 tokens and 2048 elements of all heads
  for (const std::int64_t d : {128, 64})
    for (const std::int64_t length : {1024, 2048, 4096, 8192, 16384})
      for (const bool causal : {false, true})
        prefill_on_gpu.push_back({16384 / length, 2048 / d, 2048 / d, length, length, d, causal});
  prefill_on_gpu.push_back({1, 32, 8, 8192, 8192, 128, true});
  const std::vector<shape> prefill_on_wavesim = {{1, 2, 2, 512, 512, 128},
                                                 {1, 2, 1, 512, 512, 128, true},
                                                 {1, 2, 2, 512, 512, 64},
                                                 {1, 2, 2, 300, 500, 64, true}};
  for (const shape& s : simulated ? prefill_on_wavesim : prefill_on_gpu)
    bench::add(std::string("attention/") + (s.causal ? "causal" : "full") + "/" + s.text(),
               [=](benchmark::State& state) { run(state, s, false); });
  const std::vector<shape> decode_on_gpu = {{64, 32, 8, 1, 4096, 128},
                                            {1, 32, 8, 1, 32768, 128},
                                            {128, 64, 8, 1, 2048, 128},
                                            {64, 32, 32, 1, 2048, 64}};
  const std::vector<shape> decode_on_wavesim = {{1, 8, 2, 1, 1024, 128}, {2, 4, 4, 1, 1000, 64}};
  for (const shape& s : simulated ? decode_on_wavesim : decode_on_gpu)
    bench::add("decode/" + s.text(), [=](benchmark::State& state) { run(state, s, true); });
}

} // namespace

int main(int argc, char** argv) {
  return bench::run_main(argc, argv, register_all);
}
