// Lists of products of different shapes in one launch.
#include "matmul_case.hpp"

#include <wavetile/matmul_grouped.hpp>

#include <memory>

namespace {

using namespace wavetile;
using namespace wavetile::test;

using run_16 = matmul_run<fp16, fp16, float>;
using item = matmul_item<fp16, fp16, float>;

struct list {
  std::vector<std::unique_ptr<run_16>> runs;
  std::vector<item> items;

  void add(const matmul_case& test) {
    runs.push_back(std::make_unique<run_16>(test));
    run_16& run = *runs.back();
    items.push_back(
        {run.a.as_matrix(), run.b.as_matrix(), run.d.as_matrix(),
         test.beta != 0 ? view<const float, 2>(run.c.as_matrix()) : view<const float, 2>{}});
  }
  std::int64_t bytes() const {
    return matmul_grouped_workspace_bytes<fp16, fp16, float>(
        static_cast<std::int64_t>(items.size()));
  }
  status run(matmul_options options, device_buffer<unsigned char>& memory,
             hipStream_t stream = nullptr) {
    options.memory = {memory.data(), static_cast<std::int64_t>(memory.size())};
    return matmul_grouped(items.data(), static_cast<std::int64_t>(items.size()), options, stream);
  }
};

TEST(matmul_grouped, different_shapes_in_one_launch) {
  for (const bool transpose_b : {false, true})
    for (const char* kernel : {static_cast<const char*>(nullptr), "compact", "middle"}) {
      list all;
      random_source source(5);
      // more than one kernel's arguments hold, some of them empty, some without a k
      for (int i = 0; i < 75; ++i)
        all.add({.m = source.between(0, 3) * source.between(1, 40),
                 .n = source.between(0, 5) * source.between(1, 30),
                 .k = source.between(0, 4) * source.between(1, 20),
                 .transpose_b = transpose_b,
                 .alpha = 2,
                 .beta = 0.5,
                 .pad_d = i % 3});
      device_buffer<unsigned char> memory(static_cast<std::size_t>(all.bytes()));
      const status outcome =
          all.run({.transpose_b = transpose_b, .alpha = 2, .beta = 0.5, .kernel = kernel}, memory);
      ASSERT_TRUE(outcome.ok()) << outcome.message();
      for (const auto& run : all.runs) {
        if (run->test.m * run->test.n != 0)
          ASSERT_TRUE(run->agrees());
      }
    }
}

// Without a k there is no product, and not one of an infinite alpha with zeros.
TEST(matmul_grouped, no_k_and_an_infinite_alpha) {
  for (const char* kernel : {"compact", "skinny"}) {
    list all;
    all.add({.m = 5, .n = 9, .k = 0, .beta = 2});
    all.add({.m = 3, .n = 4, .k = 0, .beta = 2});
    device_buffer<unsigned char> memory(static_cast<std::size_t>(all.bytes()));
    const status outcome = all.run(
        {.alpha = std::numeric_limits<double>::infinity(), .beta = 2, .kernel = kernel}, memory);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    for (const auto& run : all.runs)
      ASSERT_TRUE(run->agrees());
  }
}

TEST(matmul_grouped, few_rows_each) {
  list all;
  for (int i = 0; i < 9; ++i)
    all.add({.m = i, .n = 40 + i * 20, .k = 100 + i});
  device_buffer<unsigned char> memory(static_cast<std::size_t>(all.bytes()));
  ASSERT_TRUE(all.run({}, memory).ok());
  for (const auto& run : all.runs) {
    if (run->test.m != 0)
      ASSERT_TRUE(run->agrees());
  }
}

TEST(matmul_grouped, nothing_to_do) {
  list all;
  device_buffer<unsigned char> memory(16);
  EXPECT_TRUE(all.run({}, memory).ok());
  all.add({.m = 0, .n = 5, .k = 5});
  all.add({.m = 5, .n = 0, .k = 5});
  EXPECT_TRUE(all.run({}, memory).ok());
}

TEST(matmul_grouped, plans_say_what_runs) {
  const auto mi300x = describe_device("gfx942", 304, 8);
  list all;
  for (int i = 0; i < 3; ++i)
    all.add({.m = 100, .n = 70, .k = 64});
  const auto plan = [&](const matmul_options& options) {
    return matmul_grouped_plan(all.items.data(), 3, options, mi300x);
  };
  const workspace enough{all.items.data(), 4096}; // not touched
  const matmul_plan p = plan({.memory = enough});
  ASSERT_TRUE(p.outcome.ok()) << p.outcome.message();
  EXPECT_EQ(p.choice, matmul_choice::compact);
  EXPECT_EQ(p.groups, 3 * 2 * 2);
  EXPECT_EQ(p.launches, 2);
  EXPECT_EQ(p.workspace_bytes, all.bytes());
  EXPECT_EQ(p.flops, 3 * 2.0 * 100 * 70 * 64);
  EXPECT_EQ(p.min_bytes_written, 3 * 100 * 70 * 4);
  EXPECT_EQ(p.refused[static_cast<int>(matmul_choice::large)], matmul_refusal::slower);
  EXPECT_EQ(p.refused[static_cast<int>(matmul_choice::skinny)], matmul_refusal::too_many_rows);
  EXPECT_NE(std::string(p.describe().c_str()).find("compact: tiles of 64 x 64"), std::string::npos);
  EXPECT_EQ(plan({.kernel = "large", .memory = enough}).choice, matmul_choice::large);
  EXPECT_EQ(plan({}).outcome.code(), status_code::workspace_too_small);
  EXPECT_EQ(plan({.kernel = "huge", .memory = enough}).outcome.code(),
            status_code::invalid_argument);
  EXPECT_EQ(plan({.kernel = "skinny", .memory = enough}).outcome.code(),
            status_code::unsupported_shape);
  EXPECT_EQ(plan({.splits = 2, .memory = enough}).outcome.code(), status_code::invalid_argument);
  EXPECT_EQ(
      matmul_grouped_plan(all.items.data(), 3, {.memory = enough}, describe_device("gfx1100", 96))
          .outcome.code(),
      status_code::wrong_architecture);
  EXPECT_EQ(matmul_grouped_plan(all.items.data(), 0, {}, mi300x).launches, 0);
}

TEST(matmul_grouped, refusals_name_the_product) {
  list all;
  all.add({.m = 4, .n = 5, .k = 6});
  all.add({.m = 4, .n = 5, .k = 6});
  device_buffer<unsigned char> memory(64);
  const status small = all.run({}, memory);
  EXPECT_EQ(small.code(), status_code::workspace_too_small) << small.message();
  all.items[1].b.extent[0] = 7;
  const status wrong = all.run({}, memory);
  EXPECT_EQ(wrong.code(), status_code::unsupported_shape);
  EXPECT_NE(std::string(wrong.message()).find("product 1"), std::string::npos) << wrong.message();
  all.items[1].b.extent[0] = 6;
  const status parts = all.run({.splits = 4}, memory);
  EXPECT_EQ(parts.code(), status_code::invalid_argument) << parts.message();
  EXPECT_NE(std::string(parts.message()).find("splits"), std::string::npos) << parts.message();
  matmul_options into_result;
  into_result.memory = {all.items[1].d.data, all.bytes()};
  const status overlap = matmul_grouped(all.items.data(), 2, into_result);
  EXPECT_EQ(overlap.code(), status_code::overlapping) << overlap.message();
  EXPECT_NE(std::string(overlap.message()).find("product 1"), std::string::npos);
  EXPECT_TRUE(all.runs[1]->d.buffer().untouched());
  EXPECT_TRUE(all.runs[0]->d.buffer().untouched());
}

} // namespace
