/// \file
/// Whether kernels of the library can run on a device.
#pragma once

#include <wavetile/arch/device_info.hpp>
#include <wavetile/core/status.hpp>

namespace wavetile {

/// `wrong_architecture` unless the library has code for the device. The message names the device's
/// architecture and `compiled`, the architectures there is code for. A device that reports another
/// wave size than its architecture has is refused too.
constexpr status check_device(const device_info& device,
                              const char* compiled = supported_architectures) {
  const target& facts = device.facts();
  if (!facts.known())
    return status::failure(status_code::wrong_architecture, "device", "it is ")
        .append(device.arch_name)
        .append(", there is code for ")
        .append(compiled);
  if (device.wave_size != facts.wave_size)
    return status::failure(status_code::wrong_architecture, "device", "it is ")
        .append(device.arch_name)
        .append(" with ")
        .append(device.wave_size)
        .append(" lanes a wave, the code for ")
        .append(facts.name)
        .append(" needs ")
        .append(facts.wave_size);
  return {};
}

} // namespace wavetile
