/// \file
/// Exact attention over tiles of queries: scores never leave the registers.
///
/// A wave has 32 queries in registers and goes over the keys in steps. It computes K Q^T, so that a
/// lane holds scores of one query, turns them into probabilities, and computes V^T P with them as
/// they lie. The workgroup's waves share each step's K and V in LDS; the loads of the next step are
/// in flight meanwhile.
#pragma once

#include <wavetile/group/barrier.hpp>
#include <wavetile/kernels/attention/loader.hpp>
#include <wavetile/kernels/attention/online_softmax.hpp>
#include <wavetile/kernels/attention/scores.hpp>
#include <wavetile/kernels/attention/sequence.hpp>
#include <wavetile/matrix/mma.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// What a wave knows about its 32 rows of queries; a lane has the row `lane % 32`.
struct query_rows {
  int query;       ///< of the lane, clamped to the last
  int head;        ///< of the lane
  bool inside;     ///< the lane's row is one
  key_range keys;  ///< that the lane's query sees
  key_range any;   ///< that some query of the wave sees; uniform
  key_range every; ///< that every query of the wave sees; uniform

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE query_rows(const visibility& visible, int packed,
                                                   int64_t first_head, int first_row, int queries,
                                                   int key_count, int lane) {
    const int row = first_row + lane % 32;
    const int last = first_row + 31 < queries * packed ? first_row + 31 : queries * packed - 1;
    inside = row <= last;
    const int clamped = inside ? row : last;
    query = clamped;
    head = static_cast<int>(first_head);
    int first_query = first_row, last_query = last;
    if (packed != 1) {
      query = clamped / packed;
      head += clamped - query * packed;
      first_query = first_row / packed;
      last_query = last / packed;
    }
    keys = visible.of(query, queries, key_count);
    const key_range low = visible.of(first_query, queries, key_count);
    const key_range high = visible.of(last_query, queries, key_count);
    any = {low.begin, high.end};
    every = {high.begin, low.end};
    if (first_row > last)
      any = every = {0, 0};
  }
};

/// The kernel's one argument, read from memory again: what only the end of a kernel needs would
/// else stay in scalar registers from its start.
template <class Arguments>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE const Arguments& arguments_again(const Arguments& first) {
#if WAVETILE_AMDGCN && defined(__OPTIMIZE__) // else the pointer is in memory
  auto* memory = __builtin_amdgcn_kernarg_segment_ptr();
  asm volatile("" : "+s"(memory));
  (void)first;
  return *(const Arguments*)memory;
#else
  return first;
#endif
}

/// Waits until the wave's LDS accesses are done (gfx9: counters lgkm 0, the others open).
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait_for_lds() {
#if WAVETILE_AMDGCN
  __builtin_amdgcn_s_waitcnt(0xC07F);
#endif
}

/// Only vector and scalar arithmetic may be moved across.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void keep_order() {
#if WAVETILE_AMDGCN
  __builtin_amdgcn_sched_barrier(0x2 | 0x4);
#endif
}

/// `x`, of which what was computed before is done first: many independent chains of arithmetic side
/// by side take registers.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float one_at_a_time(float x) {
#if WAVETILE_AMDGCN
  asm volatile("" : "+v"(x));
#endif
  return x;
}

/// A mask's number, at least -2.28e38, so that its exponent of 2 stays above that of hidden keys.
/// By bits, of which those of negative numbers rise with the magnitude: one instruction, without a
/// constant in a register, and NaNs stay what they are (those with a sign bit become the limit).
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float limited_bias(float bias) {
  constexpr uint32_t limit = wavetile::detail::bit_cast<uint32_t>(-largest_exponent / log2_e);
  const uint32_t bits = float_bits(bias);
  return float_from_bits(bits < limit ? bits : limit);
}

template <class Types, attention_config Config>
class attention_kernel {
  using T = typename Types::input;
  using tiles = attention_tiles<T, Config>;
  using fragments = typename tiles::fragments;
  using query_operand = lds_operand<typename fragments::b, 2>;
  static constexpr int query_packs = Config.head.qk / query_operand::depth;
  static constexpr int score_parts = Config.keys_of_wave() / 32;
  static constexpr int output_parts = tiles::value_rows / 32;

  // LDS reads of a step, and how many are in flight before their products
  static constexpr int key_reads = query_packs * score_parts;
  static constexpr int keys_ahead = Config.reads_ahead < key_reads ? Config.reads_ahead : key_reads;
  using key_packs = typename tiles::key_operand::pack[keys_ahead];
  static constexpr int value_reads = 2 * score_parts * output_parts;
  static constexpr int values_ahead =
      Config.reads_ahead < value_reads ? Config.reads_ahead : value_reads;
  using value_packs = typename tiles::value_operand::pack[values_ahead];

  const attention_arguments<Types>& args_;
  const int lane_;
  const int first_key_; ///< of the wave in a step
  const typename tiles::key_offsets key_offsets_;
  const typename tiles::value_offsets value_offsets_;
  online_softmax softmax_;
  typename query_operand::pack query_[query_packs];
  typename fragments::accumulator output_[output_parts];

  /// Masks by array, for the lane's query.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void apply_mask(score_block<score_parts>& scores,
                                                        const query_rows& rows, int64_t batch,
                                                        int first_key) {
    if constexpr (Types::mask::kind != mask_kind::none) {
      const auto* mask = args_.mask + batch * args_.mask_steps.batch +
                         rows.head * args_.mask_steps.head + rows.query * args_.mask_steps.row +
                         first_key;
      const int limit = rows.keys.end - first_key;
      scores.each([&](float exponent, int key) {
        if (key < limit) {
          if constexpr (Types::mask::kind == mask_kind::keep) {
            exponent = mask[key] != 0 ? exponent : hidden_exponent;
          } else {
            const float bias = convert<float>(mask[key]);
            const float sum = fma(limited_bias(bias), args_.mask_scale, exponent);
            // tested as bits: infinities may be assumed away
            exponent = float_bits(bias) == 0xFF800000u ? hidden_exponent : sum;
          }
        }
        return exponent;
      });
    }
  }

  /// Exponents from raw scores.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void scale(score_block<score_parts>& scores) {
    scores.each_pair([&](score_pair pair) { return keep_together(pair * args_.score_scale); });
    if (float_bits(args_.cap) != 0) // compared by the scalar unit
      scores.each([&](float x, int) { return one_at_a_time(args_.cap * cap_score(x)); });
  }

  /// One step, with the first reads of K done.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void step(typename tiles::key_tile key,
                                                  typename tiles::value_tile value,
                                                  const query_rows& rows, int64_t batch, int first,
                                                  key_packs& first_keys) {
    score_block<score_parts> scores{};
    multiply_keys(scores, key, first_keys);
    value_packs packs;
#pragma unroll
    for (int i = 0; i < values_ahead; ++i)
      read_value(packs, value, i);
    keep_order();
    scale(scores);
    const int lane_first = first + lane_ / 32 * 8;
    apply_mask(scores, rows, batch, lane_first);
    if (first < rows.every.begin || first + Config.keys_of_wave() > rows.every.end) {
      const auto seen = static_cast<uint32_t>(rows.keys.end - rows.keys.begin);
      const auto start = static_cast<uint32_t>(lane_first - rows.keys.begin);
      scores.each([&](float exponent, int k) {
        return start + static_cast<uint32_t>(k) < seen ? exponent : hidden_exponent;
      });
    }

    float rescale;
    if (softmax_.step(scores, rescale))
#pragma unroll
      for (int d = 0; d < output_parts; ++d)
        output_[d].registers *= rescale;

    multiply_values(scores, value, packs);
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void read_key(key_packs& packs,
                                                      typename tiles::key_tile key, int i) {
    packs[i % keys_ahead] = tiles::key_operand::split(key.template read_at<8>(
        key_offsets_.at(32 * (i % score_parts), i / score_parts * query_operand::depth)));
  }

  /// K Q^T, with the first reads done. Reads run ahead of the products; the scheduler, left alone,
  /// puts each right before its wait, to save registers.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  multiply_keys(score_block<score_parts>& scores, typename tiles::key_tile key, key_packs& packs) {
#pragma unroll
    for (int i = 0; i < key_reads; ++i) {
      mma(scores.part[i % score_parts], packs[i % keys_ahead], query_[i / score_parts]);
      if (i + keys_ahead < key_reads)
        read_key(packs, key, i + keys_ahead);
      keep_order();
    }
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void read_value(value_packs& packs,
                                                        typename tiles::value_tile value, int i) {
    packs[i % values_ahead] =
        tiles::value_operand::split(value.template read_at<8>(value_offsets_.at(
            32 * (i % output_parts), i / output_parts * tiles::value_operand::depth)));
  }

  /// V^T P, with the first reads done.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void multiply_values(const score_block<score_parts>& scores,
                                                             typename tiles::value_tile value,
                                                             value_packs& packs) {
    using operand = typename fragments::b;
#pragma unroll
    for (int p = 0; p < score_parts; ++p) {
      const operand weights[4] = {
          probability_operand<T, 0>(scores.part[p]), probability_operand<T, 1>(scores.part[p]),
          probability_operand<T, 2>(scores.part[p]), probability_operand<T, 3>(scores.part[p])};
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int d = 0; d < output_parts; ++d) {
          const int i = (2 * p + half) * output_parts + d;
          mma(output_[d], packs[i % values_ahead].step[0], weights[2 * half]);
          mma(output_[d], packs[i % values_ahead].step[1], weights[2 * half + 1]);
          if (i + values_ahead < value_reads)
            read_value(packs, value, i + values_ahead);
          keep_order();
        }
    }
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_queries(const T* from) {
    for (int k = 0; k < query_packs; ++k) {
      vec<T, 8> run;
      __builtin_memcpy(&run, from + query_operand::place(lane_, 0, k * query_operand::depth).column,
                       sizeof run); // 16 bytes at element alignment
      query_[k] = query_operand::split(run);
    }
  }

  /// Else the compiler, which cannot know how many loads of the loop are younger, waits for those
  /// in each step.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait_for_queries() {
#if WAVETILE_AMDGCN
    for (auto& pack : query_)
      for (auto& operand : pack.step)
        asm volatile("" : "+v"(operand.registers));
#endif
  }

  /// What a wave hands to another: lanes next to each other, so without bank conflicts.
  struct results {
    vec<float, 4> output[output_parts * 4][wave_size];
    float reference[wave_size];
    float sum[wave_size];
  };
  static_assert(!Config.shares_keys || Config.waves == 4);

  /// The results of all waves in wave 0: those of waves 1 and 3 in 0 and 2 first, then those of 2.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void merge_waves(typename tiles::storage& memory) {
    auto* const place = reinterpret_cast<results*>(&memory);
    static_assert(2 * sizeof(results) <= sizeof memory);
    const int wave = wave_id();
    const float total = softmax_.total(); // of both lanes of a query
    softmax_.sum = score_pair{total, 0};
#pragma unroll
    for (int distance = 1; distance < 4; distance *= 2) {
      group::barrier(); // nobody reads what lies there any more
      if (wave % (2 * distance) == distance) {
        results& to = place[wave / 2 / distance];
        to.reference[lane_] = softmax_.reference;
        to.sum[lane_] = softmax_.sum[0];
#pragma unroll
        for (int i = 0; i < output_parts * 4; ++i)
          for (int e = 0; e < 4; ++e)
            to.output[i][lane_][e] = output_[i / 4][i % 4 * 4 + e];
      }
      group::barrier();
      if (wave % (2 * distance) == 0) {
        const results& from = place[wave / 2 / distance];
        float own, other;
        softmax_.merge(from.reference[lane_], from.sum[lane_], own, other);
#pragma unroll
        for (int i = 0; i < output_parts * 4; ++i)
          for (int e = 0; e < 4; ++e)
            output_[i / 4].set(i % 4 * 4 + e, fma(output_[i / 4][i % 4 * 4 + e], own,
                                                  from.output[i][lane_][e] * other));
      }
    }
    softmax_.sum[0] *= 0.5f; // `total` adds both lanes
  }

  /// The lane's share of its query's result. `Log` is what becomes of the logarithm of the sum.
  template <class Output, class Log>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store(Output* to, float* log, bool inside,
                                                   const Log& as_log) {
    const float total = softmax_.total();
    const float factor = total == 0.0f ? 0.0f : reciprocal(total);
    if (!inside)
      return;
      // a lane holds runs of four elements of its query
#pragma unroll
    for (int d = 0; d < output_parts; ++d)
#pragma unroll
      for (int run = 0; run < 4; ++run) {
        const int element = 32 * d + fragments::accumulator::element(lane_, 4 * run).row;
        if (32 * d + 8 * run >= Config.head.v) // of the padding
          continue;
        vec<float, 4> four;
        for (int i = 0; i < 4; ++i)
          four[i] = output_[d][4 * run + i] * factor;
        const auto converted = convert<Output>(four);
        __builtin_memcpy(to + element, &converted, sizeof converted);
      }
    if (log != nullptr && lane_ < 32)
      *log = select(total == 0.0f, float_from_bits(0xFF800000u),
                    as_log(softmax_.reference + log2(total)));
  }

public:
  WAVETILE_DEVICE
  WAVETILE_FORCE_INLINE explicit attention_kernel(const attention_arguments<Types>& args)
      : args_(args), lane_(lane_id()),
        first_key_(Config.shares_keys ? wave_id() * Config.keys_of_wave() : 0),
        key_offsets_(lane_, first_key_, 0), value_offsets_(lane_, 0, first_key_), output_{} {}

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void run(typename tiles::storage& memory) {
    attention_tile own = args_.order.of(args_.first_group + __builtin_amdgcn_workgroup_id_x());
    int64_t part = 0;
    if constexpr (Types::form != attention_form::prefill) {
      part = own.tile % args_.parts.parts;
      own.tile /= args_.parts.parts;
    }
    const attention_extents& extents = args_.extents;
    const sequence_rows q =
        sequence_of(extents.q_begin, extents.q_length, own.batch, extents.q_rows);
    const sequence_rows kv =
        sequence_of(extents.kv_begin, extents.kv_length, own.batch, extents.kv_rows);
    if (own.tile * Config.rows() < int64_t{q.length} * args_.packed) // else behind its rows
      run_tile(memory, own, part, q, kv);
  }

private:
  /// A tile with at least one query.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void run_tile(typename tiles::storage& memory,
                                                      const attention_tile& own, int64_t part,
                                                      const sequence_rows& q,
                                                      const sequence_rows& kv) {
    const attention_extents& extents = args_.extents;
    const int packed = args_.packed;
    const int64_t row_count = int64_t{q.length} * packed;
    const int tile_row = static_cast<int>(own.tile) * Config.rows();
    const int64_t first_head = own.head * packed;
    const int wave_row = tile_row + (Config.shares_keys ? 0 : wave_id() * Config.wave_rows);
    const query_rows rows(args_.visible, packed, first_head, wave_row, q.length, kv.length, lane_);

    // keys of the whole tile
    const int tile_end = tile_row + Config.rows() < static_cast<int>(row_count)
                             ? tile_row + Config.rows()
                             : static_cast<int>(row_count);
    int begin =
        args_.visible.of(tile_row / packed, q.length, kv.length).begin / Config.keys * Config.keys;
    int end = args_.visible.of((tile_end - 1) / packed, q.length, kv.length).end;
    if constexpr (Types::form != attention_form::prefill) {
      const int64_t first = part * args_.parts.part_keys, last = first + args_.parts.part_keys;
      begin = first > begin ? static_cast<int>(first) : begin;
      end = last < end ? static_cast<int>(last) : end;
    }

#if WAVETILE_AMDGCN
    // without pages any number will do: it is clamped to 0
    const auto no_list = (constant_numbers)__builtin_amdgcn_kernarg_segment_ptr();
#else
    constexpr constant_numbers no_list = nullptr;
#endif
    const bool q_array = extents.q_begin != nullptr, kv_array = extents.kv_begin != nullptr;
    load_queries(args_.q +
                 offset_of(args_.q_steps, q_array, own.batch, rows.head, q.first + rows.query));
    const int64_t kv_head = args_.group.quotient(first_head);
    const auto source = [&](const T* data, const attention_steps& steps, int width) {
      const int64_t row_bytes = steps.row * static_cast<int64_t>(sizeof(T));
      if constexpr (Types::form == attention_form::cache) {
        const attention_parts& cache = args_.parts;
        const bool paged = cache.pages != nullptr;
        return page_source{
            reinterpret_cast<const char*>(data + offset_of(steps, paged, own.batch, kv_head, 0)),
            paged ? (constant_numbers)(cache.pages + own.batch * cache.page_list_step) : no_list,
            steps.batch * static_cast<int64_t>(sizeof(T)),
            static_cast<int>(row_bytes),
            kv.length,
            cache.page_shift,
            paged ? cache.page_count - 1 : 0};
      } else {
        return row_source{reinterpret_cast<const char*>(
                              data + offset_of(steps, kv_array, own.batch, kv_head, kv.first)),
                          row_bytes, kv.length, width * static_cast<int>(sizeof(T))};
      }
    };
    const auto key_source = source(args_.k, args_.k_steps, Config.head.qk);
    tile_loader<T, Config, wavetile::detail::remove_cv_t<decltype(key_source)>> loader(
        key_source, source(args_.v, args_.v_steps, Config.head.v), thread_id());
    const typename tiles::key_tile key(memory.key);
    const typename tiles::value_tile value(memory.value);
    if (begin < end) {
      loader.look_up(begin);
      loader.load(begin);
      wait_for_queries();
      for (int first = begin; first < end; first += Config.keys) {
        if (first != begin)
          group::barrier(); // nobody reads the last step's tiles any more
        loader.look_up(first + Config.keys);
        loader.store(first, key, value);
        group::barrier();
        key_packs first_keys;
#pragma unroll
        for (int i = 0; i < keys_ahead; ++i)
          read_key(first_keys, key, i);
        keep_order();
        // in flight while this step computes
        if (first + Config.keys < end)
          loader.load(first + Config.keys);
        keep_order();
        const int mine = first + first_key_;
        if (mine < rows.any.end && mine + Config.keys_of_wave() > rows.any.begin)
          step(key, value, rows, own.batch, mine, first_keys);
        else
          wait_for_lds(); // its reads must not outlast the barrier, though nobody uses them
      }
    }

    if constexpr (Config.shares_keys) {
      merge_waves(memory);
      if (wave_id() != 0)
        return;
    }
    // what the loop does not need is found out again rather than kept in registers
    const attention_arguments<Types>& late = arguments_again<attention_arguments<Types>>(args_);
    int lane = lane_;
#if WAVETILE_AMDGCN
    asm volatile("" : "+v"(lane));
#endif
    const query_rows late_rows(late.visible, packed, first_head, wave_row, q.length, kv.length,
                               lane);
    const int64_t row = q.first + late_rows.query;
    if constexpr (Types::form != attention_form::prefill)
      if (late.parts.values != nullptr) {
        const int64_t head = own.batch * late.query_heads + late_rows.head;
        const int64_t part_row =
            part * late.parts.row_count + head * late.extents.q_rows + late_rows.query;
        store(late.parts.values + part_row * Config.head.v, late.parts.logs + part_row,
              late_rows.inside, [](float log) { return log; });
        return;
      }
    float* lse = late.lse;
    if (lse != nullptr)
      lse += offset_of(late.lse_steps, q_array, own.batch, late_rows.head, row);
    store(late.o + offset_of(late.o_steps, q_array, own.batch, late_rows.head, row), lse,
          late_rows.inside, [](float log) { return log * ln_2; });
  }
};

/// One tile of queries a workgroup; of decode kernels one part of its keys.
template <class Types, attention_config Config>
WAVETILE_KERNEL __attribute__((amdgpu_flat_work_group_size(Config.threads(), Config.threads()),
                               amdgpu_waves_per_eu(Config.occupancy))) void
attention_prefill(attention_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    WAVETILE_SHARED typename attention_tiles<typename Types::input, Config>::storage memory;
    attention_kernel<Types, Config>(args).run(memory);
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
