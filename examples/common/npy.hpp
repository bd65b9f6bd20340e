/// \file
/// NumPy's .npy files: enough of the format for arrays of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace npy {

enum class element { float16, float32, float64, int8, int32, int64, uint8, boolean };

/// Bytes of one element.
std::size_t size_of(element type);
/// NumPy's name: "float32", …
const char* name_of(element type);
bool is_float(element type);

/// What a file holds: C order, little-endian.
struct array {
  element type = element::float32;
  std::vector<std::int64_t> shape; ///< empty for a single number
  std::vector<std::byte> data;

  std::int64_t size() const;
  /// Element i, whatever the type; integers beyond 2^53 are rounded, see `integer`.
  double number(std::int64_t i) const;
  /// Element i of an integer or boolean array.
  std::int64_t integer(std::int64_t i) const;
};

/// Everything that can be wrong with a file; the text names the file.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

array read(const std::string& path);
/// Writes beside the file first, under a name that nothing has, and renames, so that a failure
/// leaves an existing file alone. Links are followed and stay links; pipes and devices are written
/// to.
void write(const std::string& path, const array& values);
/// The absolute path of the file that `path` names once links are followed; it need not be there.
std::string resolved(const std::string& path);

/// "(3, 4)".
std::string shape_text(const std::vector<std::int64_t>& shape);

} // namespace npy
