/// \file
/// What the host has learnt about one device.
#pragma once

#include <wavetile/arch/targets.hpp>

namespace wavetile {

/// Facts of one device as its runtime reports them; filled by the launch layer, or by hand to plan
/// for a device that is not there. A count of 0 means "not known", never a default.
struct device_info {
  int ordinal = 0;         ///< number the runtime gives the device
  char arch_name[64] = {}; ///< "gfx942:sramecc+:xnack-"
  char product_name[64] = {};
  int wave_size = 0; ///< lanes of a wavefront, as reported
  int cu_count = 0;  ///< compute units of the device or partition
  int xcd_count = 0; ///< dies with an L2 of their own
  int max_workgroup_size = 0;
  int64_t lds_bytes = 0; ///< largest LDS of one workgroup
  int64_t l2_bytes = 0;
  int64_t global_bytes = 0;

  constexpr architecture arch() const { return find_architecture(arch_name); }
  constexpr const target& facts() const { return find_target(arch_name); }
};

/// A description of a device that need not exist: `describe_device("gfx942", 304, 8)`.
constexpr device_info describe_device(const char* arch_name, int cu_count, int xcd_count = 0) {
  device_info info;
  for (int i = 0; i + 1 < static_cast<int>(sizeof info.arch_name) && arch_name[i] != '\0'; ++i)
    info.arch_name[i] = arch_name[i];
  const target& facts = info.facts();
  info.cu_count = cu_count;
  info.xcd_count = xcd_count;
  if (facts.known()) {
    info.wave_size = facts.wave_size;
    info.max_workgroup_size = facts.max_workgroup_size;
    info.lds_bytes = facts.lds_bytes;
  }
  return info;
}

} // namespace wavetile
