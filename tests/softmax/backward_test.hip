// Gradients against fp64 and against finite differences.
#include "softmax_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

/// The gradient of the forward function in fp64 at the y and dy the device gets; hidden elements
/// are constants of the function.
std::vector<double> gradient_reference(const std::vector<double>& y, const std::vector<double>& dy,
                                       const std::vector<char>& hidden, double scale,
                                       bool logarithm) {
  double total = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (hidden.empty() || !hidden[i])
      total += logarithm ? dy[i] : y[i] * dy[i];
  std::vector<double> dx(y.size(), 0.0);
  for (std::size_t i = 0; i < y.size(); ++i)
    if (hidden.empty() || !hidden[i])
      dx[i] = logarithm ? scale * (dy[i] - std::exp(y[i]) * total) : scale * y[i] * (dy[i] - total);
  return dx;
}

/// Allowed error of a row's element. With u = 2^-24: the sum of n summands has an error of at most
/// (chain + 15) u times the sum of their magnitudes (chain additions in a lane, 14 between lanes, 1
/// for the product); then three more operations, and for log_softmax exp(y), 2u + u |y|.
class gradient_bound {
public:
  gradient_bound(const std::vector<double>& y, const std::vector<double>& dy, double scale,
                 bool logarithm, double chain, rounding out)
      : y_(y), dy_(dy), scale_(scale), logarithm_(logarithm), chain_(chain), out_(out) {
    for (std::size_t j = 0; j < y.size(); ++j)
      magnitude_ += std::fabs(logarithm ? dy[j] : y[j] * dy[j]);
  }
  double operator()(std::size_t i, double dx) const {
    const double u = std::ldexp(1.0, -24);
    const double weight = logarithm_ ? std::exp(y_[i]) : y_[i];
    const double own = std::fabs(dy_[i]) * (logarithm_ ? 1 : weight) + weight * magnitude_;
    const double exponent = logarithm_ ? 2 + std::fabs(y_[i]) : 0;
    return std::fabs(scale_) * u * (weight * magnitude_ * (chain_ + 15 + exponent) + 3 * own) +
           std::fabs(dx) * out_.relative + out_.absolute;
  }

private:
  const std::vector<double>& y_;
  const std::vector<double>& dy_;
  double scale_;
  bool logarithm_;
  double chain_;
  rounding out_;
  double magnitude_ = 0;
};

template <class T>
struct gradient_case {
  std::int64_t rows, columns;
  bool logarithm;
  float scale = 0.5f;
  bool masked = false;
  bool causal = false;
  std::int64_t workspace_bytes = 0;
  int in_place = 0; ///< 0 apart, 1 dx is y, 2 dx is dy
  std::size_t shift = 0;
  double chain = 20;
  std::vector<T> result = {};

  void run_and_check() {
    const auto count = static_cast<std::size_t>(rows * columns);
    // y as a forward call would have made it
    softmax_case<T> forward{.rows = rows, .columns = columns};
    forward.fill(2);
    std::vector<T> y(count);
    auto dy = random_normals<T>(count, 21);
    std::vector<std::uint8_t> keep(static_cast<std::size_t>(columns), 1);
    random_source source(3);
    if (masked)
      for (auto& byte : keep)
        byte = source.uniform() < 0.6;
    std::vector<std::vector<char>> hidden(static_cast<std::size_t>(rows));
    for (std::int64_t r = 0; r < rows; ++r) {
      softmax_row row = forward.row(r);
      row.scale = static_cast<double>(scale);
      row.has_mask = true;
      row.hidden.assign(static_cast<std::size_t>(columns), 0);
      for (std::int64_t i = 0; i < columns; ++i) {
        const bool hide =
            (masked && !keep[static_cast<std::size_t>(i)]) || (causal && i > r + columns - rows);
        row.hidden[static_cast<std::size_t>(i)] = hide;
        // the gradient there must not matter
        if (hide)
          dy[static_cast<std::size_t>(r * columns + i)] = convert<T>(std::nanf(""));
      }
      const auto exact = softmax_reference(row, logarithm);
      for (std::int64_t i = 0; i < columns; ++i)
        y[static_cast<std::size_t>(r * columns + i)] =
            convert<T>(exact[static_cast<std::size_t>(i)]);
      hidden[static_cast<std::size_t>(r)] = row.hidden;
    }

    device_buffer<T> y_buffer(y, shift), dy_buffer(dy, shift),
        dx_buffer(in_place ? 0 : count, shift);
    device_buffer<std::uint8_t> mask(keep);
    device_buffer<unsigned char> memory(static_cast<std::size_t>(workspace_bytes));
    T* out = in_place == 1 ? y_buffer.data() : in_place == 2 ? dy_buffer.data() : dx_buffer.data();
    const softmax_options options{
        .scale = scale, .causal = causal, .memory = {memory.data(), workspace_bytes}};
    const auto y_view = make_view(static_cast<const T*>(y_buffer.data()), rows, columns);
    const auto dy_view = make_view(static_cast<const T*>(dy_buffer.data()), rows, columns);
    const auto dx_view = make_view(out, rows, columns);
    const auto mask_view = make_view(static_cast<const std::uint8_t*>(mask.data()), columns);
    const status outcome =
        logarithm ? (masked ? log_softmax_backward(y_view, dy_view, dx_view, mask_view, options)
                            : log_softmax_backward(y_view, dy_view, dx_view, options))
                  : (masked ? softmax_backward(y_view, dy_view, dx_view, mask_view, options)
                            : softmax_backward(y_view, dy_view, dx_view, options));
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    result = in_place == 1   ? y_buffer.download()
             : in_place == 2 ? dy_buffer.download()
                             : dx_buffer.download();

    for (std::int64_t r = 0; r < rows; ++r) {
      const auto first = static_cast<std::ptrdiff_t>(r * columns);
      const auto last = first + static_cast<std::ptrdiff_t>(columns);
      const auto& hide = hidden[static_cast<std::size_t>(r)];
      auto ys = as_doubles(std::vector<T>(y.begin() + first, y.begin() + last));
      auto dys = as_doubles(std::vector<T>(dy.begin() + first, dy.begin() + last));
      const auto expected =
          gradient_reference(ys, dys, hide, static_cast<double>(scale), logarithm);
      for (std::size_t i = 0; i < dys.size(); ++i)
        if (hide[i])
          dys[i] = 0;
      const gradient_bound bound(ys, dys, static_cast<double>(scale), logarithm, chain,
                                 rounding_of<T>());
      const std::vector<T> got(result.begin() + first, result.begin() + last);
      const verification outcome_of_row = verify_within(
          got, expected, [&](std::size_t i) { return hide[i] ? 0.0 : bound(i, expected[i]); });
      ASSERT_TRUE(outcome_of_row) << "row " << r << " of " << rows << " x " << columns << ": "
                                  << outcome_of_row;
    }
  }
};

template <class T>
class softmax_gradients : public testing::Test {};
using element_types = testing::Types<float, fp16, bf16>;
TYPED_TEST_SUITE(softmax_gradients, element_types);

TYPED_TEST(softmax_gradients, agree_with_the_reference) {
  for (const bool logarithm : {false, true})
    for (const std::int64_t columns :
         {1, 2, 7, 33, 64, 65, 257, 1000, 1025, 3000, 8193, 20000, 65537}) {
      gradient_case<TypeParam> c{.rows = 5, .columns = columns, .logarithm = logarithm};
      c.chain = columns > 32768 ? static_cast<double>(columns) / 1024 : 20;
      c.run_and_check();
      if (this->HasFatalFailure())
        return;
    }
}

TYPED_TEST(softmax_gradients, honour_masks) {
  for (const bool logarithm : {false, true})
    for (const bool causal : {false, true})
      for (const std::int64_t columns : {5, 70, 1100, 9001}) {
        gradient_case<TypeParam> c{.rows = 6, .columns = columns, .logarithm = logarithm};
        c.masked = true;
        c.causal = causal;
        c.run_and_check();
        if (this->HasFatalFailure())
          return;
      }
}

TYPED_TEST(softmax_gradients, in_place_and_misaligned_give_the_same_bits) {
  for (const bool logarithm : {false, true})
    for (const std::int64_t columns : {9, 200, 3000}) {
      gradient_case<TypeParam> apart{.rows = 3, .columns = columns, .logarithm = logarithm};
      apart.run_and_check();
      for (const int in_place : {1, 2}) {
        auto c = apart;
        c.in_place = in_place;
        c.run_and_check();
        EXPECT_TRUE(verify_bits(c.result, apart.result));
      }
      for (const std::size_t shift : {1u, 2u, 4u}) {
        auto c = apart;
        c.shift = shift;
        c.run_and_check();
        EXPECT_TRUE(verify_bits(c.result, apart.result));
      }
      if (this->HasFatalFailure())
        return;
    }
}

TYPED_TEST(softmax_gradients, of_long_rows) {
  for (const bool logarithm : {false, true})
    for (const std::int64_t workspace : {0, 1 << 16}) {
      gradient_case<TypeParam> c{.rows = 2, .columns = 150001, .logarithm = logarithm};
      c.workspace_bytes = workspace;
      c.chain = 150001.0 / 256;
      c.masked = workspace != 0;
      c.run_and_check();
      if (this->HasFatalFailure())
        return;
    }
}

// three types at once, in every kernel
TEST(softmax_mixed_gradients, agree_with_the_reference) {
  for (const std::int64_t columns : {7, 500, 5000, 40000, 100001}) {
    const auto n = static_cast<std::size_t>(columns);
    softmax_case<float> forward{.rows = 1, .columns = columns};
    forward.fill(2);
    const auto exact = softmax_reference(forward.row(0), true);
    const std::vector<float> y(exact.begin(), exact.end());
    const auto dy = random_normals<bf16>(n, 5);
    device_buffer<float> y_buffer(y);
    device_buffer<bf16> dy_buffer(dy);
    device_buffer<fp16> dx_buffer(n);
    const status outcome =
        log_softmax_backward(make_view(static_cast<const float*>(y_buffer.data()), columns),
                             make_view(static_cast<const bf16*>(dy_buffer.data()), columns),
                             make_view(dx_buffer.data(), columns), {.scale = 0.5f});
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    const auto ys = as_doubles(y), dys = as_doubles(dy);
    const auto expected = gradient_reference(ys, dys, {}, 0.5, true);
    const gradient_bound bound(ys, dys, 0.5, true, static_cast<double>(columns) / 1024 + 20,
                               rounding_of<fp16>());
    EXPECT_TRUE(verify_within(dx_buffer.download(), expected, [&](std::size_t i) {
      return bound(i, expected[i]);
    })) << columns;
  }
}

// d/dx of sum_i dy_i f_i(x) by central differences, through the forward operator's definition:
// nothing of the gradient's formula is used
TEST(softmax_finite_differences, agree_with_the_gradient) {
  constexpr std::int64_t n = 23;
  constexpr double scale = 0.7;
  for (const bool logarithm : {false, true}) {
    const auto x = random_normals<float>(n, 31);
    const auto dy = random_normals<float>(n, 32);
    softmax_row row;
    row.x.assign(x.begin(), x.end());
    row.scale = scale;
    const auto exact = softmax_reference(row, logarithm);
    std::vector<float> y(n);
    for (std::size_t i = 0; i < n; ++i)
      y[i] = static_cast<float>(exact[i]);
    device_buffer<float> y_buffer(y), dy_buffer(dy), dx_buffer(n);
    const softmax_options options{.scale = static_cast<float>(scale)};
    const auto y_view = make_view(static_cast<const float*>(y_buffer.data()), n);
    const auto dy_view = make_view(static_cast<const float*>(dy_buffer.data()), n);
    const status outcome =
        logarithm ? log_softmax_backward(y_view, dy_view, make_view(dx_buffer.data(), n), options)
                  : softmax_backward(y_view, dy_view, make_view(dx_buffer.data(), n), options);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    const auto dx = dx_buffer.download();
    const double h = 1e-5;
    for (std::size_t k = 0; k < n; ++k) {
      double value[2];
      for (const int side : {0, 1}) {
        softmax_row moved = row;
        moved.x[k] += side == 0 ? -h : h;
        const auto f = softmax_reference(moved, logarithm);
        value[side] = 0;
        for (std::size_t i = 0; i < n; ++i)
          value[side] += static_cast<double>(dy[i]) * f[i];
      }
      // h^2 times a third derivative below 10 is 1e-9, cancellation 1e-16 n / h = 2e-10; the rest
      // is fp32's: n = 23 terms of size 1 within 23 * 2^-24
      ASSERT_NEAR(dx[k], (value[1] - value[0]) / (2 * h), 3e-6) << k;
    }
  }
}

} // namespace
