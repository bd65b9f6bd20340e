/// \file
/// Products of 8-bit floats that have scales for blocks of 128.
#pragma once

#include <wavetile/matmul.hpp>

namespace wavetile {

namespace detail {

/// One number for each row or block of columns, and each block of k, of every batch.
template <int Rank>
status check_block_scales(const char* name, const view<const float, Rank>& scales, int64_t batches,
                          int64_t rows, int64_t blocks, bool read, const kernels::operand& d) {
  const kernels::operand array = kernels::describe(name, scales);
  const int64_t expected[] = {batches, rows, blocks};
  for (int axis = 0; axis < Rank; ++axis)
    if (array.extent[axis] != expected[axis + 3 - Rank])
      return status::failure(status_code::unsupported_shape,
                             kernels::member_name(array, "extent", axis).c_str(),
                             array.extent[axis], "")
          .append(expected[axis + 3 - Rank])
          .append(Rank == 3 && axis == 0 ? ", the batches of d" : ", one for each block of 128");
  if (!read || array.empty() || d.empty())
    return {};
  if (array.data == nullptr)
    return status::failure(status_code::null_pointer, name, "null pointer to scales");
  const auto address = reinterpret_cast<uintptr_t>(array.data);
  if (address % sizeof(float) != 0)
    return status::failure(status_code::misaligned, name, static_cast<int64_t>(address),
                           "a multiple of 4 bytes, the size of an element");
  return kernels::share_memory(d, array) ? kernels::overlap_failure(d, array, "apart") : status{};
}

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
  constexpr const char* allowed = matmul_fp8_types;
  if constexpr (WAVETILE_CUDA) {
    return status::failure(status_code::wrong_architecture, "device",
                           "matmul_block_scaled has code for AMD GPUs only");
  } else if constexpr (!is_matmul_fp8_v<ta>) {
    return kernels::unsupported_element("a", kernels::type_name<A>(), allowed);
  } else if constexpr (!is_matmul_fp8_v<tb>) {
    return kernels::unsupported_element("b", kernels::type_name<B>(), allowed);
  } else if constexpr (!is_matmul_result<ta, td>()) {
    return kernels::unsupported_element("d", kernels::type_name<D>(), matmul_results<ta>());
  } else if constexpr (!is_same_v<tc, td> && !is_any_of_v<tc, float, fp16, bf16>) {
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
    constexpr int rows = Rank - 2, columns = Rank - 1;
    const int64_t batches = kernels::batch_count(call.d);
    const int64_t m = a.extent[options.transpose_a ? columns : rows];
    const int64_t k = a.extent[options.transpose_a ? rows : columns];
    const int64_t n = b.extent[options.transpose_b ? rows : columns];
    const auto blocks = [](int64_t count) {
      return count > 0 ? divide_up(count, int64_t{scale_block}) : 0;
    };
    const bool read = !vanishes(options.alpha, data_type::fp8_e4m3_fnuz, data_type::fp32);
    if (const status outcome =
            check_block_scales("scale_a", scale_a, batches, m, blocks(k), read, call.d);
        !outcome)
      return outcome;
    if (const status outcome =
            check_block_scales("scale_b", scale_b, batches, blocks(n), blocks(k), read, call.d);
        !outcome)
      return outcome;
    return matmul_of<matmul_choice::middle, types>(
        call, options, stream, steps, [&](kernels::matmul_arguments<types>& arguments) {
          arguments.scale_a = scale_a.data;
          arguments.scale_b = scale_b.data;
          for (int axis = 0; axis < 2; ++axis) {
            arguments.scale_step_a[axis] = scale_a.stride[rows + axis];
            arguments.scale_step_b[axis] = scale_b.stride[rows + axis];
          }
          arguments.scale_batch_a = Rank == 3 ? scale_a.stride[0] : 0;
          arguments.scale_batch_b = Rank == 3 ? scale_b.stride[0] : 0;
        });
  }
}

} // namespace detail

/// D = epilogue(alpha sum over blocks s of 128 values of k of
///              scale_a(i, s) scale_b(j / 128, s) sum over k in s of op(A)(i, k) op(B)(k, j)).
///
/// a, b: fnuz fp8, any two of them; d as for `matmul`, of which options, batches (views of rank 3),
/// parts of k and errors are the same, but that `scale_a` and `scale_b` of the options are not used
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
