/// \file
/// Reductions over an axis other than the last: results lie next to each other.
#pragma once

#include <wavetile/kernels/reduce/problem.hpp>
#include <wavetile/kernels/rows/row_stream.hpp>
#include <wavetile/kernels/rows/team.hpp>
#include <wavetile/lds/bank_conflicts.hpp>
#include <wavetile/lds/tile.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// LDS through which the lanes of the same number in all waves of a workgroup meet. Each lane's
/// dwords lie apart in pieces as wide as an access, the pieces of neighbouring lanes side by side.
template <int Waves, int Words>
class lane_exchange {
  static constexpr int piece = Words % 4 == 0 ? 4 : (Words % 2 == 0 ? 2 : 1); ///< dwords
  static constexpr int pieces = Words / piece;
  static constexpr layout where = row_major(Waves * pieces, wave_size* piece, 4);
  static constexpr lds_access write_pieces = lds_write(piece * 4, [](int lane) {
    return lane < wave_size ? coordinate{0, lane * piece} : inactive_lane;
  });
  static constexpr lds_access read_pieces = lds_read(piece * 4, [](int lane) {
    return lane < wave_size ? coordinate{0, lane * piece} : inactive_lane;
  });
  static_assert(conflict_free(where, proof_target, write_pieces, read_pieces));
  using exchange_tile = tile<uint32_t, where>;

public:
  using storage = typename exchange_tile::storage;
  using dwords = wavetile::detail::dwords<Words>;

  /// What a wave issues: writes of its own dwords, and in the first wave reads of all others'.
  static constexpr lds_use writes = {write_pieces.op, pieces};
  static constexpr lds_use reads = {read_pieces.op, pieces*(Waves - 1)};

  WAVETILE_DEVICE explicit lane_exchange(storage& memory) : tile_(memory) {}

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void write(int wave, const dwords& value) const {
#pragma unroll
    for (int p = 0; p < pieces; ++p) {
      vec<uint32_t, piece> part;
#pragma unroll
      for (int i = 0; i < piece; ++i)
        part[i] = value.word[p * piece + i];
      tile_.write_vec(wave * pieces + p, lane_id() * piece, part);
    }
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE dwords read(int wave) const {
    dwords value;
#pragma unroll
    for (int p = 0; p < pieces; ++p) {
      const auto part = tile_.template read_vec<piece>(wave * pieces + p, lane_id() * piece);
#pragma unroll
      for (int i = 0; i < piece; ++i)
        value.word[p * piece + i] = part[i];
    }
    return value;
  }

private:
  exchange_tile tile_;
};

/// Workgroup (part, matrix, place across): lanes along the columns, 16 bytes each (the columns
/// after the last whole chunk one each), and the rest of the workgroup's lanes down the reduced
/// axis.
template <class Types, reduce_config Config>
WAVETILE_KERNEL
WAVETILE_WORKGROUP_SIZE(Config.threads()) void reduce_columns(reduce_column_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using input = typename Types::input;
    using output = typename Types::output;
    using value = typename Types::value;
    constexpr int chunk = Types::chunk;
    using values = vec<value, chunk>;
    using exchange_type = lane_exchange<Config.waves, wavetile::detail::dword_count<values>>;
    WAVETILE_SHARED typename exchange_type::storage memory;

    const int64_t group = args.first_group + workgroup_id();
    const int64_t matrix_and_part = args.groups_across.quotient(group);
    const int64_t place = group - matrix_and_part * args.groups_across.divisor();
    const int64_t part = args.leading.quotient(matrix_and_part);
    const int64_t matrix = matrix_and_part - part * args.leading.divisor();
    int64_t offset[2];
    args.map.locate(matrix, offset);

    const auto lane = static_cast<uint32_t>(lane_id());
    const uint32_t across = 1u << args.across_log2;
    const uint32_t down = static_cast<uint32_t>(Config.threads()) >> args.across_log2;
    const int64_t column_chunk = place * across + (lane & (across - 1));
    const int64_t chunks = args.columns / chunk;
    const int64_t tail = args.columns - chunks * chunk;
    const bool whole = column_chunk < chunks;
    const bool single = !whole && column_chunk < chunks + tail;
    const int64_t column = whole ? column_chunk * chunk : chunks * chunk + (column_chunk - chunks);

    const int64_t part_begin = part * args.part_length;
    const int64_t part_end = part_begin + args.part_length;
    const int64_t end = part_end < args.reduced ? part_end : args.reduced;
    int64_t row = part_begin + (static_cast<uint32_t>(thread_id()) >> args.across_log2);

    const auto operation = args.reduction.operation();
    values sums;
#pragma unroll
    for (int e = 0; e < chunk; ++e)
      sums[e] = args.reduction.identity();
    const input* from = args.x + offset[0] + column;
    if (whole) {
      for (; row < end; row += int64_t{down} * Config.at_once) {
        chunk_words<static_cast<int>(sizeof(vec<input, chunk>) / 4)> raw[Config.at_once];
#pragma unroll
        for (int i = 0; i < Config.at_once; ++i) {
          raw[i].make_anything();
          const int64_t r = row + int64_t{down} * i;
          if (r < end)
            raw[i].load(from + r * args.reduced_stride);
        }
#pragma unroll
        for (int i = 0; i < Config.at_once; ++i) {
          const int64_t r = row + int64_t{down} * i;
          if (r >= end)
            continue;
          const auto elements = raw[i].template as<vec<input, chunk>>();
#pragma unroll
          for (int e = 0; e < chunk; ++e)
            sums[e] = operation(sums[e], args.reduction.enter(elements[e], r));
        }
      }
    } else if (single) {
      for (; row < end; row += down)
        sums[0] = operation(sums[0], args.reduction.enter(from[row * args.reduced_stride], row));
    }

    // lanes of the wave that have the same columns, then waves
    for (uint32_t distance = across; distance < wave_size; distance *= 2)
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        sums[e] = operation(sums[e], wave::shuffle_xor(sums[e], static_cast<int>(distance)));
    const exchange_type exchange(memory);
    const int own_wave = wave_id();
    if (own_wave != 0)
      exchange.write(own_wave, wavetile::detail::to_words(sums));
    group::barrier();
    if (own_wave == 0 && lane < across && (whole || single)) {
#pragma unroll
      for (int w = 1; w < Config.waves; ++w) {
        const auto others = wavetile::detail::from_words<values>(exchange.read(w));
#pragma unroll
        for (int e = 0; e < chunk; ++e)
          sums[e] = operation(sums[e], others[e]);
      }
      if (args.split) {
        value* to = args.partials + matrix_and_part * args.columns + column;
        if (whole)
          store_chunk(to, sums);
        else
          *to = sums[0];
      } else {
        output* to = args.y + offset[1] + column;
        vec<output, chunk> results;
#pragma unroll
        for (int e = 0; e < chunk; ++e)
          results[e] = args.reduction.leave(sums[e], args.count);
        if (whole)
          store_chunk(to, results);
        else
          *to = results[0];
      }
    }
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
