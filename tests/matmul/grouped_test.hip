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

// The same with rows at multiples of 16 bytes, and k in parts.
TEST(matmul_grouped, few_aligned_rows_each) {
  for (const bool transpose_b : {false, true})
    for (const int splits : {1, 3}) {
      list all;
      for (int i = 0; i < 9; ++i)
        all.add({.m = i, .n = 40 + i * 24, .k = 136 + i * 128, .transpose_b = transpose_b});
      device_buffer<unsigned char> memory(1 << 20);
      const status outcome =
          all.run({.transpose_b = transpose_b, .splits = splits, .kernel = "skinny"}, memory);
      ASSERT_TRUE(outcome.ok()) << outcome.message();
      for (const auto& run : all.runs) {
        if (run->test.m != 0)
          ASSERT_TRUE(run->agrees());
      }
    }
}

/// A list of which some have a long k, some a short one, some none, and some no elements.
list mixed(bool transpose_b, bool few_rows) {
  list all;
  const std::int64_t m = few_rows ? 7 : 70;
  for (const std::int64_t k : {0, 2000, 40, 3001, 0, 1, 1500})
    all.add({.m = m, .n = 90, .k = k, .transpose_b = transpose_b, .alpha = 2, .beta = 0.5});
  all.add({.m = 0, .n = 90, .k = 5000, .transpose_b = transpose_b, .beta = 0.5});
  all.add({.m = m, .n = 33, .k = 2500, .transpose_b = transpose_b, .beta = 0.5, .pad_d = 3});
  all.add({.m = m, .n = 0, .k = 5000, .transpose_b = transpose_b, .beta = 0.5});
  return all;
}

TEST(matmul_grouped, k_in_parts) {
  for (const bool transpose_b : {false, true})
    for (const bool few_rows : {false, true})
      for (const int splits : {0, 1, 3}) {
        list all = mixed(transpose_b, few_rows);
        device_buffer<unsigned char> memory(1 << 21);
        const matmul_options options{
            .transpose_b = transpose_b, .alpha = 2, .beta = 0.5, .splits = splits};
        const status outcome = all.run(options, memory);
        ASSERT_TRUE(outcome.ok()) << outcome.message();
        std::vector<std::vector<float>> first;
        for (const auto& run : all.runs) {
          run->test.alpha = 2;
          if (run->test.m * run->test.n != 0)
            ASSERT_TRUE(run->agrees()) << splits;
          first.push_back(run->d.buffer().download());
        }
        // the same again: the order of sums does not depend on that of workgroups
        ASSERT_TRUE(all.run(options, memory).ok());
        for (std::size_t i = 0; i < all.runs.size(); ++i)
          if (!first[i].empty())
            ASSERT_EQ(std::memcmp(first[i].data(), all.runs[i]->d.buffer().download().data(),
                                  first[i].size() * sizeof(float)),
                      0);
      }
}

// What is split is counted as the plan says, and nothing is written behind the workspace it asks
// for.
TEST(matmul_grouped, parts_are_those_of_the_plan) {
  list all = mixed(false, false);
  const auto count = static_cast<std::int64_t>(all.items.size());
  device_info here;
  ASSERT_TRUE(stream_device(nullptr, here).ok());
  const auto plan = [&](const matmul_options& options) {
    return matmul_grouped_plan(all.items.data(), count, options, here);
  };
  const auto lent = [&](std::int64_t bytes) { return workspace{all.items.data(), bytes}; };
  const matmul_plan alone = plan({.beta = 0.5, .memory = lent(all.bytes())});
  ASSERT_TRUE(alone.outcome.ok()) << alone.outcome.message();
  EXPECT_EQ(alone.split_products, 0);
  EXPECT_EQ(alone.splits, 1);
  EXPECT_EQ(alone.workspace_bytes, all.bytes());
  ASSERT_GT(alone.best_workspace_bytes, all.bytes());
  // every product in three: those with less than three steps in fewer, those without k in one
  const matmul_plan three = plan({.beta = 0.5, .splits = 3, .memory = lent(1 << 22)});
  ASSERT_TRUE(three.outcome.ok()) << three.outcome.message();
  EXPECT_EQ(three.split_products, 4);
  EXPECT_EQ(three.splits, 3);
  EXPECT_EQ(three.choice, matmul_choice::compact);
  EXPECT_EQ(three.groups, 4 * (1 + 3 + 1 + 3 + 1 + 1 + 3) + 2 * 3);
  EXPECT_EQ(three.launches, 3);
  EXPECT_EQ(three.workspace_bytes, all.bytes() + 4 * 3 * (3 * 70 * 90 + 70 * 33));
  EXPECT_EQ(
      plan({.beta = 0.5, .splits = 3, .memory = lent(three.workspace_bytes - 1)}).outcome.code(),
      status_code::workspace_too_small);
  EXPECT_NE(
      std::string(three.describe().c_str()).find("k of 4 products in up to 3 parts of up to 1024"),
      std::string::npos)
      << three.describe().c_str();

  device_buffer<unsigned char> memory(static_cast<std::size_t>(alone.best_workspace_bytes));
  const matmul_plan best = plan({.beta = 0.5, .memory = lent(alone.best_workspace_bytes)});
  ASSERT_TRUE(best.outcome.ok()) << best.outcome.message();
  EXPECT_EQ(best.split_products, 4); // 2000, 3001, 1500 and 2500, not 40 and 1
  EXPECT_LE(best.workspace_bytes, alone.best_workspace_bytes);
  ASSERT_TRUE(all.run({.beta = 0.5}, memory).ok());
  for (const auto& run : all.runs) {
    run->test.alpha = 1;
    if (run->test.m * run->test.n != 0)
      ASSERT_TRUE(run->agrees());
  }
  (void)memory.download(); // its guards are checked
}

// One product with a long k among many that keep all CUs busy: it alone is split.
TEST(matmul_grouped, only_the_long_are_split) {
  const auto mi300x = describe_device("gfx942", 304, 8);
  std::vector<item> items;
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    item one;
    one.a = make_strided_view<const fp16, 2>(reinterpret_cast<const fp16*>(4096), {m, k}, {k, 1});
    one.b = make_strided_view<const fp16, 2>(reinterpret_cast<const fp16*>(4096), {k, n}, {n, 1});
    one.d = make_strided_view<float, 2>(reinterpret_cast<float*>(std::int64_t{1} << 40), {m, n},
                                        {n, 1});
    items.push_back(one);
  };
  const auto plan = [&](std::int64_t bytes) {
    const workspace lent{reinterpret_cast<void*>(std::int64_t{1} << 41), bytes};
    return matmul_grouped_plan(items.data(), static_cast<std::int64_t>(items.size()),
                               {.kernel = "compact", .memory = lent}, mi300x);
  };
  for (int i = 0; i < 40; ++i)
    add(512, 512, 512);
  EXPECT_EQ(plan(1 << 30).split_products, 0) << "2560 tiles of equal length";
  add(64, 64, 65536);
  const matmul_plan p = plan(1 << 30);
  ASSERT_TRUE(p.outcome.ok()) << p.outcome.message();
  EXPECT_EQ(p.split_products, 1);
  EXPECT_GT(p.splits, 8);
  EXPECT_LE(p.splits, 64);
  // with less memory fewer parts, and the plan says with how much there would be more
  const matmul_plan less = plan(41 * 256 + 4 * 64 * 64 * 4);
  ASSERT_TRUE(less.outcome.ok()) << less.outcome.message();
  EXPECT_GE(less.splits, 2);
  EXPECT_LE(less.splits, 4);
  EXPECT_EQ(less.best_workspace_bytes, p.workspace_bytes);
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
  EXPECT_STREQ(plan({.kernel = "wide", .memory = enough}).outcome.message(),
               "invalid_argument: kernel: it is wide, which only calls of "
               "matmul_grouped<matmul_choice::wide> have code for; allowed here: large, middle, "
               "compact, skinny");
  EXPECT_STREQ(matmul_grouped_plan<matmul_choice::middle>(
                   all.items.data(), 3, {.kernel = "wide", .memory = enough}, mi300x)
                   .outcome.message(),
               "invalid_argument: kernel: it is wide, and this call has code for middle only");
  EXPECT_EQ(plan({.kernel = "skinny", .memory = enough}).outcome.code(),
            status_code::unsupported_shape);
  EXPECT_EQ(plan({.splits = -1, .memory = enough}).outcome.code(), status_code::invalid_argument);
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
  const status parts = all.run({.splits = -4}, memory);
  EXPECT_EQ(parts.code(), status_code::invalid_argument) << parts.message();
  EXPECT_NE(std::string(parts.message()).find("splits"), std::string::npos) << parts.message();
  const status no_c = all.run({.beta = 2}, memory);
  EXPECT_EQ(no_c.code(), status_code::invalid_argument) << no_c.message();
  EXPECT_NE(std::string(no_c.message()).find("beta: it is 2, and there is no C"), std::string::npos)
      << no_c.message();
  EXPECT_NE(std::string(no_c.message()).find("product 0"), std::string::npos) << no_c.message();
  matmul_options into_result;
  into_result.memory = {all.items[1].d.data, all.bytes()};
  const status overlap = matmul_grouped(all.items.data(), 2, into_result);
  EXPECT_EQ(overlap.code(), status_code::overlapping) << overlap.message();
  EXPECT_NE(std::string(overlap.message()).find("product 1"), std::string::npos);
  EXPECT_TRUE(all.runs[1]->d.buffer().untouched());
  EXPECT_TRUE(all.runs[0]->d.buffer().untouched());
}

} // namespace
