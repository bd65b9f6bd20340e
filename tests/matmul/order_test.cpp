// The order of workgroups: every tile once, and little traffic between L2 and what lies behind it.
#include <wavetile/kernels/matmul/order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace wavetile;
using namespace wavetile::kernels;
using std::int64_t;

TEST(matmul_order, every_position_once_for_any_device) {
  for (const int xcds : {1, 2, 3, 4, 6, 8, 13})
    for (const int64_t resident : {1, 2, 5, 19, 38, 76})
      for (int64_t total = 1; total < 1400; total = total < 70 ? total + 1 : total * 5 / 4) {
        const xcd_order order = make_xcd_order(total, xcds, resident);
        std::vector<bool> seen(static_cast<std::size_t>(total));
        for (int64_t i = 0; i < total; ++i) {
          const int64_t p = order.position(i);
          ASSERT_TRUE(p >= 0 && p < total) << total << ' ' << xcds << ' ' << resident << ' ' << i;
          ASSERT_FALSE(seen[static_cast<std::size_t>(p)]) << total << ' ' << xcds << ' ' << i;
          seen[static_cast<std::size_t>(p)] = true;
        }
      }
}

TEST(matmul_order, every_tile_once_for_any_height) {
  for (int64_t rows = 1; rows <= 17; ++rows)
    for (int64_t columns = 1; columns <= 9; ++columns)
      for (int64_t height = 1; height <= rows + 1; ++height) {
        const bool upright = (rows + columns + height) % 2 != 0;
        const tile_path path = upright ? make_tile_path(columns, rows, height, true)
                                       : make_tile_path(rows, columns, height);
        std::set<std::pair<int64_t, int64_t>> seen;
        for (int64_t p = 0; p < rows * columns; ++p) {
          const auto at = path.at(p);
          ASSERT_TRUE(at.row >= 0 && at.row < rows && at.column >= 0 && at.column < columns);
          seen.insert({at.row, at.column});
        }
        ASSERT_EQ(seen.size(), static_cast<std::size_t>(rows * columns));
      }
}

TEST(matmul_order, counts_beyond_32_bits) {
  const int64_t total = (int64_t{1} << 40) + 12345;
  const xcd_order order = make_xcd_order(total, 8, 38);
  for (const int64_t i : {int64_t{0}, total / 3, total - 2, total - 1}) {
    EXPECT_GE(order.position(i), 0);
    EXPECT_LT(order.position(i), total);
  }
  EXPECT_EQ(order.position(8), 1); // the second workgroup of XCD 0
  EXPECT_EQ(order.position(1), 38);
}

/// Elements of A and B, times K, that the XCDs' L2 caches fetch: of the tiles resident on an XCD
/// at a time every row and column of tiles once. Workgroup i runs on XCD i mod xcds, `resident` of
/// them at a time in order.
struct chip {
  int64_t xcds, resident;
};
struct grid {
  int64_t rows, columns, tile_m, tile_n;
};

int64_t fetched(const chip& c, const grid& g,
                const std::function<tile_path::place(int64_t)>& tile) {
  const int64_t total = g.rows * g.columns;
  int64_t elements = 0;
  for (int64_t xcd = 0; xcd < c.xcds; ++xcd)
    for (int64_t first = xcd; first < total; first += c.xcds * c.resident) {
      std::set<int64_t> rows, columns;
      for (int64_t r = 0; r < c.resident && first + r * c.xcds < total; ++r) {
        const auto at = tile(first + r * c.xcds);
        rows.insert(at.row);
        columns.insert(at.column);
      }
      elements += static_cast<int64_t>(rows.size()) * g.tile_m +
                  static_cast<int64_t>(columns.size()) * g.tile_n;
    }
  return elements;
}

/// The best of every order made of blocks: bands of any height over rows or over columns, an XCD
/// taking consecutive tiles of a round or of the whole grid, and the plain orders.
int64_t best_of_all(const chip& c, const grid& g) {
  const int64_t total = g.rows * g.columns;
  int64_t best = -1;
  const auto consider = [&](const std::function<tile_path::place(int64_t)>& tile) {
    const int64_t elements = fetched(c, g, tile);
    best = best < 0 ? elements : std::min(best, elements);
  };
  const std::vector<std::function<int64_t(int64_t)>> dealings = {
      [](int64_t i) { return i; },
      [&, order = make_xcd_order(total, static_cast<int>(c.xcds), c.resident)](int64_t i) {
        return order.position(i);
      },
      [&, order = make_xcd_order(total, static_cast<int>(c.xcds),
                                 std::max<int64_t>(1, total / c.xcds))](int64_t i) {
        return order.position(i);
      }};
  for (const auto& dealing : dealings) {
    for (int64_t height = 1; height <= std::min<int64_t>(g.rows, 80); ++height) {
      const tile_path path = make_tile_path(g.rows, g.columns, height);
      consider([&](int64_t i) { return path.at(dealing(i)); });
    }
    for (int64_t width = 1; width <= std::min<int64_t>(g.columns, 80); ++width) {
      const tile_path path = make_tile_path(g.columns, g.rows, width);
      consider([&](int64_t i) {
        const auto at = path.at(dealing(i));
        return tile_path::place{at.column, at.row};
      });
    }
  }
  return best;
}

TEST(matmul_order, traffic_within_a_fifth_of_the_best) {
  const chip chips[] = {{8, 38}, {8, 76}, {4, 38}, {1, 38}, {1, 228}, {6, 38}, {3, 7}, {8, 1}};
  std::vector<grid> grids;
  const auto add = [&](int64_t m, int64_t n, int64_t tile_m, int64_t tile_n) {
    grids.push_back({divide_up(m, tile_m), divide_up(n, tile_n), tile_m, tile_n});
  };
  for (const auto& [tile_m, tile_n] :
       {std::pair<int64_t, int64_t>{256, 256}, {256, 128}, {128, 128}, {64, 64}}) {
    for (const int64_t m : {int64_t{4000}, int64_t{4096}, int64_t{4864}, int64_t{8192}})
      for (const int64_t n : {int64_t{4104}, int64_t{4096}, int64_t{512}})
        add(m, n, tile_m, tile_n);
    add(100, 5000, tile_m, tile_n);
    add(5000, 100, tile_m, tile_n);
  }
  for (const int64_t n : {2112, 3072, 7168, 4608})
    for (const int64_t m : {32, 32768})
      add(m, n, 256, 256);
  for (const chip& c : chips)
    for (const grid& g : grids) {
      const int xcds = static_cast<int>(c.xcds);
      const int64_t resident = resident_of(g.rows * g.columns, xcds, c.resident);
      const xcd_order order = make_xcd_order(g.rows * g.columns, xcds, resident);
      const tile_path path = choose_tile_path(g.rows, g.columns, resident, g.tile_m, g.tile_n);
      const int64_t own = fetched(c, g, [&](int64_t i) { return path.at(order.position(i)); });
      const int64_t best = best_of_all(c, g);
      EXPECT_LE(static_cast<double>(own), 1.2 * static_cast<double>(best))
          << g.rows << " x " << g.columns << " tiles of " << g.tile_m << " x " << g.tile_n << " on "
          << c.xcds << " XCDs with " << c.resident;
    }
}

/// The least that any order fetches: of all ways to share the tiles out among the groups of
/// workgroups that are resident together, tried one after the other. Groups of one size that hold
/// nothing yet are alike.
class all_permutations {
public:
  all_permutations(const chip& c, const grid& g) : grid_(g) {
    const int64_t total = g.rows * g.columns;
    for (int64_t xcd = 0; xcd < c.xcds; ++xcd)
      for (int64_t first = xcd; first < total; first += c.xcds * c.resident)
        groups_.push_back({std::min(c.resident, divide_up(total - first, c.xcds)), 0, 0});
    place(0, 0);
  }
  int64_t best() const { return best_; }

private:
  struct group {
    int64_t room;
    unsigned rows, columns; ///< a bit each
  };
  void place(int64_t tile, int64_t cost) {
    if (best_ >= 0 && cost >= best_)
      return;
    if (tile == grid_.rows * grid_.columns) {
      best_ = cost;
      return;
    }
    const unsigned row = 1u << tile / grid_.columns, column = 1u << tile % grid_.columns;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const group before = groups_[i];
      const auto alike = [&](const group& other) {
        return other.room == before.room && other.rows == before.rows &&
               other.columns == before.columns;
      };
      if (before.room == 0 ||
          std::any_of(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(i), alike))
        continue;
      groups_[i] = {before.room - 1, before.rows | row, before.columns | column};
      place(tile + 1, cost + ((before.rows & row) == 0 ? grid_.tile_m : 0) +
                          ((before.columns & column) == 0 ? grid_.tile_n : 0));
      groups_[i] = before;
    }
  }
  grid grid_;
  std::vector<group> groups_;
  int64_t best_ = -1;
};

// Grids of up to 12 tiles against every permutation; the larger ones above against the families
// that `best_of_all` enumerates, since the permutations of 13 tiles and more are too many.
TEST(matmul_order, tiny_grids_within_a_fifth_of_the_best_of_all_permutations) {
  int compared = 0;
  for (const chip& c : {chip{1, 4}, {2, 2}, {2, 3}, {2, 4}, {3, 2}, {4, 3}, {8, 1}})
    for (int64_t rows = 1; rows <= 12; ++rows)
      for (int64_t columns = 1; rows * columns <= 12; ++columns)
        for (const int64_t tile_m : {256, 128}) {
          const grid g{rows, columns, tile_m, 256};
          const int64_t best = all_permutations(c, g).best();
          const int xcds = static_cast<int>(c.xcds);
          const int64_t resident = resident_of(rows * columns, xcds, c.resident);
          const xcd_order order = make_xcd_order(rows * columns, xcds, resident);
          const tile_path path = choose_tile_path(rows, columns, resident, tile_m, 256);
          const int64_t own = fetched(c, g, [&](int64_t i) { return path.at(order.position(i)); });
          EXPECT_GE(own, best);
          EXPECT_LE(static_cast<double>(own), 1.2 * static_cast<double>(best))
              << rows << " x " << columns << " tiles of " << tile_m << " x 256 on " << c.xcds
              << " XCDs with " << c.resident;
          EXPECT_GE(best_of_all(c, g), best);
          ++compared;
        }
  EXPECT_GT(compared, 400);
}

TEST(matmul_order, the_score_tells_good_from_bad) {
  const chip c{8, 38};
  const grid g{33, 33, 256, 256};
  const int64_t plain = fetched(c, g, [&](int64_t i) {
    return tile_path::place{i / g.columns, i % g.columns};
  });
  EXPECT_GT(static_cast<double>(plain), 1.5 * static_cast<double>(best_of_all(c, g)));
}

} // namespace
