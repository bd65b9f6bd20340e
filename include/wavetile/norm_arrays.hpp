/// \file
/// What rms_norm and layer_norm share on the host side.
#pragma once

#include <wavetile/launch/detail/device_language.hpp>

#include <wavetile/kernels/norms/call.hpp>
#include <wavetile/kernels/norms/rows.hpp>
#include <wavetile/kernels/norms/split.hpp>
#include <wavetile/launch/launch.hpp>
#include <wavetile/launch/plan_call.hpp>
#include <wavetile/launch/workspace.hpp>
#if WAVETILE_CUDA
#include <wavetile/kernels/norms/cuda/cluster.hpp>
#include <wavetile/kernels/norms/cuda/ring.hpp>
#include <wavetile/launch/cuda/launch_clusters.hpp>
#endif

namespace wavetile {

/// Options of `rms_norm` and `layer_norm`.
struct norm_options {
  float epsilon = 1e-5f; ///< added to the mean of squares; finite, >= 0
  /// 8-bit y without `scales`: y = v / scale, rounded and saturated. Finite, > 0.
  float scale = 1.0f;
  /// Of use for rows too long for the chip and, on NVIDIA GPUs, for those of 1 to 2 MB:
  /// `norm_plan::best_workspace_bytes` says how much.
  workspace memory = {};
};

namespace detail {

template <norm_kind Kind, class X, class Y, class Weight, class Bias, class Residual, class Sum,
          class Scales>
kernels::norm_call
norm_call_of(const norm_arrays<X, Y, Weight, Bias, Residual, Sum, Scales>& arrays,
             const norm_options& options) {
  using namespace kernels;
  norm_call call;
  call.x = describe_any("x", arrays.x);
  call.y = describe_any("y", arrays.y);
  call.weight = describe_any("weight", arrays.weight);
  call.bias = describe_any("bias", arrays.bias);
  call.residual = describe_any("residual", arrays.residual);
  call.sum = describe_any("sum", arrays.sum);
  call.scales = describe_any("scales", arrays.scales);
  norm_problem& problem = call.problem;
  problem.kind = Kind;
  problem.workspace_bytes = options.memory.bytes;
  const auto type_of = []<class Array>(const Array&, data_type& type) {
    using element = array_storage_t<Array>;
    if constexpr (is_present<element> && numeric<element>)
      type = numeric_traits<element>::type;
    return is_present<element>;
  };
  type_of(arrays.x, problem.input);
  type_of(arrays.y, problem.output);
  problem.has_weight = type_of(arrays.weight, problem.weight);
  problem.has_bias = type_of(arrays.bias, problem.bias);
  problem.has_residual = type_of(arrays.residual, problem.residual);
  type_of(arrays.sum, problem.sum);
  problem.scaling = !is_quantised<array_element_t<Y>>     ? norm_scaling::none
                    : is_present<array_element_t<Scales>> ? norm_scaling::per_row
                                                          : norm_scaling::given;
  for (const operand* array : {&call.x, &call.y, &call.residual, &call.sum})
    if (!check_extents(*array).ok())
      return call; // products below could overflow; the check that follows says why
  problem.rows = call.x.rows();
  problem.columns = call.x.columns();
  const int chunk = problem.chunk();
  problem.aligned = rows_aligned(call.x, chunk) && rows_aligned(call.y, chunk) &&
                    (!problem.has_residual ||
                     (rows_aligned(call.residual, chunk) && rows_aligned(call.sum, chunk)));
  return call;
}

/// The kernel of a wave or workgroup a row for rows of so many slots; 0: any.
template <class Types, norm_config Config, int Slots, bool Full>
auto norm_rows_kernel() {
  if constexpr (Config.method == norm_method::lanes)
    return &kernels::norm_wave_rows<Types, Config, Slots, Full>;
  else
    return &kernels::norm_workgroup<Types, Config, Slots, Full>;
}

/// Runs the one for `norm_arguments::exact_slots`.
template <class Types, norm_config Config, int Slots = Config.slots, class Run>
status run_norm_rows(int exact_slots, const Run& run) {
  if constexpr (kernels::norm_slots_known(Config, Slots, true))
    if (exact_slots == -Slots)
      return run(norm_rows_kernel<Types, Config, Slots, true>());
  if constexpr (kernels::norm_slots_known(Config, Slots, false)) {
    if (exact_slots == Slots || exact_slots == -Slots)
      return run(norm_rows_kernel<Types, Config, Slots, false>());
    return run_norm_rows<Types, Config, Slots - 1>(exact_slots, run);
  } else {
    return run(norm_rows_kernel<Types, Config, 0, false>());
  }
}

/// Runs the kernel of a workgroup a row with the cut of the plan.
template <class Types, norm_kernel Kernel, int Cut = 0, class Run>
status run_norm_workgroup(int cut, int exact_slots, const Run& run) {
  if constexpr (Cut + 1 < kernels::norm_cuts_of(Kernel))
    if (cut > Cut)
      return run_norm_workgroup<Types, Kernel, Cut + 1>(cut, exact_slots, run);
  return run_norm_rows<Types, kernels::norm_cut_for<Types>(Kernel, Cut)>(exact_slots, run);
}

#if WAVETILE_CUDA
/// Runs the kernel of clusters with the cut of the plan.
template <class Types, int Cut = 0>
status run_norm_cluster(const norm_plan& plan, const kernels::norm_arguments<Types>& arguments,
                        hipStream_t stream) {
  // longer rows with a residual are for other kernels
  if constexpr (Cut + 1 < (Types::has_residual ? kernels::row_rings : kernels::row_cluster_cuts))
    if (plan.cut > Cut)
      return run_norm_cluster<Types, Cut + 1>(plan, arguments, stream);
  const auto in_turn = [&](void (*kernel)(kernels::norm_arguments<Types>)) {
    return launch_clusters_in_turn(kernel, plan.groups, static_cast<int>(plan.parts),
                                   plan.config.threads(), arguments, stream, plan.lds_bytes,
                                   plan.workspace_bytes > 0 ? arguments.partials : nullptr,
                                   plan.workspace_bytes);
  };
  if constexpr (Cut == 0)
    if (plan.workspace_bytes > 0)
      return in_turn(&kernels::norm_ring<Types, Cut + 1, true>);
  if constexpr (Cut < kernels::row_rings) {
    return in_turn(&kernels::norm_ring<Types, Cut + 1, false>);
  } else {
    using all_arguments = kernels::norm_cluster_arguments<Types>;
    return launch_clusters(&kernels::norm_cluster<Types, Cut>, arguments.rows,
                           static_cast<int>(plan.parts), plan.config.threads(),
                           &all_arguments::first_row, all_arguments{arguments, 0}, stream,
                           plan.lds_bytes);
  }
}
#endif

template <class Types>
status run_norm(const norm_plan& plan, const kernels::norm_arguments<Types>& arguments,
                hipStream_t stream) {
  using namespace kernels;
  using kind = norm_kernel;
  constexpr auto config = &norm_config_for<Types>;
  const auto run = [&](void (*kernel)(norm_arguments<Types>)) {
    return launch(kernel, {.grid = plan.groups, .block = plan.config.threads()}, stream, arguments);
  };
  const int slots = arguments.exact_slots;
  switch (plan.kernel) {
  case kind::short_rows:
    return run(&norm_short_rows<Types, config(kind::short_rows)>);
  case kind::wave_rows:
    return run_norm_rows<Types, config(kind::wave_rows)>(slots, run);
  case kind::small_workgroup:
    return run_norm_workgroup<Types, kind::small_workgroup>(plan.cut, slots, run);
  case kind::workgroup:
    return run_norm_workgroup<Types, kind::workgroup>(plan.cut, slots, run);
  case kind::wide_workgroup:
    return run_norm_workgroup<Types, kind::wide_workgroup>(plan.cut, slots, run);
  case kind::large_workgroup:
    return run_norm_workgroup<Types, kind::large_workgroup>(plan.cut, slots, run);
  case kind::split:
    if (const status outcome = run(&norm_split_measure<Types, config(kind::split)>); !outcome)
      return outcome;
    if constexpr (Types::scaling == norm_scaling::per_row)
      if (const status outcome = run(&norm_split_apply<Types, config(kind::split), true>); !outcome)
        return outcome;
    return run(&norm_split_apply<Types, config(kind::split), false>);
  case kind::cluster:
#if WAVETILE_CUDA
    if constexpr (kernels::may_be_clustered<Types>)
      return run_norm_cluster(plan, arguments, stream);
#endif
  case kind::stream:
    break;
  }
  return run(&norm_stream_rows<Types, config(kind::stream)>);
}

/// `norm_arguments::exact_slots`.
inline int32_t exact_slots_of(const norm_plan& plan, const norm_problem& problem, int axes) {
  const int64_t chunks = problem.columns / plan.chunk;
  const bool known = axes == 1 && problem.columns % plan.chunk == 0 && problem.rows < (1ll << 31) &&
                     plan.config.keeps_row();
  const int64_t team = plan.config.method == norm_method::lanes ? wave_size : plan.config.threads();
  const auto slots = static_cast<int32_t>(divide_up(chunks, team));
  return !known ? 0 : chunks % team == 0 ? -slots : slots;
}

/// Bytes from row to row of an array; false where 32 bits do not hold them.
inline bool step_in_bytes(int64_t elements, int element_bytes, int32_t& step) {
  constexpr int64_t most = 0x7FFFFFFF;
  if (elements > most / element_bytes || elements < -(most / element_bytes))
    return false;
  step = static_cast<int32_t>(elements * element_bytes);
  return true;
}

/// An option that must be a finite number of at least (or above) 0.
inline status check_option(const char* name, float value, bool zero_allowed) {
  if (is_finite(value) && (value > 0 || (zero_allowed && value == 0)))
    return {};
  return kernels::number_failure(name, value,
                                 zero_allowed ? ", allowed: finite numbers >= 0"
                                              : ", allowed: finite numbers > 0");
}

/// Refuses element types without a kernel.
template <class Element>
status check_norm_input(const char* name) {
  if constexpr (kernels::is_present<Element> && !kernels::is_norm_input<Element>)
    return kernels::unsupported_element(name, kernels::type_name<Element>(), "fp32, fp16, bf16");
  return {};
}

template <norm_kind Kind, class X, class Y, class Weight, class Bias, class Residual, class Sum,
          class Scales>
status normalise(const norm_arrays<X, Y, Weight, Bias, Residual, Sum, Scales>& arrays,
                 const norm_options& options, hipStream_t stream) {
  using namespace kernels;
  using x_element = array_element_t<X>;
  using y_element = array_element_t<Y>;
  constexpr bool has_residual = is_present<array_element_t<Residual>>;
  constexpr bool has_scales = is_present<array_element_t<Scales>>;
  static_assert(is_present<x_element> && is_present<y_element>,
                "wavetile: norm_arrays needs the views x and y");
  static_assert(!is_const_v<y_element>, "wavetile: y is written, its elements are const");
  static_assert(has_residual == is_present<array_element_t<Sum>>,
                "wavetile: residual and sum go together: x + residual is written to sum");
  static_assert(!has_scales || is_any_of_v<Scales, view<float, 1>>,
                "wavetile: scales is a view<float, 1>");
  for (const status& outcome :
       {check_norm_input<x_element>("x"), check_norm_input<array_element_t<Weight>>("weight"),
        check_norm_input<array_element_t<Bias>>("bias"),
        check_norm_input<array_element_t<Residual>>("residual"),
        check_norm_input<array_element_t<Sum>>("sum")})
    if (!outcome)
      return outcome;
  constexpr bool inputs = (is_norm_input<x_element>)&&(
      !is_present<array_element_t<Weight>> ||
      is_norm_input<
          array_element_t<Weight>>)&&(!is_present<array_element_t<Bias>> ||
                                      is_norm_input<array_element_t<
                                          Bias>>)&&(!has_residual ||
                                                    (is_norm_input<array_element_t<Residual>> &&
                                                     is_norm_input<array_element_t<Sum>>));
  constexpr bool quantised = is_quantised<y_element>;
  if constexpr (!quantised && !is_norm_input<y_element>) {
    return unsupported_element("y", type_name<y_element>(),
                               "fp32, fp16, bf16, fp8_e4m3_fnuz, int8");
  } else if constexpr (has_scales && !quantised) {
    return status::failure(status_code::unsupported_type, "scales", "y is ")
        .append(type_name<y_element>())
        .append(", allowed: with a y of fp8_e4m3_fnuz or int8");
  } else if constexpr (inputs) {
    norm_call call = norm_call_of<Kind>(arrays, options);
    if (const status outcome = check_option("epsilon", options.epsilon, true); !outcome)
      return outcome;
    if (const status outcome = check_option("scale", options.scale, false); !outcome)
      return outcome;
    if ((!quantised || has_scales) && options.scale != 1.0f)
      return number_failure("scale", options.scale,
                            has_scales ? ", given beside scales, allowed: 1"
                                       : ", given for a y that is not 8-bit, allowed: 1");
    if (const status outcome = check_norm(call); !outcome)
      return outcome;
    if (const status outcome = check_lent(options.memory); !outcome)
      return outcome;
    if (call.empty)
      return {};
    const norm_plan chosen =
        plan_call(call.problem, options.memory, stream, call.x, call.y, call.weight, call.bias,
                  call.residual, call.sum, call.scales);
    if (!chosen.outcome)
      return chosen.outcome;

    constexpr norm_scaling scaling = !quantised   ? norm_scaling::none
                                     : has_scales ? norm_scaling::per_row
                                                  : norm_scaling::given;
    using types =
        norm_types<Kind, array_storage_t<X>, array_storage_t<Residual>, array_storage_t<Sum>,
                   array_storage_t<Weight>, array_storage_t<Bias>, array_storage_t<Y>, scaling>;
    norm_arguments<types> arguments{};
    arguments.x = reinterpret_cast<const typename types::input*>(arrays.x.data);
    arguments.y = reinterpret_cast<typename types::output*>(arrays.y.data);
    if constexpr (types::has_weight)
      arguments.weight = reinterpret_cast<const typename types::weight*>(arrays.weight.data);
    if constexpr (types::has_bias)
      arguments.bias = reinterpret_cast<const typename types::bias*>(arrays.bias.data);
    if constexpr (has_residual) {
      arguments.residual = reinterpret_cast<const typename types::residual*>(arrays.residual.data);
      arguments.sum = reinterpret_cast<typename types::held*>(arrays.sum.data);
    }
    if constexpr (has_scales)
      arguments.scales = arrays.scales.data;
    const operand& residual = has_residual ? call.residual : call.x;
    const operand& sum = has_residual ? call.sum : call.x;
    arguments.map = map_rows<4>({&call.x, &call.y, &residual, &sum});
    arguments.rows = call.problem.rows;
    arguments.columns = call.problem.columns;
    const auto step = [&](const operand& array, int index, int32_t& bytes) {
      return step_in_bytes(arguments.map.stride[index][0], array.element_bytes, bytes);
    };
    if (step(call.x, 0, arguments.step[0]) && step(call.y, 1, arguments.step[1]) &&
        step(residual, 2, arguments.sum_step[0]) && step(sum, 3, arguments.sum_step[1]))
      arguments.exact_slots = exact_slots_of(chosen, call.problem, arguments.map.axes);
    arguments.teams = static_cast<int32_t>(chosen.groups / chosen.parts * chosen.rows_per_group);
    arguments.parts = chosen.parts;
    arguments.part_chunks = chosen.part_chunks;
    if (chosen.workspace_bytes > 0) {
      arguments.partials = static_cast<vec<float, 2>*>(options.memory.data);
      if (chosen.kernel == norm_kernel::split)
        arguments.largest =
            reinterpret_cast<int*>(arguments.partials + call.problem.rows * chosen.parts);
    }
    arguments.epsilon = options.epsilon;
    arguments.per_column = static_cast<float>(1.0 / static_cast<double>(call.problem.columns));
    arguments.output_factor = 1.0f / options.scale;
    arguments.lanes_log2 = static_cast<uint32_t>(chosen.lanes_log2);
    return run_norm<types>(chosen, arguments, stream);
  } else {
    return {}; // refused above
  }
}

} // namespace detail

} // namespace wavetile
