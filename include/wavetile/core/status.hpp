/// \file
/// How every host function says whether it did its work.
#pragma once

#include <wavetile/core/data_type.hpp>
#include <wavetile/core/text.hpp>

namespace wavetile {

/// Classes of failure. In every case but `runtime_error` nothing was launched and no output was
/// touched.
enum class status_code : uint8_t {
  success,
  invalid_argument,    ///< a value outside what the function accepts
  null_pointer,        ///< a null pointer to a non-empty array
  unsupported_type,    ///< an element type, or a combination, without a kernel
  unsupported_shape,   ///< a shape or stride without a kernel
  misaligned,          ///< a pointer that is not a multiple of its element size
  overlapping,         ///< an output that overlaps an input other than exactly in place
  lds_limit,           ///< more LDS than a workgroup can have
  grid_limit,          ///< more workgroups or work-items than one launch can have
  wrong_architecture,  ///< a device that the library, or this binary, has no code for
  no_device,           ///< no GPU
  workspace_too_small, ///< a workspace with fewer bytes than the plan asks for
  runtime_error,       ///< the HIP runtime refused; its own text is in the message
};

/// Name as written in code.
constexpr const char* name_of(status_code code) {
  constexpr const char* names[] = {
      "success",    "invalid_argument",    "null_pointer", "unsupported_type", "unsupported_shape",
      "misaligned", "overlapping",         "lds_limit",    "grid_limit",       "wrong_architecture",
      "no_device",  "workspace_too_small", "runtime_error"};
  return detail::name_in(names, code);
}

/// Result of a host call: a code, the argument at fault, and a sentence with its value and what is
/// allowed. No heap, no exceptions, no global state; cannot be dropped without a warning.
///
///     if (auto s = wavetile::softmax(x, y, {}, stream); !s)
///       std::fprintf(stderr, "%s\n", s.message());
class [[nodiscard]] status {
public:
  /// Success. (Not defaulted: `{}` would fill all of the object with zeros first.)
  constexpr status() {}
  constexpr status(const status&) = default;
  /// Returns nothing: nvcc takes a reference to a status that is dropped for a dropped status.
  constexpr void operator=(const status& other) {
    code_ = other.code_;
    argument_ = other.argument_;
    message_ = other.message_;
  }

  /// Failure whose text is `detail`: "code: argument: detail".
  static constexpr status failure(status_code code, const char* argument, const char* detail) {
    status result(code, argument);
    result.message_.append(": ").append(detail);
    return result;
  }

  /// Failure with the offending value: "code: argument = value, allowed: allowed".
  static constexpr status failure(status_code code, const char* argument, int64_t value,
                                  const char* allowed) {
    status result(code, argument);
    result.message_.append(" = ").append(value).append(", allowed: ").append(allowed);
    return result;
  }

  /// Failure of a value against a limit: "code: argument = value, allowed: <= limit unit".
  static constexpr status above_limit(status_code code, const char* argument, int64_t value,
                                      int64_t limit, const char* unit = "") {
    status result(code, argument);
    result.message_.append(" = ").append(value).append(", allowed: <= ").append(limit);
    if (unit[0] != '\0')
      result.message_.append(' ').append(unit);
    return result;
  }

  constexpr status_code code() const { return code_; }
  constexpr bool ok() const { return code_ == status_code::success; }
  constexpr explicit operator bool() const { return ok(); }

  /// Name of the argument at fault; "" for success.
  constexpr const char* argument() const { return argument_.c_str(); }

  /// One line for people: "success", or as `failure` describes.
  constexpr const char* message() const { return ok() ? "success" : message_.c_str(); }

  /// Adds to the message, for details that no factory covers.
  template <class T>
  constexpr status& append(T part) & {
    message_.append(part);
    return *this;
  }
  template <class T>
  constexpr status append(T part) && {
    message_.append(part);
    return *this;
  }

private:
  constexpr status(status_code code, const char* argument) : code_(code) {
    argument_.append(argument);
    message_.append(name_of(code)).append(": ").append(argument);
  }

  status_code code_ = status_code::success;
  fixed_text<32> argument_;
  fixed_text<320> message_;
};

namespace detail {

/// `invalid_argument` for a number above that of `last`, the last enumerator; `names`: those that
/// are allowed.
template <class Enum>
constexpr status check_enumerator(const char* argument, Enum value, Enum last, const char* names) {
  return value <= last ? status{}
                       : status::failure(status_code::invalid_argument, argument,
                                         static_cast<int64_t>(value), names);
}

/// `unsupported_type` unless the type is allowed; `names`: those that are.
constexpr status check_data_type(const char* argument, data_type type, bool allowed,
                                 const char* names) {
  return allowed ? status{}
                 : status::failure(status_code::unsupported_type, argument, "its elements are ")
                       .append(name_of(type))
                       .append(", allowed: ")
                       .append(names);
}

/// A count of at least `least`.
constexpr status check_count(const char* argument, int64_t value, int64_t least = 0) {
  return value >= least
             ? status{}
             : status::failure(status_code::invalid_argument, argument, value, ">= ").append(least);
}

/// A count of `least` to `most`.
constexpr status check_range(const char* argument, int64_t value, int64_t least, int64_t most) {
  return value >= least && value <= most
             ? status{}
             : status::failure(status_code::invalid_argument, argument, value, "")
                   .append(least)
                   .append(" to ")
                   .append(most);
}

/// Most elements of an array in a plan: numbers of bytes made of them fit 63 bits.
inline constexpr int64_t most_elements = int64_t{1} << 58;

/// Counts whose product, from the left, and each of which, is at most `most_elements`, also where
/// another is 0; for counts >= 0.
template <class... Counts>
constexpr status check_elements(const char* argument, Counts... counts) {
  int64_t product = 1;
  bool fits = true;
  const int64_t all[] = {counts...};
  for (const int64_t count : all)
    fits = fits && count <= most_elements && !__builtin_mul_overflow(product, count, &product);
  if (fits && product <= most_elements)
    return {};
  for (const int64_t count : all)
    if (count == 0)
      return status::failure(
          status_code::unsupported_shape, argument,
          "one of them, or a product of some, is above 2^58, allowed: at most 2^58 elements");
  return status::failure(status_code::unsupported_shape, argument,
                         "their product is above 2^58, allowed: at most 2^58 elements");
}

/// A power of two, 1 among them.
constexpr status check_power_of_two(const char* argument, int64_t value) {
  return value >= 1 && (value & (value - 1)) == 0
             ? status{}
             : status::failure(status_code::invalid_argument, argument, value, "a power of two");
}

/// A type at all.
constexpr status check_known_type(const char* argument, data_type type) {
  return check_data_type(argument, type, type <= data_type::uint64, "those of data_type");
}

} // namespace detail

} // namespace wavetile
