#include "commands.hpp"
#include "elements.hpp"

#include "common/device_array.hpp"

#include <wavetile/softmax.hpp>

namespace operators {
namespace {

using wavetile::make_view;

/// Element of a mask that every element of an array of `shape` meets under NumPy's broadcasting.
std::vector<std::int64_t> broadcast_indices(const npy::array& mask, const std::string& path,
                                            const std::vector<std::int64_t>& shape) {
  const auto refuse = [&] {
    throw npy::error(path + ": a mask of shape " + npy::shape_text(mask.shape) +
                     " does not broadcast to the input's " + npy::shape_text(shape));
  };
  if (mask.shape.size() > shape.size())
    refuse();
  std::vector<std::int64_t> stride(shape.size(), 0);
  std::int64_t dense = 1;
  for (std::size_t i = 1; i <= mask.shape.size(); ++i) {
    const std::int64_t extent = mask.shape[mask.shape.size() - i];
    if (extent != 1 && extent != shape[shape.size() - i])
      refuse();
    stride[shape.size() - i] = extent == 1 ? 0 : dense;
    dense *= extent;
  }
  std::int64_t count = 1;
  for (const std::int64_t extent : shape)
    count *= extent;
  std::vector<std::int64_t> result(static_cast<std::size_t>(count));
  std::vector<std::int64_t> at(shape.size(), 0);
  std::int64_t from = 0;
  for (auto& index : result) {
    index = from;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += stride[axis];
      if (++at[axis] < shape[axis])
        break;
      from -= stride[axis] * shape[axis];
      at[axis] = 0;
    }
  }
  return result;
}

template <class T>
std::vector<T> broadcast(const std::vector<T>& values, const std::vector<std::int64_t>& indices) {
  std::vector<T> result(indices.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = values[static_cast<std::size_t>(indices[i])];
  return result;
}

/// The file's array as batches of matrices, rows of which are queries.
struct extents {
  std::int64_t batches = 1, queries = 1, columns = 1;
  explicit extents(const std::vector<std::int64_t>& shape) {
    for (std::size_t i = 0; i < shape.size(); ++i)
      (i + 1 == shape.size() ? columns : i + 2 == shape.size() ? queries : batches) *= shape[i];
  }
};

template <class T>
void run_softmax(const softmax_command& command, const npy::array& input) {
  const extents size(input.shape);
  const example::device_array<T> x(elements_as<T>(input, command.input));
  const example::device_array<T> y(x.size());
  const auto view_of = [&]<class E>(E* data) {
    return make_view(data, size.batches, size.queries, size.columns);
  };
  const auto x_view = view_of(static_cast<const T*>(x.data()));
  const auto y_view = view_of(y.data());

  // a row longer than a workgroup holds is split over several when memory is lent
  wavetile::softmax_options options{.scale = command.scale, .causal = command.causal};
  wavetile::device_info device;
  example::check(wavetile::stream_device(nullptr, device));
  const auto run = [&](const auto&... mask) {
    const auto plan =
        wavetile::plan(wavetile::softmax_problem_of(x_view, y_view, mask..., options), device);
    const example::device_array<std::byte> memory(
        static_cast<std::size_t>(plan.best_workspace_bytes));
    options.memory = {memory.data(), plan.best_workspace_bytes};
    example::check(command.log ? wavetile::log_softmax(x_view, y_view, mask..., options)
                               : wavetile::softmax(x_view, y_view, mask..., options));
    npy::write(command.output, to_npy<T>(y.to_host(), input.shape));
  };
  if (command.mask.empty()) {
    run();
    return;
  }
  const npy::array mask = npy::read(command.mask);
  const auto indices = broadcast_indices(mask, command.mask, input.shape);
  if (mask.type == npy::element::boolean || mask.type == npy::element::uint8) {
    const example::device_array<std::uint8_t> device_mask(
        broadcast(elements_as<std::uint8_t>(mask, command.mask), indices));
    run(view_of(static_cast<const std::uint8_t*>(device_mask.data())));
  } else if (!npy::is_float(mask.type)) {
    throw npy::error(command.mask +
                     ": a mask is of bool or uint8 (0 hides) or of floats (added), not " +
                     npy::name_of(mask.type));
  } else {
    const example::device_array<float> device_mask(
        broadcast(elements_as<float>(mask, command.mask), indices));
    run(view_of(static_cast<const float*>(device_mask.data())));
  }
}

} // namespace

void softmax_command::run() const {
  const npy::array values = npy::read(input);
  if (type == "fp16")
    run_softmax<wavetile::fp16>(*this, values);
  else if (type == "bf16")
    run_softmax<wavetile::bf16>(*this, values);
  else
    run_softmax<float>(*this, values);
}

} // namespace operators
