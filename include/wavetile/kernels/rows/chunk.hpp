/// \file
/// How many elements a lane of a row kernel takes at a time.
#pragma once

#include <wavetile/integers.hpp>

namespace wavetile::kernels {

/// Elements of a chunk: 16 bytes of the smallest type, so that no access is narrower than it must
/// be.
template <class... Ts>
inline constexpr int chunk_of = static_cast<int>(16 / [] {
  size_t smallest = 16;
  ((smallest = sizeof(Ts) < smallest ? sizeof(Ts) : smallest), ...);
  return smallest;
}());

} // namespace wavetile::kernels
