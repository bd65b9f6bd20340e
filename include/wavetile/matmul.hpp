/// \file
/// matmul on the host side.
#pragma once

#include <wavetile/launch/detail/device_language.hpp>

#include <wavetile/kernels/matmul/epilogue_steps.hpp>
#include <wavetile/matmul_launch.hpp>

namespace wavetile {

namespace detail {

/// Whether a factor is 0 in the type that products are computed in.
inline bool vanishes(double factor, data_type a, data_type d) {
  return a == data_type::fp64 || d == data_type::int32 ? factor == 0
                                                       : static_cast<float>(factor) == 0;
}

/// Numbers of the options that have no place in a problem.
template <class Types>
status check_factors(const matmul_options& options, bool has_c) {
  const struct {
    const char* name;
    double value;
  } factors[] = {{"alpha", options.alpha}, {"beta", options.beta}};
  for (const auto& factor : factors) {
    if constexpr (is_same_v<typename Types::compute, int32_t>) {
      if (!(factor.value >= -2147483648.0 && factor.value <= 2147483647.0) ||
          static_cast<double>(static_cast<int32_t>(factor.value)) != factor.value)
        return kernels::number_failure(factor.name, factor.value,
                                       ", allowed: integers of 32 bits, as results are int32");
    } else if constexpr (!is_same_v<typename Types::compute, double>) {
      if (is_finite(factor.value) && !is_finite(static_cast<float>(factor.value)))
        return kernels::number_failure(
            factor.name, factor.value,
            ", which is infinite in fp32; allowed: up to 3.4e38 in size");
    }
  }
  if (!has_c && options.beta != 0)
    return kernels::number_failure("beta", options.beta,
                                   ", and there is no C to multiply it with; allowed: 0");
  const struct {
    const char *name, *kind_name, *option_name;
    const matmul_scale& scale;
  } scales[] = {{"scale_a", "scale_a.kind", "options.scale_a", options.scale_a},
                {"scale_b", "scale_b.kind", "options.scale_b", options.scale_b}};
  for (const auto& one : scales) {
    if (const status outcome = check_enumerator(one.kind_name, one.scale.kind, scale_kind::outer,
                                                "none, tensor, outer");
        !outcome)
      return outcome;
    if (Types::block_scaled) { // `name` is an argument of that call
      if (one.scale.kind != scale_kind::none || one.scale.data != nullptr)
        return status::failure(status_code::invalid_argument, one.option_name, "its kind is ")
            .append(name_of(one.scale.kind))
            .append(one.scale.data != nullptr ? ", and there are data" : "")
            .append("; allowed: none without data, as blocks have scales of their own");
      continue;
    }
    if (one.scale.kind == scale_kind::none && one.scale.data != nullptr)
      return status::failure(status_code::invalid_argument, one.name,
                             "its kind is none, and there are data; allowed: tensor, outer");
    if (one.scale.kind == scale_kind::none)
      continue;
    if (!Types::scaled)
      return status::failure(status_code::unsupported_type, one.name,
                             "scales are for 8-bit inputs with results other than int32");
    if (one.scale.data == nullptr)
      return status::failure(status_code::null_pointer, one.name, "null pointer to scales");
  }
  if (options.splits < 0)
    return status::failure(status_code::invalid_argument, "splits", options.splits, ">= 0");
  return {};
}

/// What `check_factors` allows as the type of the product.
template <class Compute>
Compute factor_as(double value) {
  return static_cast<Compute>(value);
}

/// Scales that are read: aligned, apart from the result.
inline status check_scale_array(const char* name, const matmul_scale& scale, int64_t count,
                                const kernels::operand& d) {
  if (scale.kind == scale_kind::none)
    return {};
  const int64_t extent[] = {scale.kind == scale_kind::tensor ? 1 : count}, stride[] = {1};
  const auto array = kernels::describe(name, make_strided_view(scale.data, extent, stride));
  if (const status outcome = kernels::check_access(array); !outcome)
    return outcome;
  return kernels::share_memory(d, array) ? kernels::overlap_failure(d, array, "apart") : status{};
}

/// Whether calls of `call` with `Choice` have code for the kernel that their options name; the
/// choice is `Choice` where they name none.
template <matmul_choice Choice>
status check_code(const char* call, matmul_choice& choice) {
  const bool named = choice != matmul_choice::automatic;
  if (Choice != matmul_choice::automatic) {
    if (named && choice != Choice)
      return status::failure(status_code::invalid_argument, "kernel", "it is ")
          .append(name_of(choice))
          .append(", and this call has code for ")
          .append(name_of(Choice))
          .append(" only");
    choice = Choice;
  } else if (named && !in_every_call(choice)) {
    return status::failure(status_code::invalid_argument, "kernel", "it is ")
        .append(name_of(choice))
        .append(", which only calls of ")
        .append(call)
        .append("<matmul_choice::")
        .append(name_of(choice))
        .append("> have code for; allowed here: large, middle, compact, skinny");
  }
  return {};
}

/// What only a relative of matmul has: nothing.
struct matmul_alone {
  /// Its arrays, after those of matmul.
  status check(const kernels::matmul_call&) const { return {}; }
  template <class Arguments>
  void prepare(Arguments&) const {}
};

/// `relative`: as `matmul_alone`.
template <matmul_choice Choice, class Types, class Relative>
status matmul_of(kernels::matmul_call& call, const matmul_options& options, hipStream_t stream,
                 const typename Types::epilogue& steps, const Relative& relative) {
  using namespace kernels;
  matmul_problem& problem = call.problem;
  const auto& extents = call.problem;
  problem.a = numeric_traits<typename Types::a>::type;
  problem.b = numeric_traits<typename Types::b>::type;
  problem.c = numeric_traits<typename Types::c>::type;
  problem.d = numeric_traits<typename Types::d>::type;
  problem.columns_per_output = Types::epilogue::columns_per_output;
  if (Types::block_scaled)
    problem.k_multiple = scale_block;
  call.transpose_a = options.transpose_a;
  call.transpose_b = options.transpose_b;
  describe_product(call);
  if (const status outcome = check_factors<Types>(options, call.has_c); !outcome)
    return outcome;
  if (const status outcome = check_lent(options.memory); !outcome)
    return outcome;
  problem.reads_c = !vanishes(options.beta, problem.a, problem.d);
  if (vanishes(options.alpha, problem.a, problem.d))
    problem.k = 0;
  if (const status outcome = check_product(call); !outcome)
    return outcome;
  if (const status outcome = relative.check(call); !outcome)
    return outcome;
  const epilogue::output_shape shape{problem.batches, problem.m,
                                     problem.n / problem.columns_per_output, &call.d};
  if (const status outcome = steps.check(shape); !outcome)
    return outcome;
  if (problem.m == 0 || problem.n == 0 || problem.batches == 0)
    return {};
  if (problem.k > 0) {
    if (const status outcome = check_scale_array("scale_a", options.scale_a, problem.m, call.d);
        !outcome)
      return outcome;
    if (const status outcome = check_scale_array("scale_b", options.scale_b, problem.n, call.d);
        !outcome)
      return outcome;
  }

  if (const status outcome = find_choice(options.kernel, problem.choice); !outcome)
    return outcome;
  if (const status outcome = check_code<Choice>("matmul", problem.choice); !outcome)
    return outcome;
  problem.splits = options.splits;
  problem.workspace_bytes = options.memory.bytes;
  device_info device;
  if (const status outcome = stream_device(stream, device); !outcome)
    return outcome;
  const matmul_plan chosen = plan(problem, device);
  if (!chosen.outcome)
    return chosen.outcome;
  if (const status outcome =
          check_workspace(options.memory, chosen.workspace_bytes, call.a, call.b, call.c, call.d);
      !outcome)
    return outcome;

  using compute = typename Types::compute;
  matmul_arguments<Types> arguments{};
  arguments.task = {static_cast<const typename Types::a*>(call.a.data),
                    static_cast<const typename Types::b*>(call.b.data),
                    problem.reads_c ? static_cast<const typename Types::c*>(call.c.data) : nullptr,
                    static_cast<typename Types::d*>(const_cast<void*>(call.d.data)),
                    leading_dimension(call.a),
                    leading_dimension(call.b),
                    leading_dimension(call.c),
                    leading_dimension(call.d),
                    extents.m,
                    extents.n,
                    extents.k};
  arguments.batch_a = batch_stride(call.a);
  arguments.batch_b = batch_stride(call.b);
  arguments.batch_c = problem.reads_c ? batch_stride(call.c) : 0;
  arguments.batch_d = batch_stride(call.d);
  arguments.batches = problem.batches;
  arguments.alpha = factor_as<compute>(options.alpha);
  arguments.beta = factor_as<compute>(options.beta);
  arguments.epilogue = steps;
  if (!chosen.product) {
    arguments.alpha = compute{};
    return launch_combine(arguments, 0, stream);
  }
  arguments.scale_a = options.scale_a.data;
  arguments.scale_b = options.scale_b.data;
  arguments.kind_a = options.scale_a.kind;
  arguments.kind_b = options.scale_b.kind;
  arguments.tiles = divider(chosen.tiles * chosen.splits);
  arguments.splits = divider(chosen.splits);
  arguments.split_k = chosen.split_k;
  arguments.partials = options.memory.data;
  set_order(arguments, chosen, problem, device);
  relative.prepare(arguments);
  if (const status outcome = launch_product<Choice>(chosen, problem, arguments, stream); !outcome)
    return outcome;
  return chosen.splits > 1 ? launch_combine(arguments, chosen.splits, stream) : status{};
}

/// From views to types: refuses those without a kernel, and turns HIP's types into our own.
template <matmul_choice Choice, class A, class B, class C, class D, int Rank, class Epilogue>
status matmul_of_views(const view<A, Rank>& a, const view<B, Rank>& b, const view<C, Rank>* c,
                       const view<D, Rank>& d, const matmul_options& options, hipStream_t stream,
                       const Epilogue& steps) {
  static_assert(Rank == 2 || Rank == 3,
                "wavetile::matmul: matrices are views of rank 2, batches of them of rank 3");
  static_assert(!is_const_v<D>, "wavetile::matmul: d is written, its elements are const");
  using kernels::storage_or_self_t;
  using ta = storage_or_self_t<A>;
  using tb = storage_or_self_t<B>;
  using td = storage_or_self_t<D>;
  using tc = storage_or_self_t<C>;
  if constexpr (!are_matmul_inputs<ta, ta>()) {
    return kernels::unsupported_element("a", kernels::type_name<A>(),
                                        matmul_input_names(WAVETILE_CUDA));
  } else if constexpr (!are_matmul_inputs<ta, tb>()) {
    return kernels::unsupported_element("b", kernels::type_name<B>(),
                                        is_matmul_fp8<ta>() ? matmul_fp8_names(WAVETILE_CUDA)
                                                            : kernels::type_name<A>());
  } else if constexpr (!is_matmul_result<ta, td>()) {
    return kernels::unsupported_element(
        "d", kernels::type_name<D>(), matmul_result_names(numeric_traits<ta>::type, WAVETILE_CUDA));
  } else if constexpr (!is_matmul_addend<tc, td>()) {
    return kernels::unsupported_element("c", kernels::type_name<C>(),
                                        is_any_of_v<td, double, int32_t>
                                            ? kernels::type_name<D>()
                                            : "fp32, fp16, bf16, or the type of d");
  } else {
    using types = kernels::matmul_types<ta, tb, tc, td, Epilogue>;
    kernels::matmul_call call;
    call.a = kernels::describe("a", a);
    call.b = kernels::describe("b", b);
    call.d = kernels::describe("d", d);
    call.has_c = c != nullptr;
    if (c != nullptr)
      call.c = kernels::describe("c", *c);
    return matmul_of<Choice, types>(call, options, stream, steps, matmul_alone{});
  }
}

} // namespace detail

/// The problem that `matmul(a, b, d, options, stream, steps)` solves, for `plan`.
template <numeric A, numeric B, numeric D, int Rank, class Epilogue = epilogue::steps<>>
matmul_problem matmul_problem_of(view<A, Rank> a, view<B, Rank> b, view<D, Rank> d,
                                 const matmul_options& options = {}, const Epilogue& = {}) {
  kernels::matmul_call call;
  call.a = kernels::describe("a", a);
  call.b = kernels::describe("b", b);
  call.d = kernels::describe("d", d);
  call.transpose_a = options.transpose_a;
  call.transpose_b = options.transpose_b;
  kernels::describe_product(call);
  matmul_problem& problem = call.problem;
  problem.a = numeric_traits<detail::remove_cv_t<A>>::type;
  problem.b = numeric_traits<detail::remove_cv_t<B>>::type;
  problem.d = numeric_traits<detail::remove_cv_t<D>>::type;
  problem.c = problem.d;
  problem.reads_c = !detail::vanishes(options.beta, problem.a, problem.d);
  problem.columns_per_output = Epilogue::columns_per_output;
  if (detail::vanishes(options.alpha, problem.a, problem.d))
    problem.k = 0;
  problem.splits = options.splits;
  problem.workspace_bytes = options.memory.bytes;
  problem.named = detail::find_choice(options.kernel, problem.choice);
  return problem;
}

/// D = epilogue(alpha op(A) op(B)), with op(A) of M x K and op(B) of K x N elements, row-major:
/// views of rank 2, or of rank 3 for a batch of products (any number; a batch stride of 0 repeats
/// a, b). The epilogue is a chain of steps, kernels/matmul/epilogue.hpp:
/// `matmul(a, b, d, {}, stream, epilogue::chain(epilogue::bias_columns{bias}, epilogue::relu{}))`.
///
/// Types of a and b: fp64, fp32, fp16, bf16 or int8 (both the same), or any two of the fnuz fp8
/// types; HIP's own types too. Sums are formed in fp64, int32 (wrapping) or else fp32. d: fp64 of
/// fp64, fp32 of fp32; of 16-bit floats fp32, fp16, bf16 or, with `epilogue::quantize`, 8 bits; of
/// fp8 the same; of int8 int32, and fp32, fp16, bf16 or int8, for which sums are rounded to fp32.
/// Rounding is to nearest even; 8-bit results saturate. fp16 and bf16 denormals count.
///
/// In a build for NVIDIA GPUs 8-bit floats are the OCP types, which sm_80 refuses (a build for
/// sm_80 alone must not be run with them on a later device, whose driver would translate it);
/// the kernels are `large`, `middle`, `compact` and, of 8 and 16 bits with up to 32 rows, `skinny`.
/// Rows of A and B that do not start at multiples of 16 bytes are copied element by element there,
/// at a fraction of the speed.
///
/// Any M, N, K >= 0; any leading dimensions that hold a row; pointers need only be multiples of the
/// element size; the last stride is 1. Nothing beyond the last element of any row is read or
/// written. alpha = 0 or K = 0: a and b are not read. d does not overlap a or b.
///
/// Asynchronous on `stream`, which may be capturing; nothing is allocated; runs on the stream's
/// device. Deterministic: the same call gives the same bits, and matrices of a batch do not
/// influence each other's. Error against exact arithmetic: `matmul_error_factor`.
///
/// Which kernel runs, its LDS and registers: `plan(matmul_problem_of(a, b, d, options), device)`.
/// `Choice` names one at compile time and leaves out the code of all others.
///
/// Errors: negative extents, extents that do not go together, leading dimension smaller than a row,
/// last stride not 1, null pointer to what is read or written, misaligned pointer, overlap, element
/// types without a kernel, beta without C, a workspace too small for the parts asked for, device
/// without code. Whatever the error, d is untouched.
template <matmul_choice Choice = matmul_choice::automatic, class A, class B, class D, int Rank,
          class Epilogue = epilogue::steps<>>
status matmul(view<A, Rank> a, view<B, Rank> b, view<D, Rank> d, const matmul_options& options = {},
              hipStream_t stream = nullptr, const Epilogue& steps = {}) {
  return detail::matmul_of_views<Choice>(a, b, static_cast<const view<D, Rank>*>(nullptr), d,
                                         options, stream, steps);
}

/// D = epilogue(alpha op(A) op(B) + beta C). c: M x N of the type of d, or of fp32, fp16 or bf16
/// where results are not fp64 or int32; the very same array as d, or apart from it. beta = 0: c is
/// not read.
template <matmul_choice Choice = matmul_choice::automatic, class A, class B, class C, class D,
          int Rank, class Epilogue = epilogue::steps<>>
status matmul(view<A, Rank> a, view<B, Rank> b, view<C, Rank> c, view<D, Rank> d,
              const matmul_options& options = {}, hipStream_t stream = nullptr,
              const Epilogue& steps = {}) {
  return detail::matmul_of_views<Choice>(a, b, &c, d, options, stream, steps);
}

} // namespace wavetile
