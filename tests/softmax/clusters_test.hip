// Long rows on NVIDIA GPUs with clusters: plans, and results on the device that is there.
#include "clusters_here.hpp"
#include "softmax_case.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string>

namespace {

using namespace wavetile;
using namespace wavetile::test;

const device_info hopper = describe_device("sm_90", 132);

softmax_problem problem_of(data_type type, std::int64_t rows, std::int64_t columns) {
  softmax_problem problem;
  problem.input = problem.output = type;
  problem.rows = rows;
  problem.columns = columns;
  return problem;
}

void expect_words(const softmax_plan& p, std::initializer_list<const char*> words) {
  const std::string text = p.describe().c_str();
  for (const char* const word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " is not in\n" << text;
}

// Programs without code for sm_90 run what they would on sm_80.
TEST(softmax_cluster_plans, are_for_long_rows_without_masks) {
  if (!kernels::has_cluster_code(hopper))
    GTEST_SKIP() << "compiled without code for sm_90";
  constexpr std::int64_t one_step = kernels::row_ring{1}.lds_bytes(),
                         two_steps = kernels::row_ring{2}.lds_bytes();
  const struct {
    data_type type;
    std::int64_t columns;
    std::uint32_t parts; ///< 0: another kernel
    int threads, readings;
    std::int64_t groups, lds_bytes;
  } cases[] = {
      {data_type::bf16, 8192, 0, 0, 0, 0, 0},
      {data_type::fp32, 32768, 0, 0, 0, 0, 0},
      {data_type::bf16, 8200, 1, 256, 1, 500, 128 + 512 + 2 * 16384},
      {data_type::fp16, 32768, 1, 256, 1, 500, 128 + 512 + 65536},
      {data_type::bf16, 65536, 2, 576, 1, 132, two_steps},
      {data_type::bf16, 131072, 8, 576, 1, 128, one_step},
      {data_type::fp32, 131072, 8, 576, 1, 128, two_steps},
      {data_type::bf16, 524288, 16, 576, 1, 128, two_steps},
      // statistics of 8 waves and 16 workgroups, barriers, and steps of 32 KB
      {data_type::bf16, 1048576, 16, 256, 2, 8000, 2048 + 384 + 3 * 32768},
      {data_type::fp32, 1048576, 16, 256, 2, 8000, 2048 + 768 + 6 * 32768},
      {data_type::fp32, 1048580, 0, 0, 0, 0, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.columns);
    const softmax_plan p = plan(problem_of(c.type, 500, c.columns), hopper);
    ASSERT_TRUE(p.outcome.ok()) << p.outcome.message();
    ASSERT_EQ(p.kernel == softmax_kernel::cluster, c.parts != 0) << p.describe().c_str();
    if (c.parts == 0)
      continue;
    EXPECT_EQ(p.parts, c.parts);
    EXPECT_EQ(p.config.threads(), c.threads);
    EXPECT_EQ(p.readings, c.readings);
    EXPECT_EQ(p.groups, c.groups);
    EXPECT_EQ(plan(problem_of(c.type, 3, c.columns), hopper).groups, 3 * std::int64_t{c.parts});
    EXPECT_EQ(p.launches, 1);
    EXPECT_EQ(p.workspace_bytes, 0);
    EXPECT_EQ(p.lds_bytes, c.threads == 576 ? c.lds_bytes : (c.lds_bytes + 127) / 128 * 128)
        << p.describe().c_str();
    EXPECT_GE(p.part_chunks * p.parts, c.columns / p.chunk);
    EXPECT_EQ(p.refused[static_cast<int>(softmax_kernel::cluster)], softmax_refusal::none);
    EXPECT_NE(std::string(p.describe().c_str()).find("clusters of "), std::string::npos);
  }
  softmax_problem other = problem_of(data_type::bf16, 500, 131072);
  EXPECT_NE(plan(other, describe_device("sm_80", 108)).kernel, softmax_kernel::cluster);
  other.causal = true;
  other.queries = 500;
  EXPECT_NE(plan(other, hopper).kernel, softmax_kernel::cluster);
  other.causal = false;
  other.mask = mask_kind::keep;
  EXPECT_NE(plan(other, hopper).kernel, softmax_kernel::cluster);
  EXPECT_EQ(plan(other, hopper).refused[static_cast<int>(softmax_kernel::cluster)],
            softmax_refusal::not_clustered);
  // a part of the device on which clusters of 16 may not fit
  EXPECT_NE(plan(problem_of(data_type::fp32, 500, 1048576), describe_device("sm_90", 60)).kernel,
            softmax_kernel::cluster);
}

// Few rows go to all SMs where there is a workspace for that.
TEST(softmax_cluster_plans, leave_few_rows_to_split) {
  if (!kernels::has_cluster_code(hopper))
    GTEST_SKIP() << "compiled without code for sm_90";
  softmax_problem problem = problem_of(data_type::bf16, 4, 524288);
  EXPECT_EQ(plan(problem, hopper).kernel, softmax_kernel::cluster);
  EXPECT_GT(plan(problem, hopper).best_workspace_bytes, 0);
  problem.workspace_bytes = 1 << 20;
  EXPECT_EQ(plan(problem, hopper).kernel, softmax_kernel::split);
  expect_words(plan(problem, hopper), {"not cluster: with 4 rows it would leave CUs idle"});
  problem.workspace_bytes = 0; // 64 parts of 1024 chunks, 8 bytes each
  expect_words(plan(problem, hopper), {"cluster: clusters of 16, 64 workgroups of 576",
                                       "not split: it needs 2048 bytes of workspace, none lent",
                                       "not stream: a cluster has the row in LDS"});
  problem.columns = 1048576;
  expect_words(plan(problem, hopper), {"not stream: a cluster has most of the row in LDS"});
  problem.columns = 524288;
  problem.workspace_bytes = 1 << 20;
  problem.rows = 128; // 2048 workgroups
  EXPECT_EQ(plan(problem, hopper).kernel, softmax_kernel::cluster);
  EXPECT_EQ(plan(problem, hopper).best_workspace_bytes, 0);
}

TEST(softmax_cluster_plans, are_those_of_this_device) {
  if (!has_clusters_here())
    GTEST_SKIP() << "no clusters here";
  EXPECT_EQ(plan(problem_of(data_type::bf16, 500, 131072), this_device()).kernel,
            softmax_kernel::cluster);
}

template <class T>
class softmax_clusters : public testing::Test {};
using element_types = testing::Types<float, fp16, bf16>;
TYPED_TEST_SUITE(softmax_clusters, element_types);

// One workgroup to sixteen; steps, parts and waves that are full, short and empty; a tail or none;
// parts that LDS holds, and longer ones.
template <class T>
constexpr std::int64_t widths[] = {8193,  8200,   12001,  16384,  20003,  33001,  32776, 65536,
                                   70005, 100008, 131072, 140003, 262149, 300001, 900007};

TYPED_TEST(softmax_clusters, agree_with_the_reference) {
  for (const std::int64_t columns : widths<TypeParam>)
    for (const bool logarithm : {false, true}) {
      softmax_case<TypeParam> c{.rows = 3, .columns = columns, .logarithm = logarithm};
      // a lane adds at most 32 elements of a step, in chains of 8, to those of the steps before it
      c.chain = 48;
      c.fill(10, static_cast<std::uint64_t>(columns));
      c.run_and_check();
      if (this->HasFatalFailure())
        return;
    }
}

TYPED_TEST(softmax_clusters, strides_addresses_and_place_change_no_bit) {
  for (const std::int64_t columns : {9000, 70005, 262149, 700000}) {
    softmax_case<TypeParam> dense{.rows = 3, .columns = columns};
    dense.chain = 48;
    dense.fill(3, 7);
    dense.run_and_check();
    for (const std::int64_t pad : {1, 8})
      for (const std::size_t shift : {0u, 1u, 2u, 4u})
        for (const bool in_place : {false, true}) {
          auto other = dense;
          other.x_stride = columns + pad;
          other.y_stride = columns + 3 * pad;
          other.x_shift = shift;
          other.y_shift = in_place ? shift : 2 * shift;
          other.in_place = in_place;
          other.run();
          ASSERT_TRUE(verify_bits(other.y, dense.y)) << columns << ", " << pad << ", " << shift;
        }
  }
}

TYPED_TEST(softmax_clusters, infinities_and_nans_are_as_in_other_rows) {
  for (const std::int64_t columns : {33003, 300001})
    for (const bool logarithm : {false, true}) {
      softmax_case<TypeParam> c{.rows = 7, .columns = columns, .logarithm = logarithm};
      c.chain = 48;
      c.fill(1);
      const auto set = [&](std::int64_t row, std::int64_t column, double value) {
        c.x[static_cast<std::size_t>(row * columns + column)] = convert<TypeParam>(value);
      };
      for (std::int64_t i = 0; i < columns; ++i) {
        set(1, i, -INFINITY);
        if (i != columns / 2)
          set(2, i, -INFINITY);
        if (i < columns / 3) // whole parts
          set(3, i, -INFINITY);
      }
      set(4, columns - 1, NAN); // in the tail
      set(5, 5, INFINITY);
      c.run_and_check();
      if (this->HasFatalFailure())
        return;
      c.options.scale = -0.5f;
      c.run_and_check();
      if (this->HasFatalFailure())
        return;
    }
}

// Clusters that stay take several rows each, alone they take one: LDS goes round several times.
template <class T>
void expect_same_bits_alone_and_in_place(std::int64_t rows, std::int64_t columns, bool in_turn) {
  SCOPED_TRACE(columns);
  if (has_clusters_here()) {
    const softmax_plan here =
        plan(problem_of(numeric_traits<T>::type, rows, columns), this_device());
    ASSERT_EQ(here.groups < rows * here.parts, in_turn) << here.describe().c_str();
  }
  const auto values = random_normals<T>(static_cast<std::size_t>(rows * columns), 11, 3);
  device_buffer<T> x(values), all(values.size()), alone(static_cast<std::size_t>(columns));
  const auto call = [&](std::int64_t first, std::int64_t count, T* to) {
    return softmax(make_view(static_cast<const T*>(x.data()) + first * columns, count, columns),
                   make_view(to, count, columns));
  };
  ASSERT_TRUE(call(0, rows, all.data()).ok());
  const auto got = all.download();
  for (const std::int64_t row : {std::int64_t{0}, rows / 2, rows - 1}) {
    ASSERT_TRUE(call(row, 1, alone.data()).ok());
    const auto first = got.begin() + row * columns;
    ASSERT_TRUE(verify_bits(std::vector<T>(first, first + columns), alone.download())) << row;
  }
  ASSERT_TRUE(call(0, rows, x.data()).ok());
  ASSERT_TRUE(verify_bits(x.download(), got));
}
TYPED_TEST(softmax_clusters, rows_have_the_same_bits_alone_among_many_and_in_place) {
  constexpr bool halves = sizeof(TypeParam) == 2;
  expect_same_bits_alone_and_in_place<TypeParam>(132 * 14 + 5, 9000, false);
  expect_same_bits_alone_and_in_place<TypeParam>(66 * 9 + 5, 40003, true);
  expect_same_bits_alone_and_in_place<TypeParam>(301, 140003, true);
  expect_same_bits_alone_and_in_place<TypeParam>(67, 262149, halves);
}
// So few that each place in LDS is used again: for tools that take long.
TEST(softmax_clusters_in_turn, of_eight_workgroups) {
  expect_same_bits_alone_and_in_place<float>(this_device().cu_count / 8 * 8, 50001, true);
}

// Rows of two axes that no single one replaces, and one row that stands for all, of which each
// cluster takes several.
TYPED_TEST(softmax_clusters, rows_of_two_axes_and_repeated_rows_have_the_same_bits) {
  using T = TypeParam;
  constexpr std::int64_t outer = 5, inner = 31, rows = outer * inner, columns = 70008;
  device_buffer<T> x(random_normals<T>(rows * columns, 12, 3)), y(rows * columns);
  const auto* const from = static_cast<const T*>(x.data());
  ASSERT_TRUE(softmax(make_view(from, rows, columns), make_view(y.data(), rows, columns)).ok());
  const auto expected = y.download();
  y.poison();
  const auto swapped = []<class U>(U* data) {
    return make_strided_view<U, 3>(data, {inner, outer, columns}, {columns, inner * columns, 1});
  };
  ASSERT_TRUE(softmax(swapped(from), swapped(y.data())).ok());
  ASSERT_TRUE(verify_bits(y.download(), expected)) << "two axes";
  y.poison();
  ASSERT_TRUE(softmax(make_strided_view<const T, 2>(from, {rows, columns}, {0, 1}),
                      make_view(y.data(), rows, columns))
                  .ok());
  const auto got = y.download();
  for (std::int64_t row = 0; row < rows; ++row)
    ASSERT_TRUE(std::equal(expected.begin(), expected.begin() + columns,
                           got.begin() + row * columns,
                           [](const T& a, const T& b) { return !std::memcmp(&a, &b, sizeof a); }))
        << "row " << row << " of stride 0";
}

TEST(softmax_clusters_of_mixed_types, agree_with_the_reference) {
  for (const std::int64_t columns : {40001, 270000}) {
    softmax_case<fp16, float> a{.rows = 3, .columns = columns};
    softmax_case<float, bf16> b{.rows = 3, .columns = columns};
    a.chain = b.chain = 48;
    a.fill(4);
    b.fill(4);
    a.run_and_check();
    b.run_and_check();
  }
}

TEST(softmax_clusters_in_graphs, give_the_same_bits_each_time) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  constexpr std::int64_t rows = 40, columns = 200000;
  device_buffer<bf16> x(random_normals<bf16>(rows * columns, 3)), y(rows * columns);
  const auto call = [&] {
    return softmax(make_view(static_cast<const bf16*>(x.data()), rows, columns),
                   make_view(y.data(), rows, columns), {}, stream);
  };
  ASSERT_TRUE(call().ok());
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  const auto expected = y.download();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  const status outcome = call();
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(cudaMemset(y.data(), 0xFF, rows * columns * sizeof(bf16)), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(ready, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_TRUE(verify_bits(y.download(), expected));
  }
  (void)cudaGraphExecDestroy(ready);
  (void)cudaGraphDestroy(graph);
  (void)cudaStreamDestroy(stream);
}

} // namespace
