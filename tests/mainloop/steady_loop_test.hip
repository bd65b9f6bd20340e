// The steady loop of the large configs: what it declares, for check_steady_loop.py to compare with
// the code object, and its LDS clocks under wavesim against the static prediction. With --declare
// it prints the declarations: symbol, waves of a workgroup and of a SIMD, clocks of a matrix
// instruction, allowed percentages of LDS clocks and of vector issue, LDS instructions of one step.
#include "mainloop_case.hpp"
#include "sim_counters.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

namespace wavetile::test {
namespace {

using enum operand_order;

template <class T, operand_order OrderA, operand_order OrderB, matmul_kernel Kernel>
struct steady_loop {
  static constexpr matmul_config config = config_of(Kernel, static_cast<int>(sizeof(T)));
  using loop = kernels::matmul_mainloop<T, T, OrderA, OrderB, config>;
  static constexpr auto kernel = &multiply<T, T, OrderA, OrderB, config>;
  static constexpr int bytes = static_cast<int>(sizeof(T));
  static constexpr bool any_strided = OrderA == k_strided || OrderB == k_strided;
  static constexpr bool both_strided = OrderA == k_strided && OrderB == k_strided;

  /// LDS instructions of a wave in one step.
  struct uses {
    int reads, wide_writes, narrow_writes;
    lds_op narrow;
  };
  template <class Operand>
  static constexpr int writes(operand_order order) {
    return order == k_contiguous ? Operand::pieces::count
                                 : Operand::blocks::count * Operand::blocks::rows;
  }
  static constexpr uses declared = [] {
    using a = typename loop::operand_a;
    using b = typename loop::operand_b;
    const int depth = loop::tile_k / a::reader::depth;
    uses result{(loop::fragments_m + loop::fragments_n) * depth, 0, 0,
                write_of(a::blocks::write_bytes)};
    (OrderA == k_contiguous ? result.wide_writes : result.narrow_writes) += writes<a>(OrderA);
    (OrderB == k_contiguous ? result.wide_writes : result.narrow_writes) += writes<b>(OrderB);
    return result;
  }();
  /// LDS clocks of a workgroup in one step, all of its accesses being free of conflicts.
  static constexpr int predicted_clocks =
      config.waves() * (8 * declared.reads + 8 * declared.wide_writes +
                        targets::gfx942.service(declared.narrow).phases * declared.narrow_writes);

  static void declare() {
    constexpr matrix_instruction instruction =
        find_matrix_instruction(architecture::gfx942, loop::shape, detail::matrix_type_of<T>(),
                                detail::matrix_type_of<T>());
    // Bytes are transposed by two instructions a dword: with both operands that alone is 1/8 of
    // the matrix clocks of this tile. It cannot be fewer: every dword of a run of k has bytes of
    // four loaded dwords, an instruction takes two and gives one. Nor do two-byte writes, which
    // would save the second, fit: each costs as many LDS clocks as one of four.
    // The 256 x 128 tile reads six fragments for eight products like 256 x 256, 37.5 %, but writes
    // 384 rows for half as many products as 512: 18.75 % in place of 12.5 %.
    const double vector = !any_strided ? 3 : bytes == 1 && both_strided ? 12.6 : 10;
    const double lds = Kernel == matmul_kernel::wide ? 56.3 : 52;
    std::printf("%s waves=%d resident=%d matrix_clocks=%d lds=%.1f vector=%.1f ds_read_b128=%d",
                hipKernelNameRefByPtr(reinterpret_cast<const void*>(kernel), nullptr),
                config.waves(), config.waves() / 4, instruction.clocks, lds, vector,
                declared.reads);
    if (declared.wide_writes != 0)
      std::printf(" ds_write_b128=%d", declared.wide_writes);
    if (declared.narrow_writes != 0)
      std::printf(" %s=%d", name_of(declared.narrow), declared.narrow_writes);
    std::printf("\n");
  }

  static void check_clocks() {
    const auto clocks = [](int64_t steps) -> std::optional<wavesim_counts> {
      const product_shape shape{config.tile_m, config.tile_n, steps * loop::tile_k};
      const operand_buffer<T> a(shape.m, shape.k, shape, OrderA, 0, shape.k, 1);
      const operand_buffer<T> b(shape.n, shape.k, shape, OrderB, 0, shape.k, 2);
      device_buffer<float> d(static_cast<std::size_t>(shape.m * shape.n));
      return count_kernels([&] {
        kernel<<<1, config.threads()>>>(a.matrix(), b.matrix(),
                                        make_view(d.data(), shape.m, shape.n), 0, shape.k);
      });
    };
    const auto few = clocks(2), many = clocks(8);
    if (!few || !many)
      GTEST_SKIP() << "counts come from wavesim";
    EXPECT_EQ(many->lds_conflicts, 0u);
    EXPECT_EQ(many->lds_clocks - few->lds_clocks, 6u * predicted_clocks);
    EXPECT_EQ(many->instructions[wavesim_unit_mfma] - few->instructions[wavesim_unit_mfma],
              6u * static_cast<unsigned>(config.waves()) * loop::instructions_of_a_step);
  }
};

template <class T, matmul_kernel Kernel, class F>
void for_all_orders(const F& f) {
  f(steady_loop<T, k_contiguous, k_contiguous, Kernel>{});
  f(steady_loop<T, k_contiguous, k_strided, Kernel>{});
  f(steady_loop<T, k_strided, k_contiguous, Kernel>{});
  f(steady_loop<T, k_strided, k_strided, Kernel>{});
}

template <class F>
void for_all_loops(const F& f) {
  for_all_orders<bf16, matmul_kernel::large>(f);
  for_all_orders<fp8_e4m3_fnuz, matmul_kernel::large>(f);
  f(steady_loop<bf16, k_contiguous, k_contiguous, matmul_kernel::ping_pong>{});
  f(steady_loop<fp8_e4m3_fnuz, k_contiguous, k_strided, matmul_kernel::ping_pong>{});
  f(steady_loop<bf16, k_contiguous, k_contiguous, matmul_kernel::large_four>{});
  f(steady_loop<fp8_e4m3_fnuz, k_contiguous, k_contiguous, matmul_kernel::large_four>{});
  f(steady_loop<bf16, k_contiguous, k_contiguous, matmul_kernel::wide>{});
  f(steady_loop<fp8_e4m3_fnuz, k_contiguous, k_contiguous, matmul_kernel::wide>{});
}

TEST(steady_loop, lds_clocks_are_the_predicted_ones) {
  for_all_loops([](auto one) { one.check_clocks(); });
}

} // namespace
} // namespace wavetile::test

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--declare") {
    wavetile::test::for_all_loops([](auto one) { one.declare(); });
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
