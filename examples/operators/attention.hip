#include "commands.hpp"
#include "elements.hpp"

#include "common/device_array.hpp"

#include <wavetile/attention.hpp>

namespace operators {
namespace {

using wavetile::make_view;

/// A mask's extents with leading ones up to the four axes of the scores.
std::vector<std::int64_t> four_axes(const npy::array& mask, const std::string& path,
                                    const std::vector<std::int64_t>& scores) {
  const auto refuse = [&] {
    throw npy::error(path + ": a mask of shape " + npy::shape_text(mask.shape) +
                     " does not broadcast to batch, head, query, key: " + npy::shape_text(scores));
  };
  if (mask.shape.empty() || mask.shape.size() > 4)
    refuse();
  std::vector<std::int64_t> shape(4 - mask.shape.size(), 1);
  shape.insert(shape.end(), mask.shape.begin(), mask.shape.end());
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (shape[axis] != 1 && shape[axis] != scores[axis])
      refuse();
  return shape;
}

std::vector<std::int32_t> counts_of(const std::vector<std::int64_t>& lengths, std::int64_t batch,
                                    std::int64_t rows, const char* option) {
  if (!lengths.empty() && static_cast<std::int64_t>(lengths.size()) != batch)
    throw npy::error(std::string(option) + ": " + std::to_string(lengths.size()) +
                     " numbers, allowed: one for each of " + std::to_string(batch) + " batches");
  std::vector<std::int32_t> result;
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > rows)
      throw npy::error(std::string(option) + ": " + std::to_string(length) + ", allowed: 0 to " +
                       std::to_string(rows));
    result.push_back(static_cast<std::int32_t>(length));
  }
  return result;
}

npy::array read_heads(const std::string& path) {
  npy::array values = npy::read(path);
  if (values.shape.size() != 4)
    throw npy::error(path + ": shape " + npy::shape_text(values.shape) +
                     ", allowed: (batch, position, head, element)");
  return values;
}

template <class T>
auto view_of(T* data, const std::vector<std::int64_t>& shape) {
  return make_view(data, shape[0], shape[1], shape[2], shape[3]);
}

template <class T>
void run_attention(const attention_command& command) {
  const npy::array q = read_heads(command.q), k = read_heads(command.k), v = read_heads(command.v);
  const example::device_array<T> device_q(elements_as<T>(q, command.q)),
      device_k(elements_as<T>(k, command.k)), device_v(elements_as<T>(v, command.v));
  const std::vector<std::int64_t> shape{q.shape[0], q.shape[1], q.shape[2], v.shape[3]};
  const std::vector<std::int64_t> lse_shape{q.shape[0], q.shape[2], q.shape[1]};
  // what belongs to no query stays zero
  const auto size_of_shape = [](const std::vector<std::int64_t>& extents) {
    std::int64_t size = 1;
    for (const std::int64_t extent : extents)
      size *= extent;
    return static_cast<std::size_t>(size);
  };
  const std::vector<float> zeros(size_of_shape(shape)), lse_zeros(size_of_shape(lse_shape));
  const example::device_array<float> o{std::span<const float>(zeros)},
      lse{std::span<const float>(lse_zeros)};

  wavetile::attention_options options;
  if (command.has_scale)
    options.scale = command.scale;
  options.causal = command.causal;
  if (command.top_left)
    options.anchor = wavetile::causal_anchor::top_left;
  if (!command.window.empty())
    options.window = {command.window[0], command.window[1]};
  options.softcap = command.softcap;
  if (!command.lse.empty())
    options.lse = make_view(lse.data(), lse_shape[0], lse_shape[1], lse_shape[2]);
  const auto kv_counts = counts_of(command.lengths, q.shape[0], k.shape[1], "--lengths");
  const auto q_counts = counts_of(command.q_lengths, q.shape[0], q.shape[1], "--q-lengths");
  const example::device_array<std::int32_t> kv_lengths{std::span<const std::int32_t>(kv_counts)},
      q_lengths{std::span<const std::int32_t>(q_counts)};
  options.sequences.kv_length = kv_lengths.data();
  options.sequences.q_length = q_lengths.data();

  const auto run = [&](const auto&... mask) {
    example::check(wavetile::attention(view_of(static_cast<const T*>(device_q.data()), q.shape),
                                       view_of(static_cast<const T*>(device_k.data()), k.shape),
                                       view_of(static_cast<const T*>(device_v.data()), v.shape),
                                       view_of(o.data(), shape), mask..., options));
  };
  if (command.mask.empty()) {
    run();
  } else {
    const npy::array mask = npy::read(command.mask);
    const auto mask_shape =
        four_axes(mask, command.mask, {q.shape[0], q.shape[2], q.shape[1], k.shape[1]});
    if (mask.type == npy::element::boolean || mask.type == npy::element::uint8) {
      const example::device_array<std::uint8_t> bytes(
          elements_as<std::uint8_t>(mask, command.mask));
      run(view_of(static_cast<const std::uint8_t*>(bytes.data()), mask_shape));
    } else if (!npy::is_float(mask.type)) {
      throw npy::error(command.mask +
                       ": a mask is of bool or uint8 (0 hides) or of floats (added), not " +
                       npy::name_of(mask.type));
    } else {
      const example::device_array<float> numbers(elements_as<float>(mask, command.mask));
      run(view_of(static_cast<const float*>(numbers.data()), mask_shape));
    }
  }
  npy::write(command.output, to_npy<float>(o.to_host(), shape));
  if (!command.lse.empty())
    npy::write(command.lse, to_npy<float>(lse.to_host(), lse_shape));
}

} // namespace

void attention_command::run() const {
  if (type == "fp16")
    run_attention<wavetile::fp16>(*this);
  else
    run_attention<wavetile::bf16>(*this);
}

} // namespace operators
