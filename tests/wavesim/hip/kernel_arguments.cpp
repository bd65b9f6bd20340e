#include "hip/kernel_arguments.hpp"

#include "machine/occupancy.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace wavesim::hip {

namespace {

std::uint16_t dimensions(const Dispatch& d) {
  if (d.grid[2] != 1 || d.block[2] != 1)
    return 3;
  return d.grid[1] != 1 || d.block[1] != 1 ? 2 : 1;
}

/// Axis of "hidden_block_count_y" and the like.
unsigned axis_of(std::string_view kind) {
  return static_cast<unsigned>(kind.back() - 'x');
}

std::uint64_t hidden_value(std::string_view kind, const Dispatch& d,
                           const HiddenArguments& values) {
  if (kind.starts_with("hidden_block_count_"))
    return d.grid[axis_of(kind)];
  if (kind.starts_with("hidden_group_size_"))
    return d.block[axis_of(kind)];
  if (kind == "hidden_grid_dims")
    return dimensions(d);
  if (kind == "hidden_dynamic_lds_size")
    return d.dynamic_lds;
  if (kind == "hidden_private_base")
    return Dispatch::private_aperture;
  if (kind == "hidden_shared_base")
    return Dispatch::shared_aperture;
  if (kind == "hidden_multigrid_sync_arg")
    return values.grid_sync;
  if (kind == "hidden_hostcall_buffer")
    return values.hostcall;
  if (kind == "hidden_heap_v1")
    return values.heap;
  if (kind == "hidden_queue_ptr")
    return values.queue;
  // hidden_remainder_*, hidden_global_offset_*: HIP has whole workgroups and no offset.
  // hidden_printf_buffer, hidden_default_queue, hidden_completion_action: OpenCL only.
  return 0;
}

template <class T>
void put(std::span<std::byte, 64> packet, std::size_t at, T x) {
  std::memcpy(packet.data() + at, &x, sizeof x);
}

} // namespace

void write_hidden_arguments(std::span<std::byte> segment, const Dispatch& dispatch,
                            const HiddenArguments& values) {
  for (const KernelArgument& argument : dispatch.kernel->arguments) {
    if (!argument.is_hidden() || argument.offset >= segment.size())
      continue;
    const std::uint64_t value = hidden_value(argument.kind, dispatch, values);
    const auto bytes =
        std::min<std::size_t>({argument.size, sizeof value, segment.size() - argument.offset});
    std::memcpy(segment.data() + argument.offset, &value, bytes);
  }
}

void write_packet(std::span<std::byte, 64> packet, const Dispatch& d) {
  std::fill(packet.begin(), packet.end(), std::byte{0});
  constexpr std::uint16_t kernel_dispatch = 2; // packet type
  put(packet, 0, kernel_dispatch);
  put(packet, 2, dimensions(d));
  for (unsigned axis = 0; axis < 3; ++axis) {
    put(packet, 4 + 2 * axis, static_cast<std::uint16_t>(d.block[axis]));
    put(packet, 12 + 4 * axis, d.grid[axis] * d.block[axis]);
  }
  put(packet, 24, d.kernel->scratch_bytes);
  put(packet, 28, allocated_lds(*d.kernel, d.dynamic_lds));
  put(packet, 32, d.kernel->descriptor);
  put(packet, 40, reinterpret_cast<std::uintptr_t>(d.kernarg));
}

} // namespace wavesim::hip
