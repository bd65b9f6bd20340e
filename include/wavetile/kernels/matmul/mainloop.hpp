/// \file
/// The loop over k of the tiled matrix product.
#pragma once

#include <wavetile/group/barrier.hpp>
#include <wavetile/kernels/matmul/fragment_places.hpp>
#include <wavetile/kernels/matmul/masked_copy.hpp>
#include <wavetile/kernels/matmul/staged_copy.hpp>
#include <wavetile/kernels/matmul/turns.hpp>
#include <wavetile/kernels/matmul/unrolled.hpp>
#include <wavetile/matrix/mma.hpp>
#include <wavetile/matrix/waits.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// A workgroup's piece of D = A * B: for its `Config.tile_m` x `Config.tile_n` elements
///
///     D(i, j) += sum over k of A(row + i, k) * B(k, column + j)
///
/// - `A`, `B`: the library's own types, of one size: fp64, fp32, fp16, bf16, int8 twice, or any two
///   of the fnuz fp8 types. Accumulators are fp64, int32 (wrapping), else fp32.
/// - Operands are views of M x K and N x K elements. `k_contiguous`: stride[1] is 1, stride[0] the
///   leading dimension; `k_strided`: stride[0] is 1, stride[1] the leading dimension.
/// - Rows of A beyond M and of B beyond N are never read; what the accumulators hold for them means
///   nothing. Elements of k from `k_end` on are never read and count as zero in both operands.
/// - Any alignment of an element, any leading dimension.
///
/// Whole steps of k run in a software pipeline without address arithmetic in vector registers; the
/// end of k, operands with fewer rows than one load and rows 2^32 bytes apart take element-wise
/// copies. One kernel has both ways.
///
/// The workgroup is one-dimensional, of `Config.threads()` work-items, all of which call.
/// Registers: `Config.accumulator_registers()` for the result and about 80 (dense operands) to 110
/// beside. LDS: `storage`, placed by the caller, which may use it for other things before and
/// after, with a barrier between.
template <class A, class B, operand_order OrderA, operand_order OrderB, matmul_config Config>
struct matmul_mainloop {
  static_assert(sizeof(A) == sizeof(B),
                "wavetile::kernels::matmul_mainloop: A and B differ in size");
  static_assert(Config.valid(), "wavetile::kernels::matmul_mainloop: the config does not divide");

  using operand_a = operand_tile<A, OrderA, fragment_role::a, Config>;
  using operand_b = operand_tile<B, OrderB, fragment_role::b, Config>;
  static constexpr matrix_shape shape = operand_a::shape;
  using accumulator = fragment<fragment_role::accumulator, shape, accumulator_t<A>>;
  static constexpr matmul_config config = Config;
  static constexpr int tile_k = operand_a::depth; ///< values of k in one step
  static constexpr int fragments_m = Config.wave_m() / Config.instruction; ///< of a wave
  static constexpr int fragments_n = Config.wave_n() / Config.instruction;

  /// Whether the compiler is told to keep the sums in accumulation registers: where they, or they
  /// and the addresses of transposed writes, need more than the 256 others.
  static constexpr bool sums_apart = [] {
    constexpr int registers = Config.accumulator_registers(sizeof(accumulator_t<A>));
    constexpr bool transposes =
        OrderA == operand_order::k_strided || OrderB == operand_order::k_strided;
    return Config.waves() <= 4 && registers > (transposes ? 128 : 192);
  }();

  /// Matrix instructions of a wave in one step.
  static constexpr int instructions_of_a_step = fragments_m * fragments_n * tile_k / shape.k;

  /// LDS of a workgroup.
  struct storage {
    struct stage {
      typename operand_a::tile_type::storage a;
      typename operand_b::tile_type::storage b;
    } stages[2];
  };

  /// What a lane holds of the workgroup's piece.
  struct accumulators {
    accumulator at[fragments_m][fragments_n];

    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void clear() {
#pragma unroll
      for (int i = 0; i < fragments_m; ++i)
#pragma unroll
        for (int j = 0; j < fragments_n; ++j)
          at[i][j] = accumulator{};
      settle();
    }
    /// With `sums_apart`, they are in accumulation registers here. Where ways meet, so that they
    /// are there on all of them: an instruction whose sums came from elsewhere would have them
    /// copied there and back. Volatile, lest equal sums, all 0 at first, share registers.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void settle() {
#if WAVETILE_AMDGCN
      if constexpr (sums_apart)
#pragma unroll
        for (int i = 0; i < fragments_m; ++i)
#pragma unroll
          for (int j = 0; j < fragments_n; ++j)
            asm volatile("" : "+a"(at[i][j].registers));
#endif
    }
  };

  /// Place of the calling wave's first fragment inside the piece; uniform.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static coordinate wave_place() {
    const int wave = wave_id();
    return {wave / Config.waves_n * Config.wave_m(), wave % Config.waves_n * Config.wave_n()};
  }

  /// Calls `f(fragment, row, column)` for each fragment of the calling wave, with the place of its
  /// first element inside the workgroup's piece (uniform): element i of lane l is
  /// (row, column) + `accumulator::element(l, i)`.
  template <class F>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void for_each_fragment(accumulators& d, const F& f) {
    const coordinate first = wave_place();
#pragma unroll
    for (int i = 0; i < fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < fragments_n; ++j)
        f(d.at[i][j], first.row + i * Config.instruction, first.column + j * Config.instruction);
  }

  /// For `run`: nothing happens to the sums on the way.
  struct plain_sums {
    static constexpr bool in_blocks = false;
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void operator()(accumulators&) {}
  };

  /// Adds the products for k_begin <= k < k_end; see above. `row` < M and `column` < N are uniform,
  /// the views reach at least to `k_end`. `memory` must be free: a barrier lies
  /// between the last other access to it and this call, and one at the end of this call.
  ///
  /// With `AfterBlock::in_blocks`, `after_block(d)` is called behind every 2 `tile_k` values of k,
  /// and behind the rest, by waves whose part is inside the matrix.
  template <class AfterBlock = plain_sums>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void
  run(accumulators& d, const view<const A, 2>& a, const view<const B, 2>& b, int64_t row,
      int64_t column, int64_t k_begin, int64_t k_end, storage& memory,
      AfterBlock&& after_block = {}) {
    constexpr bool in_blocks = wavetile::detail::remove_reference<AfterBlock>::type::in_blocks;
    const int thread = thread_id();
    // a wave whose part lies outside the matrix brings operands for the others, and no more
    const bool active =
        row + wave_place().row < a.extent[0] && column + wave_place().column < b.extent[0];
    int64_t k = k_begin;
    bool stored = false; // whether the step from k on is in LDS
    const int64_t whole = copy_a::reaches(a) && copy_b::reaches(b) ? (k_end - k_begin) / tile_k : 0;
    if (whole >= 2) {
      auto steps = static_cast<uint32_t>(whole < most_steps ? whole : most_steps);
      steps -= in_blocks ? steps % 2 : 0;
      detail::keep_scalar(steps);
      if (active)
        run_steady<true>(d, a, b, row, column, k, steps, memory, thread, after_block);
      else
        run_steady<false>(d, a, b, row, column, k, steps, memory, thread, after_block);
      k += int64_t{steps / 2 * 2} * tile_k;
      stored = steps % 2 != 0;
    } else if (whole == 1) {
      pipeline p(memory, wave_place());
      p.start(a, b, row, column, k, 0, thread);
      p.store_all();
      group::barrier();
      stored = true;
    }
    const typename operand_a::tile_type lds_a(memory.stages[0].a);
    const typename operand_b::tile_type lds_b(memory.stages[0].b);
    const int64_t rest = k;
    d.settle();
#pragma unroll 1
    for (; k < k_end; k += tile_k) {
      if (!stored) {
        copy_masked<operand_a, OrderA, Config.threads()>(a, row, k, k_end, lds_a, thread);
        copy_masked<operand_b, OrderB, Config.threads()>(b, column, k, k_end, lds_b, thread);
        group::barrier();
      }
      stored = false;
      if (active) {
        const reads_a from_a(wave_place().row);
        const reads_b from_b(wave_place().column);
        d.settle();
#pragma unroll
        for (int s = 0; s < depth; ++s) {
          fragments f;
          for (int n = 0; n < fragment_reads; ++n)
            read(f, n, s, from_a, from_b, lds_a, lds_b);
          for (int n = 0; n < slots; ++n)
            multiply(d, f, n);
        }
        // blocks that wide loads did not bring, or what is left of one
        if (in_blocks && ((k - rest) / tile_k % 2 != 0 || k + tile_k >= k_end))
          after_block(d);
      }
      d.settle();
      group::barrier();
    }
    d.settle();
  }

private:
  using copy_a = staged_copy<A, OrderA, fragment_role::a, Config>;
  using copy_b = staged_copy<B, OrderB, fragment_role::b, Config>;
  using reads_a = fragment_places<operand_a, Config.waves_m, fragments_m, Config.instruction>;
  using reads_b = fragment_places<operand_b, Config.waves_n, fragments_n, Config.instruction>;

  /// What is read at once: the operands of one depth of all the wave's fragments.
  struct fragments {
    typename operand_a::pack a[fragments_m];
    typename operand_b::pack b[fragments_n];
  };
  static constexpr int fragment_reads = fragments_m + fragments_n;
  static constexpr int depth = tile_k / operand_a::reader::depth; ///< of them in a step
  static constexpr int slots = fragments_m * fragments_n;         ///< products of one of them

  /// Read `n` of one depth, in the order of need.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void
  read(fragments& f, int n, int s, const reads_a& from_a, const reads_b& from_b,
       typename operand_a::tile_type lds_a, typename operand_b::tile_type lds_b) {
    if (n == 0)
      f.a[0] = from_a.read(lds_a, 0, s);
    else if (n <= fragments_n)
      f.b[n - 1] = from_b.read(lds_b, n - 1, s);
    else
      f.a[n - fragments_n] = from_a.read(lds_a, n - fragments_n, s);
  }

  /// Product `n` of one depth.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void multiply(accumulators& d, const fragments& f,
                                                             int n) {
    mma(d.at[n / fragments_n][n % fragments_n], f.a[n / fragments_n], f.b[n % fragments_n]);
  }

  /// Action `n` of bringing the next step of an operand to LDS and the one after it to registers.
  template <class Copy, class Tile>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void copy_action(Copy& copy, int n, Tile to,
                                                                int slot) {
    constexpr int loads = Copy::group_loads, stores = Copy::group_stores;
    constexpr int pairs = loads < stores ? loads : stores;
    // the first store of a group frees its registers: loads follow as early as they can
    const int group = n / (loads + stores), i = n % (loads + stores);
    const int number = i < 2 * pairs ? i / 2 : i - pairs;
    if (i < 2 * pairs ? i % 2 == 1 : loads > stores)
      copy.load(group * loads + number, slot);
    else
      copy.store(group * stores + number, to, slot);
  }

  static constexpr int64_t most_steps = 0x7FFFFFFF; ///< that 32 bits count
  static constexpr int actions_a = copy_a::loads + copy_a::stores;
  static constexpr int actions = actions_a + copy_b::loads + copy_b::stores;
  /// Products before and behind the barrier in the middle of a step. Before it the next step goes
  /// to LDS, behind it the first fragments of the next step are read.
  static constexpr int all_slots = depth * slots;
  static constexpr int early_slots = depth > 1 ? all_slots - slots : (all_slots + 1) / 2;
  static constexpr int action_slots = early_slots > 2 ? early_slots - 1 : early_slots;
  static constexpr int late_slots = all_slots - early_slots;
  static constexpr int read_slots(int available) {
    return available > 3 ? available * 3 / 4 : 1;
  }

  /// Pairs of whole steps, at least one, and of an odd number the last one to the first stage of
  /// LDS. While step i is multiplied, step i + 1 goes from registers to the other stage of LDS and
  /// step i + 1 + `steps_ahead` from memory to registers; each depth of fragments is read while the
  /// one before is multiplied. Without `Active` nothing is read or multiplied.
  template <bool Active, class AfterBlock>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void
  run_steady(accumulators& d, const view<const A, 2>& a, const view<const B, 2>& b, int64_t row,
             int64_t column, int64_t k, uint32_t steps, storage& memory, int thread,
             AfterBlock& after_block) {
    pipeline p(memory, wave_place());
    p.start(a, b, row, column, k, static_cast<int>(steps) - 1, thread);
    p.advance();
    p.store_all();
#pragma unroll
    for (int i = 1; i <= Config.steps_ahead; ++i) {
      __builtin_amdgcn_sched_barrier(0); // in order: waits of the loop's first round count too
      p.load_all(i % Config.steps_ahead);
      p.advance();
    }
    group::barrier();
    if constexpr (Active)
      for (int n = 0; n < fragment_reads; ++n)
        p.read(0, n, 0, 0);
    constexpr bool in_turns = Config.schedule == matmul_schedule::ping_pong;
    const bool behind = wave_id() >= Config.waves() / 2;
    if (in_turns && behind)
      detail::end_turn();
    // one exit: the compiler joins several, and a wait where they meet is one of the loop too; and
    // no way around the loop, on which all sums would be copied
    uint32_t rounds = steps / 2;
#pragma unroll 1
    do {
      p.template step<0, Active>(d);
      p.template step<1, Active>(d);
      if constexpr (Active && AfterBlock::in_blocks)
        after_block(d);
    } while (--rounds != 0);
    if (in_turns && !behind)
      detail::end_turn();
    group::barrier();
  }

  struct pipeline {
    copy_a a;
    copy_b b;
    reads_a from_a;
    reads_b from_b;
    storage& memory;
    fragments f[2];
    int left; ///< steps behind the one that is loaded next; those in registers and LDS lie before
              ///< it

    WAVETILE_DEVICE WAVETILE_FORCE_INLINE pipeline(storage& lds, coordinate wave)
        : from_a(wave.row), from_b(wave.column), memory(lds) {}

    /// The step from k on is on its way to registers; `more` steps follow it.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void start(const view<const A, 2>& first,
                                                     const view<const B, 2>& second, int64_t row,
                                                     int64_t column, int64_t k, int more,
                                                     int thread) {
      a.start(first, row, k, thread);
      b.start(second, column, k, thread);
      left = more;
      load_all(0);
    }
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_all(int slot) {
#pragma unroll
      for (int i = 0; i < copy_a::loads; ++i)
        a.load(i, slot);
#pragma unroll
      for (int i = 0; i < copy_b::loads; ++i)
        b.load(i, slot);
    }
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_all() {
#pragma unroll
      for (int i = 0; i < copy_a::stores; ++i)
        a.store(i, typename operand_a::tile_type(memory.stages[0].a), 0);
#pragma unroll
      for (int i = 0; i < copy_b::stores; ++i)
        b.store(i, typename operand_b::tile_type(memory.stages[0].b), 0);
    }
    /// On to the next step; after the last one it is loaded again, and not used.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void advance() {
      const bool more = left > 0;
      --left;
      a.advance(more);
      b.advance(more);
    }
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void read(int into, int n, int s, int stage) {
      matmul_mainloop::read(f[into], n, s, from_a, from_b,
                            typename operand_a::tile_type(memory.stages[stage].a),
                            typename operand_b::tile_type(memory.stages[stage].b));
    }
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void act(int n, int stage) {
      const int slot = stage % Config.steps_ahead;
      if (n < actions_a)
        copy_action(a, n, typename operand_a::tile_type(memory.stages[stage].a), slot);
      else
        copy_action(b, n - actions_a, typename operand_b::tile_type(memory.stages[stage].b), slot);
    }

    template <int Stage, bool Active>
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void step(accumulators& d) {
      if constexpr (Config.schedule == matmul_schedule::ping_pong)
        step_in_turns<Stage, Active>(d);
      else
        step_interleaved<Stage, Active>(d);
      advance();
    }

    /// For each depth of fragments a turn at memory and one at the matrix cores. The turns of the
    /// waves behind are one later; barriers separate them, and count for what was waited for.
    ///
    /// Stores go to the other stage in the first turn of a step and are waited for in it: of all
    /// waves they are done one turn before the first of them reads that stage, in the step's third.
    /// Reads are for the products after next and waited for behind the next ones: the last of a
    /// stage are done two turns before it is written again.
    template <int Stage, bool Active>
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void step_in_turns(accumulators& d) {
      static_assert(depth == 2,
                    "wavetile::kernels::matmul_mainloop: ping_pong is for steps of two");
      detail::unrolled<depth>([&](auto index) {
        constexpr int s = index;
        if constexpr (s == 0)
          detail::unrolled<actions>([&](auto n) { act(n, 1 - Stage); });
        __builtin_amdgcn_sched_barrier(0); // stores before reads: they are waited for alone
        if constexpr (Active)
          detail::unrolled<fragment_reads>(
              [&](auto n) { read(1 - s, n, 1 - s, s == 0 ? Stage : 1 - Stage); });
        if constexpr (s == 0)
          wavetile::detail::in_place(
              [] { wavetile::detail::wait_for_lds<Active ? fragment_reads : 0>(); });
        detail::end_turn();
        if constexpr (Active) {
          __builtin_amdgcn_s_setprio(1);
          detail::unrolled<slots>([&](auto n) { multiply(d, f[s], n); });
          __builtin_amdgcn_s_setprio(0);
          wavetile::detail::in_place([] { wavetile::detail::wait_for_lds<0>(); });
        }
        detail::end_turn();
      });
    }

    template <int Stage, bool Active>
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void step_interleaved(accumulators& d) {
      constexpr int parity = Stage * depth;
      detail::unrolled<all_slots>([&](auto index) {
        constexpr int slot = index;
        if constexpr (slot == early_slots)
          group::barrier();
        // fragments of the next depth, or behind the barrier of the next step
        constexpr int s = slot / slots;
        constexpr bool last = s == depth - 1;
        constexpr int since = last ? slot - early_slots : slot % slots;
        constexpr int span = read_slots(last ? late_slots : slots);
        if constexpr (Active && since >= 0 && since < span) {
          constexpr int first = fragment_reads * since / span;
          detail::unrolled<fragment_reads*(since + 1) / span - first>([&](auto n) {
            read((parity + s + 1) % 2, first + n, last ? 0 : s + 1, last ? 1 - Stage : Stage);
          });
        }
        if constexpr (slot < action_slots) {
          constexpr int first = actions * slot / action_slots;
          detail::unrolled<actions*(slot + 1) / action_slots - first>([&](auto n) {
            act(first + n, 1 - Stage);
            // a load stays behind the store that empties its registers
            __builtin_amdgcn_sched_barrier(0);
          });
        }
        if constexpr (Active)
          multiply(d, f[(parity + s) % 2], slot % slots);
        __builtin_amdgcn_sched_barrier(0);
      });
    }
  };
};

} // namespace wavetile::kernels

#endif
