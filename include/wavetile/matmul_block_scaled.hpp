/// \file
/// Products of 8-bit floats that have scales for blocks of 128.
#pragma once

#include <wavetile/matmul.hpp>

namespace wavetile {

/// D = epilogue(alpha sum over blocks b of 128 values of k of
///              scale_a(i, b) scale_b(j / 128, b) sum over k in b of op(A)(i, k) op(B)(k, j)).
///
/// a, b: fnuz fp8, any two of them; d as for `matmul`, of which options and errors are the same,
/// but that k is not split (`splits` 0 or 1), `scale_a` and `scale_b` of the options are not used
/// and the kernel is `middle`. scale_a: M x ceil(K / 128) numbers; scale_b: ceil(N / 128) x ceil(K
/// / 128); any strides, 0 included. Sums of a block are exact to matmul's error, scaled sums are
/// added in fp32: the error is that of `matmul_error_factor` with |a| and |b| scaled.
template <class A, class B, class D, class Epilogue = epilogue::steps<>>
status matmul_block_scaled(view<A, 2> a, view<const float, 2> scale_a, view<B, 2> b,
                           view<const float, 2> scale_b, view<D, 2> d,
                           const matmul_options& options = {}, hipStream_t stream = nullptr,
                           const Epilogue& steps = {}) {
  using ta = kernels::storage_or_self_t<A>;
  using tb = kernels::storage_or_self_t<B>;
  using td = kernels::storage_or_self_t<D>;
  static_assert(!__is_const(D),
                "wavetile::matmul_block_scaled: d is written, its elements are const");
  constexpr const char* allowed = "fp8_e4m3_fnuz, fp8_e5m2_fnuz";
  if constexpr (!wavetile::detail::is_fnuz_v<ta>) {
    return kernels::unsupported_element("a", kernels::type_name<A>(), allowed);
  } else if constexpr (!wavetile::detail::is_fnuz_v<tb>) {
    return kernels::unsupported_element("b", kernels::type_name<B>(), allowed);
  } else if constexpr (!wavetile::detail::is_matmul_result<ta, td>()) {
    return kernels::unsupported_element("d", kernels::type_name<D>(),
                                        wavetile::detail::matmul_results<ta>());
  } else {
    using types = kernels::matmul_types<ta, tb, td, td, Epilogue, true>;
    kernels::matmul_call call;
    call.a = kernels::describe("a", a);
    call.b = kernels::describe("b", b);
    call.d = kernels::describe("d", d);
    if (options.splits > 1)
      return status::failure(status_code::invalid_argument, "splits", options.splits, "0 or 1");
    const int64_t m = a.extent[options.transpose_a ? 1 : 0];
    const int64_t k = a.extent[options.transpose_a ? 0 : 1];
    const int64_t n = b.extent[options.transpose_b ? 0 : 1];
    const int64_t blocks = k > 0 ? divide_up(k, int64_t{scale_block}) : 0;
    const struct {
      const char* name;
      const view<const float, 2>& array;
      int64_t rows;
    } scales[] = {{"scale_a", scale_a, m},
                  {"scale_b", scale_b, n > 0 ? divide_up(n, int64_t{scale_block}) : 0}};
    for (const auto& one : scales) {
      if (one.array.extent[0] != one.rows || one.array.extent[1] != blocks)
        return status::failure(status_code::unsupported_shape, one.name, "it has ")
            .append(one.array.extent[0])
            .append(" x ")
            .append(one.array.extent[1])
            .append(" numbers, allowed: ")
            .append(one.rows)
            .append(" x ")
            .append(blocks)
            .append(", one for each block of 128");
      if (one.array.data == nullptr && one.rows > 0 && blocks > 0 && options.alpha != 0)
        return status::failure(status_code::null_pointer, one.name, "null pointer to scales");
    }
    matmul_options own = options;
    own.splits = 1;
    return wavetile::detail::matmul_of<matmul_choice::middle, types>(
        call, own, stream, steps, [&](kernels::matmul_arguments<types>& arguments) {
          arguments.scale_a = scale_a.data;
          arguments.scale_b = scale_b.data;
          for (int axis = 0; axis < 2; ++axis) {
            arguments.scale_step_a[axis] = scale_a.stride[axis];
            arguments.scale_step_b[axis] = scale_b.stride[axis];
          }
        });
  }
}

} // namespace wavetile
