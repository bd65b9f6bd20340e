/// \file
/// Products with at most 16 rows of A: op(B) is read once, 16 bytes a lane, straight into
/// registers.
#pragma once

#include <wavetile/group/barrier.hpp>
#include <wavetile/kernels/matmul/choice.hpp>
#include <wavetile/kernels/matmul/global_load.hpp>
#include <wavetile/kernels/matmul/tile_kernel.hpp>
#include <wavetile/kernels/matmul/unrolled.hpp>
#include <wavetile/matrix/waits.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// How a wave goes through its columns of op(B). The matrix instruction computes D^T, with op(B)^T
/// as its 16 x k operand and op(A)^T as its k x 16 operand.
///
/// - k contiguous in B: a load is 16 bytes of k of one column, as many instructions' worth of
///   operands as fit; one fragment of 16 columns.
/// - k strided in B: a load is 16 bytes of consecutive columns of one k. The elements that a lane
///   needs for one column are in as many loads as it holds values of k, so that `width` fragments
///   result, of every `width`th column each: 16 width columns. The last lanes with columns move
///   theirs back so that they end with the matrix; `drop_moved` undoes it.
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

  /// Words as read.
  template <class T, int N>
  using packed = vec<uint32_t, static_cast<int>(sizeof(T)) * N / 4>;
  /// One element as read: in a register of its own, so that nothing waits for it before its use.
  using slot = wavetile::detail::conditional_t<sizeof(A) == 8, uint64_t, uint32_t>;

  /// One run of k of every lane; A's elements one by one where its k is strided.
  template <bool AlongA>
  struct piece {
    packed<B, width> b[loads];
    wavetile::detail::conditional_t<AlongA, packed<A, run>, vec<slot, run>> a;
  };
  /// Steps in flight. A's elements one by one take more registers, and so do B's bytes.
  template <bool AlongA>
  static constexpr int stages = AlongA ? (along_k || sizeof(B) > 1 ? 3 : 2)
                                       : (along_k && sizeof(B) == 1 ? 1 : 2);

  const matmul_task<Types>& task;
  bool a_along_k;
  int64_t column; ///< first of the wave
  int lane = lane_id();

  /// Column of element i of fragment f of this lane, and the consecutive ones after it.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int64_t column_of(int f, int i) const {
    return column + int64_t{accumulator::element(lane, i).row} * fragments + f;
  }

  /// Row of A that the lane brings: those beyond the last are read as the last.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int64_t row() const {
    const int64_t own = lane % 16;
    return own < task.m ? own : task.m - 1;
  }
  /// Column of B whose k the lane brings, or first of the `width` ones.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int64_t first_column() const {
    const int64_t at = column + lane % 16 * fragments;
    const int64_t last = task.n - fragments;
    return at < last ? at : last;
  }

  /// Addresses of the lane, for step after step.
  struct pointers {
    uint64_t a, b;
    uint64_t pitch_a, pitch_b; ///< bytes from one k to the next; uniform

    WAVETILE_DEVICE WAVETILE_FORCE_INLINE pointers(const skinny_loop& own, int64_t k) {
      const int64_t lda = own.task.lda, ldb = own.task.ldb;
      pitch_a = sizeof(A) * static_cast<uint64_t>(own.a_along_k ? 1 : lda);
      pitch_b = sizeof(B) * static_cast<uint64_t>(along_k ? 1 : ldb);
      const auto outer_a = static_cast<uint64_t>(own.row() * (own.a_along_k ? lda : 1));
      const auto outer_b = static_cast<uint64_t>(own.first_column() * (along_k ? ldb : 1));
      const auto first = static_cast<uint64_t>(k + own.lane / 16 * run);
      a = reinterpret_cast<uint64_t>(own.task.a) + sizeof(A) * outer_a + first * pitch_a;
      b = reinterpret_cast<uint64_t>(own.task.b) + sizeof(B) * outer_b + first * pitch_b;
    }
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void advance(uint64_t by) {
      a += by * pitch_a;
      b += by * pitch_b;
    }
    /// Piece `r` of a step.
    template <bool AlongA>
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(piece<AlongA>& to, int r) const {
      const auto skipped = static_cast<uint64_t>(r * 4 * run);
#pragma unroll
      for (int e = 0; e < loads; ++e)
        to.b[e] = detail::load_words<4>(b + (skipped + static_cast<uint64_t>(e)) *
                                                (along_k ? sizeof(B) : pitch_b));
      if constexpr (AlongA) {
        to.a = detail::load_words<packed<A, run>::size>(a + skipped * sizeof(A));
      } else {
#pragma unroll
        for (int e = 0; e < run; ++e)
          to.a[e] = detail::load_bits<A>(a + (skipped + static_cast<uint64_t>(e)) * pitch_a);
      }
    }
  };

  /// Elements out of their registers.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static packed<A, run> joined(const packed<A, run>& words) {
    return words;
  }
  template <class Slot>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static packed<A, run>
  joined(const vec<Slot, run>& slots) requires(sizeof(vec<Slot, run>) != sizeof(packed<A, run>)) {
    constexpr int bits = 8 * static_cast<int>(sizeof(A)), in_word = 32 / bits;
    packed<A, run> result{};
#pragma unroll
    for (int e = 0; e < run; ++e)
      result[e / in_word] |= slots[e] << e % in_word * bits;
    return result;
  }
  template <class Slot>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static packed<A, run>
  joined(const vec<Slot, run>& slots) requires(sizeof(vec<Slot, run>) == sizeof(packed<A, run>) &&
                                               sizeof(Slot) == 8) {
    return wavetile::detail::bit_cast<packed<A, run>>(slots);
  }

  /// Piece `r` of the step from k on, of which elements from `k_end` on are zeros and not read. The
  /// loads do not depend on a comparison: those outside are of the last element instead.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_tail(piece<false>& to, int r, int64_t k,
                                                       int64_t k_end) const {
    const int64_t first = k + (r * 4 + lane / 16) * run;
    const int64_t left = k_end - first;
    const int count = left >= run ? run : left > 0 ? static_cast<int>(left) : 0;
    // addresses of k_end - 1 and of those before it
    const pointers end(*this, k_end - 1 - lane / 16 * run);
    const auto back = [&](int e, uint64_t pitch) {
      const int64_t before = e < count ? left - 1 - e : 0;
      return static_cast<uint64_t>(before) * pitch;
    };
#pragma unroll
    for (int e = 0; e < run; ++e) {
      const slot value = detail::load_bits<A>(end.a - back(e, end.pitch_a));
      to.a[e] = e < count ? value : slot{};
    }
    if constexpr (along_k) {
      constexpr int bits = 8 * static_cast<int>(sizeof(B));
      packed<B, width> words{};
#pragma unroll
      for (int e = 0; e < width; ++e) {
        const auto bits_of = detail::load_bits<B>(end.b - back(e, end.pitch_b));
        const auto value = e < count ? bits_of : 0;
        words[e * bits / 32] |= static_cast<uint32_t>(value) << e * bits % 32;
        if constexpr (bits == 64)
          words[2 * e + 1] = static_cast<uint32_t>(value >> 32);
      }
      to.b[0] = words;
    } else if (task.n >= width) {
#pragma unroll
      for (int e = 0; e < loads; ++e) {
        to.b[e] = detail::load_words<4>(end.b - back(e, end.pitch_b));
#pragma unroll
        for (int word = 0; word < 4; ++word)
          to.b[e][word] = e < count ? to.b[e][word] : 0;
      }
    } else {
      // fewer columns than a load: one after the other, from the last
#pragma unroll
      for (int e = 0; e < loads; ++e)
        to.b[e] = {};
      const uint64_t start =
          reinterpret_cast<uint64_t>(task.b) + static_cast<uint64_t>(k_end - 1) * end.pitch_b;
#pragma unroll 1
      for (int64_t f = task.n - 1; f >= 0; --f)
#pragma unroll
        for (int e = 0; e < loads; ++e) {
          const auto value = detail::load_bits<B>(start + static_cast<uint64_t>(f) * sizeof(B) -
                                                  back(e, end.pitch_b));
          push_element(to.b[e], e < count && lane % 16 == 0 ? value : 0);
        }
    }
  }

  /// Moves all elements up by one, and `value` in.
  template <class Bits>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void push_element(packed<B, width>& words,
                                                                 Bits value) {
    constexpr int bits = 8 * static_cast<int>(sizeof(B));
    if constexpr (bits >= 32) {
      for (int i = 3; i >= bits / 32; --i)
        words[i] = words[i - bits / 32];
      for (int i = 0; i < bits / 32; ++i)
        words[i] = static_cast<uint32_t>(value >> (i * 16) >> (i * 16));
    } else {
      for (int i = 3; i > 0; --i)
        words[i] = words[i] << bits | words[i - 1] >> (32 - bits);
      words[0] = words[0] << bits | value;
    }
  }

  template <bool AlongA>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void multiply(accumulator (&sums)[fragments],
                                                             const piece<AlongA>& from) {
    const auto a = wavetile::detail::bit_cast<vec<A, run>>(joined(from.a));
    const auto product = [&](int f, const weights& w, int part) {
      inputs x;
#pragma unroll
      for (int e = 0; e < held; ++e)
        x.set(e, a[part * held + e]);
      mma(sums[f], w, x);
    };
    if constexpr (along_k) {
      const auto b = wavetile::detail::bit_cast<vec<B, width>>(from.b[0]);
#pragma unroll
      for (int part = 0; part < run / held; ++part) {
        weights w;
#pragma unroll
        for (int e = 0; e < held; ++e)
          w.set(e, b[part * held + e]);
        product(0, w, part);
      }
    } else if constexpr (held == 1) {
      const auto b = wavetile::detail::bit_cast<vec<B, width>>(from.b[0]);
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

  /// `count` > 0 whole steps, `stages` of them in flight: a piece's registers are loaded again
  /// right after its products. Nothing is loaded twice, but for the last of too few steps.
  template <bool AlongA>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void run_steps(accumulator (&sums)[fragments], int64_t k,
                                                       uint32_t count, uint64_t stride) const {
    constexpr int depth = stages<AlongA>;
    piece<AlongA> ring[depth][repeats];
    pointers at(*this, k);
    detail::unrolled<depth * repeats>([&](auto i) {
      at.load(ring[i / repeats][i % repeats], i % repeats);
      if constexpr (i % repeats == repeats - 1)
        at.advance(count > i / repeats + 1u ? stride : 0);
      __builtin_amdgcn_sched_barrier(0); // or the loads sink to where they are waited for
    });
    // one exit, one entry with all stages in flight: the compiler joins several, and a wait where
    // they meet is one of the loop too
    const uint32_t rounds = count / depth;
#pragma unroll 1
    for (uint32_t round = 1; round < rounds; ++round)
      detail::unrolled<depth * repeats>([&](auto i) {
        piece<AlongA>& one = ring[i / repeats][i % repeats];
        multiply(sums, one);
        __builtin_amdgcn_sched_barrier(0);
        at.load(one, i % repeats);
        if constexpr (i % repeats == repeats - 1)
          at.advance(stride);
        __builtin_amdgcn_sched_barrier(0);
      });
    const uint32_t rest = rounds > 0 ? count % depth : 0;
    detail::unrolled<depth>([&](auto s) {
      if (s == 0 || count > static_cast<uint32_t>(s))
        detail::unrolled<repeats>([&](auto r) { multiply(sums, ring[s][r]); });
      if (rest > static_cast<uint32_t>(s)) {
        detail::unrolled<repeats>([&](auto r) { at.load(ring[s][r], r); });
        at.advance(stride);
      }
    });
    detail::unrolled<depth - 1>([&](auto s) {
      if (rest > static_cast<uint32_t>(s))
        detail::unrolled<repeats>([&](auto r) { multiply(sums, ring[s][r]); });
    });
  }

  /// Sums of this wave, the `wave`th of `waves` that share k_begin … k_end - 1 step by step.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void run_wave(accumulator (&sums)[fragments], int wave,
                                                      int waves, int64_t k_begin,
                                                      int64_t k_end) const {
    int64_t k = k_begin + wave * step;
    const int64_t stride = int64_t{waves} * step;
    const int64_t room = k_end - step - k;
    if (room >= 0 && (along_k || task.n >= width)) {
      auto count = static_cast<uint32_t>(static_cast<uint64_t>(room) / (skinny_waves * step)) + 1;
      detail::keep_scalar(count);
      if (a_along_k)
        run_steps<true>(sums, k, count, static_cast<uint64_t>(stride));
      else
        run_steps<false>(sums, k, count, static_cast<uint64_t>(stride));
      k += count * stride;
    }
    // what is left, one piece at a time
#pragma unroll 1
    for (; k < k_end; k += stride)
#pragma unroll 1
      for (int r = 0; r < repeats && k + int64_t{r} * 4 * run < k_end; ++r) {
        piece<false> last;
        load_tail(last, r, k, k_end);
        multiply(sums, last);
      }
  }

  /// Makes element 0 that of column `at` again, where the lane's columns were moved back.
  template <int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void drop_moved(vec<accumulator_t<A>, N>& values,
                                                        int64_t at) const {
    if (column + columns <= task.n || task.n < width)
      return; // the same for the whole workgroup
    const int64_t moved = at + N - task.n;
#pragma unroll 1
    for (int i = 1; i < N; ++i)
#pragma unroll
      for (int e = 0; e + 1 < N; ++e)
        values[e] = i <= moved ? values[e + 1] : values[e];
  }
};

/// 16 rows of D and `columns` columns; four waves share k, and their sums are added in order.
/// LDS: one wave's accumulators. One kernel for both orders of A, of which little is read.
template <class Types, operand_order OrderB>
WAVETILE_KERNEL __attribute__((amdgpu_flat_work_group_size(skinny_waves * matmul_wave_size,
                                                           skinny_waves* matmul_wave_size))) void
matmul_skinny(matmul_arguments<Types> arguments) {
  if constexpr (!device_pass_supported) {
    refuse_to_run();
  } else {
    using loop = skinny_loop<Types, OrderB>;
    using accumulator = typename Types::accumulator;
    using fragment = typename loop::accumulator;
    WAVETILE_SHARED accumulator other[loop::fragments][fragment::size][matmul_wave_size];

    matmul_task<Types> task;
    const tile_place place = place_of_group<16, loop::columns>(arguments, task);
    const int64_t k_begin = place.split * place.split_k;
    const int64_t k_end = k_begin + place.split_k < task.k ? k_begin + place.split_k : task.k;
    const loop own{task, arguments.order_a == operand_order::k_contiguous,
                   place.column * loop::columns};
    const int wave = wave_id(), lane = lane_id();
    fragment sums[loop::fragments];
    for (int f = 0; f < loop::fragments; ++f)
      sums[f] = fragment{};
    own.run_wave(sums, wave, skinny_waves, k_begin, k_end);
    wavetile::detail::in_place([&] {
      wavetile::detail::hold(sums);
      wavetile::detail::wait_for_matrix<most_result_states>(sums);
    });

#pragma unroll 1
    for (int w = 1; w < skinny_waves; ++w) {
      if (wave == w)
        for (int f = 0; f < loop::fragments; ++f)
          for (int i = 0; i < fragment::size; ++i)
            other[f][i][lane] = sums[f][i];
      group::barrier();
      if (wave == 0)
        for (int f = 0; f < loop::fragments; ++f)
          for (int i = 0; i < fragment::size; ++i)
            sums[f].set(i, matmul_output<Types>::sum(sums[f][i], other[f][i][lane]));
      group::barrier();
    }
    if (wave > 0)
      return; // whole waves, and no barrier follows

    matmul_output<Types> output(arguments, task, place.batch);
    const bool split = place.splits > 1;
    auto* partial = static_cast<accumulator*>(arguments.partials) + place.first_partial;
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
        own.drop_moved(values, own.column_of(0, i));
        store(values, own.column_of(0, i));
      }
    }
    if (!split)
      output.finish();
  }
}

} // namespace wavetile::kernels

#endif
