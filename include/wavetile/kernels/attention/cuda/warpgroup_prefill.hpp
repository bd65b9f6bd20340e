/// \file
/// Exact attention by `wgmma`: 16-bit inputs, code for `sm_90a`.
///
/// Each warpgroup that multiplies has 64 queries and goes over the keys in steps; another one
/// copies. The scores of the next step are multiplied first, then the values of this one, and while
/// the latter are under way the softmax of the next scores is computed. Warpgroups start their
/// products by turns, so that one multiplies while others do softmax.
#pragma once

#include <wavetile/kernels/attention/cuda/change_scores.hpp>
#include <wavetile/kernels/attention/cuda/warpgroup_loader.hpp>

#if WAVETILE_WARPGROUP_MMA

namespace wavetile::kernels {

template <class Types, attention_config Config>
class warpgroup_attention {
  using T = typename Types::input;
  using memory_map = warpgroup_memory<Config>;
  using query_rows = typename memory_map::query_rows;
  using key_rows = typename memory_map::key_rows;
  using value_rows = typename memory_map::value_rows;
  using ring = ring_place<Config.stages>;
  static constexpr auto type = wavetile::detail::mma_type_of<T>();
  static constexpr int key_tiles = Config.keys / 8;
  static constexpr int value_elements = Config.head.v;
  static constexpr int weight_steps = Config.keys / 16;
  static_assert(Config.warpgroups > 1, "they take turns");

  /// Scores as `change_scores` and `wgmma` want them.
  struct step_scores {
    score_block<T, 1, key_tiles> tiles;
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE float& operator[](int i) {
      return tiles[0][i / 4].value[i % 4];
    }
  };

  const attention_arguments<Types>& args_;
  const memory_map memory_;
  const int lane_;
  const int warpgroup_;
  const int warp_; ///< of the warpgroup
  ring keys_, values_;
  ring_place<memory_map::query_slots> queries_;
  online_softmax softmax_[2];
  float output_[value_elements / 2];
  uint32_t weights_[weight_steps][4];

  /// Registers of `wgmma` are used after its wait only, and set before it.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void hold(step_scores& scores) {
#pragma unroll
    for (int i = 0; i < Config.keys / 2; ++i)
      asm volatile("" : "+f"(scores[i])::"memory");
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void hold_output() {
#pragma unroll
    for (float& one : output_)
      asm volatile("" : "+f"(one)::"memory");
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void hold_weights() {
#pragma unroll
    for (auto& step : weights_)
#pragma unroll
      for (uint32_t& word : step)
        asm volatile("" : "+r"(word)::"memory");
  }

  /// A lane of each wave says that what is at a barrier's place may be overwritten.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void release(uint32_t there) const {
    if (lane_ == 0)
      instruction::arrive(memory_map::free(there));
  }

  /// The turns of the warpgroups: products are started in one's own, which ends then. (Without
  /// them three warpgroups with heads of 64 were up to a sixth slower on an H200.)
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait_for_turn() const {
    asm volatile("bar.sync %0, 256;" ::"r"(1 + warpgroup_) : "memory");
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void end_turn() const {
    const int next = warpgroup_ + 1 == Config.warpgroups ? 0 : warpgroup_ + 1;
    asm volatile("bar.arrive %0, 256;" ::"r"(1 + next) : "memory");
  }

  /// Starts Q K^T of the step in the ring's place.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void multiply_keys(step_scores& scores) {
    const uint64_t query = instruction::warpgroup_operand(
        memory_.queries(queries_.slot) + static_cast<uint32_t>(warpgroup_ * 64 * 128),
        query_rows::block_bytes);
    const uint64_t key =
        instruction::warpgroup_operand(memory_.keys(keys_.slot), key_rows::block_bytes);
#pragma unroll
    for (int k = 0; k < Config.head.qk / 16; ++k) {
      const uint64_t a = query + static_cast<uint64_t>(query_rows::along(k)) / 16;
      const uint64_t b = key + static_cast<uint64_t>(key_rows::along(k)) / 16;
      if (k == 0)
        instruction::warpgroup_mma<type, Config.keys, 0, 0, 0>(scores, a, b);
      else
        instruction::warpgroup_mma<type, Config.keys, 0, 0>(scores, a, b);
    }
    instruction::warpgroup_commit();
  }
  /// And adds the weights' products with V.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void multiply_values() {
    const uint64_t value =
        instruction::warpgroup_operand(memory_.values(values_.slot), value_rows::block_bytes);
#pragma unroll
    for (int k = 0; k < weight_steps; ++k)
      instruction::warpgroup_mma<type, value_elements, 1>(
          output_, weights_[k], value + static_cast<uint64_t>(value_rows::across(k)) / 16);
    instruction::warpgroup_commit();
  }

  /// Waits for K of a step, and makes all copies waited for so far come before the products that
  /// follow: this side of the barrier the fence does for several of them, and copies need not be
  /// waited for where they are made.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void wait_for(uint32_t there, uint32_t round) {
    instruction::wait_for_phase(there, round);
    instruction::fence_async_proxy();
  }
  /// V needs a fence, too, before its products: that of the next step's K, or one after the last.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait_for_values(const ring& place) const {
    instruction::wait_for_phase(memory_.values_there(place.slot), place.round);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static ring next_place(ring place) {
    place.advance();
    return place;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void give_keys_back() {
    release(memory_.keys_there(keys_.slot));
    keys_.advance();
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void give_values_back() {
    release(memory_.values_there(values_.slot));
    values_.advance();
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void skip_step() {
    wait_for_turn();
    end_turn();
    instruction::wait_for_phase(memory_.keys_there(keys_.slot), keys_.round);
    give_keys_back();
    instruction::wait_for_phase(memory_.values_there(values_.slot), values_.round);
    give_values_back();
  }

  /// Scores become probabilities, relative to references that follow them. Returns whether some
  /// lane's results so far are to be multiplied with `rescale`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool finish_scores(step_scores& scores, float (&rescale)[2],
                                                           const tile_work& work,
                                                           const key_range& every, int first) {
    change_scores<Types>(scores.tiles, args_, work.rows, work.wave_row, lane_, work.batch, first);
    if (first < every.begin || first + Config.keys > every.end)
      hide_scores(scores.tiles, args_.visible, work.rows, work.wave_row, lane_, first);

    const float scale = exponent_scale(args_);
    float next[2];
    bool moves = false;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float largest[4]; // apart, so that they do not wait for each other
#pragma unroll
      for (int n = 0; n < key_tiles; ++n) {
        const float* score = scores.tiles[0][n].value + 2 * h;
        const float pair = maximum<nan_rule::ignore>(score[0], score[1]);
        largest[n % 4] = n < 4 ? pair : maximum<nan_rule::ignore>(largest[n % 4], pair);
      }
      moves |= softmax_[h].look_at(
          maximum<nan_rule::ignore>(maximum<nan_rule::ignore>(largest[0], largest[1]),
                                    maximum<nan_rule::ignore>(largest[2], largest[3])),
          scale, next[h]);
    }
    float base[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      rescale[h] = softmax_[h].move_to(next[h]); // 1 where it does not move
      base[h] = softmax_[h].base();
    }
    float factor = scale;
    if (wave::any(is_far<T>(base[0]) || is_far<T>(base[1]))) {
#pragma unroll
      for (int n = 0; n < key_tiles; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          float& score = scores.tiles[0][n].value[i];
          const float of = base[i / 2];
          score = is_far<T>(of) ? __fsub_rn(__fmul_rn(score, scale), of) : fma(score, scale, -of);
        }
      factor = 1;
      base[0] = base[1] = 0;
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float sum[4];
#pragma unroll
      for (int n = 0; n < key_tiles; ++n) {
        float* score = scores.tiles[0][n].value + 2 * h;
        score[0] = exp2(fma(score[0], factor, -base[h]));
        score[1] = exp2(fma(score[1], factor, -base[h]));
        const float pair = score[0] + score[1];
        sum[n % 4] = n < 4 ? pair : sum[n % 4] + pair;
      }
      softmax_[h].sum += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    return wave::any(moves);
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void pack(step_scores& scores) {
#pragma unroll
    for (int k = 0; k < weight_steps; ++k)
#pragma unroll
      for (int part = 0; part < 2; ++part) // of eight keys
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const float* p = scores.tiles[0][2 * k + part].value + 2 * h;
          weights_[k][2 * part + h] = pack_probabilities<T>(p[0], p[1]);
        }
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void rescale_output(const float (&rescale)[2]) {
#pragma unroll
    for (int i = 0; i < value_elements / 2; ++i)
      output_[i] *= rescale[i / 2 % 2];
  }

  /// A tile as the warpgroup sees it: its steps are those from `first` on until `last`, none where
  /// these are equal. Steps before and after, which others see, are skipped.
  struct own_tile {
    tile_work work;
    int begin, end;
    int first, last;
    key_range every; ///< that all of its queries see

    /// The steps behind its own begin here.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE int behind() const {
      return first + (last - first + Config.keys - 1) / Config.keys * Config.keys;
    }
  };
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool find(tile_numbers& tiles, own_tile& own) const {
    walked_tile tile;
    bool found = false;
    for (; !found && tiles.number < args_.sections.tiles; tiles.advance())
      found = find_tile<Config>(tile, args_, tiles.number);
    if (!found)
      return false;
    own.work = tile.work;
    own.begin = tile.begin;
    own.end = tile.end;
    const tile_rows& rows = tile.work.rows;
    const int row = tile.work.tile_row + 64 * warpgroup_;
    own.work.wave_row = row + 16 * warp_;
    const auto keys_of = [&](int at) {
      return args_.visible.of(rows.of(at).query, rows.queries, rows.keys);
    };
    const key_range low = keys_of(row), high = keys_of(row + 63);
    own.every = {high.begin, low.end};
    const bool works = row < rows.count && low.begin < high.end;
    own.first = works ? low.begin / Config.keys * Config.keys : tile.end;
    own.last = works ? high.end : tile.end;
    return true;
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void skip_steps(int first, int end) {
#pragma unroll 1
    for (; first < end; first += Config.keys)
      skip_step();
  }

  /// All tiles of the workgroup. While the last values of one are multiplied the next is found.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void run_tiles() {
    tile_numbers tiles;
    own_tile own, next;
    bool more = find(tiles, own);
#pragma unroll 1
    while (more) {
#pragma unroll
      for (float& one : output_)
        one = 0;
      softmax_[0] = softmax_[1] = {};
      skip_steps(own.begin, own.first);
      if (own.first < own.last) {
        step_scores scores;
        float rescale[2];
        instruction::wait_for_phase(memory_.queries_there(queries_.slot), queries_.round);
        wait_for(memory_.keys_there(keys_.slot), keys_.round);
        wait_for_turn();
        instruction::warpgroup_fence();
        multiply_keys(scores);
        end_turn();
        instruction::warpgroup_wait<0>();
        hold(scores);
        give_keys_back();
        finish_scores(scores, rescale, own.work, own.every, own.first);
        pack(scores);
        wait_for_values(values_);
#pragma unroll 1
        for (int first = own.first + Config.keys; first < own.last; first += Config.keys) {
          hold_output();
          hold_weights();
          wait_for(memory_.keys_there(keys_.slot), keys_.round);
          wait_for_turn();
          instruction::warpgroup_fence();
          multiply_keys(scores);
          multiply_values();
          end_turn();
          instruction::warpgroup_wait<1>();
          hold(scores);
          give_keys_back();
          const bool moves = finish_scores(scores, rescale, own.work, own.every, first);
          // the compiler moves nothing past a wait that loops: scores are computed while the
          // products with V are under way
          hold(scores);
          wait_for_values(next_place(values_));
          instruction::warpgroup_wait<0>();
          hold_output();
          hold_weights();
          give_values_back();
          if (moves)
            rescale_output(rescale);
          pack(scores);
        }
        release(memory_.queries_there(queries_.slot));
        instruction::fence_async_proxy();
        hold_output();
        hold_weights();
        instruction::warpgroup_fence();
        multiply_values();
        more = find(tiles, next);
        instruction::warpgroup_wait<0>();
        hold_output();
        hold_weights();
        give_values_back();
      } else {
        if (own.begin < own.end) {
          instruction::wait_for_phase(memory_.queries_there(queries_.slot), queries_.round);
          release(memory_.queries_there(queries_.slot));
        }
        more = find(tiles, next);
      }
      if (own.begin < own.end)
        queries_.advance();
      skip_steps(own.behind(), own.end);
      store(own.work);
      own = next;
    }
  }

  /// Four words of each of four neighbouring lanes: lane i of them gets word i of all.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void transpose(uint32_t (&words)[4]) const {
#pragma unroll
    for (int bit = 1; bit < 4; bit *= 2)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if ((i & bit) == 0) {
          const bool upper = (lane_ & bit) != 0;
          const uint32_t sent = upper ? words[i] : words[i + bit];
          const uint32_t got = __shfl_xor_sync(instruction::all_lanes, sent, bit);
          words[i] = upper ? got : words[i];
          words[i + bit] = upper ? words[i + bit] : got;
        }
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store(const tile_work& work) const {
    using output = typename Types::output;
    const tile_rows& rows = work.rows;
    const int first = work.q.first;
    const bool q_array = args_.extents.q_begin != nullptr;
    output* const o = args_.o + offset_of(args_.o_steps, q_array, work.batch, 0, first);
    float total[2], factor[2];
    bool exists[2];
    output* to[2];
#pragma unroll
    for (int h = 0; h < 2; ++h)
      total[h] = softmax_[h].total();
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      factor[h] = total[h] == 0.0f ? 0.0f : reciprocal(total[h]);
      const int row = work.wave_row + accumulator_row(0, h, lane_);
      exists[h] = row < rows.count;
      const auto place = rows.of(row);
      to[h] = o + place.head * args_.o_steps.head + place.query * args_.o_steps.row;
      if (exists[h] && args_.lse != nullptr && lane_ % 4 == 0)
        args_
            .lse[offset_of(args_.lse_steps, q_array, work.batch, place.head, first + place.query)] =
            softmax_[h].log(total[h]) * ln_2;
    }
    if constexpr (sizeof(output) == 2)
      if (in_chunks(o, args_.o_steps)) {
#pragma unroll
        for (int n = 0; n < value_elements / 8; n += 4)
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            uint32_t words[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              const float* value = output_ + 4 * (n + i) + 2 * h;
              words[i] = pack_probabilities<output>(value[0] * factor[h], value[1] * factor[h]);
            }
            transpose(words);
            if (exists[h])
              *reinterpret_cast<uint4*>(to[h] + 8 * (n + lane_ % 4)) =
                  uint4{words[0], words[1], words[2], words[3]};
          }
        return;
      }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const bool aligned = reinterpret_cast<uint64_t>(to[h]) % (2 * sizeof(output)) == 0;
      if (exists[h])
#pragma unroll
        for (int n = 0; n < value_elements / 8; ++n) {
          const float* value = output_ + 4 * n + 2 * h;
          store_pair(to[h] + 8 * n + lane_ % 4 * 2, aligned, value[0] * factor[h],
                     value[1] * factor[h]);
        }
    }
  }

public:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE warpgroup_attention(const attention_arguments<Types>& args,
                                                            uint32_t memory, int wave)
      : args_(args), memory_{memory}, lane_(thread_id() % 32), warpgroup_(wave / 4),
        warp_(wave % 4) {}

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void run() {
    if (warpgroup_ == Config.warpgroups - 1)
      end_turn(); // the first one has the first
    run_tiles();
    if (warpgroup_ == 0)
      wait_for_turn(); // which the last one ended
  }
};

/// The workgroup's part of the problem.
template <class Types, attention_config Config>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
attend_by_warpgroups(const attention_arguments<Types>& args, uint32_t memory) {
  asm("" : "+r"(memory)); // computed once, not again in each step
  const warpgroup_memory<Config> map{memory};
  if (thread_id() == 0)
    map.start();
  instruction::barrier();
  const int wave = wave_id();
  if (wave >= 4 * Config.warpgroups) {
    instruction::give_registers<Config.copying_registers()>();
    warpgroup_loader<Types, Config>(args, memory, thread_id() - 128 * Config.warpgroups).run();
  } else {
    instruction::take_registers<Config.multiplying_registers()>();
    warpgroup_attention<Types, Config>(args, memory, wave).run();
  }
}

} // namespace wavetile::kernels

#endif
