/// \file
/// Where the rows of a sequence lie.
#pragma once

#include <wavetile/kernels/attention/problem.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// The rows of one sequence in an array.
struct sequence_rows {
  int first;
  int length;
};

WAVETILE_DEVICE WAVETILE_FORCE_INLINE sequence_rows sequence_of(const int32_t* begin,
                                                                const int32_t* length,
                                                                int64_t batch, int rows) {
  sequence_rows result{0, rows};
  if (begin != nullptr) {
    const int first = begin[batch];
    result.first = first < 0 ? 0 : first < rows ? first : rows;
    result.length = length == nullptr ? begin[batch + 1] - result.first : rows;
  }
  if (length != nullptr)
    result.length = length[batch];
  const int most = rows - result.first;
  result.length = result.length < 0 ? 0 : result.length < most ? result.length : most;
  return result;
}

/// Offsets of one head of one batch, in elements.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE int64_t offset_of(const attention_steps& steps, bool packed,
                                                        int64_t batch, int64_t head, int64_t row) {
  return (packed ? 0 : batch * steps.batch) + head * steps.head + row * steps.row;
}

} // namespace wavetile::kernels

#endif
