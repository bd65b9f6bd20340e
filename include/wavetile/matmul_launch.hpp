/// \file
/// How matmul and its relatives start their kernels.
#pragma once

#include <wavetile/launch/detail/device_language.hpp>

#include <wavetile/kernels/matmul/call.hpp>
#include <wavetile/kernels/matmul/combine.hpp>
#include <wavetile/launch/launch_groups.hpp>
#include <wavetile/matmul_options.hpp>

#if WAVETILE_CUDA
#include <wavetile/kernels/matmul/cuda/skinny_kernel.hpp>
#include <wavetile/kernels/matmul/cuda/tile_kernel.hpp>
#else
#include <wavetile/kernels/matmul/skinny_kernel.hpp>
#endif

namespace wavetile::detail {

/// `kernels/matmul/element_types.hpp` for the devices of this build, also of types that the library
/// does not know.
template <class T>
constexpr bool is_matmul_fp8() {
  if constexpr (numeric<T>)
    return is_matmul_fp8(numeric_traits<T>::type, WAVETILE_CUDA);
  return false;
}
template <class A, class B>
constexpr bool are_matmul_inputs() {
  if constexpr (numeric<A> && numeric<B>)
    return are_matmul_inputs(numeric_traits<A>::type, numeric_traits<B>::type, WAVETILE_CUDA);
  return false;
}
template <class A, class D>
constexpr bool is_matmul_result() {
  if constexpr (numeric<A> && numeric<D>)
    return is_matmul_result(numeric_traits<A>::type, numeric_traits<D>::type, WAVETILE_CUDA);
  return false;
}
template <class C, class D>
constexpr bool is_matmul_addend() {
  if constexpr (numeric<C> && numeric<D>)
    return is_matmul_addend(numeric_traits<C>::type, numeric_traits<D>::type);
  return false;
}

/// Calls `run.operator()<OrderA, OrderB>()` for the orders of a problem.
template <class Run>
status with_orders(const matmul_problem& problem, const Run& run) {
  constexpr auto along = operand_order::k_contiguous, across = operand_order::k_strided;
  if (problem.order_a == along)
    return problem.order_b == along ? run.template operator()<along, along>()
                                    : run.template operator()<along, across>();
  return problem.order_b == along ? run.template operator()<across, along>()
                                  : run.template operator()<across, across>();
}

#if WAVETILE_CUDA

/// The kernel for up to `rows` rows; null where the plan refuses it, as there is none.
template <class Types, operand_order OrderB>
auto skinny_kernel(int rows) -> void (*)(kernels::matmul_arguments<Types>) {
  if constexpr (kernels::has_warp_skinny(static_cast<int>(sizeof(typename Types::b))))
    return rows <= 16 ? &kernels::matmul_warp_skinny<Types, OrderB, 16>
                      : &kernels::matmul_warp_skinny<Types, OrderB, 32>;
  return nullptr;
}

/// Starts the kernel of a choice. With `Choice` only its code exists.
template <matmul_choice Choice, class Types>
status launch_product(const matmul_plan& plan, const matmul_problem& problem,
                      const kernels::matmul_arguments<Types>& arguments, hipStream_t stream) {
  using namespace kernels;
  using choice = matmul_choice;
  return with_orders(problem, [&]<operand_order OrderA, operand_order OrderB>() -> status {
    const auto run = [&](void (*kernel)(matmul_arguments<Types>)) {
      return launch_groups(kernel, plan.groups, plan.threads, 1,
                           &matmul_arguments<Types>::first_group, arguments, stream,
                           plan.lds_bytes);
    };
    // as many workgroups as the device holds at a time share the tiles
    const auto run_tiles = [&](void (*kernel)(matmul_arguments<Types>)) {
      const int64_t most = arguments.order.resident.divisor();
      const launch_shape shape{.grid = plan.groups < most ? plan.groups : most,
                               .block = plan.threads,
                               .lds_bytes = plan.lds_bytes};
      return launch(kernel, shape, stream, arguments);
    };
    if constexpr (Choice == choice::automatic) {
      switch (plan.choice) {
      case choice::large:
        return run_tiles(&matmul_warp_tile<Types, matmul_kernel::large, OrderA, OrderB>);
      case choice::middle:
        return run_tiles(&matmul_warp_tile<Types, matmul_kernel::middle, OrderA, OrderB>);
      case choice::skinny:
        return run(skinny_kernel<Types, OrderB>(plan.tile_m));
      default:
        return run_tiles(&matmul_warp_tile<Types, matmul_kernel::compact, OrderA, OrderB>);
      }
    } else if constexpr (Choice == choice::skinny) {
      return run(skinny_kernel<Types, OrderB>(plan.tile_m));
    } else {
      constexpr auto named = static_cast<matmul_kernel>(static_cast<int>(Choice) - 1);
      if constexpr (has_warp_cut(named))
        return run_tiles(&matmul_warp_tile<Types, named, OrderA, OrderB>);
      return {}; // the plan has refused it
    }
  });
}

#else

/// The tiled kernel of a choice.
template <class Types, matmul_choice Choice, operand_order OrderA, operand_order OrderB>
inline constexpr auto tile_kernel =
    &kernels::matmul_tile<Types,
                          kernels::tile_config(Choice, static_cast<int>(sizeof(typename Types::a)),
                                               OrderA, OrderB),
                          OrderA, OrderB>;

/// Starts the kernel of a choice. With `Choice` only its code exists.
template <matmul_choice Choice, class Types>
status launch_product(const matmul_plan& plan, const matmul_problem& problem,
                      const kernels::matmul_arguments<Types>& arguments, hipStream_t stream) {
  using namespace kernels;
  using choice = matmul_choice;
  return with_orders(problem, [&]<operand_order OrderA, operand_order OrderB>() -> status {
    const auto run = [&](void (*kernel)(matmul_arguments<Types>)) {
      return launch_groups(kernel, plan.groups, plan.threads, 1,
                           &matmul_arguments<Types>::first_group, arguments, stream);
    };
    if constexpr (Choice == choice::automatic) {
      switch (plan.choice) {
      case choice::large:
        return run(tile_kernel<Types, choice::large, OrderA, OrderB>);
      case choice::middle:
        return run(tile_kernel<Types, choice::middle, OrderA, OrderB>);
      case choice::skinny:
        return run(&matmul_skinny<Types, OrderB>);
      default:
        return run(tile_kernel<Types, choice::compact, OrderA, OrderB>);
      }
    } else if constexpr (Choice == choice::skinny) {
      return run(&matmul_skinny<Types, OrderB>);
    } else {
      return run(tile_kernel<Types, Choice, OrderA, OrderB>);
    }
  });
}

#endif

/// Starts the second pass of a product split `splits` times; 0: there was no product.
template <class Types>
status launch_combine(const kernels::matmul_arguments<Types>& product, int64_t splits,
                      hipStream_t stream) {
  using namespace kernels;
  matmul_combine_arguments<Types> arguments{};
  arguments.product = product;
  arguments.splits = splits;
  const int64_t row = divide_up(product.task.n, int64_t{combine_run});
  arguments.runs_per_row = divider(row);
  arguments.runs_per_matrix = divider(row * product.task.m);
  arguments.total = row * product.task.m * product.batches;
  return launch_groups(&matmul_combine<Types>, divide_up(arguments.total, combine_threads),
                       combine_threads, 1, &matmul_combine_arguments<Types>::first_group, arguments,
                       stream);
}

/// The same for a list, with `groups` workgroups for all that is split in it.
template <class Types>
status launch_combine_of_list(const kernels::matmul_arguments<Types>& product, int64_t groups,
                              hipStream_t stream) {
  using namespace kernels;
  matmul_combine_arguments<Types> arguments{};
  arguments.product = product;
  return launch_groups(&matmul_combine<Types>, groups, combine_threads, 1,
                       &matmul_combine_arguments<Types>::first_group, arguments, stream);
}

/// Orders of operands, and that of workgroups.
template <class Types>
void set_order(kernels::matmul_arguments<Types>& arguments, const matmul_plan& plan,
               const matmul_problem& problem, const device_info& device) {
  using namespace kernels;
  const int xcds = device.xcd_count > 0 ? device.xcd_count : 1;
  const int cus = device.cu_count > xcds ? device.cu_count : xcds;
  const auto cut = cut_of(plan.choice, problem, device.facts());
  const int64_t most = int64_t{cus / xcds} * (cut.groups_per_cu > 0 ? cut.groups_per_cu : 1);
  arguments.order_a = problem.order_a;
#if WAVETILE_CUDA
  arguments.aligned = problem.aligned;
  arguments.groups = plan.groups;
#endif
  const int64_t resident = resident_of(plan.groups, xcds, most);
  arguments.order = make_xcd_order(plan.groups, xcds, resident);
  arguments.path = choose_tile_path(divide_up(problem.m > 0 ? problem.m : 1, plan.tile_m),
                                    divide_up(problem.n > 0 ? problem.n : 1, plan.tile_n),
                                    divide_up(resident, plan.splits), plan.tile_m, plan.tile_n);
}

} // namespace wavetile::detail
