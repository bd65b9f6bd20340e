/// \file
/// Steps of a decoder over a cache with pages, two calls each: `append_to_cache` turns the new
/// queries and keys by their positions and puts keys and values into the cache, `attention_decode`
/// lets the queries see it. All lengths stay on the device, and nothing waits in between. The last
/// step is checked against fp64.
///
/// Exit code: 0, 1 when a result is wrong or there is no device, 2 for an argument.
#include "common/device_array.hpp"
#include "common/estimate.hpp"
#include "common/no_arguments.hpp"

#include <wavetile/attention_append.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <vector>

namespace {

using wavetile::bf16;
using wavetile::make_view;
using wavetile::view;

constexpr std::int64_t batch = 3, q_heads = 8, kv_heads = 2, elements = 128, steps = 3;
constexpr std::int64_t page_rows = 64, sequence_pages = 12; ///< room for 768 tokens
constexpr std::int64_t positions = page_rows * sequence_pages;
constexpr std::int64_t length[batch] = {700, 130, 63}; ///< tokens in the cache at first

double as_double(bf16 x) {
  return double{static_cast<float>(x)};
}

std::vector<bf16> normals(std::int64_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<bf16> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(bf16(normal(engine)));
  return values;
}

/// Cosines and sines of position x pair.
struct angles {
  std::vector<double> cosine, sine; ///< of fp32
  angles() {
    for (std::int64_t p = 0; p < positions; ++p)
      for (std::int64_t j = 0; j < elements / 2; ++j) {
        const double angle =
            static_cast<double>(p) * std::pow(10000.0, -2.0 * static_cast<double>(j) / elements);
        cosine.push_back(double{static_cast<float>(std::cos(angle))});
        sine.push_back(double{static_cast<float>(std::sin(angle))});
      }
  }
};

/// Largest error of a head's output, in deviations of what rounding explains.
double check_head(const bf16* got, const bf16* q, const bf16* k, const bf16* v, std::int64_t keys,
                  const angles& table) {
  constexpr auto n = static_cast<std::size_t>(elements);
  const auto rows = static_cast<std::size_t>(keys);
  example::estimates x(rows, 3 * n), out(1, n); // queries but the last are not looked at
  for (std::size_t p = 0; p < rows; ++p)
    for (std::size_t e = 0; e < n; ++e) {
      const std::size_t at = p * static_cast<std::size_t>(kv_heads) * n + e;
      x(p, e).value = as_double(q[e]);
      x(p, n + e).value = as_double(k[at]);
      x(p, 2 * n + e).value = as_double(v[at]);
    }
  for (std::size_t p = 0; p < rows; ++p) {
    const double *cosine = table.cosine.data() + p * n / 2, *sine = table.sine.data() + p * n / 2;
    example::turn(x, p, 0, n, cosine, sine);
    example::turn(x, p, n, n, cosine, sine);
  }
  example::attend(x, rows - 1, 0, n, 2 * n, n, out, 0, 0);
  double worst = 0;
  for (std::size_t e = 0; e < n; ++e) {
    const double error = std::abs(as_double(got[e]) - out(0, e).value);
    worst = error <= 1e30 ? std::max(worst, error / std::sqrt(out(0, e).variance)) : INFINITY;
  }
  return worst;
}

} // namespace

int main(int argc, char** argv) try {
  if (const auto code = example::exit_of_arguments(
          argc, argv, "decode_step",
          "runs steps of a decoder over a cache with pages and compares with fp64"))
    return *code;
  using example::check;
  using example::device_array;
  const std::int64_t q_row = q_heads * elements, kv_row = kv_heads * elements;
  // k and v as they come from a projection, for all positions, and of each step those of all
  // sequences
  const auto k = normals(batch * positions * kv_row, 1), v = normals(batch * positions * kv_row, 2);
  const auto q = normals(steps * batch * q_row, 3);
  const angles table;
  std::vector<std::int32_t> order, counts;
  for (std::int64_t i = 0; i < batch * sequence_pages; ++i) // 7 and 36 have no common divisor
    order.push_back(static_cast<std::int32_t>(i * 7 % (batch * sequence_pages)));
  std::vector<bf16> new_k, new_v;
  for (std::int64_t step = 0; step <= steps; ++step)
    for (std::int64_t b = 0; b < batch; ++b) {
      counts.push_back(static_cast<std::int32_t>(length[b] + step));
      if (step == steps)
        continue;
      const auto from = static_cast<std::ptrdiff_t>((b * positions + length[b] + step) * kv_row);
      new_k.insert(new_k.end(), k.begin() + from, k.begin() + from + kv_row);
      new_v.insert(new_v.end(), v.begin() + from, v.begin() + from + kv_row);
    }
  const device_array<bf16> all_k{std::span<const bf16>(k)}, all_v{std::span<const bf16>(v)},
      step_q{std::span<const bf16>(q)}, step_k{std::span<const bf16>(new_k)},
      step_v{std::span<const bf16>(new_v)};
  const std::vector<float> cosines(table.cosine.begin(), table.cosine.end()),
      sines(table.sine.begin(), table.sine.end());
  const device_array<float> cosine{std::span<const float>(cosines)},
      sine{std::span<const float>(sines)};
  const device_array<std::int32_t> list{std::span<const std::int32_t>(order)},
      lengths{std::span<const std::int32_t>(counts)};
  const auto cache_size = static_cast<std::size_t>(batch * positions * kv_row);
  const device_array<bf16> k_cache(cache_size), v_cache(cache_size),
      q_turned(static_cast<std::size_t>(batch * q_row)), o(static_cast<std::size_t>(batch * q_row));

  const auto rows = [](const bf16* data, std::int64_t n, std::int64_t heads) {
    return make_view(data, batch, n, heads, elements);
  };
  const auto pages = [](const device_array<bf16>& of) {
    return make_view(of.data(), batch * sequence_pages, page_rows, kv_heads, elements);
  };
  wavetile::attention_append_options append;
  append.pages = make_view(static_cast<const std::int32_t*>(list.data()), batch, sequence_pages);
  append.rotary = {wavetile::rotary_pairs::halves, 0,
                   make_view(static_cast<const float*>(cosine.data()), positions, elements / 2),
                   make_view(static_cast<const float*>(sine.data()), positions, elements / 2)};
  wavetile::attention_decode_options decode;
  decode.pages = append.pages;

  // A workspace lets workgroups share the keys of a sequence; how much, the plan says.
  const view<const bf16, 4> q_in = rows(q_turned.data(), 1, q_heads), k_in = pages(k_cache),
                            v_in = pages(v_cache);
  const view<bf16, 4> out = make_view(o.data(), batch, std::int64_t{1}, q_heads, elements);
  const auto problem = wavetile::attention_decode_problem_of(q_in, k_in, v_in, out, decode);
  const std::int64_t bytes =
      wavetile::plan_decode(problem, wavetile::describe_device("gfx942", 304, 8), 0)
          .best_workspace_bytes;
  const device_array<float> workspace(static_cast<std::size_t>(bytes) / sizeof(float));
  decode.memory = {workspace.data(), bytes};

  // The tokens there are: of each sequence its own, so one call for each. What lies behind them
  // stays as it is: NaNs.
  for (const device_array<bf16>* each : {&k_cache, &v_cache})
    check(hipMemset(each->data(), 0xFF, cache_size * sizeof(bf16)), "hipMemset");
  for (std::int64_t b = 0; b < batch; ++b) {
    wavetile::attention_append_options one = append;
    one.pages.data += b * sequence_pages;
    one.pages.extent[0] = 1;
    const auto prompt = [&](const device_array<bf16>& of) {
      return make_view(static_cast<const bf16*>(of.data()) + b * positions * kv_row,
                       std::int64_t{1}, length[b], kv_heads, elements);
    };
    check(wavetile::append_to_cache(prompt(all_k), prompt(all_v), pages(k_cache), pages(v_cache),
                                    one));
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    append.kv_length = decode.kv_length = lengths.data() + (step + 1) * batch;
    check(wavetile::append_to_cache(
        rows(step_q.data() + step * batch * q_row, 1, q_heads),
        rows(step_k.data() + step * batch * kv_row, 1, kv_heads),
        rows(step_v.data() + step * batch * kv_row, 1, kv_heads),
        make_view(q_turned.data(), batch, std::int64_t{1}, q_heads, elements), pages(k_cache),
        pages(v_cache), append));
    check(wavetile::attention_decode(q_in, k_in, v_in, out, decode));
  }

  const auto got = o.to_host();
  std::printf(
      "Decode steps, bf16: %lld sequences, %lld heads of %lld over %lld of keys and values, "
      "pages of %lld, %lld bytes of workspace.\n"
      "Errors in standard deviations of what rounding to bf16 explains; %g are "
      "allowed.\n\nsequence  keys  deviations\n",
      static_cast<long long>(batch), static_cast<long long>(q_heads),
      static_cast<long long>(elements), static_cast<long long>(kv_heads),
      static_cast<long long>(page_rows), static_cast<long long>(bytes),
      example::allowed_deviations);
  bool good = true;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t keys = length[b] + steps;
    double worst = 0;
    for (std::int64_t h = 0; h < q_heads; ++h) {
      const std::int64_t at = b * q_row + h * elements;
      const std::int64_t shared = b * positions * kv_row + h / (q_heads / kv_heads) * elements;
      worst =
          std::max(worst, check_head(got.data() + at, q.data() + (steps - 1) * batch * q_row + at,
                                     k.data() + shared, v.data() + shared, keys, table));
    }
    std::printf("%8lld %5lld %11.2f  %s\n", static_cast<long long>(b), static_cast<long long>(keys),
                worst, worst <= example::allowed_deviations ? "pass" : "FAIL");
    good &= worst <= example::allowed_deviations;
  }
  return good ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "decode_step: error: %s\n", error.what());
  return 1;
}
