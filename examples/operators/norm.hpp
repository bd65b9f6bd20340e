/// \file
/// rms_norm and layer_norm on files; a source for each, so that both compile at once.
#pragma once

#include "commands.hpp"
#include "elements.hpp"

#include "common/device_array.hpp"

#include <wavetile/layer_norm.hpp>
#include <wavetile/rms_norm.hpp>

#include <type_traits>

namespace operators {

/// One number for each column, in fp32; `otherwise` where there is no file.
inline std::vector<float> column_numbers(const std::string& path, const char* what,
                                         std::int64_t columns, float otherwise) {
  if (path.empty())
    return std::vector<float>(static_cast<std::size_t>(columns), otherwise);
  const npy::array file = npy::read(path);
  if (file.shape.size() != 1 || file.shape[0] != columns)
    throw npy::error(path + ": a " + what + " of shape " + npy::shape_text(file.shape) +
                     ", the input has " + std::to_string(columns) + " columns");
  return elements_as<float>(file, path);
}

template <wavetile::norm_kind Kind, class T>
class norm_of_files {
public:
  norm_of_files(const norm_command& command, const npy::array& input)
      : command_(command), shape_(input.shape), columns_(shape_.empty() ? 1 : shape_.back()),
        rows_(columns_ == 0 ? 0 : input.size() / columns_),
        x_(elements_as<T>(input, command.input)),
        weight_(column_numbers(command.weight, "weight", columns_, 1)),
        bias_(column_numbers(command.bias, "bias", columns_, 0)) {}

  void run() {
    if (command_.quantise == "fp8")
      run_into<wavetile::fp8_e4m3_fnuz>();
    else if (command_.quantise == "int8")
      run_into<std::int8_t>();
    else
      run_into<T>();
  }

private:
  template <class E>
  auto matrix(const example::device_array<E>& array) const {
    return wavetile::make_view(array.data(), rows_, columns_);
  }
  template <class Arrays>
  void call(const Arrays& arrays) const {
    wavetile::norm_options options{.epsilon = command_.epsilon};
    wavetile::device_info device;
    example::check(wavetile::stream_device(nullptr, device));
    const auto plan = [&] {
      if constexpr (Kind == wavetile::norm_kind::rms)
        return wavetile::plan(wavetile::rms_norm_problem_of(arrays, options), device);
      else
        return wavetile::plan(wavetile::layer_norm_problem_of(arrays, options), device);
    }();
    // a row longer than a workgroup holds is split over several when memory is lent
    const example::device_array<std::byte> memory(
        static_cast<std::size_t>(plan.best_workspace_bytes));
    options.memory = {memory.data(), plan.best_workspace_bytes};
    if constexpr (Kind == wavetile::norm_kind::rms)
      example::check(wavetile::rms_norm(arrays, options));
    else
      example::check(wavetile::layer_norm(arrays, options));
    example::check(hipDeviceSynchronize(), "hipDeviceSynchronize"); // then the memory goes
  }
  auto bias() const {
    if constexpr (Kind == wavetile::norm_kind::rms)
      return wavetile::no_array{};
    else
      return wavetile::make_view(bias_.data(), columns_);
  }
  auto weight() const { return wavetile::make_view(weight_.data(), columns_); }

  /// Y other than T: 8-bit results with a scale for each row.
  template <class Y>
  void run_into() {
    constexpr bool quantised = !std::is_same_v<Y, T>;
    const example::device_array<Y> y(x_.size());
    const example::device_array<float> scale_of_row(static_cast<std::size_t>(rows_));
    const auto scales = [&] {
      if constexpr (quantised)
        return wavetile::make_view(scale_of_row.data(), rows_);
      else
        return wavetile::no_array{};
    }();
    if (command_.residual.empty()) {
      call(wavetile::norm_arrays{
          .x = matrix(x_), .y = matrix(y), .weight = weight(), .bias = bias(), .scales = scales});
    } else {
      const npy::array residual = npy::read(command_.residual);
      if (residual.shape != shape_)
        throw npy::error(command_.residual + ": a residual of shape " +
                         npy::shape_text(residual.shape) + ", the input has " +
                         npy::shape_text(shape_));
      const example::device_array<T> sum(elements_as<T>(residual, command_.residual));
      call(wavetile::norm_arrays{.x = matrix(x_),
                                 .y = matrix(y),
                                 .weight = weight(),
                                 .bias = bias(),
                                 .residual = matrix(sum),
                                 .sum = matrix(sum),
                                 .scales = scales});
      npy::write(command_.sum, to_npy<T>(sum.to_host(), shape_));
    }
    if constexpr (quantised) {
      std::vector<float> values;
      for (const Y value : y.to_host())
        values.push_back(wavetile::convert<float>(value));
      npy::write(command_.output, to_npy<float>(values, shape_));
      npy::write(command_.scales, to_npy<float>(scale_of_row.to_host(), {rows_}));
    } else {
      npy::write(command_.output, to_npy<T>(y.to_host(), shape_));
    }
  }

  const norm_command& command_;
  std::vector<std::int64_t> shape_;
  std::int64_t columns_, rows_;
  example::device_array<T> x_;
  example::device_array<float> weight_, bias_;
};

template <wavetile::norm_kind Kind>
void run_norm(const norm_command& command) {
  const npy::array input = npy::read(command.input);
  if (command.type == "fp16")
    norm_of_files<Kind, wavetile::fp16>(command, input).run();
  else if (command.type == "bf16")
    norm_of_files<Kind, wavetile::bf16>(command, input).run();
  else
    norm_of_files<Kind, float>(command, input).run();
}

} // namespace operators
