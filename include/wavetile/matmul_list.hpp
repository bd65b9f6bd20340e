/// \file
/// A list of products, and how its k is split.
#pragma once

#include <wavetile/launch/detail/device_language.hpp>

#include <wavetile/kernels/matmul/combine.hpp>
#include <wavetile/matmul_options.hpp>

namespace wavetile {

/// One product of a list: d = epilogue(alpha op(a) op(b) + beta c).
template <class A, class B, class D>
struct matmul_item {
  view<const A, 2> a;
  view<const B, 2> b;
  view<D, 2> d;
  view<const D, 2> c = {}; ///< where beta is not 0
};

namespace detail {

/// How k of the products of a list is split.
struct list_splitting {
  int64_t count = 1; ///< into so many parts each; 0: as `share` says
  int64_t share = 0; ///< parts of at least so many steps of the kernel
};

/// One product of a list with a tile of `cut`.
struct listed_product {
  int64_t m, n, k;
  int64_t splits, split_k;
  int64_t groups;         ///< workgroups, parts counted
  int64_t partials;       ///< elements of the parts' sums; 0 where k is not split
  int64_t combine_groups; ///< workgroups of the second pass
};

/// Sums of rows of four that the second pass numbers with 32 bits.
inline constexpr int64_t most_combined_runs = int64_t{1} << 31;

template <class A, class B, class D>
listed_product listed_product_of(const matmul_item<A, B, D>& item, const matmul_options& options,
                                 bool product, const matmul_cut& cut,
                                 const list_splitting& splitting) {
  listed_product one{};
  one.m = item.a.extent[options.transpose_a ? 1 : 0];
  one.n = item.b.extent[options.transpose_b ? 0 : 1];
  one.k = product ? item.a.extent[options.transpose_a ? 0 : 1] : 0;
  const int64_t tiles = divide_up(one.m, cut.tile_m) * divide_up(one.n, cut.tile_n);
  const int64_t steps = one.k > 0 ? divide_up(one.k, cut.tile_k) : 1;
  const int64_t runs = product_of(one.m, divide_up(one.n, int64_t{kernels::combine_run}));
  int64_t splits = splitting.count > 0 ? splitting.count : steps / splitting.share;
  if (splitting.count == 0 && splits > 64)
    splits = 64;
  splits = splits < 1 || runs >= most_combined_runs ? 1 : splits > steps ? steps : splits;
  one.split_k = divide_up(steps, splits) * cut.tile_k;
  one.splits = one.k > 0 ? divide_up(one.k, one.split_k) : 1; // none of them empty
  one.groups = tiles * one.splits;
  if (tiles > 0 && one.splits > 1) {
    one.partials = product_of(product_of(one.m, one.n), one.splits);
    one.combine_groups = divide_up(runs, kernels::combine_threads);
  }
  return one;
}

/// All products of a list together, with a tile and a way to split.
struct list_totals {
  int64_t groups = 0, partials = 0, combine_groups = 0;
  int64_t split_products = 0, most_splits = 1, longest_part = 0;
  double tile_depths = 0; ///< values of k of all workgroups
};

template <class A, class B, class D>
list_totals total_of_list(const matmul_item<A, B, D>* items, int64_t count,
                          const matmul_options& options, bool product, const matmul_cut& cut,
                          const list_splitting& splitting) {
  constexpr int64_t most = int64_t{1} << 62; // more than there is of anything
  list_totals all;
  for (int64_t i = 0; i < count; ++i) {
    const listed_product one = listed_product_of(items[i], options, product, cut, splitting);
    if (one.groups == 0)
      continue;
    const int64_t part = one.k < one.split_k ? (one.k > 0 ? one.k : 1) : one.split_k;
    all.groups += one.groups;
    all.partials = one.partials > most - all.partials ? most : all.partials + one.partials;
    all.combine_groups += one.combine_groups;
    all.split_products += one.splits > 1 ? 1 : 0;
    all.most_splits = one.splits > all.most_splits ? one.splits : all.most_splits;
    all.longest_part = part > all.longest_part ? part : all.longest_part;
    all.tile_depths += static_cast<double>(one.groups) * static_cast<double>(part);
  }
  return all;
}

/// Parts as long as what a CU would have of a list that is spread evenly, at least four steps:
/// products with a longer k, which the others would wait for, are split. The parts' sums fit
/// `bytes`.
template <class A, class B, class D>
list_splitting best_splitting(const matmul_item<A, B, D>* items, int64_t count,
                              const matmul_options& options, bool product, const matmul_cut& cut,
                              int64_t cus, int64_t bytes, int accumulator_bytes) {
  const list_totals whole = total_of_list(items, count, options, product, cut, {});
  const double even = whole.tile_depths / static_cast<double>(cus * cut.tile_k);
  int64_t share = static_cast<int64_t>(even) + 1;
  share = share < 4 ? 4 : share;
  for (;; share *= 2) {
    const list_splitting splitting{0, share};
    const list_totals split = total_of_list(items, count, options, product, cut, splitting);
    if (split.split_products == 0)
      return {};
    if (split.partials <= bytes / accumulator_bytes)
      return splitting;
  }
}

} // namespace detail

} // namespace wavetile
