/// \file
/// One wave of the attention kernels: 32 rows of queries, what it does with a step of keys.
#pragma once

#include <wavetile/group/barrier.hpp>
#include <wavetile/kernels/attention/loader.hpp>
#include <wavetile/kernels/attention/mask.hpp>
#include <wavetile/kernels/attention/online_softmax.hpp>
#include <wavetile/kernels/attention/sequence.hpp>
#include <wavetile/matrix/mma.hpp>
#include <wavetile/matrix/waits.hpp>

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

/// Only vector and scalar arithmetic may be moved across.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void keep_order() {
#if WAVETILE_AMDGCN
  __builtin_amdgcn_sched_barrier(0x2 | 0x4);
#endif
}

/// What a wave keeps in registers, and the parts of a step.
template <class Types, attention_config Config>
class attention_wave {
  using T = typename Types::input;
  using tiles = attention_tiles<T, Config>;
  using fragments = typename tiles::fragments;
  using query_operand = lds_operand<typename fragments::b, 2>;
  static constexpr int query_packs = Config.head.qk / query_operand::depth;
  static constexpr int score_parts = Config.keys_of_wave() / 32;
  static constexpr int output_parts = Config.output_parts();

public:
  using scores = score_block<score_parts>;
  using mask_values = mask_block<typename Types::mask, score_parts>;
  /// The probabilities of 32 keys, as the product with V takes them.
  struct weights {
    typename fragments::b operand[4];
  };

  // LDS reads of a step, and how many are in flight before their products
  static constexpr int key_reads = query_packs * score_parts;
  static constexpr int keys_ahead = Config.reads_ahead < key_reads ? Config.reads_ahead : key_reads;
  using pack = typename tiles::key_operand::pack;
  static_assert(wavetile::detail::is_same_v<pack, typename tiles::value_operand::pack>);
  struct key_packs {
    pack of[keys_ahead];
  };
  static constexpr int value_reads = 2 * score_parts * output_parts;
  static constexpr int values_ahead =
      Config.reads_ahead < value_reads ? Config.reads_ahead : value_reads;
  struct value_packs {
    pack of[values_ahead];
  };

private:
  const attention_arguments<Types>& args_;
  const int lane_;
  const int first_key_; ///< of the wave in a step
  const typename tiles::key_offsets key_offsets_;
  const typename tiles::value_offsets value_offsets_;
  online_softmax softmax_;
  typename query_operand::pack query_[query_packs];
  typename fragments::accumulator output_[output_parts];

  /// Exponents from raw scores.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void scale(scores& all) {
    all.each_pair([&](score_pair pair) { return keep_together(pair * args_.score_scale); });
    if (float_bits(args_.cap) != 0) // compared by the scalar unit
      all.each([&](float x, int) { return one_at_a_time(args_.cap * cap_score(x)); });
  }

public:
  WAVETILE_DEVICE
  WAVETILE_FORCE_INLINE explicit attention_wave(const attention_arguments<Types>& args)
      : args_(args), lane_(lane_id()),
        first_key_(Config.shares_keys ? wave_id() * Config.keys_of_wave() : 0),
        key_offsets_(lane_, first_key_, 0),
        value_offsets_(lane_, first_output(), first_key_), output_{} {}

  /// First element of the output that the wave has; a wave without any computes those of another.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static int first_output() {
    if constexpr (!Config.shares_elements)
      return 0;
    constexpr int last = tiles::value_rows - 32 * output_parts;
    const int first = 32 * output_parts * wave_id();
    return first < last ? first : last;
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int lane() const { return lane_; }
  /// Of the wave in a step.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int first_key() const { return first_key_; }

  /// The lane's row of the mask, from its first key of a step on.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE const typename Types::mask_element*
  mask_row(const query_rows& rows, int64_t batch) const {
    if constexpr (Types::mask::kind == mask_kind::none)
      return nullptr;
    else
      return args_.mask + batch * args_.mask_steps.batch + rows.head * args_.mask_steps.head +
             rows.query * args_.mask_steps.row;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_mask(mask_values& mask,
                                                       const typename Types::mask_element* row,
                                                       int first, int key_count) const {
    mask.load(row, first, first + lane_ / 32 * 8, key_count);
  }

  /// One step, with the first reads of K done.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void step(typename tiles::key_tile key,
                                                  typename tiles::value_tile value,
                                                  const query_rows& rows, const mask_values& mask,
                                                  int first, key_packs& first_keys) {
    scores all{};
    multiply_keys(all, key, first_keys);
    value_packs packs;
    read_values(packs, value);
    keep_order();
    weigh(all, rows, mask, first);
    multiply_values(value, packs, [&](int p) { return weights_of(all, p); });
  }

  /// From raw scores of the keys from `first` on to probabilities; rescales the results so far.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void weigh(scores& all, const query_rows& rows,
                                                   const mask_values& mask, int first) {
    scale(all);
    const int lane_first = first + lane_ / 32 * 8;
    mask.apply(all, args_.mask_scale);
    if (first < rows.every.begin || first + Config.keys_of_wave() > rows.every.end) {
      const auto seen = static_cast<uint32_t>(rows.keys.end - rows.keys.begin);
      auto start = static_cast<uint32_t>(lane_first - rows.keys.begin);
      // one after the other: each comparison takes two scalar registers
      all.each([&](float exponent, int k) {
        start = float_bits(one_at_a_time(float_from_bits(start)));
        return one_at_a_time(start + static_cast<uint32_t>(k) < seen ? exponent : hidden_exponent);
      });
    }
    float rescale;
    if (softmax_.step(all, rescale))
#pragma unroll
      for (int d = 0; d < output_parts; ++d)
        output_[d].registers *= rescale;
  }

  /// Part `p` of probabilities, rounded.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static weights weights_of(const scores& all, int p) {
    return {weight_of<0>(all, p), weight_of<1>(all, p), weight_of<2>(all, p), weight_of<3>(all, p)};
  }
  template <int Operand>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static auto weight_of(const scores& all, int p) {
    return probability_operand<T, Operand>(all.part[p]);
  }
  /// The same, computed here and not where it is used.
  template <int Operand>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static auto weight_of_now(const scores& all, int p) {
    auto result = weight_of<Operand>(all, p);
#if WAVETILE_AMDGCN
    asm volatile("" : "+v"(result.registers));
#endif
    return result;
  }

  /// The first reads of K.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void read_keys(key_packs& packs,
                                                       typename tiles::key_tile key) {
#pragma unroll
    for (int i = 0; i < keys_ahead; ++i)
      packs.of[i] = key_pack(key, i);
  }
  /// And of V.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void read_values(value_packs& packs,
                                                         typename tiles::value_tile value) {
#pragma unroll
    for (int i = 0; i < values_ahead; ++i)
      packs.of[i] = value_pack(value, i);
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE pack key_pack(typename tiles::key_tile key, int i) const {
    return tiles::key_operand::split(key.template read_at<8>(
        key_offsets_.at(32 * (i % score_parts), i / score_parts * query_operand::depth)));
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE pack value_pack(typename tiles::value_tile value,
                                                        int i) const {
    return tiles::value_operand::split(value.template read_at<8>(value_offsets_.at(
        32 * (i % output_parts), i / output_parts * tiles::value_operand::depth)));
  }
  /// The two products of read `i` of K …
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void multiply_key(scores& all, const pack& read, int i) {
    mma(all.part[i % score_parts], read, query_[i / score_parts]);
  }
  /// … and of V, with the weights of its part of P.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void multiply_value(const weights& own, const pack& read,
                                                            int i) {
    const int half = i / output_parts % 2, d = i % output_parts;
    mma(output_[d], read.step[0], own.operand[2 * half]);
    mma(output_[d], read.step[1], own.operand[2 * half + 1]);
  }

  /// K Q^T, with the first reads done. Reads run ahead of the products; the scheduler, left alone,
  /// puts each right before its wait, to save registers.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  multiply_keys(scores& all, typename tiles::key_tile key, key_packs& packs) {
    multiply_keys<0, key_reads>(all, key, packs);
  }
  /// The products of reads `First` to `End` - 1, with as many reads ahead done.
  template <int First, int End>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  multiply_keys(scores& all, typename tiles::key_tile key, key_packs& packs) {
#pragma unroll
    for (int i = First; i < End; ++i) {
      multiply_key(all, packs.of[i % keys_ahead], i);
      if (i + keys_ahead < key_reads)
        packs.of[i % keys_ahead] = key_pack(key, i + keys_ahead);
      keep_order();
    }
  }

  /// V^T P, with the first reads done; `of_part` gives the `weights` of a part of P.
  template <class Weights>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  multiply_values(typename tiles::value_tile value, value_packs& packs, const Weights& of_part) {
    weights own;
#pragma unroll
    for (int i = 0; i < value_reads; ++i) {
      if (i % (2 * output_parts) == 0)
        own = of_part(i / (2 * output_parts));
      multiply_value(own, packs.of[i % values_ahead], i);
      if (i + values_ahead < value_reads)
        packs.of[i % values_ahead] = value_pack(value, i + values_ahead);
      keep_order();
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
  static_assert(!Config.shares_elements || Config.head.v % 32 == 0);

  /// The results of all waves in wave 0: those of waves 1 and 3 in 0 and 2 first, then those of 2.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void merge(typename tiles::storage& memory) {
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
    if (!inside || (Config.shares_elements && 32 * output_parts * wave_id() >= Config.head.v))
      return;
      // a lane holds runs of four elements of its query
#pragma unroll
    for (int d = 0; d < output_parts; ++d)
#pragma unroll
      for (int run = 0; run < 4; ++run) {
        const int element =
            first_output() + 32 * d + fragments::accumulator::element(lane_, 4 * run).row;
        if (32 * d + 8 * run >= Config.head.v) // of the padding
          continue;
        vec<float, 4> four;
        for (int i = 0; i < 4; ++i)
          four[i] = output_[d][4 * run + i] * factor;
        const auto converted = convert<Output>(four);
        __builtin_memcpy(to + element, &converted, sizeof converted);
      }
    if (log != nullptr && lane_ < 32 && (!Config.shares_elements || wave_id() == 0))
      *log = select(total == 0.0f, float_from_bits(0xFF800000u),
                    as_log(softmax_.reference + log2(total)));
  }
};

} // namespace wavetile::kernels

#endif
