/// \file
/// How an attention problem would run.
#pragma once

#include <wavetile/core/device_check.hpp>
#include <wavetile/core/math.hpp>
#include <wavetile/core/numeric_traits.hpp>
#include <wavetile/kernels/attention/config.hpp>
#include <wavetile/kernels/attention/count_scores.hpp>
#include <wavetile/kernels/attention/visibility.hpp>
#include <wavetile/kernels/rows/causal.hpp>
#include <wavetile/kernels/rows/cluster.hpp>
#include <wavetile/kernels/softmax/config.hpp>

namespace wavetile {

/// Keys that a query sees around its own place; -1: no limit on that side. As with `causal`, the
/// place of query q is key q + (keys - queries), or q with `causal_anchor::top_left`.
struct attention_window {
  int64_t left = -1;
  int64_t right = -1;
};

/// Shape and types of an attention problem; made from views by `attention_problem_of`, or by hand.
/// For sequences of different lengths: the longest.
struct attention_problem {
  data_type input = data_type::bf16;  ///< q, k, v
  data_type output = data_type::bf16; ///< o
  mask_kind mask = mask_kind::none;
  attention_head head{128, 128};
  int64_t batch = 1;
  int64_t q_heads = 1;
  int64_t kv_heads = 1;
  int64_t queries = 0; ///< of a sequence
  int64_t keys = 0;
  bool causal = false;
  causal_anchor anchor = causal_anchor::bottom_right;
  attention_window window;
  bool lse = false;
  attention_choice kernel = attention_choice::automatic; ///< of arrays

  /// Query heads that share a head of k and v.
  constexpr int64_t group() const { return kv_heads == 0 ? 0 : q_heads / kv_heads; }
};

namespace kernels {

constexpr visibility visibility_of(bool causal, causal_anchor anchor,
                                   const attention_window& window) {
  const auto limit = [](int64_t keys) {
    return keys < 0 || keys > visibility::unlimited ? visibility::unlimited
                                                    : static_cast<int>(keys);
  };
  visibility result;
  result.left = limit(window.left);
  result.right = causal ? 0 : limit(window.right);
  result.bottom_right = anchor == causal_anchor::bottom_right;
  return result;
}

/// What a call, or a problem made by hand, may have as window.
constexpr status check_window(bool causal, const attention_window& window) {
  const struct {
    const char* name;
    int64_t value;
  } sides[] = {{"window.left", window.left}, {"window.right", window.right}};
  for (const auto& side : sides)
    if (side.value < -1)
      return status::failure(status_code::invalid_argument, side.name, side.value,
                             ">= 0, or -1 for no limit");
  if (causal && window.right > 0)
    return status::failure(status_code::invalid_argument, "window.right", window.right,
                           "-1 or 0 with causal, which hides all keys to the right");
  return {};
}

constexpr const attention_head* find_attention_head(const attention_head& head) {
  for (const attention_head& known : attention_heads)
    if (known == head)
      return &known;
  return nullptr;
}

} // namespace kernels

/// What `attention` does with a problem; it computes this plan and follows it.
struct attention_plan {
  /// Success, or why the problem cannot run: `unsupported_shape` for a head without a kernel or
  /// counts out of range, `wrong_architecture`, or a problem made by hand that no call could have
  /// (`invalid_argument`, `unsupported_type`).
  status outcome;
  attention_config config;
  int64_t packed_heads = 1;    ///< query heads of which one tile interleaves the rows
  int64_t tiles = 0;           ///< of rows, for each batch and `packed_heads` heads
  int64_t groups = 0;          ///< workgroups
  int xcds = 1;                ///< runs of tiles, one to each L2
  int64_t lds_bytes = 0;       ///< LDS of a workgroup, at most
  int register_limit = 0;      ///< vector registers a lane may have; of 9.0 in code for sm_90a
  int64_t workspace_bytes = 0; ///< used: none
  int64_t visible_scores = 0;  ///< pairs of query and key that the causal mask and window leave
  /// With the hidden ones of blocks that are partly visible, as often as waves repeat them.
  int64_t computed_scores = 0;
  int64_t flops = 0;          ///< 2 (qk + v) for each visible score
  int64_t min_bytes_read = 0; ///< q, k, v once
  int64_t min_bytes_written = 0;

  /// The plan in words.
  constexpr fixed_text<800> describe() const;
};

namespace kernels {

/// Queries over a cache have no mask by array, and their places end at the last key.
constexpr status check_cache_problem(const attention_problem& problem) {
  const status mask = wavetile::detail::check_enumerator("mask", problem.mask, mask_kind::none,
                                                         "none, for queries over a cache");
  return !mask ? mask
               : wavetile::detail::check_enumerator("anchor", problem.anchor,
                                                    causal_anchor::bottom_right,
                                                    "bottom_right, for queries over a cache");
}

/// The plan of either form.
constexpr attention_plan plan_attention(const attention_problem& problem, const device_info& device,
                                        attention_form form) {
  attention_plan result;
  const auto is_16_bit = [](data_type type) {
    return type == data_type::fp16 || type == data_type::bf16;
  };
  const status checks[] = {
      wavetile::detail::check_enumerator("mask", problem.mask, mask_kind::additive,
                                         "none, keep, additive"),
      check_anchor(problem.anchor),
      check_window(problem.causal, problem.window),
      form == attention_form::cache ? check_cache_problem(problem) : status{},
      wavetile::detail::check_data_type("input", problem.input, is_16_bit(problem.input),
                                        "fp16, bf16"),
      wavetile::detail::check_data_type(
          "output", problem.output, is_16_bit(problem.output) || problem.output == data_type::fp32,
          "fp32, fp16, bf16")};
  for (const status& outcome : checks)
    if (!outcome) {
      result.outcome = outcome;
      return result;
    }
  const attention_head* head = find_attention_head(problem.head);
  if (head == nullptr) {
    result.outcome = status::failure(status_code::unsupported_shape, "head.qk", problem.head.qk, "")
                         .append(attention_heads_text)
                         .append(" (head.v = ")
                         .append(problem.head.v)
                         .append(")");
    return result;
  }
  const struct {
    const char* name;
    int64_t value, most;
  } counts[] = {{"batch", problem.batch, int64_t{1} << 62},
                {"q_heads", problem.q_heads, int64_t{1} << 31},
                {"kv_heads", problem.kv_heads, int64_t{1} << 31},
                {"queries", problem.queries, visibility::unlimited - 1},
                {"keys", problem.keys, visibility::unlimited - 1}};
  for (const auto& count : counts)
    if (count.value < 0 || count.value > count.most) {
      result.outcome =
          status::failure(status_code::unsupported_shape, count.name, count.value, "0 to ")
              .append(count.most);
      return result;
    }
  if (problem.q_heads != 0 && (problem.kv_heads == 0 || problem.q_heads % problem.kv_heads != 0)) {
    result.outcome = status::failure(status_code::unsupported_shape, "kv_heads", problem.kv_heads,
                                     "a divisor of q_heads, ")
                         .append(problem.q_heads);
    return result;
  }
  result.outcome = check_device(device);
  result.xcds = device.xcd_count < 1 ? 1 : device.xcd_count;
  const int64_t group = problem.group();
  constexpr int64_t few_queries = 16;
  if (group > 1 && problem.queries <= few_queries)
    result.packed_heads = group;
  const auto product = [](int64_t a, int64_t b) { return saturated_product(a, b); };
  const int64_t rows = product(problem.queries, result.packed_heads);
  const int64_t outer = product(problem.batch, problem.q_heads / result.packed_heads);
  attention_cut_facts facts{form, rows, outer, device.cu_count};
#if WAVETILE_CUDA
  facts.warpgroups = has_cluster_code(device);
#endif
  int cut = attention_cut_for(facts);
  if (problem.kernel != attention_choice::automatic) {
    const bool known = problem.kernel == attention_choice::independent ||
                       problem.kernel == attention_choice::alternating;
    if ((form != attention_form::prefill || !known) && result.outcome.ok())
      result.outcome = status::failure(
          status_code::invalid_argument, "kernel", static_cast<int64_t>(problem.kernel),
          form == attention_form::prefill ? "automatic, independent, alternating"
                                          : "automatic, for queries over a cache");
    const bool alternating = problem.kernel == attention_choice::alternating;
    cut = alternating ? 1 : attention_independent_cut(facts);
    if (alternating && (!attention_alternates(*head) || problem.mask != mask_kind::none) &&
        result.outcome.ok())
      result.outcome =
          status::failure(status_code::unsupported_shape, "kernel",
                          "alternating exists on gfx942 for heads of 128 without a mask by array");
  }
  const attention_config config = attention_config_of(*head, form, cut, problem.mask);
  result.config = config;
  result.register_limit = config.register_limit();
  result.lds_bytes = config.lds_bytes();
  result.tiles = divide_up(rows, config.rows());
  result.groups = config.workgroups(product(outer, result.tiles), device.cu_count);

  const auto visible = visibility_of(problem.causal, problem.anchor, problem.window);
  const auto queries = static_cast<int>(problem.queries);
  const auto keys = static_cast<int>(problem.keys);
  const int64_t heads = product(problem.batch, problem.q_heads);
  result.visible_scores = product(heads, visible_keys(visible, queries, keys));
  result.computed_scores =
      product(product(outer, wave_steps(visible, queries, keys, result.packed_heads,
                                        config.rows_of_wave(), config.keys_of_wave())),
              config.rows_of_wave() * config.keys_of_wave() * config.score_copies());
  result.flops = product(2 * (problem.head.qk + problem.head.v), result.visible_scores);
  const int64_t input = size_of(problem.input);
  const int64_t q_bytes =
      product(product(heads, problem.queries), input * int64_t{problem.head.qk});
  const int64_t kv_bytes = product(product(product(problem.batch, problem.kv_heads), problem.keys),
                                   input * (int64_t{problem.head.qk} + problem.head.v));
  result.min_bytes_read = saturated_sum(q_bytes, kv_bytes);
  result.min_bytes_written =
      product(product(heads, problem.queries),
              problem.head.v * size_of(problem.output) + (problem.lse ? int64_t{4} : int64_t{0}));
  return result;
}

} // namespace kernels

/// The plan for a problem on a device. Pure: no runtime call, usable for devices that are not there
/// (`describe_device("gfx942", 304, 8)`). Takes the same time for any extents. Counts that do not
/// fit 63 bits, as those of a batch with strides of 0 may be, are 2^63 - 1.
///
/// One kernel, cut by the head. Tiles have 128 rows (NVIDIA GPUs: 64 for more than 128 elements, on
/// compute capability 9.0 192 for heads of 64; on gfx942 256 for heads of 128 elements where each
/// CU gets such a tile, without a mask by array): queries of one head or, with at most 16 queries a
/// sequence, the queries of all heads that share a head of k and v, interleaved, so that K and V
/// are read once for all of them.
constexpr attention_plan plan(const attention_problem& problem, const device_info& device) {
  return kernels::plan_attention(problem, device, kernels::attention_form::prefill);
}

constexpr fixed_text<800> attention_plan::describe() const {
  fixed_text<800> text;
  if (!outcome)
    return text.append(outcome.message());
  if (groups == 0)
    return text.append("nothing to do: the problem is empty");
  text.append(groups)
      .append(" workgroups of ")
      .append(config.threads())
      .append(config.tiles_text())
      .append(config.rows())
      .append(" rows in ")
      .append(config.waves)
      .append(config.waves_text())
      .append(config.keys)
      .append(" keys a step, heads of ")
      .append(config.head.qk)
      .append(" and ")
      .append(config.head.v)
      .append(", ")
      .append(packed_heads)
      .append(" query heads a tile, ")
      .append(tiles)
      .append(" tiles a head in runs over ")
      .append(xcds)
      .append(" XCDs, ")
      .append(lds_bytes)
      .append(" bytes of LDS, at most ")
      .append(register_limit)
      .append(" registers, no workspace, ")
      .append(visible_scores)
      .append(" scores visible and ")
      .append(computed_scores)
      .append(" computed, ")
      .append(flops)
      .append(" flops");
  return text;
}

} // namespace wavetile
