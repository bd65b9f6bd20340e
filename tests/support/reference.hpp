/// \file
/// Reductions on the host, written from their definition, and a functor that shows wrong order.
#pragma once

#include "random.hpp"

#include <wavetile/wave/operations.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace wavetile::test {

/// a op b on the host. Sums and products of integers wrap, those of small floats are rounded from
/// fp32 at each step, as documented; everything else is the operation itself.
template <class Op, class T>
T apply(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T> && std::is_same_v<Op, op::plus>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else if constexpr (std::is_integral_v<T> && std::is_same_v<Op, op::multiply>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else if constexpr (std::is_integral_v<T> && std::is_same_v<Op, op::minimum>)
    return b < a ? b : a;
  else if constexpr (std::is_integral_v<T> && std::is_same_v<Op, op::maximum>)
    return a < b ? b : a;
  else
    return Op{}(a, b);
}

/// ((0 1)(2 3))((4 5)(6 7))…: the last `count` mod 2^k values form the right end of the tree.
template <class Op, class T>
T tree_fold(const T* values, unsigned count) {
  if (count == 1)
    return values[0];
  unsigned left = 1;
  while (left * 2 < count)
    left *= 2;
  return apply<Op>(tree_fold<Op>(values, left), tree_fold<Op>(values + left, count - left));
}

/// x -> scale * x + offset modulo 2^32. Composition is associative and not commutative. The tag
/// tells whether a value was ever made from bits that are no value.
struct affine {
  static constexpr std::uint32_t valid_tag = 0xC0FFEE;
  std::uint32_t scale;
  std::uint32_t offset;
  std::uint32_t tag;
  friend WAVETILE_HD bool operator==(const affine& a, const affine& b) {
    return a.scale == b.scale && a.offset == b.offset && a.tag == b.tag;
  }
};

/// First a, then b.
struct compose {
  WAVETILE_HD affine operator()(const affine& a, const affine& b) const {
    const bool valid = a.tag == affine::valid_tag && b.tag == affine::valid_tag;
    return {a.scale * b.scale, a.offset * b.scale + b.offset, valid ? affine::valid_tag : 0xDEAD};
  }
};

inline std::vector<affine> affine_maps(unsigned count) {
  random_source source(99);
  std::vector<affine> maps;
  for (unsigned i = 0; i < count; ++i)
    maps.push_back({static_cast<std::uint32_t>(source.bits()) | 1u,
                    static_cast<std::uint32_t>(source.bits()), affine::valid_tag});
  return maps;
}

} // namespace wavetile::test
