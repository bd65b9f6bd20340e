// Plans of attention: what they count, which XCD gets which tile, and that the LDS layouts are free
// of conflicts at every place they are used.
#include <wavetile/kernels/attention/decode_plan.hpp>
#include <wavetile/kernels/attention/problem.hpp>
#include <wavetile/kernels/attention/tiles.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace wavetile;

constexpr device_info mi300x = describe_device("gfx942", 304, 8);

attention_problem square(std::int64_t length, int head, bool causal) {
  attention_problem p;
  p.head = {head, head};
  p.batch = 2;
  p.q_heads = 16;
  p.kv_heads = 4;
  p.queries = p.keys = length;
  p.causal = causal;
  return p;
}

TEST(attention_plan, counts_scores) {
  const attention_plan full = plan(square(4096, 128, false), mi300x);
  ASSERT_TRUE(full.outcome.ok());
  const std::int64_t all = 2 * 16 * std::int64_t{4096} * 4096;
  EXPECT_EQ(full.visible_scores, all);
  EXPECT_EQ(full.computed_scores, all);
  EXPECT_EQ(full.flops, all * 4 * 128);
  EXPECT_EQ(full.groups, 2 * 16 * 16); // tiles of 256 rows
  const attention_plan causal = plan(square(4096, 128, true), mi300x);
  EXPECT_EQ(causal.visible_scores, 2 * 16 * std::int64_t{4096} * 4097 / 2);
  // blocks of 64 keys that a wave's 32 rows do not see are not computed
  EXPECT_LE(static_cast<double>(causal.computed_scores), 0.55 * static_cast<double>(all));
  EXPECT_GE(causal.computed_scores, causal.visible_scores);
  attention_problem window = square(4096, 128, false);
  window.window = {100, 20};
  const attention_plan narrow = plan(window, mi300x);
  EXPECT_EQ(narrow.visible_scores,
            2 * 16 * (std::int64_t{4096} * 121 - 100 * 101 / 2 - 20 * 21 / 2));
  EXPECT_LE(narrow.computed_scores, 2 * 16 * std::int64_t{4096} * 320);
}

// The formulas against loops over queries and waves.
TEST(attention_plan, counts_as_loops_do) {
  std::uint32_t state = 1;
  const auto random = [&](int most) { // 0 … most
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 8) % static_cast<std::uint32_t>(most + 1));
  };
  for (int round = 0; round < 4000; ++round) {
    const int queries = random(round % 2 == 0 ? 20 : 400), keys = random(500);
    const std::int64_t packed = queries > 16 ? 1 : 1 + random(70);
    const int step = round % 3 == 0 ? 32 : 64;
    const auto visible = kernels::visibility_of(
        random(1) == 0, random(1) == 0 ? causal_anchor::top_left : causal_anchor::bottom_right,
        {random(3) == 0 ? -1 : random(200), random(3) == 0 ? -1 : random(200)});
    std::int64_t seen = 0, steps = 0;
    for (int q = 0; q < queries; ++q) {
      const kernels::key_range range = visible.of(q, queries, keys);
      seen += range.end - range.begin;
    }
    const std::int64_t rows = queries * packed;
    for (std::int64_t row = 0; row < rows; row += 32) {
      const std::int64_t last = row + 32 < rows ? row + 31 : rows - 1;
      const int begin = visible.of(static_cast<int>(row / packed), queries, keys).begin;
      const int end = visible.of(static_cast<int>(last / packed), queries, keys).end;
      for (int key = begin / step * step; key < end && begin < end; key += step)
        ++steps;
    }
    ASSERT_EQ(kernels::visible_keys(visible, queries, keys), seen) << round;
    ASSERT_EQ(kernels::wave_steps(visible, queries, keys, packed, 32, step), steps)
        << round << ": " << queries << " queries, " << keys << " keys, packed " << packed
        << ", window " << visible.left << ", " << visible.right << ", " << visible.bottom_right;
  }
}

TEST(attention_plan, counts_do_not_overflow) {
  attention_problem p = square((std::int64_t{1} << 30) - 1, 128, true);
  const std::int64_t n = p.queries;
  p.batch = p.q_heads = p.kv_heads = 1;
  EXPECT_EQ(plan(p, mi300x).visible_scores, n * (n + 1) / 2); // and at once
  p.batch = std::int64_t{1} << 40;                            // of strides 0
  const attention_plan many = plan(p, mi300x);
  ASSERT_TRUE(many.outcome.ok());
  EXPECT_EQ(many.visible_scores, kernels::largest_count);
  EXPECT_EQ(many.flops, kernels::largest_count);
  EXPECT_GT(many.groups, 0);
  p.queries = std::int64_t{1} << 30;
  EXPECT_EQ(plan(p, mi300x).outcome.code(), status_code::unsupported_shape);
  EXPECT_STREQ(plan(p, mi300x).outcome.argument(), "queries");
  p.queries = -1;
  EXPECT_NE(std::string(plan(p, mi300x).outcome.message()).find("-1"), std::string::npos);
}

TEST(attention_plan, packs_heads_of_few_queries) {
  attention_problem p = square(4096, 64, true);
  for (const std::int64_t queries : {1, 16}) {
    p.queries = queries;
    const attention_plan few = plan(p, mi300x);
    EXPECT_EQ(few.packed_heads, 4);
    EXPECT_EQ(few.groups, 2 * 4);
  }
  p.queries = 17;
  EXPECT_EQ(plan(p, mi300x).packed_heads, 1);
  EXPECT_EQ(plan(p, mi300x).groups, 2 * 16);
}

TEST(attention_plan, says_what_it_does) {
  const std::string text = plan(square(4096, 128, true), mi300x).describe().c_str();
  for (const char* words :
       {"512 workgroups of 512", "256 rows", "64 keys", "8 XCDs", "65536 bytes of LDS"})
    EXPECT_NE(text.find(words), std::string::npos) << words << " in: " << text;
  attention_problem p = square(10, 72, false);
  const attention_plan refused = plan(p, mi300x);
  EXPECT_EQ(refused.outcome.code(), status_code::unsupported_shape);
  EXPECT_NE(std::string(refused.outcome.message()).find("72"), std::string::npos);
  EXPECT_NE(std::string(refused.outcome.message()).find(attention_heads_text), std::string::npos);
  p.head = {64, 64};
  EXPECT_EQ(plan(p, describe_device("gfx1100", 96)).outcome.code(),
            status_code::wrong_architecture);
}

TEST(attention_order, is_one_to_one_and_keeps_heads_together) {
  for (const int xcds : {0, 1, 3, 8})
    for (const std::int64_t heads : {1, 5, 16})
      for (const std::int64_t tiles : {1, 7, 32}) {
        const kernels::attention_order order(3, heads, tiles, xcds);
        const std::int64_t count = 3 * heads * tiles;
        std::vector<int> seen(static_cast<std::size_t>(count));
        std::map<std::int64_t, std::map<std::int64_t, int>> xcds_of_head;
        for (std::int64_t group = 0; group < count; ++group) {
          const kernels::attention_tile tile = order.of(group);
          ASSERT_TRUE(tile.batch >= 0 && tile.batch < 3 && tile.head >= 0 && tile.head < heads &&
                      tile.tile >= 0 && tile.tile < tiles);
          const std::int64_t head = tile.batch * heads + tile.head;
          ++seen[static_cast<std::size_t>(head * tiles + tile.tile)];
          ++xcds_of_head[head][group % (xcds < 1 ? 1 : xcds)];
        }
        for (const int times : seen)
          ASSERT_EQ(times, 1);
        std::int64_t split = 0; // heads whose tiles are on several XCDs
        for (const auto& [head, on] : xcds_of_head)
          split += static_cast<std::int64_t>(on.size()) - 1;
        EXPECT_LE(split, xcds < 1 ? 0 : xcds - 1);
      }
}

TEST(attention_order, counts_in_64_bits) {
  const kernels::attention_order order(3000000000, 64, 3, 8);
  const std::int64_t last = std::int64_t{3000000000} * 64 * 3 - 1;
  const kernels::attention_tile tile = order.of(last);
  EXPECT_EQ(tile.batch, 2999999999);
  EXPECT_EQ(tile.head, 63);
  EXPECT_EQ(tile.tile, 0);
}

// Workgroups that take tiles by turns take each once, and work alike: a tile costs as many steps as
// its place under a causal mask, and half a step more.
TEST(attention_sections, take_each_tile_once_and_share_evenly) {
  const struct {
    std::int64_t batches, heads, tiles, workgroups;
    double most; // times the average
  } cases[] = {{16, 16, 8, 132, 1.07},  {8, 16, 16, 132, 1.07},  {4, 16, 32, 132, 1.07},
               {2, 16, 64, 132, 1.07},  {1, 16, 128, 132, 1.07}, {3, 29, 24, 132, 1.07},
               {1, 8, 256, 132, 1.07},  {16, 32, 6, 132, 1.07},  {1, 32, 86, 132, 1.07},
               {1, 1, 1, 1, 1.0},       {2, 3, 5, 30, 2.0},      {5, 7, 3, 4, 1.1},
               {1, 1000, 1, 132, 1.07}, {1, 1, 4000, 3, 1.01}};
  for (const auto& c : cases) {
    const kernels::tile_sections sections(c.batches, c.heads, c.tiles, c.workgroups);
    ASSERT_EQ(sections.tiles, c.batches * c.heads * c.tiles);
    std::vector<int> seen(static_cast<std::size_t>(sections.tiles));
    double all = 0, most = 0;
    for (std::int64_t own = 0; own < c.workgroups; ++own) {
      double steps = 0;
      for (std::int64_t turn = 0;; ++turn) {
        const std::int64_t number = kernels::tile_sections::number_of(turn, own, c.workgroups);
        if (number >= sections.tiles)
          break;
        const kernels::attention_tile tile = sections.of(number);
        ASSERT_TRUE(tile.batch >= 0 && tile.batch < c.batches && tile.head >= 0 &&
                    tile.head < c.heads && tile.tile >= 0 && tile.tile < c.tiles);
        ++seen[static_cast<std::size_t>((tile.batch * c.heads + tile.head) * c.tiles + tile.tile)];
        steps += static_cast<double>(tile.tile) + 1.5;
      }
      all += steps;
      most = std::max(most, steps);
    }
    for (const int times : seen)
      ASSERT_EQ(times, 1);
    EXPECT_LE(most, c.most * all / static_cast<double>(c.workgroups))
        << c.batches << " x " << c.heads << " heads of " << c.tiles << " tiles";
  }
}

TEST(attention_sections, count_in_64_bits) {
  const kernels::tile_sections sections(3000000000, 64, 3, 132);
  const kernels::attention_tile tile = sections.of(sections.tiles - 1);
  EXPECT_EQ(tile.batch, 2999999999);
  EXPECT_EQ(tile.head, 63);
  EXPECT_EQ(tile.tile, 0);
}

TEST(attention_visibility, ends_rise) {
  const auto causal = kernels::visibility_of(true, causal_anchor::bottom_right, {});
  EXPECT_EQ(causal.of(0, 2, 5).end, 4);
  EXPECT_EQ(causal.of(1, 2, 5).end, 5);
  EXPECT_EQ(causal.of(0, 5, 2).end, 0);
  const auto far = kernels::visibility_of(false, causal_anchor::top_left, {3000000000, 3000000000});
  EXPECT_EQ(far.of(7, 10, 100).begin, 0);
  EXPECT_EQ(far.of(7, 10, 100).end, 100);
}

// A decode step: rows of one wave, so that waves share keys; parts are whole steps of those.
TEST(attention_decode_plan, shares_keys_where_rows_are_few) {
  attention_problem p;
  p.head = {128, 128};
  p.batch = 4;
  p.q_heads = 32;
  p.kv_heads = 8;
  p.queries = 1;
  p.keys = 5000;
  attention_decode_plan few = plan_decode(p, mi300x, 0);
  ASSERT_TRUE(few.outcome.ok());
  EXPECT_TRUE(few.tiles.config.shares_keys);
  EXPECT_EQ(few.tiles.config.rows(), 32);
  EXPECT_EQ(few.tiles.config.keys, 128);
  EXPECT_EQ(few.tiles.lds_bytes, 65536);
  EXPECT_EQ(few.groups, 4 * 8);
  EXPECT_EQ(few.part_keys, 5120);
  EXPECT_EQ(few.tiles.computed_scores, 4 * 8 * 157 * 32 * 32); // 157 slices of 32 keys
  EXPECT_EQ(few.best_workspace_bytes, 10 * 4 * 32 * 129 * 4);
  EXPECT_EQ(few.parts_in_turn, 1); // more on NVIDIA GPUs only
  few = plan_decode(p, mi300x, few.best_workspace_bytes);
  EXPECT_EQ(few.parts, 10);
  EXPECT_EQ(few.part_keys, 512);
  EXPECT_EQ(few.groups, 10 * 4 * 8);
  p.queries = 8; // with 4 heads 32 rows
  EXPECT_TRUE(plan_decode(p, mi300x, 0).tiles.config.shares_keys);
  p.queries = 9;
  EXPECT_FALSE(plan_decode(p, mi300x, 0).tiles.config.shares_keys);
  p.queries = 1;
  for (const int head : {80, 192, 256}) {
    p.head = {head, head};
    EXPECT_FALSE(plan_decode(p, mi300x, 0).tiles.config.shares_keys) << head;
  }
}

/// Every access to the tiles, at every place: as many clocks as the layout's proof says.
template <class T, attention_config Config>
void check_layouts() {
  using tiles = kernels::attention_tiles<T, Config>;
  const layout key = tiles::key_choice.chosen, value = tiles::value_choice.chosen;
  const auto expect_free = [&](const layout& where, const lds_access& access, const char* what) {
    EXPECT_TRUE(conflict_free(where, targets::gfx942, access))
        << what << ", heads of " << Config.head.qk << " and " << Config.head.v;
  };
  for (int row = 0; row < tiles::keys; row += 32)
    for (int k = 0; k < Config.head.qk; k += tiles::key_operand::depth)
      expect_free(key, tiles::key_operand::access_at(row, k), "read of K");
  for (int row = 0; row < tiles::value_rows; row += 32)
    for (int k = 0; k < tiles::keys; k += tiles::value_operand::depth)
      expect_free(value, tiles::value_operand::access_at(row, k), "read of V");
  // the addresses that the kernels compute are those of the reads
  const int own = Config.keys_of_wave();
  for (int first = 0; first < Config.keys; first += own) // of a wave
    for (int lane = 0; lane < 64; ++lane) {
      const typename tiles::key_offsets key_at(lane, first, 0);
      const typename tiles::value_offsets value_at(lane, 0, first);
      for (int row = 0; row < own; row += 32)
        for (int k = 0; k < Config.head.qk; k += tiles::key_operand::depth) {
          const coordinate place = tiles::key_operand::place(lane, first + row, k);
          ASSERT_EQ(key_at.at(row, k), key.offset(place.row, place.column));
        }
      for (int row = 0; row < tiles::value_rows; row += 32)
        for (int k = 0; k < own; k += tiles::value_operand::depth) {
          const coordinate place = tiles::value_operand::place(lane, row, first + k);
          ASSERT_EQ(value_at.at(row, k), value.offset(place.row, place.column));
        }
    }
  // a wave's keys lie in the block of 16 of its lane 0 or, where the loader expects that, the next
  for (int number = 0; number < tiles::keys_per_thread * Config.threads(); ++number) {
    const int block = tiles::key_unit_of(number / 64 * 64).key / 16;
    const int most = kernels::chunk_group(tiles::key_chunks) < 4 ? block + 1 : block;
    ASSERT_GE(tiles::key_unit_of(number).key / 16, block);
    ASSERT_LE(tiles::key_unit_of(number).key / 16, most);
  }
  for (int number = 0; number < tiles::values_per_thread * Config.threads(); ++number) {
    const int block = tiles::value_unit_of(number / 64 * 64).key / 16;
    ASSERT_GE(tiles::value_unit_of(number).key / 16, block);
    ASSERT_LE(tiles::value_unit_of(number).key / 16, block + 1);
  }
  std::vector<int> keys_brought(static_cast<std::size_t>(tiles::keys * Config.head.qk));
  std::vector<int> values_brought(static_cast<std::size_t>(tiles::keys * Config.head.v));
  for (int wave = 0; wave * 64 < tiles::key_units; ++wave) {
    expect_free(key,
                lds_write(16,
                          [&](int lane) {
                            const int number = 64 * wave + lane;
                            const kernels::key_unit unit = tiles::key_unit_of(number);
                            if (number >= tiles::key_units)
                              return inactive_lane;
                            for (int e = 0; e < 8; ++e)
                              ++keys_brought[static_cast<std::size_t>(unit.key * Config.head.qk +
                                                                      unit.element + e)];
                            return coordinate{unit.key, unit.element};
                          }),
                "write of K");
  }
  for (int wave = 0; wave * 64 < tiles::value_units; ++wave)
    for (int e = 0; e < 8; ++e)
      expect_free(value,
                  lds_write(8,
                            [&](int lane) {
                              const int number = 64 * wave + lane;
                              const kernels::value_unit unit = tiles::value_unit_of(number);
                              if (number >= tiles::value_units || unit.element >= Config.head.v)
                                return inactive_lane;
                              for (int i = 0; i < 4; ++i)
                                ++values_brought[static_cast<std::size_t>(
                                    (unit.key + i) * Config.head.v + unit.element + e)];
                              return coordinate{unit.element + e, unit.key};
                            }),
                  "write of V");
  for (const auto* brought : {&keys_brought, &values_brought})
    for (const int times : *brought)
      ASSERT_EQ(times, 1);
  EXPECT_EQ(Config.lds_bytes(),
            static_cast<std::int64_t>(sizeof(typename tiles::storage)) * Config.buffers());
}

template <int Index>
void check_layouts_from() {
  if constexpr (Index < attention_head_count) {
    using enum kernels::attention_form;
    check_layouts<bf16, kernels::attention_config_of(attention_heads[Index])>();
    check_layouts<bf16, kernels::attention_config_of(attention_heads[Index], prefill, 1)>();
    check_layouts<bf16, kernels::attention_config_of(attention_heads[Index], prefill, 0,
                                                     mask_kind::additive)>();
    check_layouts<bf16, kernels::attention_config_of(attention_heads[Index], cache, 1)>();
    check_layouts_from<Index + 1>();
  }
}
// Waves alternate in tiles of 256 rows where each CU has one; the option overrules that.
TEST(attention_plan, alternates_where_there_are_enough_rows) {
  const device_info device = describe_device("gfx942", 304, 8);
  attention_problem problem;
  problem.batch = 2;
  problem.q_heads = problem.kv_heads = 16;
  problem.keys = 1000;
  problem.queries = 9 * 256; // 288 such tiles
  EXPECT_FALSE(plan(problem, device).config.alternates);
  EXPECT_EQ(plan(problem, device).tiles, 18);
  problem.queries += 1; // 320
  const attention_plan many = plan(problem, device);
  ASSERT_TRUE(many.outcome.ok());
  EXPECT_TRUE(many.config.alternates);
  EXPECT_EQ(many.tiles, 10);
  EXPECT_EQ(many.groups, 320);
  EXPECT_EQ(many.config.threads(), 512);
  EXPECT_EQ(many.lds_bytes, 65536);
  EXPECT_EQ(many.register_limit, 256);
  EXPECT_NE(std::string(many.describe().c_str()).find("8 waves that alternate"), std::string::npos);
  // what is computed does not depend on it
  problem.kernel = attention_choice::independent;
  EXPECT_FALSE(plan(problem, device).config.alternates);
  EXPECT_EQ(plan(problem, device).computed_scores, many.computed_scores);
  problem.kernel = attention_choice::alternating;
  problem.queries = 1;
  EXPECT_TRUE(plan(problem, device).config.alternates);
}

TEST(attention_tiles, have_no_conflicts_anywhere) {
  check_layouts_from<0>();
}

} // namespace
