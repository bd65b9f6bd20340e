#include "quickstart/table.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace quickstart {

void accuracy::add(double result, double reference, double allowed) {
  if (!std::isfinite(result) || !std::isfinite(reference)) {
    comparable =
        comparable && ((std::isnan(result) && std::isnan(reference)) || result == reference);
    return;
  }
  const double difference = std::abs(result - reference);
  max_error = std::fmax(max_error, difference);
  max_ratio = std::fmax(max_ratio, difference / allowed);
}

std::optional<traffic> count(const std::function<wavetile::status()>& call) {
  wavesim_counters counters;
  const bool counting = wavesim_counters_find(&counters) != 0;
  if (counting && counters.begin() != 0)
    throw std::runtime_error("wavesim is counting already");
  example::check(call());
  example::check(hipDeviceSynchronize(), "hipDeviceSynchronize");
  if (!counting)
    return std::nullopt;
  wavesim_counts counts{};
  counts.size = sizeof counts;
  if (counters.end(&counts) != 0)
    throw std::runtime_error("wavesim refused to end its count");
  return traffic{counts.bytes_read + counts.bytes_written, counts.lds_conflicts};
}

table::table() {
  std::printf("%-24s %-18s %-8s %9s  %-6s %14s %9s %10s\n", "operator", "shape", "dtype",
              "max error", "result", "bytes moved", "/minimum", "conflicts");
}

void table::row(const std::string& operation, const std::string& shape, const char* dtype,
                const accuracy& result, const std::optional<traffic>& moved,
                std::uint64_t minimum_bytes) {
  ++rows_;
  passed_ += result.passed() ? 1 : 0;
  std::printf("%-24s %-18s %-8s %9.2e  %-6s ", operation.c_str(), shape.c_str(), dtype,
              result.comparable ? result.max_error : NAN, result.passed() ? "pass" : "FAIL");
  if (moved)
    std::printf("%14llu %9.3f %10llu\n", static_cast<unsigned long long>(moved->bytes),
                static_cast<double>(moved->bytes) / static_cast<double>(minimum_bytes),
                static_cast<unsigned long long>(moved->conflicts));
  else
    std::printf("%14s %9s %10s\n", "n/a", "n/a", "n/a");
}

bool table::finish() const {
  std::printf("%d of %d passed\n", passed_, rows_);
  return passed_ == rows_ && rows_ > 0;
}

} // namespace quickstart
