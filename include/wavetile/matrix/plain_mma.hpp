/// \file
/// Matrix products of fragments without matrix instructions: the test oracle, and what devices
/// without the instruction fall back to.
#pragma once

#include <wavetile/core/view.hpp>
#include <wavetile/matrix/fragment.hpp>
#include <wavetile/wave/shuffle.hpp>

namespace wavetile {

/// The fragments of all lanes of a wave, side by side: a whole matrix, on the host or in one
/// work-item.
template <class Fragment>
struct wave_fragments {
  using fragment_type = Fragment;
  using element_type = typename Fragment::element_type;
  static constexpr int lanes = 64;

  Fragment lane[lanes];

  /// Element (row, column) of the matrix.
  WAVETILE_HD constexpr element_type at(int row, int column) const {
    const slot found = find(row, column);
    return lane[found.lane][found.index];
  }
  WAVETILE_HD constexpr void set(int row, int column, element_type value) {
    const slot found = find(row, column);
    lane[found.lane].set(found.index, value);
  }

private:
  struct slot {
    int lane, index;
  };
  // By search: a layout is stated in one direction only.
  WAVETILE_HD static constexpr slot find(int row, int column) {
    for (int l = 0; l < lanes; ++l)
      for (int i = 0; i < Fragment::size; ++i)
        if (Fragment::element(l, i) == matrix_element{row, column})
          return {l, i};
    return {0, 0};
  }
};

namespace detail {

/// a * b + c in the accumulator's type: fused for floats, wrapping for int32.
template <class C, class A, class B>
WAVETILE_HD WAVETILE_FORCE_INLINE C multiply_add(A a, B b, C c) {
  if constexpr (is_same_v<C, double>)
    return __builtin_fma(static_cast<double>(a), static_cast<double>(b), c);
  else if constexpr (is_same_v<C, float>)
    return __builtin_fmaf(static_cast<float>(a), static_cast<float>(b), c);
  else
    return static_cast<C>(static_cast<uint32_t>(c) +
                          static_cast<uint32_t>(int32_t{a} * int32_t{b}));
}

template <class D, class A, class B>
constexpr void check_product() {
  static_assert(A::role == fragment_role::a && B::role == fragment_role::b &&
                    D::role == fragment_role::accumulator,
                "wavetile::mma: the arguments are an accumulator, a fragment of A and one of B");
  static_assert(A::shape == B::shape && A::shape == D::shape,
                "wavetile::mma: the fragments belong to different shapes");
  static_assert(is_same_v<typename D::element_type, accumulator_t<typename A::element_type>> &&
                    is_same_v<typename D::element_type, accumulator_t<typename B::element_type>>,
                "wavetile::mma: fp64 accumulates in fp64, int8 in int32, every other type in fp32");
}

} // namespace detail

/// D += A * B for a whole wave's fragments, by the calling thread alone. Ascending k; one fused
/// multiply-add in the accumulator's type each, int32 wraps. Matrix instructions add in an order of
/// their own (the 16- and 8-bit ones several products at once), so fp32 results differ by rounding;
/// sums of integers that fp32 holds exactly agree bit for bit.
template <class D, class A, class B>
WAVETILE_HD void plain_mma(wave_fragments<D>& d, const wave_fragments<A>& a,
                           const wave_fragments<B>& b) {
  detail::check_product<D, A, B>();
  constexpr matrix_shape shape = D::shape;
  for (int lane = 0; lane < wave_fragments<D>::lanes; ++lane)
    for (int i = 0; i < D::size; ++i) {
      const matrix_element at = D::element(lane, i);
      auto sum = d.lane[lane][i];
      for (int k = 0; k < shape.k; ++k) {
        // the layouts of A and B: fragment_element
        const int run = k / A::size;
        sum = detail::multiply_add(a.lane[at.row + shape.m * run][k % A::size],
                                   b.lane[at.column + shape.n * run][k % B::size], sum);
      }
      d.lane[lane].set(i, sum);
    }
}

#if WAVETILE_HIP
/// D += A * B by the lanes of a wave together, each with its own fragments: the same arithmetic as
/// above with shuffles (two ds_bpermute_b32 a dword of input and k), for devices without the matrix
/// instruction. All lanes must be active.
template <class D, class A, class B>
WAVETILE_DEVICE void plain_mma(D& d, const A& a, const B& b) {
  detail::check_product<D, A, B>();
  constexpr matrix_shape shape = D::shape;
  const int lane = lane_id();
  const int column = D::element(lane, 0).column;
  for (int i = 0; i < D::size; ++i) {
    const int row = D::element(lane, i).row;
    auto sum = d[i];
    for (int k = 0; k < shape.k; ++k) {
      const int run = k / A::size;
      sum = detail::multiply_add(wave::shuffle(a[k % A::size], row + shape.m * run),
                                 wave::shuffle(b[k % B::size], column + shape.n * run), sum);
    }
    d.set(i, sum);
  }
}
#endif

} // namespace wavetile
