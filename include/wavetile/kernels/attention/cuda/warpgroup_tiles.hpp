/// \file
/// What the warpgroups of an attention kernel with `wgmma` share: LDS, barriers, and the tiles of
/// a workgroup.
#pragma once

#include <wavetile/arch/cuda/cluster.hpp>
#include <wavetile/arch/cuda/warpgroup_mma.hpp>
#include <wavetile/arch/instructions.hpp>
#include <wavetile/kernels/attention/cuda/loader.hpp>
#include <wavetile/kernels/attention/cuda/tile_rows.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// `Rows` rows of `Elements` 16-bit elements in LDS as `instruction::warpgroup_operand` has it: all
/// rows of every 64 elements follow each other, 128 bytes each.
template <int Rows, int Elements>
struct warpgroup_rows {
  static_assert(Rows % 8 == 0 && Elements % 64 == 0);
  static constexpr int block_bytes = Rows * 128; ///< of 64 elements
  static constexpr int bytes = Rows * Elements * 2;

  /// Where 16 elements of each row begin, for products along rows.
  static constexpr int along(int step) { return step / 4 * block_bytes + step % 4 * 32; }
  /// And 16 rows of all elements, for products across rows.
  static constexpr int across(int step) { return step * 16 * 128; }

  /// The 16 bytes of elements 8 `chunk` ... of a row.
  WAVETILE_HD static constexpr uint32_t chunk_byte(int row, int chunk) {
    return static_cast<uint32_t>(chunk / 8 * block_bytes + row * 128 + (chunk % 8 ^ row % 8) * 16);
  }
};

/// LDS of a workgroup: rings of queries, of K and of V, and for each of their slots two barriers,
/// of which the first says that something is there, the second that it is free.
template <attention_config Config>
struct warpgroup_memory {
  using query_rows = warpgroup_rows<Config.rows(), Config.head.qk>;
  using key_rows = warpgroup_rows<Config.keys, Config.head.qk>;
  using value_rows = warpgroup_rows<Config.keys, Config.head.v>;
  static constexpr int stages = Config.stages;
  static constexpr int query_slots = Config.query_slots();
  static constexpr int keys_at = query_slots * query_rows::bytes;
  static constexpr int values_at = keys_at + stages * key_rows::bytes;
  static constexpr int barriers_at = values_at + stages * value_rows::bytes;
  static constexpr int bytes = barriers_at + Config.barrier_bytes();
  static_assert(bytes == Config.lds_bytes());

  uint32_t base;

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t queries_there(uint32_t slot) const {
    return base + barriers_at + 16 * slot;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t keys_there(uint32_t slot) const {
    return base + barriers_at + 16 * (query_slots + slot);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t values_there(uint32_t slot) const {
    return base + barriers_at + 16 * (query_slots + stages + slot);
  }
  /// That belongs to one of the barriers above.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static uint32_t free(uint32_t there) { return there + 8; }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t queries(uint32_t slot) const {
    return base + slot * query_rows::bytes;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t keys(uint32_t slot) const {
    return base + keys_at + slot * key_rows::bytes;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t values(uint32_t slot) const {
    return base + values_at + slot * value_rows::bytes;
  }

  /// By one lane, before a barrier of the workgroup. Every lane that copies arrives when something
  /// is there, a lane of every wave that reads when it is free.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void start() const {
    for (uint32_t i = 0; i < query_slots + 2 * stages; ++i) {
      instruction::start_barrier(queries_there(i), 128);
      instruction::start_barrier(free(queries_there(i)), 4 * Config.warpgroups);
    }
    instruction::publish_barriers();
  }
};

/// A place in a ring: its slot, and the parity of how often the ring was gone through.
template <int Stages>
struct ring_place {
  uint32_t slot = 0, round = 0;
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void advance() {
    if (++slot == Stages) {
      slot = 0;
      round ^= 1;
    }
  }
};

/// A tile of a workgroup: `begin` to `end` are the keys that some of its rows see, from a multiple
/// of a step on.
struct walked_tile {
  tile_work work;
  int begin, end;
};

/// Tile `number`; returns whether it has rows.
template <attention_config Config, class Types>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool
find_tile(walked_tile& result, const attention_arguments<Types>& args, int64_t number) {
  const attention_tile own = args.sections.of(number);
  tile_work& work = result.work;
  work.part = 0;
  find_sequences(work, args, own);
  const int64_t row = own.tile * Config.rows();
  if (row >= work.rows.count) // behind its rows
    return false;
  work.tile_row = work.wave_row = static_cast<int>(row);
  const auto keys_of = [&](int at) {
    return args.visible.of(work.rows.of(at).query, work.q.length, work.kv.length);
  };
  result.begin = keys_of(work.tile_row).begin / Config.keys * Config.keys;
  result.end = keys_of(work.tile_row + Config.rows() - 1).end;
  return true;
}

/// The numbers of a workgroup's tiles, one after the other.
class tile_numbers {
  int64_t turn_ = 0;

public:
  int64_t number = instruction::workgroup_x();

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void advance() {
    number = tile_sections::number_of(++turn_, instruction::workgroup_x(), gridDim.x);
  }
};

} // namespace wavetile::kernels

#endif
