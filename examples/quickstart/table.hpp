/// \file
/// One row of the quickstart's table per operator call: run, verified, counted.
#pragma once

#include "common/device_array.hpp"
#include "counters/api.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace quickstart {

/// Comparison of a result with its fp64 reference.
struct accuracy {
  double max_error = 0;   ///< largest |result - reference|
  double max_ratio = 0;   ///< largest share of the allowed error that was used; above 1 fails
  bool comparable = true; ///< false once a NaN or infinity stands where the other has none

  /// `allowed` > 0 is the error allowed at this element.
  void add(double result, double reference, double allowed);
  bool passed() const { return comparable && max_ratio <= 1; }
};

/// What wavesim counted during a call.
struct traffic {
  std::uint64_t bytes = 0;     ///< read and written in global memory
  std::uint64_t conflicts = 0; ///< LDS clocks lost to bank conflicts
};

/// Runs `call` and counts what its kernels did; nothing is counted on a real GPU.
std::optional<traffic> count(const std::function<wavetile::status()>& call);

class table {
public:
  table();
  void row(const std::string& operation, const std::string& shape, const char* dtype,
           const accuracy& result, const std::optional<traffic>& moved,
           std::uint64_t minimum_bytes);
  /// A line that says how many rows passed; true when all did.
  bool finish() const;

private:
  int rows_ = 0, passed_ = 0;
};

void softmax_rows(table&);
void reduce_rows(table&);
void norm_rows(table&);
void matmul_rows(table&);
void attention_rows(table&);

} // namespace quickstart
