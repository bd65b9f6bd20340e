// The steady loop of the large configs: what it declares, for check_steady_loop.py to compare with
// the code object, and its LDS clocks under wavesim against the static prediction. With --declare
// it prints the declarations: symbol, waves of a CU and of a SIMD, clocks of a matrix instruction,
// allowed percentages of LDS clocks and of vector issue, LDS instructions of one step.
#include "mainloop_case.hpp"
#include "sim_counters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

namespace wavetile::test {
namespace {

using enum operand_order;

template <class T, operand_order OrderA, operand_order OrderB, matmul_kernel Kernel>
struct steady_loop {
  static constexpr int bytes = static_cast<int>(sizeof(T));
  static constexpr matmul_config config = config_of(Kernel, bytes, OrderA, OrderB);
  using loop = kernels::matmul_mainloop<T, T, OrderA, OrderB, config>;
  static constexpr auto kernel = &multiply<T, T, OrderA, OrderB, config>;
  static constexpr bool any_strided = OrderA == k_strided || OrderB == k_strided;
  /// Two workgroups of two waves share a CU.
  static constexpr int waves_of_cu = config.waves() < 4 ? 4 : config.waves();
  static_assert(waves_of_cu / config.waves() * config.lds_bytes() <= targets::gfx942.lds_bytes);

  /// LDS instructions of a wave in one step.
  struct use {
    lds_op op;
    int count;
  };
  static constexpr int reads =
      (loop::fragments_m + loop::fragments_n) * loop::tile_k / loop::operand_a::reader::depth;
  template <class Operand>
  static constexpr use writes(operand_order order) {
    using blocks = typename Operand::blocks;
    return order == k_contiguous ? use{lds_op::write_b128, Operand::pieces::count}
                                 : use{write_of(blocks::write_bytes), blocks::count * blocks::rows};
  }
  static constexpr use declared[] = {{lds_op::read_b128, reads},
                                     writes<typename loop::operand_a>(OrderA),
                                     writes<typename loop::operand_b>(OrderB)};
  /// LDS clocks of a workgroup in one step, all of its accesses being free of conflicts.
  static constexpr int predicted_clocks = [] {
    int clocks = 0;
    for (const use& one : declared)
      clocks += targets::gfx942.service(one.op).phases * one.count;
    return config.waves() * clocks;
  }();

  static void declare() {
    constexpr matrix_instruction instruction =
        find_matrix_instruction(architecture::gfx942, loop::shape, detail::matrix_type_of<T>(),
                                detail::matrix_type_of<T>());
    std::printf("%s waves=%d resident=%d matrix_clocks=%d lds=52 vector=%d",
                hipKernelNameRefByPtr(reinterpret_cast<const void*>(kernel), nullptr), waves_of_cu,
                waves_of_cu / 4, instruction.clocks, any_strided ? 10 : 3);
    for (const use& one : declared)
      if (one.op == lds_op::write_b16) // every other one of the upper half of a register
        std::printf(" %s=%d %s_d16_hi=%d", name_of(one.op), one.count / 2, name_of(one.op),
                    one.count / 2);
      else
        std::printf(" %s=%d", name_of(one.op), one.count);
    std::printf("\n");
  }

  /// LDS clocks of a workgroup's writes in one step to the tile from `row` on of an operand with
  /// `extent` rows. At the edge k-strided blocks move back inside, as `staged_copy::start` says: in
  /// the first tile the last one over rows of its neighbour, so that work-items write the same
  /// places and those of an instruction may meet in a bank.
  template <class Operand>
  static int write_clocks(operand_order order, int extent, int row) {
    using blocks = typename Operand::blocks;
    const int left = std::min(extent - row, Operand::rows);
    if (order == k_contiguous) // rows behind the last are read from the last, and written as ever
      return config.waves() * Operand::pieces::count *
             targets::gfx942.service(lds_op::write_b128).phases;
    const int most = left - blocks::rows;
    const int back = row != 0 && left < Operand::rows ? -most & (blocks::rows - 1) : 0;
    int clocks = 0;
    for (int first = 0; first < config.threads(); first += lds_access::lanes)
      for (int i = 0; i < blocks::count; ++i)
        for (int j = 0; j < blocks::rows; ++j) {
          const lds_access write = lds_write(blocks::write_bytes, [&](int lane) {
            const coordinate at = blocks::place(first + lane, i);
            const int to = std::min(at.row - back, most) + j;
            return coordinate{Operand::lds_row(to < 0 ? to + Operand::rows : to), at.column};
          });
          const conflict_count count =
              bank_conflicts(Operand::tile_type::where, write, targets::gfx942);
          EXPECT_TRUE(count.legal);
          clocks += count.clocks;
        }
    return clocks;
  }

  static std::optional<wavesim_counts> counts_of(int64_t m, int64_t n, int64_t steps) {
    const product_shape shape{m, n, steps * loop::tile_k};
    const operand_buffer<T> a(shape.m, shape.k, shape, OrderA, 0, shape.k, 1);
    const operand_buffer<T> b(shape.n, shape.k, shape, OrderB, 0, shape.k, 2);
    device_buffer<float> d(static_cast<std::size_t>(shape.m * shape.n));
    const dim3 grid(static_cast<unsigned>((n + config.tile_n - 1) / config.tile_n),
                    static_cast<unsigned>((m + config.tile_m - 1) / config.tile_m));
    return count_kernels([&] {
      kernel<<<grid, config.threads()>>>(a.matrix(), b.matrix(),
                                         make_view(d.data(), shape.m, shape.n), 0, shape.k);
    });
  }

  /// Tiles that the operands fill in part, first tiles and later ones. Returns the LDS clocks that
  /// conflicts cost.
  static int check_edges() {
    using a = typename loop::operand_a;
    using b = typename loop::operand_b;
    int conflicts = 0;
    // Every wave has rows and columns: those without would read nothing.
    for (const auto [m, n] :
         {std::pair{a::rows - 1, b::rows - 3}, std::pair{a::rows - 6, 2 * b::rows - 5},
          std::pair{2 * a::rows - 3, b::rows - 2}}) {
      SCOPED_TRACE(testing::Message() << m << " x " << n);
      const auto few = counts_of(m, n, 2), many = counts_of(m, n, 4);
      if (!few || !many)
        return 0;
      int clocks = 0, inside = 0;
      for (int row = 0; row < m; row += a::rows)
        for (int column = 0; column < n; column += b::rows) {
          clocks += write_clocks<a>(OrderA, m, row) + write_clocks<b>(OrderB, n, column) +
                    config.waves() * reads * targets::gfx942.service(lds_op::read_b128).phases;
          inside += predicted_clocks;
        }
      EXPECT_EQ(many->lds_clocks - few->lds_clocks, 2u * static_cast<unsigned>(clocks));
      EXPECT_EQ(many->lds_conflicts - few->lds_conflicts,
                2u * static_cast<unsigned>(clocks - inside));
      EXPECT_LE(4 * (clocks - inside), clocks); // as staged_copy.hpp says
      conflicts += clocks - inside;
    }
    return conflicts;
  }

  static void check_clocks() {
    const auto few = counts_of(config.tile_m, config.tile_n, 2);
    const auto many = counts_of(config.tile_m, config.tile_n, 8);
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
  for_all_orders<bf16, matmul_kernel::wide>(f);
  f(steady_loop<bf16, k_contiguous, k_contiguous, matmul_kernel::ping_pong>{});
  f(steady_loop<fp8_e4m3_fnuz, k_contiguous, k_strided, matmul_kernel::ping_pong>{});
  f(steady_loop<bf16, k_contiguous, k_contiguous, matmul_kernel::large_four>{});
  f(steady_loop<fp8_e4m3_fnuz, k_strided, k_contiguous, matmul_kernel::large_four>{});
  f(steady_loop<fp8_e4m3_fnuz, k_contiguous, k_contiguous, matmul_kernel::wide>{});
  f(steady_loop<fp8_e4m3_fnuz, k_strided, k_contiguous, matmul_kernel::wide>{});
}

TEST(steady_loop, lds_clocks_are_the_predicted_ones) {
  for_all_loops([](auto one) { one.check_clocks(); });
}

// Tiles over the edge cost what the same function of layout and lanes says, conflicts included.
TEST(steady_loop, lds_clocks_of_edges_are_the_predicted_ones) {
  wavesim_counters counters;
  if (!wavesim_counters_find(&counters))
    GTEST_SKIP() << "counts come from wavesim";
  int conflicts = 0;
  for_all_loops([&](auto one) { conflicts += one.check_edges(); });
  EXPECT_GT(conflicts, 0); // some edges have them, and they are predicted
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
