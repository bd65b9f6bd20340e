/// \file
/// What the normalisation kernels work on.
#pragma once

#include <wavetile/core/numeric_traits.hpp>
#include <wavetile/core/vec.hpp>
#include <wavetile/kernels/norms/cuts.hpp>
#include <wavetile/kernels/rows/chunk.hpp>
#include <wavetile/kernels/rows/row_map.hpp>

namespace wavetile::kernels {

/// In place of the element type of an array that a call does not have.
struct absent {};

template <class T>
inline constexpr bool is_present = !wavetile::detail::is_same_v<T, absent>;
/// A type that pointers can have.
template <class T>
using element_or_byte = wavetile::detail::conditional_t<is_present<T>, T, uint8_t>;

/// Types of a normalisation kernel. With a residual, h = x + residual rounded to `Sum`; else h = x.
template <norm_kind Kind, class Input, class Residual, class Sum, class Weight, class Bias,
          class Output, norm_scaling Scaling>
struct norm_types {
  static constexpr norm_kind kind = Kind;
  static constexpr norm_scaling scaling = Scaling;
  static constexpr bool has_residual = is_present<Residual>;
  static constexpr bool has_weight = is_present<Weight>;
  static constexpr bool has_bias = is_present<Bias>;
  using input = Input;
  using residual = wavetile::detail::conditional_t<has_residual, Residual, Input>;
  using held = wavetile::detail::conditional_t<has_residual, Sum, Input>; ///< h
  using weight = element_or_byte<Weight>;
  using bias = element_or_byte<Bias>;
  using output = Output;
  /// 8-bit results are stored in accesses of as many bytes: larger chunks would need more
  /// registers.
  static constexpr int chunk =
      chunk_of<Input, residual, held,
               wavetile::detail::conditional_t<Scaling == norm_scaling::none, Output, Input>>;
  static constexpr int chunk_bytes = chunk * static_cast<int>(sizeof(held));
  static constexpr int loaded_bytes =
      has_residual ? chunk * static_cast<int>(sizeof(input) + sizeof(residual)) : chunk_bytes;
  template <class T>
  static constexpr bool is_bf16 = wavetile::detail::is_same_v<T, bf16>;
  /// Every NaN among bf16 results is one that a bf16 operand brought, or 0x7FC00000.
  static constexpr bool makes_plain_nans =
      WAVETILE_AMDGCN && scaling == norm_scaling::none && is_bf16<Output> && is_bf16<held> &&
      (!has_weight || is_bf16<Weight>)&&(!has_bias || is_bf16<Bias>);
  /// Bytes of weight and bias of an element.
  static constexpr int parameter_bytes = (has_weight ? static_cast<int>(sizeof(weight)) : 0) +
                                         (has_bias ? static_cast<int>(sizeof(bias)) : 0);
};

/// A cut that kernels for these types have under a name.
template <class Types>
constexpr norm_config norm_cut_for(norm_kernel kernel, int cut) {
  return norm_config_of(kernel, Types::chunk_bytes, Types::loaded_bytes, cut);
}
/// The first of them.
template <class Types>
constexpr norm_config norm_config_for(norm_kernel kernel) {
  return norm_cut_for<Types>(kernel, 0);
}
/// x, y and weight are of one type, and there is no bias.
template <class Types>
inline constexpr bool is_uniform =
    !Types::has_bias && wavetile::detail::is_same_v<typename Types::held, typename Types::output> &&
    (!Types::has_weight ||
     wavetile::detail::is_same_v<typename Types::held, typename Types::weight>);
template <class Types, norm_config Config>
inline constexpr int norm_groups_for = norm_groups_of(Types::kind,
                                                      !Types::has_residual &&
                                                          Types::scaling == norm_scaling::none,
                                                      Config, is_uniform<Types>);

/// Whether a lane keeps its share of weight and bias from row to row: in as many registers as leave
/// room for the rest.
constexpr bool keeps_parameters(norm_config config, int chunk, int chunk_bytes, int loaded_bytes,
                                int parameter_bytes) {
  const bool room =
      config.slots * chunk_bytes <= 64 || (config.waves > 4 && config.slots * loaded_bytes <= 128);
  return config.keeps_row() && room &&
         config.slots * chunk * parameter_bytes <= (config.waves > 4 ? 128 : 256);
}

/// Whether there is a kernel for rows of exactly so many slots, the last of which all lanes fill
/// (`full`) or some: see rows.hpp. Rows of fewer slots go to smaller teams, as do those of half of
/// what two or four waves hold. Full ones have a kernel where rows are most often so: of powers of
/// two, and up to four waves.
constexpr bool norm_slots_known([[maybe_unused]] norm_config config, [[maybe_unused]] int slots,
                                [[maybe_unused]] bool full) {
#if WAVETILE_CUDA
  return false;
#else
  return config.keeps_row() && slots > 0 && config.slots <= 4 && 2 * slots >= config.slots &&
         (2 * slots > config.slots || (config.waves != 2 && config.waves != 4)) &&
         (!full || (config.waves <= 4 && (slots & (slots - 1)) == 0));
#endif
}

/// The first 64 bytes of a kernel's arguments, which code for known slots reads at once.
template <class Types>
struct norm_leading_arguments {
  const typename Types::input* x;
  typename Types::output* y;
  const typename Types::weight* weight;
  int64_t rows;
  int64_t columns;
  int32_t teams; ///< working at a time
  float epsilon;
  float per_column; ///< 1 / columns
  /// Slots that rows take, where they lie at even steps below 2^31 bytes, have no tail and are
  /// fewer than 2^31; negative where all lanes fill the last slot, too; 0 where it is not known.
  int32_t exact_slots;
  int32_t step[2]; ///< with `exact_slots`: bytes from row to row of x and y
};

/// Arguments of a kernel. Teams take rows t, t + teams, …
template <class Types>
struct norm_arguments : norm_leading_arguments<Types> {
  int32_t sum_step[2]; ///< with `exact_slots`: bytes from row to row of residual and sum
  const typename Types::bias* bias;
  const typename Types::residual* residual;
  typename Types::held* sum;
  row_map<4> map;      ///< x, y, residual, sum
  float output_factor; ///< given: 1 / scale
  uint32_t lanes_log2; ///< short rows: lanes of a row, log2
  float* scales;       ///< per_row: [rows]
  // split: workgroup i has part i mod parts of rows i / parts, i / parts + teams, …
  uint32_t parts;
  int64_t part_chunks;
  vec<float, 2>* partials; ///< [rows][parts], mean and sum of squared differences from it
  int* largest;            ///< per_row: [rows][parts], bits of the largest magnitude
};

} // namespace wavetile::kernels
