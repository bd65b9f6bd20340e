/// \file
/// LDS accesses that matrix kernels make, shared by the tests.
#pragma once

#include <wavetile/lds/access.hpp>

namespace wavetile::test {

/// Rows of a matrix fragment, `bytes` a lane: lane l takes row l % rows, chunk l / rows.
constexpr lds_access fragment_read(int rows, int bytes, int element_bytes) {
  return lds_read(bytes, [=](int lane) {
    return coordinate{lane % rows, lane / rows * bytes / element_bytes};
  });
}

/// A wave copies rows of `row_bytes`, `bytes` a lane, one row after the other.
constexpr lds_access row_copy(int row_bytes, int bytes, int element_bytes, bool write) {
  const auto map = [=](int lane) {
    const int byte = lane * bytes;
    return coordinate{byte / row_bytes, byte % row_bytes / element_bytes};
  };
  return write ? lds_write(bytes, map) : lds_read(bytes, map);
}

/// b32 access of lane l to dword l * stride.
constexpr lds_access dword_stride(int stride, bool write = false) {
  const auto map = [=](int lane) { return coordinate{0, lane * stride}; };
  return write ? lds_write(4, map) : lds_read(4, map);
}

} // namespace wavetile::test
