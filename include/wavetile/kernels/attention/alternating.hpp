/// \file
/// The steps of a workgroup whose two groups of waves take turns at the matrix cores.
///
/// Wave w and wave w + 4 are on one SIMD. They do the same, half a step apart: while one multiplies
/// (V^T P of a step and K Q^T of the next) the other does the softmax of its own scores and brings
/// its part of the tiles. A barrier ends each half, so neither runs into the other's way, and the
/// matrix cores go from one group's products to the other's:
///
///     half step  0        1        2           3           4 …
///     group 0    QK(0)    softmax  PV(0) QK(1) softmax     PV(1) QK(2)
///     group 1    -        QK(0)    softmax     PV(0) QK(1) softmax
///
/// Tiles are in LDS twice. Group 0 writes V(j) beside softmax(j), in half step 2j + 1: it is read
/// from 2j + 2 on, and what it replaces, V(j-2), was read until 2j - 1. Group 1 writes K(j+2)
/// beside its softmax(j), in half step 2j + 2: read from 2j + 4 on, K(j) was until 2j + 1.
#pragma once

#include <wavetile/kernels/attention/wave.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

template <class Types, attention_config Config>
class alternating_steps {
  using T = typename Types::input;
  using tiles = attention_tiles<T, Config>;
  using wave = attention_wave<Types, Config>;
  using storage = typename tiles::storage;
  static constexpr int chunks = 4; ///< that a thread brings of a step
  static constexpr auto input = wavetile::detail::matrix_type_of<T>();
  static constexpr int score_states =
      find_matrix_instruction(architecture::gfx942, shape_32x32<T>, input, input).result_states();
  static constexpr int threads = Config.threads() / 2;
  static_assert(Config.waves == 8 && Config.buffers() == 2 &&
                tiles::key_units == chunks * threads && tiles::value_units == threads &&
                tiles::value_chunks % 8 == 0 && Types::mask::kind == mask_kind::none);

  wave& wave_;
  storage (&memory_)[2];
  const bool second_; ///< group
  const int thread_;  ///< within the group
  const row_source source_;
  const int begin_;
  int offset_[chunks];
  chunk16 staged_[chunks];

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static bool second_group() { return wave_id() >= 4; }

  /// Only here work of one half step ends and that of the next begins.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void meet() {
    phase_ends();
    group::barrier();
    phase_ends();
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void phase_ends() {
#if WAVETILE_AMDGCN
    __builtin_amdgcn_sched_barrier(0);
#endif
  }

  /// Waves that multiply go first: an instruction each 32 clocks, the others fill the slots
  /// between.
  template <int Priority>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void set_priority() {
#if WAVETILE_AMDGCN
    __builtin_amdgcn_s_setprio(Priority);
#endif
  }

  /// Starts the loads of the group's tile of a step.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(int step) {
    const row_window rows = source_.from(begin_ + step * Config.keys, Config.keys);
    for (int i = 0; i < chunks; ++i)
      staged_[i] = rows.load(nullptr, 0, offset_[i]);
  }

  /// Writes the tile that was loaded, of a step with this parity.
  template <int Parity>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store(int step) {
    if (second_) {
      const typename tiles::key_tile key(memory_[Parity].key);
      for (int i = 0; i < chunks; ++i) {
        const key_unit unit = tiles::key_unit_of(thread_ + i * threads);
        key.write_vec(unit.key, unit.element, wavetile::detail::bit_cast<vec<T, 8>>(staged_[i]));
      }
    } else {
      const value_unit unit = tiles::value_unit_of(thread_);
      const int left = source_.rows - begin_ - step * Config.keys;
      if (left < Config.keys) // rows of V beyond the last become zeros
        for (int j = 0; j < chunks; ++j)
          if (unit.key + j >= left)
            staged_[j] = chunk16{};
      write_transposed<tiles>(typename tiles::value_tile(memory_[Parity].value), unit, staged_);
    }
  }

  struct state {
    typename wave::scores all{};
    typename wave::weights own[2] = {}; ///< of the step before
    bool was = false;                   ///< the step before is one that the wave sees
  };

  /// Both halves of a step with this parity, also of one behind the last: the products with V of
  /// the step before and with K of this one, and its softmax.
  template <int Parity>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void turn(int step, int steps, const query_rows& rows,
                                                  state& now) {
    const typename tiles::value_tile value(memory_[1 - Parity].value);
    const typename tiles::key_tile key(memory_[Parity].key);
    const int first = begin_ + step * Config.keys;
    const bool is = step < steps && first < rows.any.end && first + Config.keys > rows.any.begin;
    set_priority<1>();
    typename wave::key_packs keys;
    typename wave::value_packs values;
    wave_.read_values(values, value);
    wave_.read_keys(keys, key);
    keep_order();
    const int staged = second_ ? step + 2 : step;
    // while the reads are on their way
    if (staged < steps)
      load(staged);
    now.own[1].operand[2] = wave::template weight_of_now<2>(now.all, 1);
    now.own[1].operand[3] = wave::template weight_of_now<3>(now.all, 1);
    phase_ends();
    if (now.was)
      wave_.multiply_values(value, values, [&](int p) { return now.own[p]; });
    // All reads are done when the other group may go on; the products of the last two fill the
    // matrix cores until its own begin.
    constexpr int rest = 2;
    if (is) {
      now.all = {};
      wave_.template multiply_keys<0, wave::key_reads - rest>(now.all, key, keys);
    }
    meet();
    if (is)
      wave_.template multiply_keys<wave::key_reads - rest, wave::key_reads>(now.all, key, keys);
    set_priority<0>();

    store<Parity>(staged); // behind the last step: what nobody reads
    if (is) {
      wavetile::detail::wait_for_matrix<score_states>(now.all.part);
      wave_.weigh(now.all, rows, {}, first);
      now.own[0] = wave::weights_of(now.all, 0);
      now.own[1].operand[0] = wave::template weight_of<0>(now.all, 1);
      now.own[1].operand[1] = wave::template weight_of<1>(now.all, 1);
    }
    meet();
    now.was = is;
  }

public:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE alternating_steps(wave& own, storage (&memory)[2],
                                                          const row_source& key,
                                                          const row_source& value, int begin)
      : wave_(own), memory_(memory), second_(second_group()), thread_(thread_id() % threads),
        source_(second_ ? key : value), begin_(begin) {
    for (int i = 0; i < chunks; ++i) {
      const key_unit k = tiles::key_unit_of(thread_ + i * threads);
      const value_unit v = tiles::value_unit_of(thread_);
      offset_[i] =
          second_ ? source_.offset_of(k.key, k.element) : source_.offset_of(v.key + i, v.element);
    }
  }

  /// All steps of keys up to `end`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void run(const query_rows& rows, int end) {
    if (begin_ >= end)
      return;
    const int steps = (end - begin_ + Config.keys - 1) / Config.keys;
    if (second_)
      load(0);
    wave_.wait_for_queries();
    if (second_) {
      store<0>(0);
      load(1); // of one step only: nothing
    }
    meet();
    if (second_) {
      store<1>(1);
      meet();
    }
    // the step behind the last has its products with V; an even number, so that it is known at
    // compile time which tiles a step has
    state now;
    for (int step = 0; step <= steps; step += 2) {
      turn<0>(step, steps, rows, now);
      turn<1>(step + 1, steps, rows, now);
    }
    if (!second_)
      meet(); // the second group is half a step behind
  }
};

} // namespace wavetile::kernels

#endif
