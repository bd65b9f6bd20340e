/// \file
/// `operators matmul` for one element type: a translation unit each, as each has all kernels.
#pragma once

#include "commands.hpp"
#include "elements.hpp"

#include "common/device_array.hpp"

#include <wavetile/matmul.hpp>

namespace operators {

enum class activation { none, relu, gelu, gelu_tanh, silu };

inline activation activation_of(const std::string& name) {
  return name == "relu"        ? activation::relu
         : name == "gelu"      ? activation::gelu
         : name == "gelu_tanh" ? activation::gelu_tanh
         : name == "silu"      ? activation::silu
                               : activation::none;
}

/// An epilogue that is chosen when the program runs, so that one set of kernels serves all.
template <class Bias>
struct chosen_steps {
  static constexpr const char* name = "bias and activation";
  const Bias* bias; ///< null: none
  activation which;

  template <class T, int N>
  __device__ wavetile::vec<T, N> apply(wavetile::vec<T, N> values,
                                       wavetile::epilogue::place& at) const {
    using namespace wavetile::epilogue;
    if (bias != nullptr)
      values = bias_columns<Bias>{bias}.apply(values, at);
    if (which == activation::relu)
      values = relu{}.apply(values, at);
    if constexpr (std::is_same_v<T, float>) {
      if (which == activation::gelu)
        values = gelu_erf{}.apply(values, at);
      if (which == activation::gelu_tanh)
        values = gelu_tanh{}.apply(values, at);
      if (which == activation::silu)
        values = silu{}.apply(values, at);
    }
    return values;
  }
};

/// A file's array as matrices: rank 2, or 3 with `batch`.
struct matrices {
  enum axis { columns_axis = 1, rows_axis, batches_axis }; ///< counted from the last

  std::int64_t batches = 1, rows = 0, columns = 0;
  bool repeats = false; ///< one matrix for all products
  std::string name;     ///< the file and its shape

  matrices(const npy::array& file, const std::string& path, bool batch)
      : name(path + ": an array of shape " + npy::shape_text(file.shape)) {
    const auto& shape = file.shape;
    if (shape.size() != 2 && !(batch && shape.size() == 3))
      throw npy::error(name + ", expected " +
                       (batch ? "a matrix or a stack of matrices" : "a matrix"));
    repeats = shape.size() == 2;
    batches = repeats ? 1 : shape[0];
    rows = shape[shape.size() - 2];
    columns = shape[shape.size() - 1];
  }
  /// Refuses an extent by the file's own axis; the library would name that of a view of rank 3.
  void expect(const char* option, axis which, std::int64_t expected, const char* what) const {
    const std::int64_t value = which == columns_axis ? columns
                               : which == rows_axis  ? rows
                                                     : batches;
    if (value != expected && !(which == batches_axis && repeats))
      throw npy::error(name + ", and axis " + std::to_string((repeats ? 2 : 3) - which) + " of " +
                       option + " is " + std::to_string(value) +
                       ", allowed: " + std::to_string(expected) + ", " + what);
  }
  template <class T>
  wavetile::view<T, 3> view_of(T* data, std::int64_t all) const {
    return wavetile::make_strided_view<T, 3>(data, {repeats ? all : batches, rows, columns},
                                             {repeats ? 0 : rows * columns, columns, 1});
  }
};

/// With elements of type T on the device and results of type D.
template <class T, class D>
void run_matmul(const matmul_command& command) {
  using bias_type =
      std::conditional_t<std::is_same_v<D, double> || std::is_same_v<D, std::int32_t>, D, float>;
  const npy::array a_file = npy::read(command.a), b_file = npy::read(command.b);
  const matrices a_size(a_file, command.a, command.batch), b_size(b_file, command.b, command.batch);
  const std::int64_t batches = a_size.repeats ? b_size.batches : a_size.batches;
  const std::int64_t m = command.transpose_a ? a_size.columns : a_size.rows;
  const std::int64_t n = command.transpose_b ? b_size.rows : b_size.columns;
  const std::int64_t k = command.transpose_a ? a_size.rows : a_size.columns;
  b_size.expect("--b", command.transpose_b ? matrices::columns_axis : matrices::rows_axis, k,
                command.transpose_a ? "the rows of --a" : "the columns of --a");
  b_size.expect("--b", matrices::batches_axis, batches, "the matrices of --a");

  const activation which = activation_of(command.activation);
  if (which != activation::none && which != activation::relu && !std::is_same_v<bias_type, float>)
    throw npy::error("--activation " + command.activation +
                     " is for results of fp32 and smaller, not for --dtype " + command.type);
  const example::device_array<T> a(elements_as<T>(a_file, command.a)),
      b(elements_as<T>(b_file, command.b));
  const example::device_array<D> d(static_cast<std::size_t>(batches * m * n));
  const auto d_view = wavetile::make_view(d.data(), batches, m, n);
  std::vector<bias_type> bias_values;
  if (!command.bias.empty()) {
    const npy::array file = npy::read(command.bias);
    if (file.shape != std::vector<std::int64_t>{n})
      throw npy::error(command.bias + ": a bias of shape " + npy::shape_text(file.shape) +
                       " for results with " + std::to_string(n) + " columns");
    bias_values = elements_as<bias_type>(file, command.bias);
  }
  const example::device_array<bias_type> bias{std::span<const bias_type>(bias_values)};
  const auto steps = wavetile::epilogue::chain(chosen_steps<bias_type>{bias.data(), which});

  wavetile::matmul_options options{.transpose_a = command.transpose_a,
                                   .transpose_b = command.transpose_b,
                                   .alpha = command.alpha,
                                   .beta = command.beta};
  const auto a_view = a_size.view_of(static_cast<const T*>(a.data()), batches);
  const auto b_view = b_size.view_of(static_cast<const T*>(b.data()), batches);
  // where tiles alone would leave compute units idle, k is split when memory is lent
  wavetile::device_info device;
  example::check(wavetile::stream_device(nullptr, device));
  const auto plan =
      wavetile::plan(wavetile::matmul_problem_of(a_view, b_view, d_view, options, steps), device);
  const example::device_array<std::byte> memory(
      static_cast<std::size_t>(plan.best_workspace_bytes));
  options.memory = {memory.data(), plan.best_workspace_bytes};
  if (command.c.empty()) {
    example::check(wavetile::matmul(a_view, b_view, d_view, options, nullptr, steps));
  } else {
    const npy::array file = npy::read(command.c);
    const matrices size(file, command.c, command.batch);
    size.expect("--c", matrices::rows_axis, m, "the rows of the result");
    size.expect("--c", matrices::columns_axis, n, "the columns of the result");
    size.expect("--c", matrices::batches_axis, batches, "the matrices of the result");
    const example::device_array<D> c(elements_as<D>(file, command.c));
    example::check(wavetile::matmul(a_view, b_view,
                                    size.view_of(static_cast<const D*>(c.data()), batches), d_view,
                                    options, nullptr, steps));
  }
  std::vector<std::int64_t> shape{m, n};
  if (!a_size.repeats || !b_size.repeats)
    shape.insert(shape.begin(), batches);
  npy::write(command.output, to_npy<D>(d.to_host(), shape));
}

extern template void run_matmul<float, float>(const matmul_command&);
extern template void run_matmul<double, double>(const matmul_command&);
extern template void run_matmul<wavetile::fp16, wavetile::fp16>(const matmul_command&);
extern template void run_matmul<wavetile::bf16, wavetile::bf16>(const matmul_command&);
extern template void run_matmul<wavetile::fp8_e4m3_fnuz, float>(const matmul_command&);
extern template void run_matmul<std::int8_t, std::int32_t>(const matmul_command&);

} // namespace operators
