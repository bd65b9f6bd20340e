#include "commands.hpp"
#include "elements.hpp"

#include "common/device_array.hpp"

#include <wavetile/reduce.hpp>

#include <charconv>

namespace operators {
namespace {

using wavetile::make_view;

constexpr int everything = wavetile::all_axes;

/// The axis asked for, counted from the front; `everything`.
int axis_of(const std::string& text, const npy::array& values) {
  if (text == "all")
    return everything;
  const auto rank = static_cast<int>(values.shape.size());
  int axis = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), axis);
  if (error != std::errc{} || end != text.data() + text.size() || axis < -rank || axis >= rank)
    throw std::runtime_error(
        "--axis " + text + ": allowed for an array of shape " + npy::shape_text(values.shape) +
        ": all" +
        (rank == 0 ? "" : ", " + std::to_string(-rank) + " to " + std::to_string(rank - 1)));
  return axis < 0 ? axis + rank : axis;
}

template <class Input, class Output, class Op>
void run_reduce(const reduce_command& command, const npy::array& input, Op operation) {
  const int axis = axis_of(command.axis, input);
  // the array as outer x reduced x inner, whatever its rank
  std::int64_t outer = 1, reduced = 1, inner = 1;
  std::vector<std::int64_t> shape;
  for (int i = 0; i < static_cast<int>(input.shape.size()); ++i) {
    const std::int64_t extent = input.shape[static_cast<std::size_t>(i)];
    const bool disappears = axis == everything || i == axis;
    (disappears ? reduced : i < axis ? outer : inner) *= extent;
    if (!disappears)
      shape.push_back(extent);
  }
  const example::device_array<Input> x(elements_as<Input>(input, command.input));
  const example::device_array<Output> y(static_cast<std::size_t>(outer * inner));
  wavetile::device_info device;
  example::check(wavetile::stream_device(nullptr, device));
  const auto run = [&](auto x_view, auto y_view, int view_axis) {
    wavetile::reduce_options options{.axis = view_axis};
    const auto plan =
        wavetile::plan(wavetile::reduce_problem_of(x_view, y_view, operation, options), device);
    const example::device_array<std::byte> memory(
        static_cast<std::size_t>(plan.best_workspace_bytes));
    options.memory = {memory.data(), plan.best_workspace_bytes};
    example::check(wavetile::reduce(x_view, y_view, operation, options));
  };
  const auto* from = static_cast<const Input*>(x.data());
  if (axis == everything)
    run(make_view(from, reduced), make_view(y.data(), 1), everything);
  else if (inner == 1)
    run(make_view(from, outer, reduced), make_view(y.data(), outer), 1);
  else
    run(make_view(from, outer, reduced, inner), make_view(y.data(), outer, inner), 1);
  npy::write(command.output, to_npy<Output>(y.to_host(), shape));
}

template <class T>
void run_operation(const reduce_command& command, const npy::array& input) {
  const std::string& name = command.operation;
  using index = std::int64_t;
  if (name == "sum")
    run_reduce<T, T>(command, input, wavetile::op::plus{});
  else if (name == "mean")
    run_reduce<T, T>(command, input, wavetile::op::mean{});
  else if (name == "product")
    run_reduce<T, T>(command, input, wavetile::op::multiply{});
  else if (name == "min")
    run_reduce<T, T>(command, input, wavetile::op::minimum{});
  else if (name == "max")
    run_reduce<T, T>(command, input, wavetile::op::maximum{});
  else if (name == "sum_of_squares")
    run_reduce<T, T>(command, input, wavetile::op::sum_of_squares{});
  else if (name == "argmin")
    run_reduce<T, index>(command, input, wavetile::op::arg_minimum{});
  else
    run_reduce<T, index>(command, input, wavetile::op::arg_maximum{});
}

/// The device's type for a file's, when none is asked for.
std::string default_type(const npy::array& values, const std::string& path) {
  switch (values.type) {
  case npy::element::float16:
    return "fp16";
  case npy::element::float32:
    return "fp32";
  case npy::element::float64:
    return "fp64";
  case npy::element::int32:
    return "int32";
  case npy::element::int64:
    return "int64";
  default:
    throw npy::error(path + ": elements of " + npy::name_of(values.type) +
                     " need --dtype, for example --dtype int64");
  }
}

} // namespace

void reduce_command::run() const {
  const npy::array values = npy::read(input);
  const std::string name = type.empty() ? default_type(values, input) : type;
  if (npy::is_float(values.type) && name.starts_with("int"))
    throw npy::error(input + ": elements of " + npy::name_of(values.type) + " are not reduced as " +
                     name + "; --dtype allows fp32, fp64, fp16, bf16 for them");
  if (name == "fp16")
    run_operation<wavetile::fp16>(*this, values);
  else if (name == "bf16")
    run_operation<wavetile::bf16>(*this, values);
  else if (name == "fp64")
    run_operation<double>(*this, values);
  else if (name == "int32")
    run_operation<std::int32_t>(*this, values);
  else if (name == "int64")
    run_operation<std::int64_t>(*this, values);
  else
    run_operation<float>(*this, values);
}

} // namespace operators
