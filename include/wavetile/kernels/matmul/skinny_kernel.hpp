/// \file
/// Products with at most 16 rows of A: op(B) is read once, 16 bytes a lane, straight into
/// registers.
#pragma once

#include <wavetile/group/barrier.hpp>
#include <wavetile/kernels/matmul/plan.hpp>
#include <wavetile/kernels/matmul/tile_kernel.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// How a wave goes through its columns of op(B). The matrix instruction computes D^T, with op(B)^T
/// as its 16 x k operand and op(A)^T as its k x 16 operand.
///
/// - k contiguous in B: a load is 16 bytes of k of one column, as many instructions' worth of
///   operands as fit; one fragment of 16 columns.
/// - k strided in B: a load is 16 bytes of consecutive columns of one k. The elements that a lane
///   needs for one column are in as many loads as it holds values of k, so that `width` fragments
///   result, of every `width`th column each: 16 width columns.
template <class Types, operand_order OrderB>
struct skinny_loop {
  using A = typename Types::a;
  using B = typename Types::b;
  static constexpr matrix_shape shape = shape_16x16<B>;
  using weights = fragment<fragment_role::a, shape, B>;
  using inputs = fragment<fragment_role::b, shape, A>;
  using accumulator = fragment<fragment_role::accumulator, shape, accumulator_t<A>>;

  static constexpr bool along_k = OrderB == operand_order::k_contiguous;
  static constexpr int width = static_cast<int>(16 / sizeof(B)); ///< elements of a load
  static constexpr int held = weights::size;                     ///< of k, in one operand
  static constexpr int fragments = along_k ? 1 : width;
  /// Consecutive values of k that a lane takes at a time, and in how many loads.
  static constexpr int run = along_k ? width : held;
  static constexpr int loads = along_k ? 1 : held;
  static constexpr int repeats = along_k || sizeof(B) >= 4 ? 4 : 1; ///< runs of one step
  static constexpr int step = repeats * 4 * run;
  static constexpr int columns = 16 * fragments;
  static_assert(skinny_cut_of(OrderB, static_cast<int>(sizeof(B))).columns == columns &&
                skinny_cut_of(OrderB, static_cast<int>(sizeof(B))).step == step);

  /// One step's operands, as read. Whole dwords: where a masked load and a plain one meet, the
  /// compiler would otherwise give every element a register of its own.
  template <class T, int N>
  using packed = vec<uint32_t, static_cast<int>(sizeof(T)) * N / 4>;
  struct piece { ///< one run of k of every lane
    packed<B, width> b[loads];
    packed<A, run> a;
  };
  struct operands {
    piece pieces[repeats];
  };

  template <class T, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static packed<T, N> pack(const vec<T, N>& values) {
    return wavetile::detail::bit_cast<packed<T, N>>(values);
  }
  template <class T, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static packed<T, N> load_packed(const T* from, int count) {
    packed<T, N> words;
    if (count >= N)
      __builtin_memcpy(&words, from, sizeof words);
    else
      words = pack<T, N>(load_some<T, N>(from, count));
    return words;
  }
  template <class T, int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static vec<T, N> unpack(packed<T, N> words) {
#if WAVETILE_AMDGCN
    for (int i = 0; i < packed<T, N>::size; ++i)
      asm("" : "+v"(words[i]));
#endif
    return wavetile::detail::bit_cast<vec<T, N>>(words);
  }

  const matmul_task<Types>& task;
  bool a_along_k;
  int64_t column; ///< first of the wave
  int lane = lane_id();

  /// Column of element i of fragment f of this lane, and the consecutive ones after it.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int64_t column_of(int f, int i) const {
    return column + int64_t{accumulator::element(lane, i).row} * fragments + f;
  }

  /// Piece `r` of the step from k on; of A only where its k is contiguous. With `Tail`, elements
  /// from `k_end` on are zeros and not read. Rows beyond the last are read as the last.
  template <bool Tail>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(piece& to, int r, int64_t k,
                                                  int64_t k_end) const {
    const int64_t own = lane % 16, group = lane / 16;
    const int64_t row = own < task.m ? own : task.m - 1;
    const int64_t first = k + (r * 4 + group) * run;
    const int64_t left = k_end - first;
    const int count = !Tail || left >= run ? run : left > 0 ? static_cast<int>(left) : 0;
    if (a_along_k)
      to.a = load_packed<A, run>(task.a + row * task.lda + first, count);
    if constexpr (along_k) {
      const int64_t at = column + own < task.n ? column + own : task.n - 1;
      to.b[0] = load_packed<B, width>(task.b + at * task.ldb + first, count);
    } else {
      const int64_t at = column + own * width;
      const int64_t inside = task.n - at;
      const int present = inside >= width ? width : inside > 0 ? static_cast<int>(inside) : 0;
#pragma unroll
      for (int e = 0; e < loads; ++e)
        to.b[e] =
            load_packed<B, width>(task.b + (first + e) * task.ldb + at, e < count ? present : 0);
    }
  }

  /// A's part of a piece where its k is strided: element by element, right before it is used.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_strided_a(piece& to, int r, int64_t k,
                                                            int64_t k_end) const {
    const int64_t own = lane % 16, group = lane / 16;
    const int64_t row = own < task.m ? own : task.m - 1;
    const int64_t first = k + (r * 4 + group) * run;
    vec<A, run> values;
#pragma unroll
    for (int e = 0; e < run; ++e)
      values[e] = first + e < k_end ? task.a[(first + e) * task.lda + row] : A{};
    to.a = pack<A, run>(values);
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void multiply(accumulator (&sums)[fragments],
                                                             const piece& from) {
    const vec<A, run> a = unpack<A, run>(from.a);
    const auto product = [&](int f, const weights& w, int part) {
      inputs x;
#pragma unroll
      for (int e = 0; e < held; ++e)
        x.set(e, a[part * held + e]);
      mma(sums[f], w, x);
    };
    if constexpr (along_k) {
      const vec<B, width> b = unpack<B, width>(from.b[0]);
#pragma unroll
      for (int part = 0; part < run / held; ++part) {
        weights w;
#pragma unroll
        for (int e = 0; e < held; ++e)
          w.set(e, b[part * held + e]);
        product(0, w, part);
      }
    } else if constexpr (held == 1) {
      const vec<B, width> b = unpack<B, width>(from.b[0]);
#pragma unroll
      for (int f = 0; f < fragments; ++f) {
        weights w;
        w.set(0, b[f]);
        product(f, w, 0);
      }
    } else {
      multiply_across(from.b, product);
    }
  }

  /// The elements of a column are in as many loads: v_perm_b32 gathers them, four bytes at a time.
  template <class Product>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void
  multiply_across(const packed<B, width> (&loaded)[loads], const Product& product) {
    using kernels::detail::pick_bytes;
    constexpr int in_word = static_cast<int>(4 / sizeof(B)); ///< columns of a dword
#pragma unroll
    for (int word = 0; word < 4; ++word) {
      vec<uint32_t, 2> column[in_word];
#pragma unroll
      for (int half = 0; half < 2; ++half) { // of the values of k
        if constexpr (sizeof(B) == 2) {
          const uint32_t low = loaded[2 * half][word], high = loaded[2 * half + 1][word];
          column[0][half] = pick_bytes(high, low, 0x05040100);
          column[1][half] = pick_bytes(high, low, 0x07060302);
        } else {
          uint32_t low[2], high[2]; // columns 0, 1 and 2, 3 of two values of k
#pragma unroll
          for (int pair = 0; pair < 2; ++pair) {
            const uint32_t even = loaded[4 * half + 2 * pair][word];
            const uint32_t odd = loaded[4 * half + 2 * pair + 1][word];
            low[pair] = pick_bytes(odd, even, 0x05010400);
            high[pair] = pick_bytes(odd, even, 0x07030602);
          }
          column[0][half] = pick_bytes(low[1], low[0], 0x05040100);
          column[1][half] = pick_bytes(low[1], low[0], 0x07060302);
          column[2][half] = pick_bytes(high[1], high[0], 0x05040100);
          column[3][half] = pick_bytes(high[1], high[0], 0x07060302);
        }
      }
#pragma unroll
      for (int c = 0; c < in_word; ++c) {
        weights w;
        w.registers = wavetile::detail::bit_cast<decltype(w.registers)>(column[c]);
        product(word * in_word + c, w, 0);
      }
    }
  }

  /// Sums of this wave, the `wave`th of `waves` that share k_begin … k_end - 1 step by step.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void run_wave(accumulator (&sums)[fragments], int wave,
                                                      int waves, int64_t k_begin,
                                                      int64_t k_end) const {
    int64_t k = k_begin + wave * step;
    const int64_t stride = int64_t{waves} * step;
    operands now, next;
    const auto load_all = [&](operands& to, int64_t from) {
#pragma unroll
      for (int r = 0; r < repeats; ++r)
        load<false>(to.pieces[r], r, from, k_end);
    };
    if (k + step <= k_end)
      load_all(now, k);
#pragma unroll 1
    for (; k + step <= k_end; k += stride) {
      if (k + stride + step <= k_end)
        load_all(next, k + stride);
      __builtin_amdgcn_sched_barrier(0); // or the loads sink to where they are waited for
#pragma unroll
      for (int r = 0; r < repeats; ++r) {
        if (!a_along_k)
          load_strided_a(now.pieces[r], r, k, k_end);
        multiply(sums, now.pieces[r]);
      }
      now = next;
    }
    // what is left of a step, one piece at a time
#pragma unroll 1
    for (int r = 0; r < repeats && k + int64_t{r} * 4 * run < k_end; ++r) {
      piece last;
      load<true>(last, r, k, k_end);
      if (!a_along_k)
        load_strided_a(last, r, k, k_end);
      multiply(sums, last);
    }
  }
};

/// 16 rows of D and `columns` columns; four waves share k, and their sums are added in order.
/// LDS: three waves' accumulators. One kernel for both orders of A, of which little is read.
template <class Types, operand_order OrderB>
WAVETILE_KERNEL
    __attribute__((amdgpu_flat_work_group_size(skinny_waves * 64, skinny_waves * 64))) void
    matmul_skinny(matmul_arguments<Types> arguments) {
  if constexpr (!device_pass_supported) {
    refuse_to_run();
  } else {
    using loop = skinny_loop<Types, OrderB>;
    using accumulator = typename Types::accumulator;
    using fragment = typename loop::accumulator;
    WAVETILE_SHARED accumulator others[skinny_waves - 1][loop::fragments][fragment::size][64];

    matmul_task<Types> task;
    const tile_place place = place_of_group<16, loop::columns>(arguments, task);
    const int64_t k_begin = place.split * arguments.split_k;
    const int64_t k_end =
        k_begin + arguments.split_k < task.k ? k_begin + arguments.split_k : task.k;
    const loop own{task, arguments.order_a == operand_order::k_contiguous,
                   place.column * loop::columns};
    const int wave = wave_id(), lane = lane_id();
    fragment sums[loop::fragments];
    for (int f = 0; f < loop::fragments; ++f)
      sums[f] = fragment{};
    own.run_wave(sums, wave, skinny_waves, k_begin, k_end);

    if (wave > 0)
      for (int f = 0; f < loop::fragments; ++f)
        for (int i = 0; i < fragment::size; ++i)
          others[wave - 1][f][i][lane] = sums[f][i];
    group::barrier();
    if (wave > 0)
      return; // whole waves, and no barrier follows
    for (int w = 0; w < skinny_waves - 1; ++w)
      for (int f = 0; f < loop::fragments; ++f)
        for (int i = 0; i < fragment::size; ++i)
          sums[f].set(i, matmul_output<Types>::sum(sums[f][i], others[w][f][i][lane]));

    matmul_output<Types> output(arguments, task, place.batch);
    const bool split = arguments.splits.divisor() > 1;
    auto* partial = static_cast<accumulator*>(arguments.partials) +
                    (place.batch * arguments.splits.divisor() + place.split) * task.m * task.n;
    const int64_t row = fragment::element(lane, 0).column;
    const auto store = [&]<int N>(const vec<accumulator, N>& values, int64_t column) {
      const int64_t left = row < task.m ? task.n - column : 0;
      const int count = left >= N ? N : left > 0 ? static_cast<int>(left) : 0;
      if (split)
        store_some(partial + row * task.n + column, values, count);
      else if (count > 0)
        output.template store<N>(values, row, column, count);
    };
    if constexpr (loop::along_k) {
      constexpr int run = wavetile::detail::is_same_v<accumulator, double> ? 1 : 4;
      for (int i = 0; i < fragment::size; i += run) {
        vec<accumulator, run> values;
        for (int e = 0; e < run; ++e)
          values[e] = sums[0][i + e];
        store(values, own.column_of(0, i));
      }
    } else {
      for (int i = 0; i < fragment::size; ++i) {
        vec<accumulator, loop::fragments> values;
        for (int f = 0; f < loop::fragments; ++f)
          values[f] = sums[f][i];
        store(values, own.column_of(0, i));
      }
    }
    if (!split)
      output.finish();
  }
}

} // namespace wavetile::kernels

#endif
