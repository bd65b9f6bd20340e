/// \file
/// The warpgroup that brings Q, K and V to LDS for those that multiply by `wgmma`.
#pragma once

#include <wavetile/kernels/attention/cuda/score_scale.hpp>
#include <wavetile/kernels/attention/cuda/warpgroup_tiles.hpp>

#if WAVETILE_WARPGROUP_MMA

namespace wavetile::kernels {

/// Copies what the tiles of a workgroup need, in their order.
template <class Types, attention_config Config>
class warpgroup_loader {
  using T = typename Types::input;
  using memory_map = warpgroup_memory<Config>;
  static constexpr int threads = 128;

  const attention_arguments<Types>& args_;
  const memory_map memory_;
  const int thread_;

  /// This lane's share is there, or will be when its copies are done.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void arrive(uint32_t barrier, bool copies) {
    if (copies)
      instruction::arrive_after_copies(barrier);
    else
      instruction::arrive(barrier);
  }

  /// `Rows` rows from row `first` on, to the tile at `to`; rows beyond the last become zero.
  template <int Rows, int Elements>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(uint32_t to,
                                                  const row_source<attention_form::prefill>& source,
                                                  bool aligned, int first) const {
    using layout = warpgroup_rows<Rows, Elements>;
    constexpr int chunks = Elements / 8, at_once = threads / chunks;
    static_assert(Rows % at_once == 0 && at_once % 8 == 0);
    const int row = thread_ / chunks, chunk = thread_ % chunks;
    const int left = source.rows - first - row;
    const uint32_t own = to + layout::chunk_byte(row, chunk);
    const char* from = source.data + (first + row) * source.row_bytes + 16 * chunk;
    if (aligned) {
#pragma unroll
      for (int i = 0; i < Rows; i += at_once) {
        instruction::copy_async(own + static_cast<uint32_t>(i * 128), from, i < left ? 16 : 0);
        from += at_once * source.row_bytes;
      }
      return;
    }
#pragma unroll 1
    for (int i = 0; i < Rows; i += at_once) {
      uint32_t words[4] = {};
      if (i < left)
        load_elements(words, from);
      store_chunk(own + static_cast<uint32_t>(i * 128), words);
      from += at_once * source.row_bytes;
    }
  }

  /// The tile's queries, times the factor.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_queries(uint32_t slot, const T* from,
                                                          const tile_work& work) const {
    using layout = typename memory_map::query_rows;
    constexpr int chunks = Config.head.qk / 8, at_once = threads / chunks;
    const int chunk = thread_ % chunks;
    const uint32_t to = memory_.queries(slot);
    const auto source = [&](int row) {
      const auto place = work.rows.of(work.tile_row + row);
      return from + place.head * args_.q_steps.head + place.query * args_.q_steps.row + 8 * chunk;
    };
    const float factor = query_factor(args_);
    const bool copies = factor == 1.0f && in_chunks(from, args_.q_steps);
    if (copies && work.rows.packed == 1) { // rows of one head
      const T* const head = source(0);
      const int last = work.rows.count - 1 - work.tile_row;
#pragma unroll 4
      for (int row = thread_ / chunks; row < Config.rows(); row += at_once)
        instruction::copy_async(to + layout::chunk_byte(row, chunk),
                                head + (row < last ? row : last) * args_.q_steps.row);
    } else if (copies) {
#pragma unroll 1
      for (int row = thread_ / chunks; row < Config.rows(); row += at_once)
        instruction::copy_async(to + layout::chunk_byte(row, chunk), source(row));
    } else {
#pragma unroll 1
      for (int row = thread_ / chunks; row < Config.rows(); row += at_once) {
        uint32_t words[4];
        load_elements(words, source(row));
        if (factor != 1.0f)
          scale_chunk<T>(words, factor);
        store_chunk(to + layout::chunk_byte(row, chunk), words);
      }
    }
    arrive(memory_.queries_there(slot), copies);
  }

public:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE warpgroup_loader(const attention_arguments<Types>& args,
                                                         uint32_t memory, int thread)
      : args_(args), memory_{memory}, thread_(thread) {}

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void run() const {
    ring_place<Config.stages> place;
    ring_place<memory_map::query_slots> query_place;
#pragma unroll 1
    for (tile_numbers tiles; tiles.number < args_.sections.tiles; tiles.advance()) {
      walked_tile tile;
      if (!find_tile<Config>(tile, args_, tiles.number) || tile.begin >= tile.end)
        continue;
      const tile_work& work = tile.work;
      const int begin = tile.begin, end = tile.end;
      const bool q_array = args_.extents.q_begin != nullptr;
      const bool kv_array = args_.extents.kv_begin != nullptr;
      const int64_t kv_head = args_.group.quotient(work.rows.first_head);
      const auto source = [&](const T* data, const attention_steps& steps) {
        return row_source<attention_form::prefill>{
            reinterpret_cast<const char*>(
                data + offset_of(steps, kv_array, work.batch, kv_head, work.kv.first)),
            steps.row * static_cast<int64_t>(sizeof(T)),
            0,
            nullptr,
            work.kv.length,
            0,
            0};
      };
      const auto keys = source(args_.k, args_.k_steps), values = source(args_.v, args_.v_steps);
      const bool copies_keys = keys.aligned(), copies_values = values.aligned();
#pragma unroll 1
      for (int first = begin; first < end; first += Config.keys) {
        const uint32_t key = memory_.keys_there(place.slot),
                       value = memory_.values_there(place.slot);
        instruction::wait_for_phase(memory_map::free(key), place.round ^ 1);
        load<Config.keys, Config.head.qk>(memory_.keys(place.slot), keys, copies_keys, first);
        arrive(key, copies_keys);
        if (first == begin) {
          instruction::wait_for_phase(memory_map::free(memory_.queries_there(query_place.slot)),
                                      query_place.round ^ 1);
          load_queries(query_place.slot,
                       args_.q + offset_of(args_.q_steps, q_array, work.batch, 0, work.q.first),
                       work);
          query_place.advance();
        }
        instruction::wait_for_phase(memory_map::free(value), place.round ^ 1);
        load<Config.keys, Config.head.v>(memory_.values(place.slot), values, copies_values, first);
        arrive(value, copies_values);
        place.advance();
      }
    }
    instruction::wait_copies<0>();
  }
};

} // namespace wavetile::kernels

#endif
