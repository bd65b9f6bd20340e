// Mixed types, special values, streams, resources, and what is moved.
#include "norm_case.hpp"

#include "far_array.hpp"
#include "sim_counters.hpp"

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

namespace {

using namespace wavetile;
using namespace wavetile::test;

// every array of a type of its own, HIP's types among them
TEST(norm_types, may_all_differ) {
  constexpr std::int64_t rows = 3, n = 1003;
  const auto x = random_normals<bf16>(rows * n, 1);
  const auto residual = random_normals<float>(rows * n, 2);
  const auto weight = random_normals<fp16>(n, 3, 0.5, 1);
  const auto bias = random_normals<bf16>(n, 4);
  device_buffer<bf16> x_buffer(x), bias_buffer(bias);
  device_buffer<float> residual_buffer(residual), y(rows * n);
  device_buffer<fp16> weight_buffer(weight), sum(rows * n);
  const status outcome = layer_norm(
      norm_arrays{.x = make_view(reinterpret_cast<const __hip_bfloat16*>(x_buffer.data()), rows, n),
                  .y = make_view(y.data(), rows, n),
                  .weight = make_view(reinterpret_cast<const __half*>(weight_buffer.data()), n),
                  .bias = make_view(bias_buffer.data(), n),
                  .residual = make_view(residual_buffer.data(), rows, n),
                  .sum = make_view(sum.data(), rows, n)},
      {.epsilon = 1e-3f});
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  const auto sums = sum.download();
  const auto got = y.download();
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<double> h, w, b;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(r * n + i);
      const fp16 expected = convert<fp16>(convert<float>(x[at]) + residual[at]);
      ASSERT_EQ(float_bits(static_cast<float>(sums[at])), float_bits(static_cast<float>(expected)));
      h.push_back(as_double(expected));
      w.push_back(as_double(weight[static_cast<std::size_t>(i)]));
      b.push_back(as_double(bias[static_cast<std::size_t>(i)]));
    }
    const norm_row row = norm_reference(norm_kind::layer, h, w, b, 1e-3, 16, false);
    const std::vector<float> of_row(got.begin() + r * n, got.begin() + (r + 1) * n);
    ASSERT_TRUE(verify_within(of_row, row.values, [&](std::size_t i) { return row.allowed[i]; }));
  }
}

TEST(norm_types, results_of_another_16_bit_type) {
  for (const std::int64_t columns : {7, 1000, 4100}) {
    norm_case<norm_kind::rms, bf16, fp16>{.rows = 3, .columns = columns}.run_and_check();
    norm_case<norm_kind::layer, fp16, bf16, float>{.rows = 3, .columns = columns}.run_and_check();
  }
}

TEST(norm_options_, epsilon_counts) {
  for (const float epsilon : {0.0f, 1e-6f, 1.0f, 100.0f}) {
    norm_case<norm_kind::rms, float> rms{.rows = 2, .columns = 100};
    rms.options.epsilon = epsilon;
    rms.run_and_check();
    norm_case<norm_kind::layer, float, float, void> layer{.rows = 2, .columns = 100};
    layer.options.epsilon = epsilon;
    layer.run_and_check();
  }
}

// leading axes in any order; a broadcast input; an axis backwards
TEST(norm_views, leading_axes_may_lie_anywhere) {
  constexpr std::int64_t a = 3, b = 4, n = 70;
  const auto values = random_normals<float>(a * b * n, 5);
  const struct {
    std::int64_t first, stride[2];
  } layouts[] = {
      {0, {b * n, n}}, {0, {n, a * n}}, {(b - 1) * n, {b * n, -n}}, {0, {0, n}}, {0, {0, 0}}};
  for (const auto& layout : layouts) {
    device_buffer<float> x(values), y(values.size());
    ASSERT_TRUE(rms_norm(norm_arrays{.x = make_strided_view<float, 3>(
                                         x.data() + layout.first, {a, b, n},
                                         {layout.stride[0], layout.stride[1], 1}),
                                     .y = make_view(y.data(), a, b, n)})
                    .ok());
    const auto got = y.download();
    for (std::int64_t i = 0; i < a; ++i)
      for (std::int64_t j = 0; j < b; ++j) {
        const auto from =
            values.begin() + layout.first + i * layout.stride[0] + j * layout.stride[1];
        const norm_row row = norm_reference(norm_kind::rms, std::vector<double>(from, from + n), {},
                                            {}, 1e-5f, 16, false);
        const auto at = got.begin() + (i * b + j) * n;
        ASSERT_TRUE(verify_within(std::vector<float>(at, at + n), row.values,
                                  [&](std::size_t k) { return row.allowed[k]; }));
      }
  }
}

// Rows at even steps, which have code of their own for whole chunks, and the same rows elsewhere.
template <norm_kind Kind, class T>
void expect_same_at_uneven_steps(std::int64_t n) {
  constexpr std::int64_t a = 3, b = 2;
  const std::int64_t gap = 8;
  const auto size = static_cast<std::size_t>(n);
  const auto values = random_normals<T>(a * (b * size + gap), 5, 1, 0.5);
  const auto weights = random_normals<T>(size, 6);
  device_buffer<T> x(values), w(weights), y(a * b * size), even(a * b * size);
  std::vector<T> packed;
  for (std::int64_t i = 0; i < a; ++i)
    packed.insert(packed.end(), values.begin() + i * (b * n + gap),
                  values.begin() + i * (b * n + gap) + b * n);
  device_buffer<T> x_even(packed);
  const auto run = [&](const T* from, std::int64_t outer, T* to) {
    const norm_arrays arrays{.x = make_strided_view<const T, 3>(from, {a, b, n}, {outer, n, 1}),
                             .y = make_view(to, a, b, n),
                             .weight = make_view(const_cast<const T*>(w.data()), n)};
    const status outcome = Kind == norm_kind::rms ? rms_norm(arrays) : layer_norm(arrays);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
  };
  run(x.data(), b * n + gap, y.data());
  run(x_even.data(), b * n, even.data());
  ASSERT_TRUE(verify_bits(y.download(), even.download())) << n;
}

TEST(norm_layout, uneven_steps_between_rows_change_no_bit) {
  for (const std::int64_t chunks :
       {65, 128, 129, 192, 193, 255, 256, 257, 385, 512, 513, 700, 1024, 1025, 2048}) {
    expect_same_at_uneven_steps<norm_kind::layer, bf16>(8 * chunks);
    expect_same_at_uneven_steps<norm_kind::rms, float>(4 * chunks);
  }
}

// Rows in reverse are at even steps, too.
TEST(norm_layout, negative_steps_between_rows_change_no_bit) {
  constexpr std::int64_t rows = 3, n = 1024;
  const auto values = random_normals<float>(rows * n, 7);
  std::vector<float> reversed;
  for (std::int64_t i = rows; i-- > 0;)
    reversed.insert(reversed.end(), values.begin() + i * n, values.begin() + (i + 1) * n);
  device_buffer<float> x(values), x_reversed(reversed), w(random_normals<float>(n, 8)), y(rows * n),
      expected(rows * n);
  const auto weight = make_view(const_cast<const float*>(w.data()), n);
  const auto first = make_strided_view<const float, 2>(x.data() + 2 * n, {rows, n}, {-n, 1});
  const auto other = make_view(const_cast<const float*>(x_reversed.data()), rows, n);
  const auto to = [&](float* data) { return make_view(data, rows, n); };
  ASSERT_TRUE(rms_norm(norm_arrays{.x = first, .y = to(y.data()), .weight = weight}).ok());
  ASSERT_TRUE(rms_norm(norm_arrays{.x = other, .y = to(expected.data()), .weight = weight}).ok());
  ASSERT_TRUE(verify_bits(y.download(), expected.download()));
}

// 32 bits hold the step of rows whose kernels count on it; others take any
TEST(norm_layout, steps_are_known_below_two_gigabytes) {
  std::int32_t step = 7;
  EXPECT_FALSE(wavetile::detail::step_in_bytes(std::int64_t{1} << 29, 4, step));
  EXPECT_FALSE(wavetile::detail::step_in_bytes(-(std::int64_t{1} << 30), 2, step));
  EXPECT_EQ(step, 7);
  EXPECT_TRUE(wavetile::detail::step_in_bytes((std::int64_t{1} << 29) - 1, 4, step));
  EXPECT_EQ(step, 0x7FFFFFFC);
  EXPECT_TRUE(wavetile::detail::step_in_bytes(-1024, 2, step));
  EXPECT_EQ(step, -2048);
}

// Steps that 32 bits hold, to rows that they do not reach, and a step that they do not hold.
TEST(norm_layout, rows_beyond_32_bits_have_the_bits_of_dense_ones) {
  constexpr std::int64_t quarter = (std::int64_t{1} << 28) + far_gap; // 2^30 bytes and some
  for (const far_rows layout :
       {far_rows{5, quarter}, far_rows{5, -quarter}, far_rows{3, 2 * quarter}}) {
    constexpr std::int64_t most = 4100;
    far_array<float> x(layout.elements(most)), y(layout.elements(most));
    if (!x.exists() || !y.exists())
      GTEST_SKIP() << "the device has less memory than the rows span";
    for (const std::int64_t n : {std::int64_t{1024}, std::int64_t{1500}, most}) {
      SCOPED_TRACE(testing::Message() << layout.stride << " elements to a row of " << n);
      const auto values = random_normals<float>(static_cast<std::size_t>(layout.rows * n), 7);
      device_buffer<float> dense(values), w(random_normals<float>(static_cast<std::size_t>(n), 8)),
          expected(values.size());
      for (std::int64_t r = 0; r < layout.rows; ++r)
        x.put(layout.offset(r), values.data() + r * n, n);
      const auto weight = make_view(const_cast<const float*>(w.data()), n);
      const auto far_view = [&](const far_array<float>& array) {
        return make_strided_view<float, 2>(array.data() + layout.first(), {layout.rows, n},
                                           {layout.stride, 1});
      };
      ASSERT_TRUE(rms_norm(norm_arrays{.x = far_view(x), .y = far_view(y), .weight = weight}).ok());
      ASSERT_TRUE(rms_norm(norm_arrays{.x = make_view(dense.data(), layout.rows, n),
                                       .y = make_view(expected.data(), layout.rows, n),
                                       .weight = weight})
                      .ok());
      const auto all = expected.download();
      for (std::int64_t r = 0; r < layout.rows; ++r) {
        const auto row = all.begin() + static_cast<std::ptrdiff_t>(r * n);
        ASSERT_TRUE(verify_bits(y.get(layout.offset(r), n),
                                std::vector<float>(row, row + static_cast<std::ptrdiff_t>(n))));
      }
    }
    EXPECT_TRUE(y.untouched(most)) << "a row went where its offset cut to 32 bits points";
  }
}

// A row's result does not depend on how many rows there are.
TEST(norm_rows, have_the_same_bits_alone_and_among_many) {
  constexpr std::int64_t rows = 304 * 8 + 5, few = 3, n = 2048;
  const auto count = static_cast<std::size_t>(n);
  const auto values = random_normals<float>(rows * count, 1),
             scales = random_normals<float>(count, 2);
  device_buffer<float> x(values), w(scales), all(rows * count), alone(few * count);
  const auto weight = make_view(const_cast<const float*>(w.data()), n);
  for (const bool rms : {true, false}) {
    const auto call = [&](auto& to, std::int64_t first, std::int64_t many) {
      const norm_arrays arrays{
          .x = make_view(const_cast<const float*>(x.data() + first * n), many, n),
          .y = make_view(to.data(), many, n),
          .weight = weight};
      return rms ? rms_norm(arrays) : layer_norm(arrays);
    };
    ASSERT_TRUE(call(all, 0, rows).ok());
    ASSERT_TRUE(call(alone, rows - few, few).ok());
    const auto got = all.download(), expected = alone.download();
    const std::vector<float> last(got.end() - static_cast<std::ptrdiff_t>(few * n), got.end());
    EXPECT_TRUE(verify_bits(last, expected));
  }
}

// NaNs of every payload come through rounding, and spoil their own row or column only.
TEST(norm_specials, nans_of_all_payloads_stay_nans) {
  constexpr std::int64_t rows = 4;
  for (const std::int64_t n : {1024, 1001, 4096}) {
    const auto count = static_cast<std::size_t>(n);
    auto x = random_normals<bf16>(rows * count, 1);
    auto w = random_normals<bf16>(count, 2);
    x[1 * count + 7] = bf16::from_bits(0x7FFF);
    x[2 * count + count - 1] = bf16::from_bits(0xFFFF);
    w[5] = bf16::from_bits(0x7FFF);
    w[count - 2] = bf16::from_bits(0xFF81);
    device_buffer<bf16> x_buffer(x), w_buffer(w), y(rows * count);
    for (const bool rms : {true, false}) {
      const norm_arrays arrays{.x = make_view(const_cast<const bf16*>(x_buffer.data()), rows, n),
                               .y = make_view(y.data(), rows, n),
                               .weight = make_view(const_cast<const bf16*>(w_buffer.data()), n)};
      ASSERT_TRUE((rms ? rms_norm(arrays) : layer_norm(arrays)).ok());
      const auto got = y.download();
      for (std::size_t i = 0; i < rows * count; ++i) {
        const std::size_t row = i / count, column = i % count;
        const bool spoilt = row == 1 || row == 2 || column == 5 || column == count - 2;
        ASSERT_EQ(std::isnan(as_double(got[i])), spoilt) << row << ", " << column << " of " << n;
      }
    }
  }
}

TEST(norm_stream_order, graphs_capture_and_repeat) {
  hipStream_t stream = nullptr;
  WAVETILE_TEST_HIP(hipStreamCreate(&stream));
  constexpr std::int64_t rows = 4, n = 3000;
  const auto values = random_normals<fp16>(rows * n, 5);
  device_buffer<fp16> x(values), y(rows * n), direct(rows * n);
  const auto call = [&](auto& to, hipStream_t on) {
    return layer_norm(
        norm_arrays{.x = make_view(x.data(), rows, n), .y = make_view(to.data(), rows, n)}, {}, on);
  };
  ASSERT_TRUE(call(direct, nullptr).ok());
  hipGraph_t graph = nullptr;
  hipGraphExec_t runnable = nullptr;
  WAVETILE_TEST_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  ASSERT_TRUE(call(y, stream).ok());
  WAVETILE_TEST_HIP(hipStreamEndCapture(stream, &graph));
  EXPECT_TRUE(y.untouched());
  WAVETILE_TEST_HIP(hipGraphInstantiate(&runnable, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 3; ++i) {
    y.poison();
    WAVETILE_TEST_HIP(hipGraphLaunch(runnable, stream));
    WAVETILE_TEST_HIP(hipStreamSynchronize(stream));
    ASSERT_TRUE(verify_bits(y.download(), direct.download()));
  }
  WAVETILE_TEST_HIP(hipGraphExecDestroy(runnable));
  WAVETILE_TEST_HIP(hipGraphDestroy(graph));
  WAVETILE_TEST_HIP(hipStreamDestroy(stream));
}

template <class T>
std::optional<wavesim_counts> count(std::int64_t rows, std::int64_t columns, bool weighted) {
  const auto elements = static_cast<std::size_t>(rows * columns);
  device_buffer<T> x(random_normals<T>(elements, 1)), y(elements),
      w(static_cast<std::size_t>(columns));
  return count_kernels([&] {
    const auto from = make_view(const_cast<const T*>(x.data()), rows, columns);
    const auto to = make_view(y.data(), rows, columns);
    const status outcome =
        weighted ? rms_norm(norm_arrays{.x = from, .y = to, .weight = make_view(w.data(), columns)})
                 : rms_norm(norm_arrays{.x = from, .y = to});
    ASSERT_TRUE(outcome.ok()) << outcome.message();
  });
}

// one reading and one writing, all in 16-byte accesses, no scratch, no conflict
TEST(norm_traffic, is_the_minimum_wherever_a_row_fits) {
  for (const std::int64_t columns : {64, 256, 1024, 4096, 16384, 65536}) {
    SCOPED_TRACE(columns);
    const auto counts = count<float>(4, columns, false);
    if (!counts)
      GTEST_SKIP() << "only wavesim counts";
    const auto bytes = 4 * static_cast<std::uint64_t>(columns) * 4;
    for (const auto& c : {*counts, *count<bf16>(4, columns * 2, false)}) {
      EXPECT_EQ(c.bytes_read, bytes);
      EXPECT_EQ(c.bytes_written, bytes);
      EXPECT_EQ(c.read_by_width[wavesim_width_16], bytes);
      EXPECT_EQ(c.written_by_width[wavesim_width_16], bytes);
      EXPECT_EQ(c.scratch_bytes_read + c.scratch_bytes_written, 0u);
      EXPECT_EQ(c.lds_conflicts, 0u);
      EXPECT_EQ(c.dispatches, 1u);
    }
  }
}

// lanes that work on several rows read the weight once
TEST(norm_traffic, weights_stay_in_registers) {
  constexpr std::int64_t rows = 8192, columns = 512;
  const auto counts = count<bf16>(rows, columns, true);
  if (!counts)
    GTEST_SKIP() << "only wavesim counts";
  constexpr std::uint64_t row_bytes = columns * 2;
  constexpr std::uint64_t rows_at_a_time = 256 / 64 * 1; // 64 chunks: a wave a row
  const auto device_groups = std::uint64_t{304} * 8;
  const std::uint64_t teams = std::min<std::uint64_t>(rows, device_groups * rows_at_a_time);
  EXPECT_EQ(counts->bytes_read, rows * row_bytes + teams * row_bytes);
}

template <norm_kind Kind, class T>
void expect_resources() {
  using types = kernels::norm_types<Kind, T, kernels::absent, kernels::absent, T, kernels::absent,
                                    T, norm_scaling::none>;
  using kind = norm_kernel;
  constexpr auto config = &kernels::norm_config_for<types>;
  const auto most = [](kind kernel) { return config(kernel).chunk_capacity(); };
  const struct {
    kind kernel;
    void (*code)(kernels::norm_arguments<types>);
    std::int64_t chunks;
  } all[] = {
      {kind::short_rows, &kernels::norm_short_rows<types, config(kind::short_rows)>,
       most(kind::short_rows)},
      {kind::wave_rows, &kernels::norm_wave_rows<types, config(kind::wave_rows)>,
       most(kind::wave_rows)},
      {kind::small_workgroup, &kernels::norm_workgroup<types, config(kind::small_workgroup)>,
       most(kind::small_workgroup)},
      {kind::workgroup, &kernels::norm_workgroup<types, config(kind::workgroup)>,
       most(kind::workgroup)},
      {kind::wide_workgroup, &kernels::norm_workgroup<types, config(kind::wide_workgroup)>,
       most(kind::wide_workgroup)},
      {kind::large_workgroup, &kernels::norm_workgroup<types, config(kind::large_workgroup)>,
       most(kind::large_workgroup)},
      {kind::stream, &kernels::norm_stream_rows<types, config(kind::stream)>,
       most(kind::large_workgroup) + 1},
      {kind::split, &kernels::norm_split_measure<types, config(kind::split)>,
       most(kind::large_workgroup) + 1},
  };
  const device_info device =
      WAVETILE_CUDA ? describe_device("sm_80", 108) : describe_device("gfx942", 304);
  for (const auto& entry : all) {
    SCOPED_TRACE(name_of(entry.kernel));
    norm_problem problem;
    problem.kind = Kind;
    problem.input = problem.output = problem.weight = numeric_traits<T>::type;
    problem.has_weight = true;
    problem.rows = 4;
    problem.columns = entry.chunks * types::chunk;
    problem.workspace_bytes = entry.kernel == kind::split ? 1 << 20 : 0;
    const norm_plan p = plan(problem, device);
    ASSERT_EQ(p.kernel, entry.kernel);
    hipFuncAttributes attributes;
    WAVETILE_TEST_HIP(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(entry.code)));
    EXPECT_EQ(static_cast<std::int64_t>(attributes.sharedSizeBytes), p.lds_bytes);
    // NVIDIA: a few bytes are cheaper than fewer workgroups of an SM
    EXPECT_LE(attributes.localSizeBytes, WAVETILE_CUDA ? 32u : 0u) << "scratch";
    EXPECT_EQ(attributes.maxThreadsPerBlock, p.config.threads());
    EXPECT_LE(attributes.numRegs, p.register_limit);
    EXPECT_LT(p.row_registers, p.register_limit);
  }
}

TEST(norm_resources, are_those_of_the_plan) {
  expect_resources<norm_kind::rms, fp16>();
  expect_resources<norm_kind::layer, float>();
}

} // namespace
