/// \file
/// Copies of tiles through LDS that only differ in the tile's layout.
#pragma once

#include "common/data.hpp"
#include "common/device_run.hpp"

#include <wavetile/group/copy.hpp>
#include <wavetile/launch/launch.hpp>
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/matrix/lds_operand.hpp>

namespace bench {
namespace lds {

using wavetile::bf16;
inline constexpr int group_size = 256;

/// A tile of 128 x 64 bf16 is written row by row, 16 bytes a lane, and read as the fragments of
/// 32x32x8 matrix instructions, 16 bytes a lane again: every element comes back to its place.
struct fragments {
  using element = bf16;
  static constexpr const char* name = "fragment_copy/bf16/";
  static constexpr int rows = 128, columns = 64;
  static constexpr bool transposes = false;
  using operand =
      wavetile::lds_operand<wavetile::product_fragments<wavetile::shape_32x32<bf16>, bf16>::a>;
  template <class Tile>
  using copy = wavetile::group::tile_copy<Tile, group_size, 8>;
  static constexpr wavetile::lds_access read = operand::access;

  template <class Tile>
  static WAVETILE_DEVICE void out(Tile tile, bf16* to, std::int64_t pitch) {
    const int wave = wavetile::wave_id();
    for (int k = 0; k < columns; k += operand::depth) {
      const wavetile::coordinate at = operand::place(wavetile::lane_id(), 32 * wave, k);
      const auto piece = tile.template read_vec<operand::elements>(at.row, at.column);
      wavetile::store_vec(to + at.row * pitch + at.column, piece);
    }
  }
};

/// A tile of 32 x 32 floats is written row by row and read column by column.
struct transpose {
  using element = float;
  static constexpr const char* name = "transpose/fp32/";
  static constexpr int rows = 32, columns = 32;
  static constexpr bool transposes = true;
  template <class Tile>
  using copy = wavetile::group::tile_copy<Tile, group_size, 1>;
  static constexpr wavetile::lds_access read = wavetile::lds_read(4, [](int lane) {
    return wavetile::coordinate{lane % 32, lane / 32};
  });

  template <class Tile>
  static WAVETILE_DEVICE void out(Tile tile, float* to, std::int64_t pitch) {
    for (int i = wavetile::thread_id(); i < rows * columns; i += group_size)
      to[i / rows * pitch + i % rows] = tile.read(i % rows, i / rows);
  }
};

/// Workgroups along x take the tiles of a row of tiles, along y rows of tiles.
template <class Pattern, wavetile::layout Layout>
__global__
__launch_bounds__(group_size) void copy_tiles(wavetile::view<const typename Pattern::element, 2> in,
                                              typename Pattern::element* out) {
  using tile = wavetile::tile<typename Pattern::element, Layout>;
  __shared__ typename tile::storage memory;
  const tile there(memory);
  const std::int64_t row = std::int64_t{blockIdx.y} * Pattern::rows;
  const std::int64_t column = std::int64_t{blockIdx.x} * Pattern::columns;
  Pattern::template copy<tile>::copy(in, row, column, there);
  wavetile::group::barrier();
  const std::int64_t pitch = in.extent[Pattern::transposes ? 0 : 1];
  Pattern::out(there, out + (Pattern::transposes ? column * pitch + row : row * pitch + column),
               pitch);
}

template <class Pattern, wavetile::layout Layout>
void add_copy(const char* layout) {
  using element = typename Pattern::element;
  const std::int64_t rows = current().simulated ? 256 : 8192, columns = rows;
  const std::string name = std::string(Pattern::name) + layout + "/" + std::to_string(rows) + "x" +
                           std::to_string(columns);
  add(name, [=](benchmark::State& state) {
    rotating_array<element> in(rows * columns), out(rows * columns);
    const std::vector<element> values = normals<element>(rows * columns, 71);
    in.fill(values);
    out.poison();
    const auto launch = [&](std::int64_t turn) {
      check(wavetile::launch(
          &copy_tiles<Pattern, Layout>,
          {.grid = {columns / Pattern::columns, rows / Pattern::rows}, .block = group_size},
          nullptr, wavetile::make_view(static_cast<const element*>(in.at(turn)), rows, columns),
          out.at(turn)));
    };
    launch(0);
    const std::vector<element> got = out.download();
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c) {
        const std::int64_t to = Pattern::transposes ? c * rows + r : r * columns + c;
        if (static_cast<float>(got[static_cast<std::size_t>(to)]) !=
            static_cast<float>(values[static_cast<std::size_t>(r * columns + c)]))
          throw std::runtime_error("wrong element of row " + std::to_string(r) + ", column " +
                                   std::to_string(c));
      }
    const std::int64_t bytes = rows * columns * std::int64_t{sizeof(element)};
    measure(state, {.bytes_read = bytes, .bytes_written = bytes}, launch);
  });
}

/// The three families, and what `choose_layout` takes.
template <class Pattern>
void add_layouts() {
  using element = typename Pattern::element;
  constexpr int size = sizeof(element);
  constexpr wavetile::layout plain = wavetile::row_major(Pattern::rows, Pattern::columns, size);
  constexpr int pad = size == 4 ? 4 : 16;
  using plain_copy = typename Pattern::template copy<wavetile::tile<element, plain>>;
  constexpr auto choice = wavetile::choose_layout<element, Pattern::rows, Pattern::columns>(
      wavetile::targets::gfx942, plain.bytes() + Pattern::rows * pad, Pattern::read,
      plain_copy::access);
  static_assert(choice.conflict_free);
  add_copy<Pattern, plain>("row_major");
  add_copy<Pattern, wavetile::padded(Pattern::rows, Pattern::columns, size, pad)>("padded");
  add_copy<Pattern, choice.chosen>("chosen");
}

} // namespace lds

inline void register_lds_copies() {
  lds::add_layouts<lds::fragments>();
  lds::add_layouts<lds::transpose>();
}

} // namespace bench
