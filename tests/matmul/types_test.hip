// Every kernel, layout and edge for one combination of element types, against fp64.
// WAVETILE_TEST_A, _B, _D: the types.
#include "matmul_case.hpp"
#include "sim_counters.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

using A = WAVETILE_TEST_A;
using B = WAVETILE_TEST_B;
using D = WAVETILE_TEST_D;

constexpr bool integer = std::is_integral_v<D>;

TEST(matmul_types, sizes_around_the_tiles_in_all_orders) {
  struct {
    std::int64_t m, n, k;
  } const sizes[] = {{1, 1, 1},    {2, 3, 5},     {17, 65, 33},  {64, 64, 64}, {65, 63, 31},
                     {33, 129, 7}, {128, 64, 96}, {130, 5, 133}, {70, 70, 257}};
  for (const auto& size : sizes)
    for (const char* kernel : {static_cast<const char*>(nullptr), "compact", "middle"})
      for_each_order({.m = size.m, .n = size.n, .k = size.k, .kernel = kernel},
                     [](const matmul_case& test) { ASSERT_TRUE((check_matmul<A, B, D>(test))); });
}

TEST(matmul_types, large_tiles_in_all_orders) {
  for_each_order({.m = 300, .n = 271, .k = 150, .kernel = "large"},
                 [](const matmul_case& test) { ASSERT_TRUE((check_matmul<A, B, D>(test))); });
}

TEST(matmul_types, few_rows_in_all_orders) {
  struct {
    std::int64_t m, n, k;
  } const sizes[] = {{1, 300, 700}, {16, 33, 1030}, {7, 1, 5}, {3, 129, 64}, {1, 1, 4097}};
  for (const auto& size : sizes)
    for_each_order({.m = size.m, .n = size.n, .k = size.k, .kernel = "skinny"},
                   [](const matmul_case& test) { ASSERT_TRUE((check_matmul<A, B, D>(test))); });
}

// Rows at multiples of 16 bytes, also more than 16 of them where a device takes those; ends of n
// and k inside what a workgroup takes at once.
TEST(matmul_types, few_aligned_rows_in_all_orders) {
  constexpr bool more = WAVETILE_CUDA && sizeof(A) <= 2;
  const struct {
    std::int64_t m, n, k;
    int splits;
    double beta;
  } sizes[] = {{1, 80, 48, 0, 0},
               {15, 208, 528, 0, 2},
               {16, 64, 1296, 3, 1},
               {more ? 17 : 9, 144, 384, 0, 1},
               {more ? 32 : 16, 336, 1040, 2, 0}};
  for (const auto& size : sizes)
    for_each_order({.m = size.m,
                    .n = size.n,
                    .k = size.k,
                    .batches = size.splits > 0 ? 2 : 1,
                    .beta = size.beta,
                    .splits = size.splits,
                    .kernel = "skinny"},
                   [](const matmul_case& test) { ASSERT_TRUE((check_matmul<A, B, D>(test))); });
}

TEST(matmul_types, padded_rows_and_unaligned_pointers) {
  for (std::size_t shift : {std::size_t{0}, std::size_t{1}, std::size_t{4}})
    for (const char* kernel : {"compact", "middle", "skinny"}) {
      const std::int64_t m = kernel[1] == 'k' ? 5 : 67;
      for_each_order({.m = m,
                      .n = 81,
                      .k = 75,
                      .pad_a = 7,
                      .pad_b = 6,
                      .pad_d = 9,
                      .shift_a = shift,
                      .shift_b = shift,
                      .shift_d = shift,
                      .kernel = kernel},
                     [](const matmul_case& test) { ASSERT_TRUE((check_matmul<A, B, D>(test))); });
    }
}

TEST(matmul_types, alpha_and_beta) {
  for (const char* kernel : {"compact", "skinny"})
    for (const double alpha : {1.0, -3.0, integer ? 2.0 : 0.7})
      for (const double beta : {0.0, 1.0, integer ? -2.0 : 0.3})
        ASSERT_TRUE((check_matmul<A, B, D>({.m = 13,
                                            .n = 66,
                                            .k = 70,
                                            .alpha = alpha,
                                            .beta = beta,
                                            .pad_c = 3,
                                            .kernel = kernel})));
}

TEST(matmul_types, batches) {
  for (const char* kernel : {"compact", "skinny"})
    for_each_order(
        {.m = 9, .n = 70, .k = 37, .batches = 3, .pad_a = 2, .pad_d = 1, .kernel = kernel},
        [](const matmul_case& test) { ASSERT_TRUE((check_matmul<A, B, D>(test))); });
}

TEST(matmul_types, k_in_parts) {
  for (const int splits : {2, 3, 15}) // 15: all that the second pass takes at a time
    for (const char* kernel : {"compact", "skinny"})
      for (const std::int64_t batches : {1, 2})
        for_each_order({.m = 15,
                        .n = 70,
                        .k = 1500,
                        .batches = batches,
                        .alpha = 2,
                        .beta = 3,
                        .splits = splits,
                        .kernel = kernel},
                       [](const matmul_case& test) { ASSERT_TRUE((check_matmul<A, B, D>(test))); });
}

#if WAVETILE_HIP

// What a plan says about a kernel's LDS, registers and workgroup is what the compiled kernel has.
template <operand_order OrderA, operand_order OrderB>
void expect_resources() {
  using types = kernels::matmul_types<A, B, D, D, epilogue::steps<>>;
  using kernel = void (*)(kernels::matmul_arguments<types>);
  using enum matmul_choice;
  const struct {
    matmul_choice choice;
    kernel code;
  } all[] = {
      {large, detail::tile_kernel<types, large, OrderA, OrderB>},
      {middle, detail::tile_kernel<types, middle, OrderA, OrderB>},
      {compact, detail::tile_kernel<types, compact, OrderA, OrderB>},
      {skinny, &kernels::matmul_skinny<types, OrderB>},
  };
  for (const auto& one : all) {
    SCOPED_TRACE(name_of(one.choice));
    matmul_problem problem;
    problem.a = numeric_traits<A>::type;
    problem.b = numeric_traits<B>::type;
    problem.d = numeric_traits<D>::type;
    problem.m = 16;
    problem.n = problem.k = 1000;
    problem.order_a = OrderA;
    problem.order_b = OrderB;
    problem.choice = one.choice;
    const matmul_plan p = plan(problem, describe_device("gfx942", 304));
    hipFuncAttributes attributes;
    WAVETILE_TEST_HIP(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(one.code)));
    EXPECT_EQ(static_cast<std::int64_t>(attributes.sharedSizeBytes), p.lds_bytes);
    EXPECT_EQ(attributes.localSizeBytes, 0u) << "scratch";
    EXPECT_EQ(attributes.maxThreadsPerBlock, p.threads);
    EXPECT_LE(attributes.numRegs, p.register_limit);
    EXPECT_LT(p.accumulator_registers, p.register_limit);
  }
}

TEST(matmul_types, resources_are_those_of_the_plan) {
  constexpr auto along = operand_order::k_contiguous, across = operand_order::k_strided;
  expect_resources<along, along>();
  expect_resources<along, across>();
  expect_resources<across, along>();
  expect_resources<across, across>();
}

#endif

// Of op(B) every byte is read once, and 16 at a time.
TEST(matmul_types, few_rows_stream_the_weights) {
  for (const bool transpose_b : {false, true}) {
    const matmul_case test{
        .m = 8, .n = 512, .k = 512, .transpose_b = transpose_b, .kernel = "skinny"};
    matmul_run<A, B, D> run(test);
    const auto counts = count_kernels([&] { ASSERT_TRUE(run.run().ok()); });
    if (!counts)
      GTEST_SKIP() << "counts need wavesim";
    const std::uint64_t weights = 512 * 512 * sizeof(B), inputs = 8 * 512 * sizeof(A);
    EXPECT_GE(counts->read_by_width[wavesim_width_16], weights);
    // rows of 16 bytes of A come to every workgroup too, but not from memory
    EXPECT_LE(counts->lines_read * 128, (weights + inputs) * 102 / 100);
  }
}

// The padding that a plan foretells is what the matrix cores compute.
TEST(matmul_types, matrix_work_is_that_of_the_plan_and_lds_never_waits) {
  for (const char* kernel : {"compact", "middle", "large", "skinny"}) {
    const std::int64_t m = kernel[1] == 'k' ? 11 : 300;
    for_each_order({.m = m, .n = 330, .k = 190, .kernel = kernel}, [](const matmul_case& test) {
      matmul_run<A, B, D> run(test);
      const auto counts = count_kernels([&] { ASSERT_TRUE(run.run().ok()); });
      if (!counts)
        return; // counts need wavesim
      const auto problem =
          matmul_problem_of(view<const A, 2>(run.a.as_matrix()),
                            view<const B, 2>(run.b.as_matrix()), run.d.as_matrix(), run.options);
      const matmul_plan p = plan(problem, describe_device("gfx942", 304, 8));
      EXPECT_NEAR(static_cast<double>(counts->mfma_flops), p.flops / p.useful, 1) << test.text();
      EXPECT_EQ(counts->lds_conflicts, 0u) << test.text();
    });
  }
}

// Operands with strided k and fewer rows than a tile end with a block whose writes may wait: at
// most as long as all writes take, a third of the LDS clocks without.
TEST(matmul_types, lds_hardly_waits_at_the_edge_of_a_single_tile) {
  for_each_order({.m = 63, .n = 61, .k = 256, .kernel = "compact"}, [](const matmul_case& test) {
    matmul_run<A, B, D> run(test);
    const auto counts = count_kernels([&] { ASSERT_TRUE(run.run().ok()); });
    if (!counts)
      return; // counts need wavesim
    if (test.transpose_a || !test.transpose_b)
      EXPECT_LE(counts->lds_conflicts * 4, counts->lds_clocks) << test.text();
    else
      EXPECT_EQ(counts->lds_conflicts, 0u) << test.text();
  });
}

// Small integers: every sum is exact in every accumulator, so results are too. fp8 stores 0 … 4.
TEST(matmul_types, integers_and_powers_of_two_are_exact) {
  for (const char* kernel : {"compact", "middle", "skinny"})
    for (const bool powers : {false, true}) {
      matmul_case test{.m = 16, .n = 40, .k = 29, .kernel = kernel};
      for_each_order(test, [&](const matmul_case& t) {
        if (!has_kernel<A>(t))
          return;
        matmul_run<A, B, D> run(t);
        random_source source(7);
        // sums of powers: one element a row of A is not 0, so that the result is a power too
        std::int64_t count = 0;
        const auto number = [&](bool sparse) {
          const auto value = powers
                                 ? (sparse && count++ % 29 != 0
                                        ? 0.0
                                        : std::ldexp(1.0, static_cast<int>(source.between(0, 2))))
                                 : static_cast<double>(source.between(0, 1));
          return static_cast<float>(value);
        };
        const bool rows_of_a = !t.transpose_a;
        run.a.fill([&] { return convert<A>(number(rows_of_a)); });
        run.b.fill([&] { return convert<B>(number(!rows_of_a && t.transpose_b)); });
        ASSERT_TRUE(run.run().ok());
        const auto expected = run.reference();
        const auto got = run.result();
        for (std::size_t i = 0; i < got.size(); ++i) {
          const double rounded = as_double(convert<D>(expected[i].value));
          ASSERT_EQ(as_double(got[i]), rounded) << t.text() << " element " << i;
        }
      });
    }
}

} // namespace
