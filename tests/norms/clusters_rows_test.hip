// Rows of clusters on NVIDIA GPUs beside each other: the same bits alone, NaNs, graphs.
#include "clusters_here.hpp"
#include "norm_case.hpp"

#include <algorithm>
#include <string>

namespace {

using namespace wavetile;
using namespace wavetile::test;
using enum norm_kind;

/// Which arrays are others.
enum class places { apart, y_is_x, sum_is_x, sum_is_residual, y_is_residual_and_sum_is_x };

template <class Arrays>
norm_problem problem_of(norm_kind kind, const Arrays& arrays, const norm_options& options) {
  return kind == rms ? rms_norm_problem_of(arrays, options)
                     : layer_norm_problem_of(arrays, options);
}
template <class Arrays>
status run(norm_kind kind, const Arrays& arrays, const norm_options& options = {},
           hipStream_t stream = nullptr) {
  return kind == rms ? rms_norm(arrays, options, stream) : layer_norm(arrays, options, stream);
}

/// What a call with memory enough would use of it on the device that is there.
template <class Arrays>
std::int64_t wanted_bytes(norm_kind kind, const Arrays& arrays) {
  norm_options much;
  much.memory.bytes = std::int64_t{1} << 40;
  const norm_plan chosen = plan(problem_of(kind, arrays, much), this_device());
  EXPECT_GT(chosen.workspace_bytes, 0);
  if (has_clusters_here())
    EXPECT_EQ(chosen.kernel, norm_kernel::cluster) << chosen.describe().c_str();
  return chosen.workspace_bytes;
}

/// One call; `residual` may be empty. Lends what the plan asks for. Sums go to `sums`.
template <class T>
std::vector<T> normalised(norm_kind kind, const std::vector<T>& x, const std::vector<T>& weight,
                          const std::vector<T>& residual, bool lend = false,
                          places where = places::apart, std::vector<T>* sums = nullptr,
                          norm_plan* here = nullptr) {
  const auto columns = static_cast<std::int64_t>(weight.size());
  const std::int64_t rows = static_cast<std::int64_t>(x.size()) / columns;
  device_buffer<T> x_buffer(x), w(weight), y(x.size()), r(residual), sum(residual.size());
  device_buffer<T>& y_at = where == places::y_is_x                       ? x_buffer
                           : where == places::y_is_residual_and_sum_is_x ? r
                                                                         : y;
  device_buffer<T>& sum_at =
      where == places::sum_is_x || where == places::y_is_residual_and_sum_is_x ? x_buffer
      : where == places::sum_is_residual                                       ? r
                                                                               : sum;
  const auto matrix = [&](auto* data) { return make_view(data, rows, columns); };
  const auto from = matrix(const_cast<const T*>(x_buffer.data()));
  const auto weights = make_view(const_cast<const T*>(w.data()), columns);
  const auto call = [&](const auto& arrays) {
    const std::int64_t lent = lend ? wanted_bytes(kind, arrays) : 0;
    device_buffer<unsigned char> memory(static_cast<std::size_t>(lent));
    norm_options options;
    if (lend)
      options.memory = {memory.data(), lent};
    const status outcome = run(kind, arrays, options);
    EXPECT_TRUE(outcome.ok()) << outcome.message();
    if (here != nullptr)
      *here = plan(problem_of(kind, arrays, options), this_device());
  };
  if (!residual.empty())
    call(norm_arrays{.x = from,
                     .y = matrix(y_at.data()),
                     .weight = weights,
                     .residual = matrix(const_cast<const T*>(r.data())),
                     .sum = matrix(sum_at.data())});
  else
    call(norm_arrays{.x = from, .y = matrix(y_at.data()), .weight = weights});
  if (sums != nullptr)
    *sums = sum_at.download();
  return y_at.download();
}

/// Of a cluster or of a row, and whether clusters take rows in turn.
struct expected_cluster {
  std::uint32_t workgroups;
  bool in_turn;
};

// Clusters that stay take several rows each, alone they take one.
template <class T>
void expect_same_bits_alone(norm_kind kind, std::int64_t rows, std::int64_t columns,
                            bool has_residual, const expected_cluster& cluster, bool lend = false) {
  SCOPED_TRACE(columns);
  const auto width = static_cast<std::size_t>(columns),
             count = static_cast<std::size_t>(rows) * width;
  const auto x = random_normals<T>(count, 11, 2, 0.5), weight = random_normals<T>(width, 12);
  const auto residual = random_normals<T>(has_residual ? count : 0, 13);
  norm_plan here;
  const auto all = normalised(kind, x, weight, residual, lend, places::apart, nullptr, &here);
  if (has_clusters_here()) {
    ASSERT_EQ(here.kernel, norm_kernel::cluster) << here.describe().c_str();
    ASSERT_EQ(here.parts, cluster.workgroups) << here.describe().c_str();
    ASSERT_EQ(here.groups < rows * here.parts, cluster.in_turn) << here.describe().c_str();
  }
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
  expect_same_bits_alone<bf16>(layer, 132 * 14 + 5, 17000, false, {1, false});
  for (const bool has_residual : {false, true}) {
    if (testing::Test::HasFatalFailure())
      return;
    expect_same_bits_alone<float>(layer, 132 * 14 + 5, 9001, has_residual, {1, true});
    expect_same_bits_alone<float>(rms, 66 * 9 + 5, 17003, has_residual, {2, true});
    expect_same_bits_alone<bf16>(rms, 301, 140003, has_residual, {16, true});
    expect_same_bits_alone<float>(layer, 150, 131072, has_residual, {8, true});
    expect_same_bits_alone<float>(rms, 67, 200001, has_residual, {16, true});
    expect_same_bits_alone<float>(layer, 41, 300001, has_residual, {64, true}, true);
    expect_same_bits_alone<bf16>(rms, 45, 600008, has_residual, {64, true}, true);
  }
}

// Few rows more than what LDS holds and keeps statistics of, so that each place in it is used
// again: for tools that take long. Six places where a wave has a part in one step, else four.
void expect_places_used_again(norm_kind kind, std::int64_t turns, std::int64_t columns,
                              bool has_residual, std::uint32_t workgroups, bool lend = false) {
  const std::int64_t teams = this_device().cu_count / static_cast<std::int64_t>(workgroups);
  expect_same_bits_alone<float>(kind, turns * (teams < 1 ? 1 : teams), columns, has_residual,
                                {workgroups, true}, lend);
}
TEST(norm_clusters_in_turn, of_one_workgroup) {
  expect_places_used_again(layer, 6, 9001, false, 1);
}
TEST(norm_clusters_in_turn, of_one_workgroup_with_residual) {
  expect_places_used_again(rms, 6, 9001, true, 1);
}
TEST(norm_clusters_in_turn, of_eight_workgroups) {
  expect_places_used_again(rms, 8, 50001, false, 8);
}
TEST(norm_clusters_in_turn, through_memory) {
  expect_places_used_again(layer, 8, 270001, false, 64, true);
}

// In place, of which each cluster takes several rows: later ones must not come too early, nor what
// is written late too late.
template <class T>
void expect_same_bits_in_place(norm_kind kind, std::int64_t rows, std::int64_t columns,
                               bool lend = false) {
  SCOPED_TRACE(columns);
  const auto width = static_cast<std::size_t>(columns),
             count = static_cast<std::size_t>(rows) * width;
  const auto x = random_normals<T>(count, 31), weight = random_normals<T>(width, 32),
             residual = random_normals<T>(count, 33);
  std::vector<T> sums, sums_in_place;
  const auto apart = normalised(kind, x, weight, residual, lend, places::apart, &sums);
  for (const places where : {places::y_is_x, places::sum_is_x, places::sum_is_residual,
                             places::y_is_residual_and_sum_is_x}) {
    const auto in_place = normalised(kind, x, weight, residual, lend, where, &sums_in_place);
    ASSERT_TRUE(verify_bits(in_place, apart)) << static_cast<int>(where);
    ASSERT_TRUE(verify_bits(sums_in_place, sums)) << static_cast<int>(where);
  }
  const std::vector<T> none;
  ASSERT_TRUE(verify_bits(normalised(kind, x, weight, none, lend, places::y_is_x),
                          normalised(kind, x, weight, none, lend)));
}
TEST(norm_clusters, rows_have_the_same_bits_in_place) {
  expect_same_bits_in_place<bf16>(layer, 170, 66008);
  expect_same_bits_in_place<float>(rms, 90, 100001);
  expect_same_bits_in_place<float>(layer, 21, 300001, true);
}

// Rows of two axes that no single one replaces, with rows of x or residual that stand for several.
TEST(norm_clusters, rows_of_two_axes_and_repeated_rows_have_the_same_bits) {
  constexpr std::int64_t outer = 5, inner = 31, rows = outer * inner, columns = 66008;
  const auto few = random_normals<bf16>(outer * columns, 42);
  std::vector<bf16> repeated(rows * columns);
  for (std::int64_t row = 0; row < rows; ++row)
    std::copy_n(few.begin() + row / inner * columns, columns, repeated.begin() + row * columns);
  const auto all = random_normals<bf16>(rows * columns, 41),
             weight = random_normals<bf16>(columns, 43);
  std::vector<bf16> sums;
  const auto expected = normalised(rms, all, weight, repeated, false, places::apart, &sums);
  device_buffer<bf16> every(all), some(few), w(weight), y(all.size()), sum(all.size());
  const auto swapped = []<class U>(U* data, std::int64_t stride) {
    return make_strided_view<U, 3>(data, {inner, outer, columns},
                                   {stride, stride == 0 ? columns : inner * columns, 1});
  };
  const auto from_all = swapped(const_cast<const bf16*>(every.data()), columns),
             from_few = swapped(const_cast<const bf16*>(some.data()), 0);
  for (const bool x_repeats : {false, true}) {
    y.poison();
    sum.poison();
    const status outcome =
        rms_norm(norm_arrays{.x = x_repeats ? from_few : from_all,
                             .y = swapped(y.data(), columns),
                             .weight = make_view(const_cast<const bf16*>(w.data()), columns),
                             .residual = x_repeats ? from_all : from_few,
                             .sum = swapped(sum.data(), columns)});
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    ASSERT_TRUE(verify_bits(y.download(), expected)) << x_repeats;
    ASSERT_TRUE(verify_bits(sum.download(), sums)) << x_repeats;
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

// With a workspace: what its workgroups exchange is made zeros each time.
void expect_same_bits_each_time(std::int64_t rows, std::int64_t columns, bool lend) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const auto count = static_cast<std::size_t>(rows * columns);
  device_buffer<bf16> x(random_normals<bf16>(count, 3)),
      w(random_normals<bf16>(static_cast<std::size_t>(columns), 4)),
      r(random_normals<bf16>(count, 5)), sum(count), y(count);
  const auto matrix = [&](auto* data) { return make_view(data, rows, columns); };
  const norm_arrays arrays{.x = matrix(static_cast<const bf16*>(x.data())),
                           .y = matrix(y.data()),
                           .weight = make_view(static_cast<const bf16*>(w.data()), columns),
                           .residual = matrix(static_cast<const bf16*>(r.data())),
                           .sum = matrix(sum.data())};
  const std::int64_t lent = lend ? wanted_bytes(layer, arrays) : 0;
  device_buffer<unsigned char> memory(static_cast<std::size_t>(lent));
  norm_options options;
  if (lend)
    options.memory = {memory.data(), lent};
  const auto call = [&] { return layer_norm(arrays, options, stream); };
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess); // what fills the buffers is on another stream
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

TEST(norm_clusters_in_graphs, give_the_same_bits_each_time) {
  expect_same_bits_each_time(100, 100000, false);
  expect_same_bits_each_time(20, 600001, true);
}

// Each launch wants the whole device: one has to wait for the other, whatever the streams.
TEST(norm_clusters_with_workspace, may_run_on_two_streams) {
  static constexpr std::int64_t rows = 20, columns = 600001, count = rows * columns;
  struct one_call {
    auto arrays() {
      return norm_arrays{.x = make_view(const_cast<const bf16*>(x.data()), rows, columns),
                         .y = make_view(y.data(), rows, columns),
                         .weight = make_view(const_cast<const bf16*>(w.data()), columns)};
    }
    explicit one_call(std::uint64_t seed)
        : x(random_normals<bf16>(count, seed)), w(random_normals<bf16>(columns, seed + 1)),
          y(count), memory(static_cast<std::size_t>(wanted_bytes(layer, arrays()))) {}
    status run(hipStream_t stream) {
      norm_options options;
      options.memory = {memory.data(), static_cast<std::int64_t>(memory.size())};
      return layer_norm(arrays(), options, stream);
    }
    device_buffer<bf16> x, w, y;
    device_buffer<unsigned char> memory;
  };
  one_call calls[] = {one_call(51), one_call(61)};
  hipStream_t streams[2];
  std::vector<bf16> expected[2];
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess); // what fills the buffers is on another stream
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking), cudaSuccess);
    ASSERT_TRUE(calls[i].run(streams[i]).ok());
    expected[i] = calls[i].y.download();
  }
  for (int round = 0; round < 3; ++round) {
    for (one_call& call : calls)
      call.y.poison();
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < 2; ++i)
      ASSERT_TRUE(calls[i].run(streams[i]).ok());
    for (int i = 0; i < 2; ++i)
      ASSERT_TRUE(verify_bits(calls[i].y.download(), expected[i])) << i;
  }
  for (hipStream_t stream : streams)
    (void)cudaStreamDestroy(stream);
}

struct ones_arguments {
  int* to;
};
WAVETILE_KERNEL void write_ones(ones_arguments given) {
  given.to[kernels::workgroup_id()] = 1;
}
TEST(norm_clusters_with_workspace, are_refused_where_the_device_does_not_hold_them) {
  (void)cudaGetLastError();
  constexpr std::int64_t groups = 1 << 20; // of 1024 work-items: no device has room for them
  device_buffer<int> to(groups), memory(64);
  const status outcome = launch_clusters_in_turn(
      &write_ones, groups, 1, 1024, ones_arguments{to.data()}, nullptr, 0, memory.data(), 256);
  EXPECT_EQ(outcome.code(), status_code::grid_limit);
  for (const char* const words :
       {"memory: ", "cannot hold 1048576 workgroups at a time", "without a workspace another"})
    EXPECT_NE(std::string(outcome.message()).find(words), std::string::npos) << outcome.message();
  EXPECT_TRUE(to.untouched());
  EXPECT_TRUE(memory.untouched());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

} // namespace
