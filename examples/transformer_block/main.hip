/// \file
/// A transformer block in bf16: RMSNorm, QKV product, rotary embedding, attention, projection and
/// residual, RMSNorm, SwiGLU MLP and residual. Two sequences of different lengths are prefilled and
/// then continued token by token over a cache with pages; every result is checked against fp64, and
/// the continued ones against a prefill of the longer sequences.
///
/// Exit code: 0, 1 when a result is wrong or there is no device, 2 for an argument.
#include "common/estimate.hpp"
#include "common/no_arguments.hpp"
#include "transformer_block/block.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

namespace {

using namespace block;
using example::estimate;
using example::estimates;

constexpr std::int64_t batch = 2, steps = 10;
constexpr std::int64_t prompt[batch] = {37, 21};
constexpr std::int64_t longest = 37, whole = longest + steps;

/// The cache: pages of both sequences, in no order.
struct cache {
  example::device_array<bf16> k{page_elements()}, v{page_elements()};
  array<std::int32_t> list{{5, 2, 7, 0, 3, 6, 1, 4}};

  static constexpr std::size_t page_elements() {
    return static_cast<std::size_t>(batch * positions * kv_heads * elements);
  }
  view<bf16, 4> pages(const example::device_array<bf16>& of) const {
    return make_view(of.data(), batch * sequence_pages, page_rows, kv_heads, elements);
  }
  view<const std::int32_t, 2> pages_of_sequences() const {
    return make_view(list.data(), batch, sequence_pages);
  }
};

/// Prefill of batch x n tokens: attention over the rows themselves, keys and values into the cache
/// besides. `lengths`: tokens of each sequence that count, on the device.
void prefill(const weights& w, const bf16* x, bf16* y, std::int64_t n, const std::int32_t* lengths,
             const cache& to, hipStream_t stream) {
  const buffers b(batch * n);
  const auto count = static_cast<std::size_t>(batch * n * kv_heads * elements);
  const example::device_array<bf16> keys(count), values(count);
  const auto rows = [&](auto* data) { return make_view(data, batch, n, kv_heads, elements); };
  // rows behind the end of a sequence are not written by attention
  example::check(hipMemsetAsync(b.attended.data(), 0, b.attended.size() * sizeof(bf16), stream),
                 "hipMemsetAsync");
  const auto attend = [&](const qkv_views& in, view<bf16, 4> q, view<bf16, 4> o) {
    example::check(wavetile::append_to_cache(in.q, in.k, in.v, q, rows(keys.data()),
                                             rows(values.data()), {.rotary = w.rotary()}, stream));
    const auto k = rows(static_cast<const bf16*>(keys.data()));
    const auto v = rows(static_cast<const bf16*>(values.data()));
    example::check(wavetile::append_to_cache(k, v, to.pages(to.k), to.pages(to.v),
                                             {.pages = to.pages_of_sequences()}, stream));
    example::check(wavetile::attention(view<const bf16, 4>(q), k, v, o,
                                       {.causal = true,
                                        .anchor = wavetile::causal_anchor::top_left,
                                        .sequences = {.q_length = lengths, .kv_length = lengths}},
                                       stream));
  };
  run<wavetile::matmul_choice::compact>(w, x, y, batch, n, b, attend, stream);
  example::check(hipStreamSynchronize(stream), "hipStreamSynchronize"); // before buffers go
}

/// The next token of each sequence. `lengths`: of the sequences with it.
void decode(const weights& w, const bf16* x, bf16* y, const std::int32_t* lengths, const cache& of,
            const buffers& b, hipStream_t stream) {
  const auto attend = [&](const qkv_views& in, view<bf16, 4> q, view<bf16, 4> o) {
    example::check(wavetile::append_to_cache(
        in.q, in.k, in.v, q, of.pages(of.k), of.pages(of.v),
        {.kv_length = lengths, .pages = of.pages_of_sequences(), .rotary = w.rotary()}, stream));
    example::check(wavetile::attention_decode(
        view<const bf16, 4>(q), view<const bf16, 4>(of.pages(of.k)),
        view<const bf16, 4>(of.pages(of.v)), o,
        {.kv_length = lengths, .pages = of.pages_of_sequences()}, stream));
  };
  run<wavetile::matmul_choice::skinny>(w, x, y, batch, 1, b, attend, stream);
}

/// One sequence in fp64.
estimates reference(const weights& w, const std::vector<double>& x) {
  using namespace example;
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  estimates in(x.size() / size(width), size(width));
  for (std::size_t i = 0; i < x.size(); ++i)
    in.data[i].value = x[i];
  const std::vector<double> cosine = w.cosine.doubles(), sine = w.sine.doubles();
  const std::size_t n = size(elements);
  const estimates first = rounded(rms_norm(in, w.norm_1.doubles(), double{epsilon}));
  estimates qkv = rounded(product(first, w.qkv.doubles(), size(qkv_width)));
  for (std::size_t head = 0; head < size(q_heads + kv_heads); ++head)
    for (std::size_t p = 0; p < in.rows(); ++p)
      turn(qkv, p, head * n, n, cosine.data() + p * n / 2, sine.data() + p * n / 2);
  estimates attended(in.rows(), size(q_heads) * n);
  for (std::size_t head = 0; head < size(q_heads); ++head) {
    const std::size_t shared = head / size(q_heads / kv_heads);
    for (std::size_t p = 0; p < in.rows(); ++p)
      attend(qkv, p, head * n, (size(q_heads) + shared) * n,
             (size(q_heads + kv_heads) + shared) * n, n, attended, p, head * n);
  }
  const estimates projected = rounded(product(attended, w.out.doubles(), size(width)));
  const estimates middle = rounded(sum(projected, in));
  const estimates second = rounded(rms_norm(middle, w.norm_2.doubles(), double{epsilon}));
  const estimates gated = rounded(swiglu(product(second, w.gate_up.doubles(), size(2 * hidden))));
  return rounded(sum(product(gated, w.down.doubles(), size(width)), middle));
}

/// Compares, and prints a line.
class comparison {
  const char* name_;
  double worst_ = 0, largest_ = 0;
  std::int64_t count_ = 0;

public:
  explicit comparison(const char* name) : name_(name) {}
  /// Of variance `variance`.
  void add(double got, double expected, double variance) {
    const double error = std::abs(got - expected);
    largest_ = std::max(largest_, error);
    worst_ = error <= 1e30 ? std::max(worst_, error / std::sqrt(variance)) : INFINITY;
    ++count_;
  }
  bool report() const {
    const bool good = count_ > 0 && worst_ <= example::allowed_deviations;
    std::printf("%-46s %8lld %11.2e %12.2f  %s\n", name_, static_cast<long long>(count_), largest_,
                worst_, good ? "pass" : "FAIL");
    return good;
  }
};

} // namespace

int main(int argc, char** argv) try {
  if (const auto code = example::exit_of_arguments(
          argc, argv, "transformer_block", "runs a block made of operators and compares with fp64"))
    return *code;
  const weights w;
  const array<bf16> x(normals(batch * whole * width, 0, 1, 7));
  const auto token = [](std::int64_t b, std::int64_t position) {
    return static_cast<std::size_t>((b * whole + position) * width);
  };
  // the prompts, padded with zeros, and the tokens of each step
  std::vector<bf16> prompts(static_cast<std::size_t>(batch * longest * width)), next;
  for (std::int64_t b = 0; b < batch; ++b)
    std::copy_n(x.host.begin() + static_cast<std::ptrdiff_t>(token(b, 0)), prompt[b] * width,
                prompts.begin() + static_cast<std::ptrdiff_t>(b * longest * width));
  std::vector<std::int32_t> lengths;
  for (std::int64_t step = 0; step <= steps; ++step)
    for (std::int64_t b = 0; b < batch; ++b) {
      lengths.push_back(static_cast<std::int32_t>(prompt[b] + step));
      if (step > 0)
        next.insert(next.end(),
                    x.host.begin() + static_cast<std::ptrdiff_t>(token(b, prompt[b] + step - 1)),
                    x.host.begin() + static_cast<std::ptrdiff_t>(token(b, prompt[b] + step)));
    }
  const array<bf16> first(prompts), rest(next);
  const array<std::int32_t> counts(lengths);
  const example::device_array<bf16> y_first(prompts.size()), y_rest(next.size()),
      y_whole(x.host.size());
  hipStream_t stream = nullptr;
  example::check(hipStreamCreate(&stream), "hipStreamCreate");

  const cache pages;
  prefill(w, first.data(), y_first.data(), longest, counts.data(), pages, stream);
  const buffers one(batch);
  for (std::int64_t step = 0; step < steps; ++step)
    decode(w, rest.data() + step * batch * width, y_rest.data() + step * batch * width,
           counts.data() + (step + 1) * batch, pages, one, stream);
  const cache other;
  prefill(w, x.data(), y_whole.data(), whole, nullptr, other, stream);
  example::check(hipStreamSynchronize(stream), "hipStreamSynchronize");
  example::check(hipStreamDestroy(stream), "hipStreamDestroy");

  const auto got_first = y_first.to_host(), got_rest = y_rest.to_host(),
             got_whole = y_whole.to_host();
  comparison prefilled("prefill of 37 and 21 tokens, fp64"),
      decoded("10 decode steps over pages of 16, fp64"),
      longer("prefill of 47 and 47 tokens, fp64"), same("the steps and the longer prefill");
  for (std::int64_t b = 0; b < batch; ++b) {
    std::vector<double> own;
    for (std::size_t i = token(b, 0); i < token(b + 1, 0); ++i)
      own.push_back(as_double(x.host[i]));
    const estimates expected = reference(w, own);
    for (std::int64_t p = 0; p < whole; ++p)
      for (std::int64_t e = 0; e < width; ++e) {
        const estimate& right = expected(static_cast<std::size_t>(p), static_cast<std::size_t>(e));
        const double in_whole = as_double(got_whole[token(b, p) + static_cast<std::size_t>(e)]);
        longer.add(in_whole, right.value, right.variance);
        if (p < prompt[b])
          prefilled.add(
              as_double(got_first[static_cast<std::size_t>((b * longest + p) * width + e)]),
              right.value, right.variance);
        else if (p < prompt[b] + steps) {
          const double in_step = as_double(
              got_rest[static_cast<std::size_t>(((p - prompt[b]) * batch + b) * width + e)]);
          decoded.add(in_step, right.value, right.variance);
          same.add(in_step, in_whole, 2 * right.variance);
        }
      }
  }
  std::printf(
      "A transformer block, bf16: %lld wide, %lld heads of %lld, %lld of keys and values, MLP "
      "of %lld.\nErrors also in standard deviations of what rounding to bf16 explains; %g "
      "are allowed.\n\n%-46s %8s %11s %12s\n",
      static_cast<long long>(width), static_cast<long long>(q_heads),
      static_cast<long long>(elements), static_cast<long long>(kv_heads),
      static_cast<long long>(hidden), example::allowed_deviations, "compared", "elements",
      "max error", "deviations");
  bool good = true;
  for (const comparison* each : {&prefilled, &decoded, &longer, &same})
    good &= each->report();
  return good ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "transformer_block: error: %s\n", error.what());
  return 1;
}
