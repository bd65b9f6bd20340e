/// \file
/// Host checks that the softmax operators share.
#pragma once

#include <wavetile/kernels/rows/element_types.hpp>
#include <wavetile/kernels/rows/operand.hpp>
#include <wavetile/kernels/rows/row_arrays.hpp>
#include <wavetile/kernels/softmax/problem.hpp>

namespace wavetile::kernels {

/// Element types of inputs, outputs and additive masks.
template <class T>
inline constexpr bool is_softmax_type =
    wavetile::detail::is_any_of_v<storage_or_self_t<T>, float, fp16, bf16>;

/// The mask of a kernel for a mask array of `T`; void for types that no mask has.
template <class T>
struct mask_for {
  using type = wavetile::detail::conditional_t<
      wavetile::detail::is_any_of_v<wavetile::detail::remove_cv_t<T>, bool, uint8_t>, keep_mask,
      wavetile::detail::conditional_t<is_softmax_type<T>, additive_mask<storage_or_self_t<T>>,
                                      void>>;
};

/// Element types of masks.
template <class T>
concept mask_element = !wavetile::detail::is_same_v<typename mask_for<T>::type, void>;

/// A mask with the rank of the array it masks: axes are aligned at the last one, missing and
/// one-element leading axes repeat (stride 0). Fails where the extents do not go together.
inline status broadcast_mask(operand& mask, const operand& model) {
  if (mask.rank > model.rank)
    return status::failure(status_code::unsupported_shape, mask.name, "has rank ")
        .append(mask.rank)
        .append(", allowed: <= ")
        .append(model.rank)
        .append(", the rank of ")
        .append(model.name);
  const int missing = model.rank - mask.rank;
  operand wide = mask;
  wide.rank = model.rank;
  wide.added_axes = missing;
  for (int axis = 0; axis < model.rank; ++axis) {
    const int own = axis - missing;
    const bool last = axis == model.rank - 1;
    const int64_t extent = own < 0 ? 1 : mask.extent[own];
    if (extent != model.extent[axis] && (extent != 1 || last))
      return status::failure(status_code::unsupported_shape,
                             member_name(mask, "extent", own).c_str(), extent, "")
          .append(model.extent[axis])
          .append(", the extent of ")
          .append(model.name)
          .append(last ? "" : ", or 1");
    wide.extent[axis] = model.extent[axis];
    wide.stride[axis] = own < 0 || (extent == 1 && !last) ? 0 : mask.stride[own];
  }
  mask = wide;
  return {};
}

/// Rows of each matrix for a causal mask: the extent of the last axis but one.
inline int64_t queries_of(const operand& array) {
  return array.rank >= 2 ? array.extent[array.rank - 2] : 1;
}

/// Kernels multiply by scale log2(e), which must be finite, too: 0 times infinity is no logit.
inline status check_scale(float scale) {
  if (is_finite(scale * log2_e))
    return {};
  if (is_finite(scale))
    return number_failure("scale", scale,
                          ", whose product with log2(e) is infinite in fp32, allowed: at most "
                          "2.358e38 in size");
  return number_failure("scale", scale, ", allowed: finite numbers");
}

} // namespace wavetile::kernels
