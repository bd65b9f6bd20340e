/// \file
/// Element types that callers hand to row operators.
#pragma once

#include <wavetile/core/hip_types.hpp>
#include <wavetile/core/status.hpp>

namespace wavetile::kernels {

template <class T, bool Known = numeric<T>>
struct storage_or_self {
  using type = wavetile::detail::remove_cv_t<T>;
};
template <class T>
struct storage_or_self<T, true> {
  using type = storage_t<T>;
};
/// `storage_t<T>`, or `T` for types the library does not know.
template <class T>
using storage_or_self_t = typename storage_or_self<T>::type;

/// Name of an element type for messages.
template <class T>
constexpr const char* type_name() {
  using plain = wavetile::detail::remove_cv_t<T>;
  if constexpr (wavetile::detail::is_same_v<plain, bool>)
    return "bool";
  else if constexpr (numeric<plain>)
    return name_of(numeric_traits<plain>::type);
  else
    return "of an unknown type";
}

inline status unsupported_element(const char* argument, const char* type, const char* allowed) {
  return status::failure(status_code::unsupported_type, argument, "its elements are ")
      .append(type)
      .append(", allowed: ")
      .append(allowed);
}

} // namespace wavetile::kernels
