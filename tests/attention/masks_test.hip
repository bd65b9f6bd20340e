// Boolean and additive masks. Compiled once for each element type.
#include "attention_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;
using element = WAVETILE_TEST_ELEMENT;
using problem = attention_case<element>;

TEST(attention_masks, hidden_rows_are_zero) {
  enum { boolean, minus_infinity, large };
  for (const int kind : {boolean, minus_infinity, large}) {
    problem c{.queries = 4, .keys = 8};
    c.want_lse = true;
    c.fill();
    for (auto& x : c.v)
      x = convert<element>(7.0f);
    if (kind == boolean) {
      std::vector<std::uint8_t> keep(4 * 8, 1);
      std::fill_n(keep.begin() + 16, 8, std::uint8_t{0});
      device_buffer<std::uint8_t> mask(keep);
      c.run(make_view(reinterpret_cast<const bool*>(mask.data()), 4, 8));
    } else {
      std::vector<float> bias(4 * 8, 0.0f);
      std::fill_n(bias.begin() + 16, 8, kind == minus_infinity ? -INFINITY : -1e30f);
      device_buffer<float> mask(bias);
      c.run(make_view(static_cast<const float*>(mask.data()), 4, 8));
    }
    ASSERT_FALSE(HasFatalFailure());
    for (std::int64_t i = 0; i < 4; ++i) {
      const bool hidden = i == 2 && kind != large; // a large number is but a number: an average
      for (std::int64_t d = 0; d < 64; ++d)
        ASSERT_EQ(as_double(c.o[static_cast<std::size_t>(i * 64 + d)]), hidden ? 0.0 : 7.0) << i;
      ASSERT_EQ(std::isinf(c.lse[static_cast<std::size_t>(i)]), hidden);
    }
  }
}

// Masks with every choice of axes that repeat, with the other ways to hide keys. Mask elements of
// half the keys hide; what they hide in k is a NaN.
template <class M>
void broadcast_masks(int qk) {
  constexpr std::int64_t batch = 2, heads = 4, queries = 37, keys = 91;
  for (int present = 0; present < 8; present += qk == 64 ? 1 : 7)
    for (const bool causal : {false, true}) {
      problem c{.batch = batch,
                .q_heads = heads,
                .kv_heads = 2,
                .queries = queries,
                .keys = keys,
                .qk = qk,
                .value = qk};
      c.options.causal = causal;
      c.options.softcap = present == 7 ? 4.0f : 0.0f;
      c.want_lse = true;
      c.fill(static_cast<std::uint64_t>(present + 1));
      const std::int64_t extent[4] = {present & 1 ? batch : 1, present & 2 ? heads : 1,
                                      present & 4 ? queries : 1, keys};
      const std::int64_t pitch = keys + 5;
      const auto count = static_cast<std::size_t>(extent[0] * extent[1] * extent[2] * pitch);
      random_source source(static_cast<std::uint64_t>(present + 50));
      std::vector<M> values(count);
      for (auto& x : values) {
        const bool hide = source.uniform() < 0.5;
        if constexpr (std::is_same_v<M, std::uint8_t>)
          x = hide ? 0 : 3;
        else
          x = convert<M>(hide ? -INFINITY : static_cast<float>(source.normal()));
      }
      const auto index = [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
        return static_cast<std::size_t>(
            (((extent[0] == 1 ? 0 : b) * extent[1] + (extent[1] == 1 ? 0 : h)) * extent[2] +
             (extent[2] == 1 ? 0 : i)) *
                pitch +
            j);
      };
      const auto hides = [&](std::size_t at) {
        if constexpr (std::is_same_v<M, std::uint8_t>)
          return values[at] == 0;
        else
          return std::isinf(as_double(values[at]));
      };
      if (present == 0) // hidden from all: what k holds there does not count
        for (std::int64_t j = 0; j < keys; ++j)
          if (hides(index(0, 0, 0, j)))
            for (std::int64_t b = 0; b < batch; ++b)
              for (std::int64_t h = 0; h < 2; ++h)
                c.k[c.k_array().dense(b, j, h, 3)] = convert<element>(NAN);
      device_buffer<M> mask(values);
      c.run(make_strided_view<const M, 4>(
          mask.data(), {extent[0], extent[1], extent[2], keys},
          {extent[1] * extent[2] * pitch, extent[2] * pitch, pitch, 1}));
      ASSERT_FALSE(testing::Test::HasFatalFailure());
      c.check([&](attention_row& row, std::int64_t b, std::int64_t h, std::int64_t i) {
        if constexpr (!std::is_same_v<M, std::uint8_t>)
          row.bias.assign(row.keys, 0.0);
        for (std::int64_t j = 0; j < keys; ++j) {
          const auto at = static_cast<std::size_t>(j);
          const std::size_t from = index(b, h, i, j);
          if (hides(from))
            row.visible[at] = 0;
          else if constexpr (!std::is_same_v<M, std::uint8_t>)
            row.bias[at] = as_double(values[from]);
        }
      });
      if (testing::Test::HasFatalFailure())
        return;
    }
}

TEST(attention_masks, boolean) {
  broadcast_masks<std::uint8_t>(64);
  broadcast_masks<std::uint8_t>(128);
}
TEST(attention_masks, additive) {
  broadcast_masks<float>(64);
  broadcast_masks<float>(192);
}
TEST(attention_masks, additive_of_the_inputs_type) {
  broadcast_masks<element>(80);
}

// Lengths shorter than the mask: what it holds past them, here NaNs, does not count.
TEST(attention_masks, longer_than_the_keys) {
  constexpr std::int64_t batch = 2, queries = 40, keys = 150;
  const std::int32_t lengths[batch] = {131, 64};
  for (const int d : {64, 128}) {
    problem c{.batch = batch, .queries = queries, .keys = keys, .qk = d, .value = d};
    c.fill(12);
    std::vector<float> values(queries * keys);
    random_source source(13);
    for (auto& x : values)
      x = static_cast<float>(source.normal());
    std::vector<element> first;
    for (const float past : {0.0f, NAN}) {
      std::vector<float> of_batches;
      for (const std::int32_t length : lengths)
        for (std::int64_t i = 0; i < queries; ++i)
          for (std::int64_t j = 0; j < keys; ++j)
            of_batches.push_back(j < length ? values[static_cast<std::size_t>(i * keys + j)]
                                            : past);
      device_buffer<float> mask(of_batches);
      device_buffer<std::int32_t> kv_length(std::vector<std::int32_t>(lengths, lengths + batch));
      c.options.sequences.kv_length = kv_length.data();
      c.run(make_view(static_cast<const float*>(mask.data()), batch, 1, queries, keys));
      ASSERT_FALSE(HasFatalFailure());
      c.check([&](attention_row& row, std::int64_t b, std::int64_t, std::int64_t i) {
        row.bias.assign(row.keys, 0.0);
        for (std::int64_t j = 0; j < keys; ++j)
          if (j < lengths[b])
            row.bias[static_cast<std::size_t>(j)] = values[static_cast<std::size_t>(i * keys + j)];
          else
            row.visible[static_cast<std::size_t>(j)] = 0;
      });
      if (HasFatalFailure())
        return;
      if (first.empty())
        first = c.o;
      ASSERT_TRUE(verify_bits(c.o, first));
    }
  }
}

// Steps of keys that are all there, whose masks come in wide loads;
// codegen.distances.attention_masks looks at how far ahead.
template <class M>
void whole_steps(int head) {
  constexpr std::int64_t queries = 128, keys = 384, pitch = keys + 1; // rows at any alignment
  problem c{.queries = queries, .keys = keys, .qk = head, .value = head};
  c.want_lse = true;
  c.fill(5);
  std::vector<M> values(queries * pitch);
  random_source source(9);
  for (auto& x : values) {
    const bool hide = source.uniform() < 0.3;
    if constexpr (std::is_same_v<M, std::uint8_t>)
      x = hide ? 0 : 1;
    else
      x = convert<M>(hide ? -INFINITY : static_cast<float>(source.normal()));
  }
  device_buffer<M> mask(values);
  c.run(make_strided_view<const M, 2>(mask.data(), {queries, keys}, {pitch, 1}));
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  c.check([&](attention_row& row, std::int64_t, std::int64_t, std::int64_t i) {
    if constexpr (!std::is_same_v<M, std::uint8_t>)
      row.bias.assign(row.keys, 0.0);
    for (std::size_t j = 0; j < keys; ++j) {
      const M x = values[static_cast<std::size_t>(i * pitch) + j];
      if constexpr (std::is_same_v<M, std::uint8_t>)
        row.visible[j] = x != 0 ? 1 : 0;
      else if (std::isinf(as_double(x)))
        row.visible[j] = 0;
      else
        row.bias[j] = as_double(x);
    }
  });
}

TEST(attention_masks, of_whole_steps) {
  for (const attention_head head : attention_heads)
    if (head.qk == head.v) {
      whole_steps<std::uint8_t>(head.qk);
      whole_steps<float>(head.qk);
      whole_steps<element>(head.qk);
    }
}

// The lowest finite number of a type, often taken for a mask, is but a number: where all keys have
// it they are averaged, beside others it counts nothing. Half the largest outweighs all.
template <class M>
void extreme_masks() {
  constexpr std::int64_t keys = 70;
  problem c{.queries = 4, .keys = keys};
  c.want_lse = true;
  c.fill();
  for (std::int64_t j = 0; j < keys; ++j)
    for (std::int64_t d = 0; d < 64; ++d)
      c.v[static_cast<std::size_t>(j * 64 + d)] = convert<element>(j == 66 ? 5.0f : 7.0f);
  const M least = convert<M>(static_cast<float>(numeric_traits<M>::lowest()));
  const M most = convert<M>(static_cast<float>(numeric_traits<M>::highest()) / 2);
  std::vector<M> values(4 * keys, convert<M>(0.0f));
  std::fill_n(values.begin(), keys, least); // query 0: all
  for (std::int64_t j = 0; j < keys; ++j)   // query 1: all but key 66
    if (j != 66)
      values[static_cast<std::size_t>(keys + j)] = least;
  values[2 * keys + 66] = most;
  for (std::int64_t j = 0; j < keys; ++j) // query 3: hidden but for one with the lowest
    values[static_cast<std::size_t>(3 * keys + j)] = j == 66 ? least : convert<M>(-INFINITY);
  device_buffer<M> mask(values);
  c.run(make_view(static_cast<const M*>(mask.data()), 4, keys));
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  for (std::int64_t d = 0; d < 64; ++d) {
    const auto got = [&](std::int64_t i) {
      return as_double(c.o[static_cast<std::size_t>(i * 64 + d)]);
    };
    // Numbers this large leave no digits to the scores: weights are equal, each row of v once. With
    // fp16's 65504 the scores keep 2^-8 or more of theirs: a mean between 6 and 7.
    if (sizeof(M) == 4 || std::is_same_v<M, bf16>)
      ASSERT_NEAR(got(0), (69 * 7.0 + 5.0) / 70, 7 * 0x1p-8);
    else
      ASSERT_TRUE(got(0) > 6 && got(0) < 7) << got(0);
    ASSERT_EQ(got(1), 5.0);
    ASSERT_EQ(got(2), 5.0);
    ASSERT_EQ(got(3), 5.0);
  }
  for (const float log : c.lse)
    ASSERT_TRUE(std::isfinite(log)) << log;
}

TEST(attention_masks, finite_numbers_hide_nothing) {
  extreme_masks<float>();
  extreme_masks<element>();
}

TEST(attention_masks, of_lower_rank) {
  problem c{.q_heads = 2, .queries = 3, .keys = 20};
  c.q_heads = c.kv_heads = 2;
  c.fill();
  std::vector<std::uint8_t> keep(20, 1);
  keep[4] = keep[19] = 0;
  device_buffer<std::uint8_t> mask(keep);
  c.run(make_view(static_cast<const std::uint8_t*>(mask.data()), 20));
  ASSERT_FALSE(HasFatalFailure());
  c.check([&](attention_row& row, std::int64_t, std::int64_t, std::int64_t) {
    row.visible[4] = row.visible[19] = 0;
  });
}

} // namespace
