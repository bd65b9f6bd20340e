/// \file
/// Loops whose index is a constant in the body.
#pragma once

#include <wavetile/integers.hpp>

namespace wavetile::kernels::detail {

/// A constant as a value: `constexpr int i = index` inside the body of `unrolled`.
template <int I>
struct constant_index {
  WAVETILE_HD constexpr operator int() const { return I; }
};

template <class, int... I>
struct index_sequence {
  template <class F>
  WAVETILE_HD WAVETILE_FORCE_INLINE static constexpr void visit(const F& f) {
    (f(constant_index<I>{}), ...);
  }
};

/// `f(0)`, …, `f(Count - 1)`, unrolled by the front end. Loops over registers whose bounds depend
/// on an outer index are otherwise unrolled after the pass that puts arrays into registers.
template <int Count, class F>
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr void unrolled(const F& f) {
  __make_integer_seq<index_sequence, int, Count>::visit(f);
}

} // namespace wavetile::kernels::detail
