#include "model/residency.hpp"

#include "loader/code_object.hpp"
#include "machine/occupancy.hpp"
#include "machine/wave.hpp"

#include <algorithm>

namespace wavesim {

unsigned Residency::waves_per_simd() const {
  return (groups * waves + device_limits::simds - 1) / device_limits::simds;
}

const char* limit_name(Residency::Limit limit) {
  switch (limit) {
  case Residency::Limit::waves:
    return "waves";
  case Residency::Limit::registers:
    return "registers";
  case Residency::Limit::lds:
    return "LDS";
  }
  return "";
}

Residency residency(const Kernel& kernel, unsigned threads, std::uint32_t dynamic_lds) {
  Residency r;
  r.registers = allocated_registers(kernel);
  r.used_registers = kernel.used_registers;
  r.lds = allocated_lds(kernel, dynamic_lds);
  r.waves = threads == 0 ? 1 : (threads + lanes - 1) / lanes;
  r.groups = groups_per_compute_unit(kernel, threads, dynamic_lds);
  // With as many registers as the code uses: those asked for beyond may follow from the LDS.
  constexpr unsigned granule = device_limits::register_granule;
  const unsigned needed = std::max((r.used_registers + granule - 1) / granule, 1u) * granule;
  const unsigned simd_waves =
      std::min(device_limits::simd_waves, device_limits::vector_registers / needed);
  const unsigned by_use = device_limits::simds * simd_waves / r.waves;
  const unsigned by_waves = device_limits::simds * device_limits::simd_waves / r.waves;
  if (r.lds != 0 && r.groups == device_limits::lds_bytes / r.lds && r.groups < by_use)
    r.limit = Residency::Limit::lds;
  else if (r.groups < by_waves)
    r.limit = Residency::Limit::registers;
  return r;
}

} // namespace wavesim
