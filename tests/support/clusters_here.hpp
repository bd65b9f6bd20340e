/// \file
/// The device that tests of clusters on NVIDIA GPUs run on.
#pragma once

#include <wavetile/kernels/rows/cluster.hpp>
#include <wavetile/launch/device.hpp>

#include <gtest/gtest.h>

namespace wavetile::test {

inline device_info this_device() {
  device_info device;
  EXPECT_TRUE(known_device(0, device).ok());
  return device;
}

/// Whether it has clusters, and this program code for them.
inline bool has_clusters_here() {
  const device_info device = this_device();
  return device.arch() == architecture::sm90 && kernels::has_cluster_code(device);
}

} // namespace wavetile::test
