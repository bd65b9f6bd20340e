#include "model/residency.hpp"

#include "machine/occupancy.hpp"
#include "machine/wave.hpp"

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
  r.lds = allocated_lds(kernel, dynamic_lds);
  r.waves = threads == 0 ? 1 : (threads + lanes - 1) / lanes;
  r.groups = groups_per_compute_unit(kernel, threads, dynamic_lds);
  const unsigned by_registers = device_limits::simds * waves_per_simd(kernel) / r.waves;
  const unsigned by_waves = device_limits::simds * device_limits::simd_waves / r.waves;
  if (r.groups < by_registers)
    r.limit = Residency::Limit::lds;
  else if (r.groups < by_waves)
    r.limit = Residency::Limit::registers;
  return r;
}

} // namespace wavesim
