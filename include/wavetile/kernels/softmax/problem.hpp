/// \file
/// What the softmax kernels work on.
#pragma once

#include <wavetile/core/numeric_traits.hpp>
#include <wavetile/core/vec.hpp>
#include <wavetile/kernels/rows/causal.hpp>
#include <wavetile/kernels/rows/chunk.hpp>
#include <wavetile/kernels/rows/row_map.hpp>
#include <wavetile/kernels/softmax/cuts.hpp>

namespace wavetile::kernels {

/// Mask types of a kernel. `element` is what the mask array holds.
struct no_mask {
  using element = uint8_t;
  static constexpr mask_kind kind = mask_kind::none;
};
struct keep_mask {
  using element = uint8_t;
  static constexpr mask_kind kind = mask_kind::keep;
};
template <class T>
struct additive_mask {
  using element = T;
  static constexpr mask_kind kind = mask_kind::additive;
};

/// Bits of the `flags` of the kernels' arguments.
enum softmax_flag : uint32_t {
  wide_x = 1,    ///< every row of x (forward) or of the gradient (backward) is aligned to a chunk
  wide_y = 2,    ///< and of y
  wide_mask = 4, ///< and of the mask
  wide_out = 8,  ///< and of the result of a backward kernel
  causal_flag = 16, ///< `causal` applies
};

/// Types of a forward kernel: y = softmax or log_softmax of scale x, fp32 arithmetic.
template <class Input, class Output, class Mask, softmax_form Form>
struct softmax_problem_types {
  static_assert(!is_backward(Form));
  using input = Input;
  using output = Output;
  using mask = Mask;
  using mask_element = typename Mask::element;
  static constexpr softmax_form form = Form;
  static constexpr int chunk = chunk_of<Input, Output>;
  static constexpr int held_bytes = chunk * static_cast<int>(sizeof(Input));
};

/// Arguments of a forward kernel.
template <class Types>
struct softmax_arguments {
  const typename Types::input* x;
  typename Types::output* y;
  const typename Types::mask_element* mask;
  row_map<3> map; ///< x, y, mask
  causal_limit causal;
  int64_t rows;
  int64_t columns;
  float sign;              ///< x enters as sign x (no additive mask) or as fma(x, sign, mask)
  float scale;             ///< differences of what entered, times this, are logits
  uint32_t flags;          ///< softmax_flag
  int64_t first_row;       ///< of this launch
  uint32_t lanes_log2;     ///< short rows: lanes of a row, log2
  uint32_t parts;          ///< split: workgroups of a row
  int64_t part_chunks;     ///< split: chunks of a part
  vec<float, 2>* partials; ///< split: [rows][parts]
};

/// Types of a backward kernel: from the forward's result y and the gradient of y, that of x.
template <class Result, class Gradient, class Output, class Mask, softmax_form Form>
struct softmax_backward_types {
  static_assert(is_backward(Form));
  using result = Result;
  using gradient = Gradient;
  using output = Output;
  using mask = Mask;
  using mask_element = typename Mask::element;
  static constexpr softmax_form form = Form;
  static constexpr int chunk = chunk_of<Result, Gradient, Output>;
  static constexpr int held_bytes = chunk * static_cast<int>(sizeof(Result) + sizeof(Gradient));
};

/// The cuts that kernels for these types have under a name.
template <class Types>
constexpr int cuts_for(softmax_kernel kernel) {
  return cuts_of(kernel, Types::form, Types::mask::kind, Types::chunk);
}
template <class Types>
constexpr softmax_config cut_for(softmax_kernel kernel, int cut) {
  return config_of(kernel, Types::form, Types::mask::kind, Types::chunk, Types::held_bytes, cut);
}
/// The first of them.
template <class Types>
constexpr softmax_config config_for(softmax_kernel kernel) {
  return cut_for<Types>(kernel, 0);
}

/// Arguments of a backward kernel.
template <class Types>
struct softmax_backward_arguments {
  const typename Types::result* y;
  const typename Types::gradient* gradient;
  typename Types::output* out;
  const typename Types::mask_element* mask;
  row_map<4> map; ///< y, gradient, out, mask
  causal_limit causal;
  int64_t rows;
  int64_t columns;
  float scale;
  uint32_t flags;
  int64_t first_row;
  uint32_t lanes_log2;
  uint32_t parts;
  int64_t part_chunks;
  vec<float, 2>* partials;
};

} // namespace wavetile::kernels
