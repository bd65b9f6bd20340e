// Long rows on NVIDIA GPUs with clusters.
#include "norm_case.hpp"

#include <algorithm>

namespace {

using namespace wavetile;
using namespace wavetile::test;
using enum norm_kind;

const device_info hopper = describe_device("sm_90", 132);

norm_problem problem_of(data_type type, std::int64_t rows, std::int64_t columns) {
  norm_problem problem;
  problem.kind = layer;
  problem.input = problem.output = problem.weight = problem.residual = problem.sum = type;
  problem.has_weight = true;
  problem.rows = rows;
  problem.columns = columns;
  return problem;
}

TEST(norm_cluster_plans, are_for_long_rows) {
  if (!kernels::has_cluster_code(hopper))
    GTEST_SKIP() << "compiled without code for sm_90";
  constexpr std::int64_t one_step = kernels::row_ring{1}.lds_bytes(),
                         two_steps = kernels::row_ring{2}.lds_bytes();
  // six or three parts, a barrier of each wave for each, three for each row, statistics of rows
  static_assert(one_step == 6 * 32768 + (6 * 16 + 3 * 6) * 8 + 6 * (16 + 16 + 1) * 16);
  static_assert(two_steps == 3 * 65536 + (3 * 16 + 3 * 4) * 8 + 4 * (16 + 16 + 1) * 16);
  const struct {
    data_type type;
    std::int64_t columns;
    std::uint32_t parts; ///< 0: another kernel
    int threads, readings;
    std::int64_t groups, lds_bytes;
  } cases[] = {
      {data_type::bf16, 8192, 0, 0, 0, 0, 0},
      {data_type::fp32, 8192, 0, 0, 0, 0, 0},
      {data_type::bf16, 16384, 1, 576, 1, 132, one_step},
      {data_type::fp32, 16384, 1, 576, 1, 132, two_steps},
      {data_type::bf16, 32768, 2, 576, 1, 132, one_step},
      {data_type::bf16, 65536, 4, 576, 1, 132, one_step},
      {data_type::fp32, 32768, 2, 576, 1, 132, two_steps},
      {data_type::fp16, 131072, 8, 576, 1, 128, one_step},
      {data_type::fp32, 131072, 8, 576, 1, 128, two_steps},
      {data_type::bf16, 262144, 16, 576, 1, 128, one_step},
      {data_type::bf16, 524288, 16, 576, 1, 128, two_steps},
      // statistics of 8 waves and 16 workgroups, barriers, and steps of 32 KB
      {data_type::bf16, 1048576, 16, 256, 2, 8000, 2048 + 384 + 3 * 32768},
      {data_type::fp32, 1048576, 16, 256, 2, 8000, 2048 + 768 + 6 * 32768},
      {data_type::fp32, 1048580, 0, 0, 0, 0, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.columns);
    const norm_plan p = plan(problem_of(c.type, 500, c.columns), hopper);
    ASSERT_TRUE(p.outcome.ok()) << p.outcome.message();
    ASSERT_EQ(p.kernel == norm_kernel::cluster, c.parts != 0) << p.describe().c_str();
    if (c.parts == 0)
      continue;
    EXPECT_EQ(p.parts, c.parts);
    EXPECT_EQ(p.config.threads(), c.threads);
    EXPECT_EQ(p.readings, c.readings);
    EXPECT_EQ(p.groups, c.groups);
    EXPECT_EQ(plan(problem_of(c.type, 3, c.columns), hopper).groups, 3 * std::int64_t{c.parts});
    EXPECT_EQ(p.launches, 1);
    EXPECT_EQ(p.lds_bytes, c.readings == 1 ? c.lds_bytes : (c.lds_bytes + 127) / 128 * 128)
        << p.describe().c_str();
    EXPECT_NE(std::string(p.describe().c_str()).find("clusters of "), std::string::npos);
  }
  norm_problem other = problem_of(data_type::bf16, 500, 16384);
  other.kind = rms;
  EXPECT_NE(plan(other, hopper).kernel, norm_kernel::cluster);
  other = problem_of(data_type::bf16, 500, 131072);
  EXPECT_NE(plan(other, describe_device("sm_80", 108)).kernel, norm_kernel::cluster);
  // read once without a workspace
  other = problem_of(data_type::bf16, 4, 524288);
  EXPECT_EQ(plan(other, hopper).best_workspace_bytes, 0);
  other.workspace_bytes = 1 << 20;
  EXPECT_EQ(plan(other, hopper).kernel, norm_kernel::cluster);
  EXPECT_EQ(plan(other, hopper).workspace_bytes, 0);
}

// Longer rows, with a workspace for what the workgroups of a row exchange.
TEST(norm_cluster_plans, take_longer_rows_with_a_workspace) {
  if (!kernels::has_cluster_code(hopper))
    GTEST_SKIP() << "compiled without code for sm_90";
  constexpr kernels::row_ring ring{2, true};
  const struct {
    data_type type;
    std::int64_t columns;
    std::uint32_t parts;
    std::int64_t groups;
  } cases[] = {{data_type::bf16, 524296, 32, 128},
               {data_type::bf16, 1048576, 32, 128},
               {data_type::fp32, 1048576, 64, 128},
               {data_type::fp32, 2097152, 128, 128},
               {data_type::fp32, 2097156, 0, 0}};
  for (const auto& c : cases)
    for (const bool has_residual : {false, true}) {
      SCOPED_TRACE(c.columns);
      norm_problem problem = problem_of(c.type, 500, c.columns);
      problem.has_residual = has_residual;
      const std::int64_t best = plan(problem, hopper).best_workspace_bytes;
      problem.workspace_bytes = 1 << 20;
      const norm_plan p = plan(problem, hopper);
      if (c.parts == 0) {
        EXPECT_NE(p.kernel, norm_kernel::cluster);
        continue;
      }
      ASSERT_EQ(p.kernel, norm_kernel::cluster) << p.describe().c_str();
      EXPECT_EQ(p.parts, c.parts);
      EXPECT_EQ(p.groups, c.groups);
      EXPECT_EQ(p.readings, 1);
      EXPECT_EQ(p.config.threads(), 640);
      EXPECT_EQ(p.lds_bytes, ring.lds_bytes());
      EXPECT_EQ(p.workspace_bytes, c.groups * 4 * 32);
      EXPECT_EQ(p.workspace_bytes, best);
      problem.workspace_bytes = best - 1;
      EXPECT_EQ(plan(problem, hopper).outcome.code(), status_code::workspace_too_small);
      problem.rows = 1;
      problem.workspace_bytes = best;
      EXPECT_EQ(plan(problem, hopper).groups, c.parts);
      // not on a device that does not hold the workgroups of a row
      EXPECT_NE(plan(problem, describe_device("sm_90", 31)).kernel, norm_kernel::cluster);
    }
}

// h takes the place of x in LDS: they must be of one size, and without a workspace the row at most
// 1 MB.
TEST(norm_cluster_plans, may_have_a_residual) {
  if (!kernels::has_cluster_code(hopper))
    GTEST_SKIP() << "compiled without code for sm_90";
  norm_problem problem = problem_of(data_type::bf16, 500, 131072);
  problem.has_residual = true;
  EXPECT_EQ(plan(problem, hopper).kernel, norm_kernel::cluster);
  EXPECT_EQ(plan(problem, hopper).readings, 1);
  for (const auto type : {&norm_problem::residual, &norm_problem::sum}) {
    norm_problem mixed = problem;
    mixed.*type = data_type::fp32;
    EXPECT_NE(plan(mixed, hopper).kernel, norm_kernel::cluster);
    mixed.*type = data_type::fp16;
    EXPECT_EQ(plan(mixed, hopper).kernel, norm_kernel::cluster);
  }
  problem.columns = 1048576;
  EXPECT_EQ(plan(problem, hopper).kernel, norm_kernel::stream);
  problem.columns = 16384;
  EXPECT_NE(plan(problem, hopper).kernel, norm_kernel::cluster);
}

TEST(norm_cluster_plans, are_those_of_this_device) {
  device_info device;
  ASSERT_TRUE(known_device(0, device).ok());
  if (device.arch() != architecture::sm90 || !kernels::has_cluster_code(device))
    GTEST_SKIP() << "no clusters here";
  EXPECT_EQ(plan(problem_of(data_type::bf16, 500, 131072), device).kernel, norm_kernel::cluster);
}

/// All additions of an element as `norm_reference` has them for rows in memory.
template <norm_kind Kind, class T, class P = T>
void expect_right(std::int64_t columns, double mean = 0) {
  SCOPED_TRACE(columns);
  norm_case<Kind, T, T, P> c{.rows = 3, .columns = columns, .mean = mean};
  c.run_and_check();
}

// One workgroup to sixteen; steps, parts and waves that are full, short and empty; a tail or none;
// parts that LDS holds, and longer ones.
template <norm_kind Kind, class T>
void expect_widths() {
  for (const std::int64_t columns : {8193, 8200, 16384, 20003, 33001, 65536, 70005, 100008, 131072,
                                     140003, 262149, 300001, 900007}) {
    expect_right<Kind, T>(columns);
    if (testing::Test::HasFatalFailure())
      return;
  }
}
TEST(norm_clusters, rms_agrees_with_the_reference) {
  expect_widths<rms, float>();
  expect_widths<rms, bf16>();
}
TEST(norm_clusters, layer_agrees_with_the_reference) {
  expect_widths<layer, float>();
  expect_widths<layer, fp16>();
}

// weights of other types, without any, and where the mean is large
TEST(norm_clusters, with_other_weights) {
  for (const std::int64_t columns : {20003, 140003}) {
    expect_right<layer, float, bf16>(columns, 1000);
    expect_right<layer, bf16, float>(columns);
    expect_right<layer, float, void>(columns, 1000);
  }
}

template <class Case>
void expect_same_bits(Case dense) {
  dense.run_and_check();
  for (const std::int64_t pad : {1, 8})
    for (const std::size_t shift : {0u, 1u, 4u})
      for (const bool in_place : {false, true}) {
        auto other = dense;
        other.pad = pad;
        other.shift = shift;
        other.y_is_x = in_place;
        other.run();
        ASSERT_TRUE(verify_bits(other.y, dense.y))
            << dense.columns << ", " << pad << ", " << shift << ", " << in_place;
      }
}
TEST(norm_clusters, strides_addresses_and_place_change_no_bit) {
  for (const std::int64_t columns : {9000, 70005, 700000}) {
    expect_same_bits(norm_case<layer, bf16>{.rows = 3, .columns = columns});
    expect_same_bits(norm_case<rms, float>{.rows = 3, .columns = columns});
    if (testing::Test::HasFatalFailure())
      return;
  }
}

// sum in an array of its own and in place of the residual; a tail or none; parts of one step and
// two
template <norm_kind Kind, class T>
void expect_sums() {
  for (const std::int64_t columns : {17001, 20003, 66008, 131072, 140003, 300001}) {
    SCOPED_TRACE(columns);
    norm_case<Kind, T, T, T, T> c{.rows = 3, .columns = columns};
    for (const bool in_place : {false, true}) {
      c.sum_is_residual = in_place;
      c.run_and_check();
      if (testing::Test::HasFatalFailure())
        return;
    }
  }
}
TEST(norm_clusters_with_residual, agree_with_the_reference) {
  expect_sums<rms, bf16>();
  expect_sums<layer, float>();
}
TEST(norm_clusters_with_residual, strides_addresses_and_place_change_no_bit) {
  for (const std::int64_t columns : {17000, 140003}) {
    expect_same_bits(norm_case<rms, bf16, bf16, bf16, bf16>{.rows = 3, .columns = columns});
    expect_same_bits(norm_case<layer, float, float, float, float>{.rows = 3, .columns = columns});
    if (testing::Test::HasFatalFailure())
      return;
  }
}

// Rows of the workgroups of a whole device, or half of them
TEST(norm_clusters_with_workspace, agree_with_the_reference) {
  for (const std::int64_t columns : {300001, 600008}) {
    norm_case<layer, float, float, float, float> a{.rows = 5, .columns = columns, .lend = true};
    norm_case<rms, bf16> b{.rows = 9, .columns = 2 * columns - 1, .lend = true};
    a.run_and_check();
    b.run_and_check();
    if (testing::Test::HasFatalFailure())
      return;
  }
}
TEST(norm_clusters_with_workspace, strides_addresses_and_place_change_no_bit) {
  expect_same_bits(norm_case<rms, bf16>{.rows = 3, .columns = 700001, .lend = true});
  expect_same_bits(
      norm_case<layer, float, float, float, float>{.rows = 3, .columns = 300004, .lend = true});
}

/// One call; `residual` may be empty. Lends what every plan here asks for.
template <class T>
std::vector<T> normalised(norm_kind kind, const std::vector<T>& x, const std::vector<T>& weight,
                          const std::vector<T>& residual, bool lend = false) {
  const auto columns = static_cast<std::int64_t>(weight.size());
  const std::int64_t rows = static_cast<std::int64_t>(x.size()) / columns;
  device_buffer<T> x_buffer(x), w(weight), y(x.size()), r(residual), sum(residual.size());
  const auto matrix = [&](auto* data) { return make_view(data, rows, columns); };
  const auto from = matrix(const_cast<const T*>(x_buffer.data()));
  const auto weights = make_view(const_cast<const T*>(w.data()), columns);
  status outcome;
  device_buffer<float> memory(lend ? 1 << 16 : 0);
  norm_options options;
  if (lend)
    options.memory = {memory.data(), 4 << 16};
  if (!residual.empty()) {
    const norm_arrays arrays{.x = from,
                             .y = matrix(y.data()),
                             .weight = weights,
                             .residual = matrix(const_cast<const T*>(r.data())),
                             .sum = matrix(sum.data())};
    outcome = kind == rms ? rms_norm(arrays, options) : layer_norm(arrays, options);
  } else {
    const norm_arrays arrays{.x = from, .y = matrix(y.data()), .weight = weights};
    outcome = kind == rms ? rms_norm(arrays, options) : layer_norm(arrays, options);
  }
  EXPECT_TRUE(outcome.ok()) << outcome.message();
  return y.download();
}

// Clusters that stay take dozens of rows each, alone they take one: LDS goes round several times.
template <class T>
void expect_same_bits_alone(norm_kind kind, std::int64_t rows, std::int64_t columns,
                            bool has_residual, bool lend = false) {
  SCOPED_TRACE(columns);
  const auto width = static_cast<std::size_t>(columns),
             count = static_cast<std::size_t>(rows) * width;
  const auto x = random_normals<T>(count, 11, 2, 0.5), weight = random_normals<T>(width, 12);
  const auto residual = random_normals<T>(has_residual ? count : 0, 13);
  const auto all = normalised(kind, x, weight, residual, lend);
  for (const std::int64_t row : {std::int64_t{0}, rows / 2, rows - 1}) {
    const auto part = [&](const std::vector<T>& of) {
      const auto first = of.begin() + row * columns;
      return of.empty() ? std::vector<T>{} : std::vector<T>(first, first + columns);
    };
    ASSERT_TRUE(verify_bits(part(all), normalised(kind, part(x), weight, part(residual), lend)))
        << row;
  }
}
TEST(norm_clusters, rows_have_the_same_bits_alone_and_among_many) {
  for (const bool has_residual : {false, true}) {
    expect_same_bits_alone<bf16>(layer, 132 * 14 + 5, 17000, has_residual);
    expect_same_bits_alone<bf16>(rms, 301, 140003, has_residual);
    expect_same_bits_alone<float>(layer, 150, 131072, has_residual);
    expect_same_bits_alone<float>(rms, 67, 200001, has_residual);
    expect_same_bits_alone<float>(layer, 41, 300001, has_residual, true);
    expect_same_bits_alone<bf16>(rms, 45, 600008, has_residual, true);
    if (testing::Test::HasFatalFailure())
      return;
  }
}

// As in the other kernels: a NaN, and for layer an infinity, spoils its row; for rms an infinity
// makes the others of its row zeros. Rows beside it keep their bits.
template <class T>
void expect_spoilt(norm_kind kind, std::int64_t columns, bool has_residual, bool lend = false) {
  SCOPED_TRACE(columns);
  constexpr std::size_t rows = 150; // several of each cluster
  const auto width = static_cast<std::size_t>(columns);
  auto x = random_normals<T>(rows * width, 21),
       residual = random_normals<T>(has_residual ? rows * width : 0, 22);
  const auto weight = random_normals<T>(width, 23);
  const auto clean = normalised(kind, x, weight, residual, lend);
  const auto nan = convert<T>(std::nanf("")), infinity = convert<T>(INFINITY);
  const struct {
    std::size_t row, column;
    T value;
  } spoilt[] = {
      {1, 7, nan}, {17, width - 1, nan}, {40, width / 2, infinity}, {149, width - 1, infinity}};
  for (const auto& one : spoilt)
    (has_residual ? residual : x)[one.row * width + one.column] = one.value;
  const auto got = normalised(kind, x, weight, residual, lend);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto* found = std::find_if(std::begin(spoilt), std::end(spoilt),
                                     [&](const auto& one) { return one.row == row; });
    const auto first = static_cast<std::ptrdiff_t>(row * width);
    if (found == std::end(spoilt)) {
      ASSERT_TRUE(
          verify_bits(std::vector<T>(got.begin() + first, got.begin() + first + columns),
                      std::vector<T>(clean.begin() + first, clean.begin() + first + columns)))
          << row;
      continue;
    }
    const bool zeros = kind == rms && std::isinf(as_double(found->value));
    for (std::size_t i = 0; i < width; ++i) {
      const double value = as_double(got[row * width + i]);
      if (zeros && i != found->column)
        ASSERT_EQ(value, 0) << row << ", " << i;
      else
        ASSERT_TRUE(std::isnan(value)) << row << ", " << i;
    }
  }
}
TEST(norm_clusters, infinities_and_nans_are_as_in_other_rows) {
  for (const norm_kind kind : {rms, layer})
    for (const bool has_residual : {false, true}) {
      expect_spoilt<bf16>(kind, 33003, has_residual);
      expect_spoilt<float>(kind, 33003, has_residual);
      if (testing::Test::HasFatalFailure())
        return;
    }
  for (const norm_kind kind : {rms, layer})
    for (const bool lend : {false, true}) // for each row a cluster; through memory
      expect_spoilt<float>(kind, 270001, false, lend);
}

TEST(norm_clusters_in_graphs, give_the_same_bits_each_time) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  constexpr std::int64_t rows = 100, columns = 100000;
  device_buffer<bf16> x(random_normals<bf16>(rows * columns, 3)),
      w(random_normals<bf16>(columns, 4)), r(random_normals<bf16>(rows * columns, 5)),
      sum(rows * columns), y(rows * columns);
  const auto matrix = [&](auto* data) { return make_view(data, rows, columns); };
  const auto call = [&] {
    return layer_norm(norm_arrays{.x = matrix(static_cast<const bf16*>(x.data())),
                                  .y = matrix(y.data()),
                                  .weight = make_view(static_cast<const bf16*>(w.data()), columns),
                                  .residual = matrix(static_cast<const bf16*>(r.data())),
                                  .sum = matrix(sum.data())},
                      {}, stream);
  };
  ASSERT_TRUE(call().ok());
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  const auto expected = y.download(), sums = sum.download();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  const status outcome = call();
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
  for (int i = 0; i < 3; ++i) {
    y.poison();
    sum.poison();
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(ready, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_TRUE(verify_bits(y.download(), expected));
    ASSERT_TRUE(verify_bits(sum.download(), sums));
  }
  (void)cudaGraphExecDestroy(ready);
  (void)cudaGraphDestroy(graph);
  (void)cudaStreamDestroy(stream);
}

} // namespace
