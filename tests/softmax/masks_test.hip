// Boolean and additive masks, broadcast masks, the causal mask.
#include "softmax_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

template <class T>
using masked_case = softmax_case<T, T, masks::any>;

constexpr std::int64_t widths[] = {1, 5, 31, 64, 257, 1000, 1029, 6001};

/// A mask with about half the elements hidden, all of row 1, and none of row 2.
template <class T>
void hide_half(masked_case<T>& c, bool additive) {
  random_source source(7);
  const auto count = static_cast<std::size_t>(c.rows * c.columns);
  c.keep.clear();
  c.bias.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::int64_t>(i) / c.columns;
    const bool hide = row == 1 || (row != 2 && source.uniform() < 0.5);
    if (additive)
      c.bias.push_back(convert<T>(hide ? -INFINITY : source.normal()));
    else
      c.keep.push_back(hide ? 0 : static_cast<std::uint8_t>(source.between(1, 255)));
  }
}

/// Hidden elements get what a mask must keep out of the result.
template <class T>
void poison_hidden(masked_case<T>& c) {
  const float poison[] = {std::nanf(""), INFINITY, -INFINITY, 3e38f};
  std::size_t next = 0;
  for (std::int64_t r = 0; r < c.rows; ++r) {
    const softmax_row row = c.row(r);
    for (std::int64_t i = 0; i < c.columns; ++i)
      if (row.is_hidden(static_cast<std::size_t>(i)))
        c.x[static_cast<std::size_t>(r * c.columns + i)] = convert<T>(poison[next++ % 4]);
  }
}

template <class T>
class softmax_masks : public testing::Test {};
using element_types = testing::Types<float, fp16, bf16>;
TYPED_TEST_SUITE(softmax_masks, element_types);

TYPED_TEST(softmax_masks, hide_whatever_the_input_holds) {
  for (const bool additive : {false, true}) {
    for (const bool logarithm : {false, true}) {
      for (const std::int64_t columns : widths) {
        masked_case<TypeParam> c{.rows = 7, .columns = columns, .logarithm = logarithm};
        c.options.scale = -0.75f;
        c.fill(2);
        hide_half(c, additive);
        poison_hidden(c);
        c.run_and_check();
        if (this->HasFatalFailure())
          return;
        for (std::int64_t r = 0; r < c.rows; ++r) {
          const softmax_row row = c.row(r);
          for (std::int64_t i = 0; i < columns; ++i) {
            if (!row.is_hidden(static_cast<std::size_t>(i)))
              continue;
            ASSERT_EQ(as_double(c.y[static_cast<std::size_t>(r * columns + i)]),
                      logarithm ? -INFINITY : 0.0);
          }
        }
      }
    }
  }
}

// what a mask shows is all -inf: that is no fully masked row, so NaN as without a mask
TYPED_TEST(softmax_masks, show_only_minus_infinities) {
  for (const std::int64_t columns : {4, 70, 1500}) {
    for (const bool additive : {false, true}) {
      masked_case<TypeParam> c{.rows = 3, .columns = columns};
      c.fill(1);
      hide_half(c, additive);
      for (std::int64_t i = 0; i < columns; ++i) // row 2 shows everything
        c.x[static_cast<std::size_t>(2 * columns + i)] = convert<TypeParam>(-INFINITY);
      c.run_and_check();
    }
  }
}

TYPED_TEST(softmax_masks, of_long_rows) {
  for (const bool additive : {false, true}) {
    for (const std::int64_t workspace : {0, 1 << 16}) { // streamed, split
      masked_case<TypeParam> c{.rows = 4, .columns = 140001, .workspace_bytes = workspace};
      c.chain = 140001.0 / 256;
      c.fill(2);
      hide_half(c, additive);
      poison_hidden(c);
      c.run_and_check();
      if (this->HasFatalFailure())
        return;
    }
  }
}

TEST(softmax_broadcast, masks_repeat_along_leading_axes) {
  constexpr std::int64_t b = 2, h = 3, q = 5, k = 37;
  const auto x = random_normals<float>(b * h * q * k, 3);
  // every choice of which leading axes the mask has, and ranks below that of x
  for (int present = 0; present < 8; ++present) {
    for (int rank = 1; rank <= 4; ++rank) {
      const std::int64_t extent[4] = {present & 1 ? b : 1, present & 2 ? h : 1, present & 4 ? q : 1,
                                      k};
      if ((rank < 4 && extent[0] != 1) || (rank < 3 && extent[1] != 1) ||
          (rank < 2 && extent[2] != 1))
        continue;
      const auto count = static_cast<std::size_t>(extent[0] * extent[1] * extent[2] * k);
      random_source source(11);
      std::vector<std::uint8_t> keep(count);
      for (auto& byte : keep)
        byte = source.uniform() < 0.7;
      device_buffer<float> from(x), to(x.size());
      device_buffer<std::uint8_t> mask(keep);
      const auto x_view = make_view(static_cast<const float*>(from.data()), b, h, q, k);
      const auto y_view = make_view(to.data(), b, h, q, k);
      // bool, as PyTorch stores masks
      const auto* m = reinterpret_cast<const bool*>(mask.data());
      const status outcome =
          rank == 4   ? softmax(x_view, y_view, make_view(m, extent[0], extent[1], extent[2], k))
          : rank == 3 ? softmax(x_view, y_view, make_view(m, extent[1], extent[2], k))
          : rank == 2 ? softmax(x_view, y_view, make_view(m, extent[2], k))
                      : softmax(x_view, y_view, make_view(m, k));
      ASSERT_TRUE(outcome.ok()) << outcome.message();
      const auto y = to.download();
      for (std::int64_t r = 0; r < b * h * q; ++r) {
        const std::int64_t at[3] = {r / (h * q) % extent[0], r / q % h % extent[1],
                                    r % q % extent[2]};
        softmax_row row;
        row.has_mask = true;
        for (std::int64_t i = 0; i < k; ++i) {
          row.x.push_back(static_cast<double>(x[static_cast<std::size_t>(r * k + i)]));
          const std::int64_t m_row = (at[0] * extent[1] + at[1]) * extent[2] + at[2];
          row.hidden.push_back(keep[static_cast<std::size_t>(m_row * k + i)] == 0);
        }
        const auto expected = softmax_reference(row, false);
        const std::vector<float> got(y.begin() + r * k, y.begin() + (r + 1) * k);
        ASSERT_TRUE(verify_within(got, expected,
                                  [&](std::size_t i) {
                                    return softmax_bound(expected[i], k, 0, 16, {0, 0});
                                  }))
            << "row " << r << ", mask axes " << present << ", rank " << rank;
      }
    }
  }
}

TEST(softmax_causal, shows_each_query_its_past) {
  for (const causal_anchor anchor : {causal_anchor::bottom_right, causal_anchor::top_left}) {
    for (const bool logarithm : {false, true}) {
      for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
               {1, 1}, {2, 5}, {5, 2}, {1, 1000}, {70, 70}, {33, 260}, {40, 1027}, {9, 5000}}) {
        softmax_case<float> c{.rows = rows, .columns = columns, .logarithm = logarithm};
        c.options.causal = true;
        c.options.anchor = anchor;
        c.fill(2);
        // the future must not matter
        for (std::int64_t r = 0; r < rows; ++r) {
          const softmax_row row = c.row(r);
          for (std::int64_t i = 0; i < columns; ++i)
            if (row.is_hidden(static_cast<std::size_t>(i)))
              c.x[static_cast<std::size_t>(r * columns + i)] = std::nanf("");
        }
        c.run_and_check();
        if (HasFatalFailure())
          return;
      }
    }
  }
}

TEST(softmax_causal, of_long_rows) {
  for (const std::int64_t workspace : {0, 1 << 16}) {
    softmax_case<bf16> c{.rows = 3, .columns = 140003, .workspace_bytes = workspace};
    c.chain = 140003.0 / 256;
    c.options.causal = true;
    c.options.anchor = causal_anchor::top_left;
    c.fill(2);
    c.run_and_check();
    c.options.anchor = causal_anchor::bottom_right;
    c.run_and_check();
  }
}

// queries are counted within each matrix of a batch
TEST(softmax_causal, counts_queries_in_each_matrix) {
  constexpr std::int64_t b = 3, q = 4, k = 6;
  const std::vector<float> x(b * q * k, 1.0f);
  device_buffer<float> from(x), to(x.size());
  const status outcome = softmax(make_view(static_cast<const float*>(from.data()), b, q, k),
                                 make_view(to.data(), b, q, k), {.causal = true});
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  const auto y = to.download();
  for (std::int64_t r = 0; r < b * q; ++r) {
    const std::int64_t visible = r % q + 1 + k - q;
    for (std::int64_t i = 0; i < k; ++i)
      ASSERT_NEAR(y[static_cast<std::size_t>(r * k + i)],
                  i < visible ? 1.0 / static_cast<double>(visible) : 0.0, 1e-7)
          << r << ", " << i;
  }
}

// both masks at once
TEST(softmax_causal, joins_a_mask) {
  masked_case<fp16> c{.rows = 12, .columns = 90};
  c.options.causal = true;
  c.fill(2);
  hide_half(c, false);
  poison_hidden(c);
  c.run_and_check();
}

} // namespace
