/// \file
/// Products of 8-bit floats that have scales for blocks of 128.
#pragma once

#include <wavetile/matmul.hpp>

namespace wavetile {

namespace detail {

/// What a product with scales of blocks has more than one without.
template <int Rank>
struct block_scales {
  const view<const float, Rank>& a;
  const view<const float, Rank>& b;

  /// One number for each row or block of columns, and each block of k, of every batch.
  status check_array(const char* name, const view<const float, Rank>& scales, int64_t rows,
                     const char* rows_text, int64_t k, const kernels::matmul_call& call) const {
    const kernels::operand array = kernels::describe(name, scales);
    if (const status outcome = kernels::check_extents(array); !outcome)
      return outcome;
    const struct {
      int64_t extent;
      const char* of_what;
    } expected[] = {{call.problem.batches, ", the batches of d"},
                    {rows, rows_text},
                    {divide_up(k, int64_t{scale_block}), ", the blocks of 128 of k"}};
    for (int axis = 0; axis < Rank; ++axis)
      if (const auto& wanted = expected[axis + 3 - Rank]; array.extent[axis] != wanted.extent)
        return status::failure(status_code::unsupported_shape,
                               kernels::member_name(array, "extent", axis).c_str(),
                               array.extent[axis], "")
            .append(wanted.extent)
            .append(wanted.of_what);
    if (call.problem.k == 0 || array.empty() || call.d.empty())
      return {};
    kernels::operand numbers = array; // which may be any step apart, each a row of one
    numbers.rank = Rank + 1;
    numbers.extent[Rank] = numbers.stride[Rank] = 1;
    if (const status outcome = kernels::check_access(numbers); !outcome)
      return outcome;
    return kernels::share_memory(call.d, numbers)
               ? kernels::overlap_failure(call.d, numbers, "apart")
               : status{};
  }
  /// `call.problem.k` is 0 where nothing is read.
  status check(const kernels::matmul_call& call) const {
    const matmul_problem& problem = call.problem;
    const int64_t k = call.a.extent[call.transpose_a ? Rank - 2 : Rank - 1];
    if (const status outcome = check_array("scale_a", a, problem.m, ", the rows of op(A)", k, call);
        !outcome)
      return outcome;
    return check_array("scale_b", b, divide_up(problem.n, int64_t{scale_block}),
                       ", the blocks of 128 columns of op(B)", k, call);
  }
  template <class Arguments>
  void prepare(Arguments& arguments) const {
    arguments.scale_a = a.data;
    arguments.scale_b = b.data;
    for (int axis = 0; axis < 2; ++axis) {
      arguments.scale_step_a[axis] = a.stride[Rank - 2 + axis];
      arguments.scale_step_b[axis] = b.stride[Rank - 2 + axis];
    }
    arguments.scale_batch_a = Rank == 3 ? a.stride[0] : 0;
    arguments.scale_batch_b = Rank == 3 ? b.stride[0] : 0;
  }
};

template <class A, class B, class C, class D, int Rank, class Epilogue>
status matmul_block_scaled_of(const view<A, Rank>& a, const view<const float, Rank>& scale_a,
                              const view<B, Rank>& b, const view<const float, Rank>& scale_b,
                              const view<C, Rank>* c, const view<D, Rank>& d,
                              const matmul_options& options, hipStream_t stream,
                              const Epilogue& steps) {
  static_assert(Rank == 2 || Rank == 3,
                "wavetile::matmul_block_scaled: matrices are views of rank 2, batches of rank 3");
  static_assert(!is_const_v<D>,
                "wavetile::matmul_block_scaled: d is written, its elements are const");
  using ta = kernels::storage_or_self_t<A>;
  using tb = kernels::storage_or_self_t<B>;
  using tc = kernels::storage_or_self_t<C>;
  using td = kernels::storage_or_self_t<D>;
  constexpr const char* allowed = matmul_fp8_names(false);
  if constexpr (WAVETILE_CUDA) {
    return status::failure(status_code::wrong_architecture, "device",
                           "matmul_block_scaled has code for AMD GPUs only");
  } else if constexpr (!is_matmul_fp8<ta>()) {
    return kernels::unsupported_element("a", kernels::type_name<A>(), allowed);
  } else if constexpr (!is_matmul_fp8<tb>()) {
    return kernels::unsupported_element("b", kernels::type_name<B>(), allowed);
  } else if constexpr (!is_matmul_result<ta, td>()) {
    return kernels::unsupported_element("d", kernels::type_name<D>(),
                                        matmul_result_names(numeric_traits<ta>::type, false));
  } else if constexpr (!is_matmul_addend<tc, td>()) {
    return kernels::unsupported_element("c", kernels::type_name<C>(),
                                        "fp32, fp16, bf16, or the type of d");
  } else {
    using types = kernels::matmul_types<ta, tb, tc, td, Epilogue, true>;
    kernels::matmul_call call;
    call.a = kernels::describe("a", a);
    call.b = kernels::describe("b", b);
    call.d = kernels::describe("d", d);
    call.has_c = c != nullptr;
    if (c != nullptr)
      call.c = kernels::describe("c", *c);
    return matmul_of<matmul_choice::middle, types>(call, options, stream, steps,
                                                   block_scales<Rank>{scale_a, scale_b});
  }
}

} // namespace detail

/// D = epilogue(alpha sum over blocks s of 128 values of k of
///              scale_a(i, s) scale_b(j / 128, s) sum over k in s of op(A)(i, k) op(B)(k, j)).
///
/// a, b: fnuz fp8, any two of them; d as for `matmul`, of which options, batches (views of rank 3),
/// parts of k and errors are the same, but that `scale_a` and `scale_b` of the options stay empty
/// and the kernel is `middle`; parts of k are whole blocks. scale_a: M x ceil(K / 128) numbers;
/// scale_b: ceil(N / 128) x ceil(K / 128); a matrix of each for each batch; any strides, 0
/// included; apart from d. Sums of a block are exact to matmul's error, scaled sums are added in
/// fp32: the error is that of `matmul_error_factor` with |a| and |b| scaled.
template <class A, class B, class D, int Rank, class Epilogue = epilogue::steps<>>
status matmul_block_scaled(view<A, Rank> a, view<const float, Rank> scale_a, view<B, Rank> b,
                           view<const float, Rank> scale_b, view<D, Rank> d,
                           const matmul_options& options = {}, hipStream_t stream = nullptr,
                           const Epilogue& steps = {}) {
  return detail::matmul_block_scaled_of(a, scale_a, b, scale_b,
                                        static_cast<const view<D, Rank>*>(nullptr), d, options,
                                        stream, steps);
}

/// The same + beta C inside the epilogue; c as for `matmul`.
template <class A, class B, class C, class D, int Rank, class Epilogue = epilogue::steps<>>
status matmul_block_scaled(view<A, Rank> a, view<const float, Rank> scale_a, view<B, Rank> b,
                           view<const float, Rank> scale_b, view<C, Rank> c, view<D, Rank> d,
                           const matmul_options& options = {}, hipStream_t stream = nullptr,
                           const Epilogue& steps = {}) {
  return detail::matmul_block_scaled_of(a, scale_a, b, scale_b, &c, d, options, stream, steps);
}

} // namespace wavetile
