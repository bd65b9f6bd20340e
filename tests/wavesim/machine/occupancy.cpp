#include "machine/occupancy.hpp"

#include "loader/code_object.hpp"

#include <algorithm>

namespace wavesim {

using namespace device_limits;

namespace {
constexpr std::uint64_t round_up(std::uint64_t x, std::uint64_t granule) {
  return (x + granule - 1) / granule * granule;
}
} // namespace

unsigned allocated_registers(const Kernel& kernel) {
  const auto total = round_up(kernel.vgprs, 4) + kernel.agprs;
  return static_cast<unsigned>(
      std::max<std::uint64_t>(round_up(total, register_granule), register_granule));
}

unsigned waves_per_simd(const Kernel& kernel) {
  return std::min(simd_waves, vector_registers / allocated_registers(kernel));
}

std::uint32_t allocated_lds(const Kernel& kernel, std::uint32_t dynamic_lds) {
  const auto bytes = std::uint64_t{kernel.lds_bytes} + dynamic_lds;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      round_up(bytes, lds_granule), UINT32_MAX / lds_granule * lds_granule));
}

unsigned groups_per_compute_unit(const Kernel& kernel, unsigned threads,
                                 std::uint32_t dynamic_lds) {
  if (threads == 0 || threads > workgroup_threads)
    return 0;
  const unsigned waves = (threads + 63) / 64;
  // A workgroup's waves are spread over the SIMDs, so what counts is the sum over the compute unit.
  const unsigned by_registers = simds * waves_per_simd(kernel) / waves;
  const std::uint32_t lds = allocated_lds(kernel, dynamic_lds);
  return lds == 0 ? by_registers : std::min(by_registers, lds_bytes / lds);
}

} // namespace wavesim
