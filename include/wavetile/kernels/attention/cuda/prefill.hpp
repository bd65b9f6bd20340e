/// \file
/// Exact attention over tiles of queries on NVIDIA GPUs: scores never leave the registers.
///
/// A wave has one or two tiles of 16 queries and goes over the keys in steps. It computes Q K^T,
/// turns the scores into probabilities, which lie as the operand of the product with V wants them,
/// and computes P V. The workgroup's waves share each step's K and V in LDS; those of the next step
/// are copied meanwhile. With few queries over a cache all waves share the queries, too.
#pragma once

#include <wavetile/group/barrier.hpp>
#include <wavetile/kernels/attention/cuda/attention_wave.hpp>
#include <wavetile/kernels/attention/cuda/change_scores.hpp>
#include <wavetile/kernels/attention/cuda/part_results.hpp>
#include <wavetile/kernels/attention/cuda/score_scale.hpp>
#include <wavetile/kernels/attention/cuda/warpgroup_prefill.hpp>
#include <wavetile/kernels/attention/sequence.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// The steps of a wave over the keys.
template <class Types, attention_config Config>
class attention_kernel : attention_wave<Types, Config> {
  using wave_type = attention_wave<Types, Config>;
  using typename wave_type::T;
  using typename wave_type::tiles;
  using query_operand = typename tiles::query_operand;
  using key_operand = typename tiles::key_operand;
  using value_operand = typename tiles::value_operand;
  using wave_type::args_, wave_type::lane_, wave_type::wave_, wave_type::memory_;
  using wave_type::has_value_step, wave_type::value_step;
  using wave_type::row_tiles, wave_type::shares, wave_type::own_value_steps;
  using wave_type::softmax_, wave_type::output_;
  static constexpr int query_steps = Config.head.qk / 16;
  static constexpr int key_steps = Config.keys / 16;
  static_assert(!shares || (Config.waves == key_steps && row_tiles == 1 && Config.stages % 2 == 1 &&
                            !Config.keeps_queries));

  const typename tiles::query_address query_address_;
  const typename tiles::key_address key_address_;
  const typename tiles::value_address value_address_;
  warp_a<T> query_[Config.keeps_queries ? row_tiles : 1][Config.keeps_queries ? query_steps : 1];

  using step_scores = score_block<T, row_tiles, 2 * key_steps>;

  /// Q K^T; where waves share rows, of the wave's 16 keys.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void multiply_keys(step_scores& scores, uint32_t key,
                                                           uint32_t query) const {
    const auto key_at = key_address_.in(key);
    const auto query_at = query_address_.in(query);
#pragma unroll
    for (int k = 0; k < query_steps; ++k) {
      warp_a<T> rows[row_tiles];
#pragma unroll
      for (int m = 0; m < row_tiles; ++m)
        if constexpr (Config.keeps_queries)
          rows[m] = query_[m][k];
        else
          rows[m] = query_operand::load(query_at.at(16 * m, 16 * k));
      if constexpr (shares) {
        const warp_b_pair<T> keys = key_operand::load(key_at.at(16 * wave_, 16 * k));
        warp_mma(scores[0][0], rows[0], keys.half[0]);
        warp_mma(scores[0][1], rows[0], keys.half[1]);
        continue;
      }
#pragma unroll
      for (int n = 0; n < key_steps; ++n) {
        const warp_b_pair<T> keys = key_operand::load(key_at.at(16 * n, 16 * k));
#pragma unroll
        for (int m = 0; m < row_tiles; ++m) {
          warp_mma(scores[m][2 * n], rows[m], keys.half[0]);
          warp_mma(scores[m][2 * n + 1], rows[m], keys.half[1]);
        }
      }
    }
  }

  /// Where the waves' scores meet, the lane's own of tile 0.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t shared_scores() const {
    return memory_ + tiles::query_bytes + Config.stages * tiles::stage_bytes +
           static_cast<uint32_t>(16 * lane_);
  }

  /// Moves references where a step's scores ask for it. `Halves`: 1 where only the first eight rows
  /// of a tile exist; nothing is computed for the others.
  template <int Halves>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void follow(const step_scores& scores, float scale) {
    float next[row_tiles][2];
    bool moves = false;
#pragma unroll
    for (int m = 0; m < row_tiles; ++m)
#pragma unroll
      for (int h = 0; h < Halves; ++h) {
        float largest = scores[m][0].value[2 * h];
#pragma unroll
        for (int n = 0; n < 2 * key_steps; ++n)
#pragma unroll
          for (int c = 0; c < 2; ++c)
            largest = maximum<nan_rule::ignore>(largest, scores[m][n].value[2 * h + c]);
        moves |= softmax_[m][h].look_at(largest, scale, next[m][h]);
      }
    if (!wave::any(moves))
      return;
#pragma unroll
    for (int m = 0; m < row_tiles; ++m)
#pragma unroll
      for (int h = 0; h < Halves; ++h) {
        const float rescale = softmax_[m][h].move_to(next[m][h]);
#pragma unroll
        for (int n = 0; n < 2 * own_value_steps; ++n)
#pragma unroll
          for (int c = 0; c < 2; ++c)
            output_[m][n].value[2 * h + c] *= rescale;
      }
  }

  /// Probabilities, and P V: those of 16 keys at a time, so that the matrix units are busy
  /// meanwhile. Spoils the scores.
  template <int Halves>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void multiply_values(step_scores& scores, uint32_t value,
                                                             float scale) {
    const auto value_at = value_address_.in(value);
    float base[row_tiles][2];
    bool any_far = false;
#pragma unroll
    for (int m = 0; m < row_tiles; ++m)
#pragma unroll
      for (int h = 0; h < Halves; ++h) {
        base[m][h] = softmax_[m][h].base();
        any_far = any_far || is_far<T>(base[m][h]);
      }
    if (wave::any(any_far)) {
#pragma unroll
      for (int m = 0; m < row_tiles; ++m)
#pragma unroll
        for (int part = 0; part < 2 * key_steps; ++part)
#pragma unroll
          for (int i = 0; i < 2 * Halves; ++i) {
            float& score = scores[m][part].value[i];
            const float of = base[m][i / 2];
            score = is_far<T>(of) ? __fsub_rn(__fmul_rn(score, scale), of) : fma(score, scale, -of);
          }
      scale = 1;
#pragma unroll
      for (int m = 0; m < row_tiles; ++m)
        for (int h = 0; h < Halves; ++h)
          base[m][h] = 0;
    }
#pragma unroll
    for (int k = 0; k < key_steps; ++k) {
      warp_a<T> weights[row_tiles];
#pragma unroll
      for (int m = 0; m < row_tiles; ++m)
#pragma unroll
        for (int part = 0; part < 2; ++part) // of eight keys
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            if (h >= Halves) {
              weights[m].word[2 * part + h] = 0;
              continue;
            }
            const float* score = scores[m][2 * k + part].value + 2 * h;
            const float low = exp2(fma(score[0], scale, -base[m][h]));
            const float high = exp2(fma(score[1], scale, -base[m][h]));
            softmax_[m][h].sum += low + high;
            weights[m].word[2 * part + h] = pack_probabilities<T>(low, high);
          }
#pragma unroll
      for (int n = 0; n < own_value_steps; ++n) {
        if (!has_value_step(n))
          break;
        const warp_b_pair<T> values = value_operand::load(value_at.at(16 * k, 16 * value_step(n)));
#pragma unroll
        for (int m = 0; m < row_tiles; ++m) {
          warp_mma(output_[m][2 * n], weights[m], values.half[0]);
          warp_mma(output_[m][2 * n + 1], weights[m], values.half[1]);
        }
      }
    }
  }

  /// Brings the tile's queries, times the factor: as part of the next group of copies where that is
  /// 1 and rows are aligned.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void bring_queries(const T* from, const tile_rows& rows,
                                                           int tile_row) const {
    constexpr int chunks = Config.head.qk / 8;
    constexpr int units = Config.rows() * chunks;
    constexpr int loads = (units + Config.threads() - 1) / Config.threads();
    const auto source = [&](int number) {
      const auto place = rows.of(tile_row + number / chunks);
      return from + place.head * args_.q_steps.head + place.query * args_.q_steps.row +
             number % chunks * 8;
    };
    const auto target = [&](int number) {
      return memory_ + offset_in<tiles::query_layout>(number / chunks, number % chunks * 8);
    };
    const float factor = query_factor(args_);
    if (factor == 1.0f && in_chunks(from, args_.q_steps)) {
#pragma unroll
      for (int i = 0; i < loads; ++i) {
        const int number = thread_id() + i * Config.threads();
        if (units % Config.threads() == 0 || number < units)
          instruction::copy_async(target(number), source(number));
      }
      return;
    }
#pragma unroll 1
    for (int number = thread_id(); number < units; number += Config.threads()) {
      uint32_t words[4];
      load_elements(words, source(number));
      if (factor != 1.0f)
        scale_chunk<T>(words, factor);
      store_chunk(target(number), words);
    }
  }

public:
  WAVETILE_DEVICE
  WAVETILE_FORCE_INLINE attention_kernel(const attention_arguments<Types>& args, uint32_t memory)
      : wave_type(args, memory), query_address_(lane_), key_address_(lane_), value_address_(lane_) {
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void run(const attention_tile& own) {
    const tile_work work = find_work(own);
    if (work.tile_row >= work.rows.count) // behind its rows
      return;
    run_tile(work);
    if (has_rows())
      wave_type::store(work);
  }

private:
  /// Whether the wave has rows, of its own or shared.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool has_rows() const {
    return Config.copying_waves == 0 || wave_ < Config.waves - Config.copying_waves;
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE tile_work find_work(attention_tile own) const {
    tile_work work;
    work.part = 0;
    if constexpr (Types::form != attention_form::prefill) {
      work.part = own.tile % args_.parts.parts;
      own.tile /= args_.parts.parts;
    }
    find_sequences(work, args_, own);
    const int64_t row = own.tile * Config.rows();
    work.tile_row = row < work.rows.count ? static_cast<int>(row) : work.rows.count;
    work.wave_row = work.tile_row + (shares ? 0 : wave_ * Config.rows_of_wave());
    return work;
  }

  /// A tile with at least one query.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void run_tile(const tile_work& work) {
    const attention_extents& extents = args_.extents;
    const tile_rows& rows = work.rows;
    const sequence_rows &q = work.q, &kv = work.kv;
    const int tile_row = work.tile_row, wave_row = work.wave_row;
    const auto keys_of = [&](int row) {
      return args_.visible.of(rows.of(row).query, q.length, kv.length);
    };

    // keys of the whole tile, of some of the wave's queries, and of all of them
    int begin = keys_of(tile_row).begin / Config.keys * Config.keys;
    int end = keys_of(tile_row + Config.rows() - 1).end;
    if constexpr (Types::form != attention_form::prefill) {
      const int64_t first = work.part * args_.parts.part_keys, last = first + args_.parts.part_keys;
      begin = first > begin ? static_cast<int>(first) : begin;
      end = args_.parts.parts > 1 && last < end ? static_cast<int>(last) : end;
    }
    const key_range low = keys_of(wave_row), high = keys_of(wave_row + Config.rows_of_wave() - 1);
    const bool works = wave_row < rows.count && has_rows();
    const key_range any{low.begin, works ? high.end : 0}, every{high.begin, low.end};

    const bool q_array = extents.q_begin != nullptr, kv_array = extents.kv_begin != nullptr;
    const int64_t kv_head = args_.group.quotient(rows.first_head);
    const auto source = [&](const T* data, const attention_steps& steps) {
      const attention_parts& cache = args_.parts;
      const bool paged = Types::form == attention_form::cache && cache.pages != nullptr;
      return row_source<Types::form>{
          reinterpret_cast<const char*>(data + offset_of(steps, kv_array || paged, work.batch,
                                                         kv_head, paged ? 0 : kv.first)),
          steps.row * static_cast<int64_t>(sizeof(T)),
          steps.batch * static_cast<int64_t>(sizeof(T)),
          paged ? cache.pages + work.batch * cache.page_list_step : nullptr,
          kv.length,
          cache.page_shift,
          cache.page_count - 1};
    };
    tile_loader<Types::form, Config, Config.head.qk> keys(source(args_.k, args_.k_steps),
                                                          thread_id());
    tile_loader<Types::form, Config, Config.head.v> values(source(args_.v, args_.v_steps),
                                                           thread_id());
    const wave_keys range{begin, end, any, every};
    keys.look_up(begin);
    values.look_up(begin);
    bring_queries(args_.q + offset_of(args_.q_steps, q_array, work.batch, 0, q.first), rows,
                  tile_row);
    if constexpr (shares)
      run_shared(keys, values, range, rows, tile_row, work.batch);
    else
      run_steps(keys, values, range, rows, tile_row, wave_row, work.batch);

    if (begin >= end) { // nobody waited for the queries, whose place results take
      instruction::wait_copies<0>();
      group::barrier();
    }
  }

  /// The steps of a wave with rows of its own.
  template <class Keys, class Values>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  run_steps(Keys& keys, Values& values, const wave_keys& range, const tile_rows& rows, int tile_row,
            int wave_row, int64_t batch) {
    const uint32_t stages = memory_ + tiles::query_bytes;
    const auto load = [&](int first, int stage) {
      const uint32_t to = stages + static_cast<uint32_t>(stage * tiles::stage_bytes);
      if (first < range.end) {
        keys.load(to, first);
        values.load(to + tiles::key_bytes, first);
        keys.look_up(first + Config.keys);
        values.look_up(first + Config.keys);
      }
      instruction::close_copies();
    };
#pragma unroll
    for (int stage = 0; stage + 1 < Config.stages; ++stage)
      load(range.begin + stage * Config.keys, stage);
    const uint32_t query =
        memory_ + static_cast<uint32_t>((wave_row - tile_row) * tiles::query_pitch);
    if constexpr (Config.keeps_queries) {
      instruction::wait_copies<Config.stages - 2>();
      group::barrier();
      const auto query_at = query_address_.in(query);
#pragma unroll
      for (int m = 0; m < row_tiles; ++m)
#pragma unroll
        for (int k = 0; k < query_steps; ++k)
          query_[m][k] = query_operand::load(query_at.at(16 * m, 16 * k));
    }
    const float scale = exponent_scale(args_);
    int stage = 0;
    for (int first = range.begin; first < range.end; first += Config.keys) {
      instruction::wait_copies<Config.stages - 2>();
      group::barrier(); // the step is there for all, and nobody reads the last one any more
      load(first + (Config.stages - 1) * Config.keys, stage == 0 ? Config.stages - 1 : stage - 1);
      if (first < range.any.end && first + Config.keys > range.any.begin) {
        const uint32_t key = stages + static_cast<uint32_t>(stage * tiles::stage_bytes);
        step_scores scores{};
        multiply_keys(scores, key, query);
        finish_step(scores, key + tiles::key_bytes, range, rows, wave_row, batch, first, scale);
      }
      stage = stage + 1 == Config.stages ? 0 : stage + 1;
    }
  }

  /// From scores on; `Halves` as in `follow`.
  template <int Halves = 2>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  finish_step(step_scores& scores, uint32_t value, const wave_keys& range, const tile_rows& rows,
              int wave_row, int64_t batch, int first, float scale) {
    change_scores<Types>(scores, args_, rows, wave_row, lane_, batch, first);
    if (first < range.every.begin || first + Config.keys > range.every.end)
      hide_scores(scores, args_.visible, rows, wave_row, lane_, first);
    follow<Halves>(scores, scale);
    multiply_values<Halves>(scores, value, scale);
  }

  /// The steps of waves that share rows: each multiplies its 16 keys, then all know all scores and
  /// each multiplies its share of the elements of v. A row's result is that of a wave of its own,
  /// bit for bit. Tiles of K and of V take turns in a ring. A workgroup that has more keys than
  /// a part goes through the parts, the copies of the next being under way at the end of one.
  template <class Keys, class Values>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  run_shared(Keys& keys, Values& values, const wave_keys& range, const tile_rows& rows,
             int tile_row, int64_t batch) {
    constexpr int ahead = Config.stages / 2 * Config.keys; // what is loaded in a step
    const auto slot = [&](int number) {
      const int own = number < Config.stages ? number : number - Config.stages;
      return memory_ + tiles::query_bytes + static_cast<uint32_t>(own * tiles::stage_bytes);
    };
    const auto load = [&](auto& tile, int first, int to) {
      if (first < range.end) {
        tile.load(slot(to), first);
        tile.look_up(first + Config.keys);
      }
      instruction::close_copies();
    };
#pragma unroll
    for (int step = 0; step < Config.stages / 2; ++step) {
      load(keys, range.begin + step * Config.keys, 2 * step);
      load(values, range.begin + step * Config.keys, 2 * step + 1);
    }
    const float scale = exponent_scale(args_);
    const uint32_t meeting = shared_scores();
    const bool few = rows.count - tile_row <= 8;
    const int part_keys = args_.parts.part_keys;
    int part_end = (range.begin / part_keys + 1) * part_keys; // where other parts follow
    part_results<warp_accumulator<T>, 2 * own_value_steps> behind;
    int own = 0;
    for (int first = range.begin; first < range.end; first += Config.keys) {
      const bool seen = first < range.any.end && first + Config.keys > range.any.begin;
      instruction::wait_copies<Config.stages - 2>();
      group::barrier(); // K is there for all, and nobody reads the last V any more
      load(keys, first + ahead, own + Config.stages - 1);
      step_scores scores{};
      if (seen) {
        multiply_keys(scores, slot(own), memory_);
        for (int n = 0; n < 2; ++n)
          store_floats(meeting + static_cast<uint32_t>(512 * (2 * wave_ + n)), scores[0][n].value);
      }
      instruction::wait_copies<Config.stages - 2>();
      group::barrier(); // V and all scores are there, and nobody reads K any more
      load(values, first + ahead, own);
      if (seen) {
#pragma unroll
        for (int n = 0; n < 2 * key_steps; ++n)
          load_floats(scores[0][n].value, meeting + static_cast<uint32_t>(512 * n));
        if (few)
          finish_step<1>(scores, slot(own + 1), range, rows, tile_row, batch, first, scale);
        else
          finish_step(scores, slot(own + 1), range, rows, tile_row, batch, first, scale);
      }
      own = own + 2 < Config.stages ? own + 2 : own + 2 - Config.stages;
      if (first + Config.keys == part_end && part_end < range.end) {
        behind.add(softmax_[0], output_[0]);
        part_end += part_keys;
      }
    }
    if (part_end - part_keys > range.begin) { // there were several
      behind.add(softmax_[0], output_[0]);
      behind.give(softmax_[0], output_[0], lane_);
    }
  }
};

/// One tile of queries a workgroup; of decode kernels one part of its keys, or all in turn. With
/// warpgroups a workgroup has as many tiles as the grid leaves it.
template <class Types, attention_config Config>
WAVETILE_KERNEL __launch_bounds__(Config.threads(), Config.occupancy) void attention_prefill(
    const __grid_constant__ attention_arguments<Types> args) {
  extern __shared__ __align__(1024) unsigned char attention_memory[];
  const uint32_t memory = instruction::lds_address(attention_memory);
  if constexpr (Config.warpgroups == 0) {
    attention_kernel<Types, Config>(args, memory)
        .run(args.order.of(args.first_group + instruction::workgroup_x()));
  } else {
#if WAVETILE_WARPGROUP_MMA
    attend_by_warpgroups<Types, Config>(args, memory);
#else
    // code for plain sm_90: the same workgroups without `wgmma`; no other device is given these
    if constexpr (has_clusters) {
      constexpr attention_config by_waves = without_warpgroups(Config);
#pragma unroll 1
      for (int64_t number = instruction::workgroup_x(); number < args.sections.tiles;
           number += gridDim.x) {
        attention_kernel<Types, by_waves>(args, memory).run(args.sections.of(number));
        group::barrier();
      }
    } else {
      refuse_to_run();
    }
#endif
  }
}

} // namespace wavetile::kernels

#endif
