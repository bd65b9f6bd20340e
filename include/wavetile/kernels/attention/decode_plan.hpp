/// \file
/// How attention over a cache would run.
#pragma once

#include <wavetile/kernels/attention/plan.hpp>
#include <wavetile/kernels/attention/problem.hpp>

namespace wavetile {

/// What `attention_decode` does with a problem.
struct attention_decode_plan {
  status outcome;
  attention_plan tiles;  ///< with one workgroup for all keys of a tile
  int64_t parts = 1;     ///< workgroups that share the keys of a tile
  int64_t part_keys = 0; ///< keys of a part
  /// Parts that a workgroup takes one after the other: more than 1 on NVIDIA GPUs only, where all
  /// waves share the rows.
  int64_t parts_in_turn = 1;
  int64_t groups = 0;          ///< workgroups of the first kernel
  int launches = 0;            ///< kernels: 1, with parts 2
  int64_t workspace_bytes = 0; ///< used
  /// Workspace with which the keys would be shared out; 0 where that is of no use.
  int64_t best_workspace_bytes = 0;
};

/// The plan for a problem whose `keys` is the longest sequence, with a workspace of some bytes.
///
/// Parts have about 512 keys, and there are at most 64: both follow from the number of keys alone,
/// so a sequence's result does not depend on how many others there are. Without a workspace one
/// workgroup takes all keys.
///
/// Where a cut can (`attention_takes_parts_in_turn`), it takes them part by part, and the result
/// has the bits of a call with a workspace. Tiles that fill the device by themselves, seven eighths
/// of the places for workgroups in all rounds, are always taken so: without results of parts in
/// memory and a second kernel, which on an H200 are 5 to 8 % of the time.
constexpr attention_decode_plan plan_decode(const attention_problem& problem,
                                            const device_info& device, int64_t workspace_bytes) {
  attention_decode_plan result;
  result.tiles = kernels::plan_attention(problem, device, kernels::attention_form::cache);
  result.outcome = result.tiles.outcome;
  if (result.outcome.ok())
    result.outcome = detail::check_count("workspace_bytes", workspace_bytes);
  if (!result.outcome)
    return result;
  constexpr int64_t least = 512, most_parts = kernels::most_attention_parts;
  const int64_t wanted = divide_up(problem.keys, least);
  int64_t parts = wanted < 1 ? 1 : wanted < most_parts ? wanted : most_parts;
  const int64_t part_keys =
      round_up(divide_up(problem.keys < 1 ? 1 : problem.keys, parts), result.tiles.config.keys);
  parts = divide_up(problem.keys < 1 ? 1 : problem.keys, part_keys);
  const attention_config& config = result.tiles.config;
  const bool in_turn = kernels::attention_takes_parts_in_turn(config);
  bool fills = false;
  if (in_turn) {
    const int64_t groups = result.tiles.groups;
    const int64_t at_once = device.cu_count * device.facts().workgroups_per_cu(
                                                  config.threads(), config.register_limit(), 0,
                                                  static_cast<int>(config.lds_bytes()));
    const int64_t idle = at_once > 0 ? (at_once - groups % at_once) % at_once : groups;
    fills = idle <= groups / 7; // places in the last round
  }
  const auto product = [](int64_t a, int64_t b) { return kernels::saturated_product(a, b); };
  const int64_t rows = product(product(problem.batch, problem.q_heads), problem.queries);
  const bool shares = parts > 1 && !fills;
  if (shares)
    result.best_workspace_bytes = product(rows, parts * (problem.head.v + 1) * int64_t{4});
  result.part_keys = round_up(problem.keys < 1 ? 1 : problem.keys, config.keys);
  if (in_turn) {
    result.part_keys = part_keys;
    result.parts_in_turn = parts;
  }
  if (shares && workspace_bytes != 0) {
    result.parts_in_turn = 1;
    result.parts = parts;
    result.part_keys = part_keys;
    result.workspace_bytes = result.best_workspace_bytes;
    if (workspace_bytes < result.workspace_bytes)
      result.outcome =
          status::failure(status_code::workspace_too_small, "memory.bytes", workspace_bytes, ">= ")
              .append(result.workspace_bytes)
              .append(", or 0 for one workgroup a tile");
  }
  result.groups = product(result.tiles.groups, result.parts);
  result.launches = result.groups == 0 ? 0 : result.parts > 1 ? 2 : 1;
  return result;
}

} // namespace wavetile
