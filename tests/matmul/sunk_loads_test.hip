// Two main loops whose loads are sunk to where they are needed, for the check of issue-to-wait
// distances to reject: everything else about them is that of the shipped loop, results too.
#include "matmul_case.hpp"

namespace wavetile::kernels {

/// The cuts that are spoiled, and equal ones that are not.
inline constexpr matmul_config sunk_global_loads = config_of(matmul_kernel::middle, 2);
inline constexpr matmul_config with_steps_ahead(matmul_config config, int steps) {
  config.steps_ahead = steps;
  return config;
}
inline constexpr matmul_config early_global_loads = with_steps_ahead(sunk_global_loads, 1);
inline constexpr matmul_config sunk_lds_reads = config_of(matmul_kernel::wide, 2);
inline constexpr matmul_config early_lds_reads = with_steps_ahead(sunk_lds_reads, 1);

/// Loads happen in front of the store that needs them. Steps are moved on as late as that asks for.
template <class T, operand_order Order, fragment_role Role>
class staged_copy<T, Order, Role, sunk_global_loads>
    : public staged_copy<T, Order, Role, early_global_loads> {
  using early = staged_copy<T, Order, Role, early_global_loads>;

public:
  WAVETILE_DEVICE void load(int, int) {}
  WAVETILE_DEVICE void advance(bool more) {
    early::advance(moves_[0]);
    moves_[0] = moves_[1];
    moves_[1] = more;
  }
  template <class Tile>
  WAVETILE_DEVICE void store(int i, Tile to, int) {
    if (i % early::group_stores == 0)
      for (int n = 0; n < early::group_loads; ++n)
        early::load(i / early::group_stores * early::group_loads + n, 0);
    early::store(i, to, 0);
  }

private:
  static_assert(sunk_global_loads.steps_ahead == 2);
  bool moves_[2] = {};
};

/// Every read is waited for before anything else happens.
template <class T, operand_order Order, fragment_role Role, int Waves, int Count, int Instruction>
class fragment_places<operand_tile<T, Order, Role, sunk_lds_reads>, Waves, Count, Instruction>
    : public fragment_places<operand_tile<T, Order, Role, early_lds_reads>, Waves, Count,
                             Instruction> {
  using early =
      fragment_places<operand_tile<T, Order, Role, early_lds_reads>, Waves, Count, Instruction>;

public:
  using early::early;
  template <class Tile>
  WAVETILE_DEVICE auto read(Tile from, int i, int s) const {
    const auto result = early::read(from, i, s);
    wavetile::detail::in_place([] { wavetile::detail::wait_for_lds<0>(); });
    return result;
  }
};

} // namespace wavetile::kernels

namespace {

using namespace wavetile;
using namespace wavetile::test;

TEST(matmul_sunk_loads, results_are_right) {
  const matmul_case test{.m = 200, .n = 300, .k = 300, .transpose_b = true};
  ASSERT_TRUE((check_matmul<bf16, bf16, bf16, bf16, matmul_choice::middle>(test)));
  ASSERT_TRUE((check_matmul<bf16, bf16, bf16, bf16, matmul_choice::wide>(test)));
}

} // namespace
