/// \file
/// Runs one attention on the device against the reference.
#pragma once

#include "attention_reference.hpp"

#include "device_buffer.hpp"
#include "random.hpp"
#include "verify.hpp"

#include <wavetile/attention.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace wavetile::test {

// 24, 11 and 8 significant bits; fp16 has denormals down to 2^-24, bf16 down to 2^-133.
template <class T>
rounding_unit unit_of() {
  if constexpr (sizeof(T) == 4)
    return {0x1p-24, 0x1p-150};
  else if constexpr (std::is_same_v<T, fp16>)
    return {0x1p-11, 0x1p-25};
  else
    return {0x1p-8, 0x1p-134};
}

/// Room around the rows of an array, in elements; what lies there is a NaN before and must be as it
/// was after.
struct padding {
  std::int64_t element = 0; ///< after each row of a head
  std::int64_t row = 0;     ///< rows after those of a batch
  std::size_t shift = 0;    ///< elements past a 256-byte boundary
};

/// An array of batch x rows x heads x elements and where it lies in device memory.
template <class T>
struct placed_array {
  std::int64_t batch = 0, rows = 0, heads = 0, elements = 0;
  attention_axes axes = attention_axes::bshd;
  padding room;

  std::int64_t pitch() const { return elements + room.element; }
  std::int64_t all_rows() const { return rows + room.row; }
  std::int64_t row_step() const { return axes == attention_axes::bshd ? heads * pitch() : pitch(); }
  std::int64_t head_step() const {
    return axes == attention_axes::bshd ? pitch() : all_rows() * pitch();
  }
  std::int64_t batch_step() const { return all_rows() * heads * pitch(); }
  std::size_t span() const { return static_cast<std::size_t>(batch * batch_step()); }
  std::size_t at(std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t d) const {
    return static_cast<std::size_t>(b * batch_step() + s * row_step() + h * head_step() + d);
  }
  std::size_t dense(std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t d) const {
    return static_cast<std::size_t>(((b * rows + s) * heads + h) * elements + d);
  }
  template <class F>
  void each(const F& f) const {
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t s = 0; s < rows; ++s)
        for (std::int64_t h = 0; h < heads; ++h)
          for (std::int64_t d = 0; d < elements; ++d)
            f(b, s, h, d);
  }
  /// Image of the memory: `values` (batch, row, head, element, dense) and poison between.
  std::vector<T> image(const std::vector<T>& values) const {
    std::vector<T> result(span());
    std::memset(static_cast<void*>(result.data()), 0xFF, result.size() * sizeof(T));
    each([&](auto b, auto s, auto h, auto d) {
      result[at(b, s, h, d)] = values[dense(b, s, h, d)];
    });
    return result;
  }
  template <class U>
  view<U, 4> view_of(U* data) const {
    if (axes == attention_axes::bshd)
      return make_strided_view<U, 4>(data, {batch, rows, heads, elements},
                                     {batch_step(), row_step(), head_step(), 1});
    return make_strided_view<U, 4>(data, {batch, heads, rows, elements},
                                   {batch_step(), head_step(), row_step(), 1});
  }
};

template <class T>
std::vector<double> as_doubles(const std::vector<T>& values) {
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    result[i] = as_double(values[i]);
  return result;
}

/// A problem with queries, keys and values of normals, its options, and its result.
template <class Input, class Output = Input>
struct attention_case {
  std::int64_t batch = 1, q_heads = 1, kv_heads = 1, queries = 1, keys = 1, qk = 64, value = 64;
  attention_options options = {};
  padding q_room = {}, k_room = {}, v_room = {}, o_room = {};
  bool want_lse = false;

  // batch, row, head, element
  std::vector<Input> q = {}, k = {}, v = {};
  std::vector<Output> o = {};
  std::vector<float> lse = {}; ///< batch, head, query

  placed_array<Input> q_array() const {
    return {batch, queries, q_heads, qk, options.axes, q_room};
  }
  placed_array<Input> k_array() const { return {batch, keys, kv_heads, qk, options.axes, k_room}; }
  placed_array<Input> v_array() const {
    return {batch, keys, kv_heads, value, options.axes, v_room};
  }
  placed_array<Output> o_array() const {
    return {batch, queries, q_heads, value, options.axes, o_room};
  }

  void fill(std::uint64_t seed = 1, double deviation = 1) {
    const auto count = [](auto... extents) { return static_cast<std::size_t>((extents * ...)); };
    q = random_normals<Input>(count(batch, queries, q_heads, qk), seed, deviation);
    k = random_normals<Input>(count(batch, keys, kv_heads, qk), seed + 1, deviation);
    v = random_normals<Input>(count(batch, keys, kv_heads, value), seed + 2);
  }

  /// Runs with extra arguments (a mask's view) between o and the options. Where there are two
  /// kernels both run, and their results must be the same bit for bit.
  template <class... Mask>
  void run(Mask... mask) {
    run_once(mask...);
    if (kernels::attention_alternates({static_cast<int>(qk), static_cast<int>(value)}) &&
        sizeof...(mask) == 0 && options.kernel == attention_choice::automatic &&
        !testing::Test::HasFatalFailure()) {
      attention_case other = *this;
      other.options.kernel = attention_choice::alternating;
      other.run_once();
      if (testing::Test::HasFatalFailure())
        return;
      EXPECT_TRUE(same_bits(o, other.o)) << "waves that alternate differ";
      EXPECT_TRUE(same_bits(lse, other.lse)) << "LSE of waves that alternate differs";
    }
  }

  template <class T>
  static bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
  }

  template <class... Mask>
  void run_once(Mask... mask) {
    device_buffer<Input> dq(q_array().image(q), q_room.shift);
    device_buffer<Input> dk(k_array().image(k), k_room.shift);
    device_buffer<Input> dv(v_array().image(v), v_room.shift);
    device_buffer<Output> result(o_array().span(), o_room.shift);
    device_buffer<float> logs(want_lse ? static_cast<std::size_t>(batch * q_heads * queries) : 0);
    attention_options all = options;
    if (want_lse)
      all.lse = make_view(logs.data(), batch, q_heads, queries);
    const status outcome = attention(q_array().view_of(static_cast<const Input*>(dq.data())),
                                     k_array().view_of(static_cast<const Input*>(dk.data())),
                                     v_array().view_of(static_cast<const Input*>(dv.data())),
                                     o_array().view_of(result.data()), mask..., all);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    std::vector<Output> image = result.download();
    if (want_lse)
      lse = logs.download();
    const auto place = o_array();
    o.assign(static_cast<std::size_t>(batch * queries * q_heads * value), Output{});
    place.each([&](auto b, auto s, auto h, auto d) {
      const std::size_t at = place.at(b, s, h, d);
      o[place.dense(b, s, h, d)] = image[at];
      std::memset(static_cast<void*>(&image[at]), 0xFF, sizeof(Output));
    });
    std::size_t touched = 0;
    for (std::size_t i = 0; i < image.size() * sizeof(Output); ++i)
      touched += reinterpret_cast<const unsigned char*>(image.data())[i] != 0xFF ? 1 : 0;
    EXPECT_EQ(touched, 0u) << "elements between the rows of o were written";
  }

  /// Whether the causal mask and the window show key j to query i.
  bool shows(std::int64_t i, std::int64_t j) const {
    const std::int64_t place =
        i + (options.anchor == causal_anchor::bottom_right ? keys - queries : 0);
    return (!options.causal || j <= place) &&
           (options.window.left < 0 || j >= place - options.window.left) &&
           (options.window.right < 0 || j <= place + options.window.right);
  }

  /// Compares with the reference. `more(row, b, h, i)` may hide keys of a row or add a bias.
  template <class More>
  void check(const More& more) const {
    const std::int64_t group = q_heads / kv_heads;
    const auto qd = as_doubles(q), kd = as_doubles(k), vd = as_doubles(v);
    std::vector<double> head_k(static_cast<std::size_t>(keys * qk));
    std::vector<double> head_v(static_cast<std::size_t>(keys * value));
    double scale = static_cast<double>(options.scale.value);
    if (options.scale.of_head)
      scale = 1 / std::sqrt(static_cast<double>(qk));
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t g = 0; g < kv_heads; ++g) {
        for (std::int64_t j = 0; j < keys; ++j) {
          for (std::int64_t d = 0; d < qk; ++d)
            head_k[static_cast<std::size_t>(j * qk + d)] = kd[k_array().dense(b, j, g, d)];
          for (std::int64_t d = 0; d < value; ++d)
            head_v[static_cast<std::size_t>(j * value + d)] = vd[v_array().dense(b, j, g, d)];
        }
        for (std::int64_t h = g * group; h < (g + 1) * group; ++h)
          for (std::int64_t i = 0; i < queries; ++i) {
            attention_row row{&qd[q_array().dense(b, i, h, 0)],
                              head_k.data(),
                              head_v.data(),
                              static_cast<std::size_t>(keys),
                              static_cast<std::size_t>(qk),
                              static_cast<std::size_t>(value)};
            row.scale = scale;
            row.softcap = static_cast<double>(options.softcap);
            row.visible.resize(row.keys);
            for (std::int64_t j = 0; j < keys; ++j)
              row.visible[static_cast<std::size_t>(j)] = shows(i, j) ? 1 : 0;
            more(row, b, h, i);
            check_row(row, b, h, i);
            if (testing::Test::HasFatalFailure())
              return;
          }
      }
  }
  void check() const {
    check([](attention_row&, std::int64_t, std::int64_t, std::int64_t) {});
  }

  void check_row(const attention_row& row, std::int64_t b, std::int64_t h, std::int64_t i) const {
    const attention_result expected = attention_reference(row);
    const auto first = o.begin() + static_cast<std::ptrdiff_t>(o_array().dense(b, i, h, 0));
    const std::vector<Output> got(first, first + static_cast<std::ptrdiff_t>(value));
    const bool none = std::isinf(expected.lse);
    const verification outcome = verify_within(got, expected.o, [&](std::size_t d) {
      return none ? 0.0
                  : attention_bound(expected, d, row.keys, row.qk, row.softcap, unit_of<Input>(),
                                    unit_of<Output>());
    });
    ASSERT_TRUE(outcome) << "batch " << b << ", head " << h << ", query " << i << " of " << queries
                         << " with " << keys << " keys, heads of " << qk << " and " << value << ": "
                         << outcome;
    if (!want_lse)
      return;
    const auto log =
        static_cast<double>(lse[static_cast<std::size_t>((b * q_heads + h) * queries + i)]);
    if (none)
      ASSERT_EQ(log, expected.lse) << "query " << i;
    else
      ASSERT_NEAR(log, expected.lse, lse_bound(expected, row.keys, row.qk, row.softcap))
          << "query " << i << " of " << queries << " with " << keys << " keys";
  }

  void run_and_check() {
    run();
    if (!testing::Test::HasFatalFailure())
      check();
  }
};

} // namespace wavetile::test
