/// \file
/// Exact attention over tiles of queries: scores never leave the registers.
///
/// A wave has 32 queries in registers and goes over the keys in steps. It computes K Q^T, so that a
/// lane holds scores of one query, turns them into probabilities, and computes V^T P with them as
/// they lie. The workgroup's waves share each step's K and V in LDS; the loads of the next step are
/// in flight meanwhile.
#pragma once

#include <wavetile/kernels/attention/alternating.hpp>
#include <wavetile/kernels/attention/wave.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

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

template <class Types, attention_config Config>
class attention_kernel {
  using T = typename Types::input;
  using tiles = attention_tiles<T, Config>;

  const attention_arguments<Types>& args_;
  attention_wave<Types, Config> wave_;

public:
  WAVETILE_DEVICE
  WAVETILE_FORCE_INLINE explicit attention_kernel(const attention_arguments<Types>& args)
      : args_(args), wave_(args) {}

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  run(typename tiles::storage (&memory)[Config.buffers()]) {
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
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  run_tile(typename tiles::storage (&memory)[Config.buffers()], const attention_tile& own,
           int64_t part, const sequence_rows& q, const sequence_rows& kv) {
    const attention_extents& extents = args_.extents;
    const int packed = args_.packed;
    const int64_t row_count = int64_t{q.length} * packed;
    const int tile_row = static_cast<int>(own.tile) * Config.rows();
    const int64_t first_head = own.head * packed;
    const int wave_row = tile_row + (Config.shares_rows() ? 0 : wave_id() * Config.wave_rows);
    const query_rows rows(args_.visible, packed, first_head, wave_row, q.length, kv.length,
                          wave_.lane());

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

    [[maybe_unused]] const auto* const mask_row = wave_.mask_row(rows, own.batch);
#if WAVETILE_AMDGCN
    // without pages any number will do: it is clamped to 0
    const auto no_list = (constant_numbers)__builtin_amdgcn_kernarg_segment_ptr();
#else
    constexpr constant_numbers no_list = nullptr;
#endif
    const bool q_array = extents.q_begin != nullptr, kv_array = extents.kv_begin != nullptr;
    wave_.load_queries(
        args_.q + offset_of(args_.q_steps, q_array, own.batch, rows.head, q.first + rows.query));
    const int64_t kv_head = args_.group.quotient(first_head);
    // of K and V as the tile needs them: steps behind its last load nothing
    const int past_last = round_up(end, Config.keys);
    [[maybe_unused]] const int row_limit = past_last < kv.length ? past_last : kv.length;
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
                          row_bytes, row_limit, width * static_cast<int>(sizeof(T))};
      }
    };
    const auto key_source = source(args_.k, args_.k_steps, Config.head.qk);
    const auto value_source = source(args_.v, args_.v_steps, Config.head.v);
    if constexpr (Config.alternates)
      alternating_steps<Types, Config>(wave_, memory, key_source, value_source, begin)
          .run(rows, end);
    else if (begin < end)
      run_steps(memory[0], key_source, value_source, rows, mask_row, begin, end, kv.length);

    if constexpr (Config.shares_keys) {
      wave_.merge(memory[0]);
      if (wave_id() != 0)
        return;
    }
    // what the loop does not need is found out again rather than kept in registers
    const attention_arguments<Types>& late = arguments_again<attention_arguments<Types>>(args_);
    int lane = wave_.lane();
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
        wave_.store(late.parts.values + part_row * Config.head.v, late.parts.logs + part_row,
                    late_rows.inside, [](float log) { return log; });
        return;
      }
    float* lse = late.lse;
    if (lse != nullptr)
      lse += offset_of(late.lse_steps, q_array, own.batch, late_rows.head, row);
    wave_.store(late.o + offset_of(late.o_steps, q_array, own.batch, late_rows.head, row), lse,
                late_rows.inside, [](float log) { return log * ln_2; });
  }

  /// One step or more after the other: the loads of the next are in flight meanwhile, and other
  /// workgroups of the CU compute while this one loads or waits.
  template <class Source>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  run_steps(typename tiles::storage& memory, const Source& key_source, const Source& value_source,
            const query_rows& rows, const typename Types::mask_element* mask_row, int begin,
            int end, int key_count) {
    tile_loader<T, Config, Source> loader(key_source, value_source, thread_id());
    const typename tiles::key_tile key(memory.key);
    const typename tiles::value_tile value(memory.value);
    loader.look_up(begin);
    loader.load(begin);
    wave_.wait_for_queries();
    for (int first = begin; first < end; first += Config.keys) {
      if (first != begin)
        group::barrier(); // nobody reads the last step's tiles any more
      loader.look_up(first + Config.keys);
      loader.store(first, key, value);
      group::barrier();
      typename attention_wave<Types, Config>::key_packs first_keys;
      wave_.read_keys(first_keys, key);
      keep_order();
      const int mine = first + wave_.first_key();
      typename attention_wave<Types, Config>::mask_values mask;
      wave_.load_mask(mask, mask_row, mine, key_count);
      keep_order();
      // In flight while this step computes. Loads from arrays have no branch around them, behind
      // which a wait for the mask would be one for these, too.
      if (Types::form == attention_form::prefill || first + Config.keys < end)
        loader.load(first + Config.keys);
      keep_order();
      if (mine < rows.any.end && mine + Config.keys_of_wave() > rows.any.begin)
        wave_.step(key, value, rows, mask, mine, first_keys);
      else
        wavetile::detail::wait_for_lds<0>(); // its reads must not outlast the barrier, though
                                             // nobody uses them
    }
  }
};

/// One tile of queries a workgroup; of decode kernels one part of its keys.
template <class Types, attention_config Config>
WAVETILE_KERNEL __attribute__((amdgpu_flat_work_group_size(Config.threads(), Config.threads()),
                               amdgpu_waves_per_eu(Config.occupancy))) void
attention_prefill(attention_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    WAVETILE_SHARED
    typename attention_tiles<typename Types::input, Config>::storage memory[Config.buffers()];
    attention_kernel<Types, Config>(args).run(memory);
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
