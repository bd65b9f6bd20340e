#!/usr/bin/env bash
# Runs a representative set of the device suites under compute-sanitizer's four tools, side by side.
#
#   bench/cuda_sanitize.sh BIN REPORT
#
# BIN holds the suites (build/cuda/bin); REPORT gets sanitizers.log and one log for each run. A line for each run says
# what became of it, its seconds and the tests that ran; the last line how many runs were clean. The exit code is 1
# unless all were: a finding, a failed test, a filter that no test matches and a run out of time all count.
# Environment: JOBS (all cores), LIMIT_EACH (300 s) for one run and LIMIT_ALL (400 s) for all: what is not done by then
# is ended. ONLY: an extended regular expression, which runs, by tool and name: ONLY='^racecheck .*clusters'.
set -euo pipefail
[ $# = 2 ] || {
  echo "usage: bench/cuda_sanitize.sh BIN REPORT" >&2
  exit 2
}
bin=$1 report=$2
[ -d "$bin" ] || {
  echo "bench/cuda_sanitize.sh: there is no folder $bin" >&2
  exit 2
}
for name in JOBS LIMIT_EACH LIMIT_ALL; do
  [[ ${!name-1} =~ ^[1-9][0-9]*$ ]] || {
    echo "bench/cuda_sanitize.sh: $name is '${!name}', allowed: whole numbers from 1 on" >&2
    exit 2
  }
done

# Name, suite and GTest filter; those that take longest first, suites of many tests in slices that run side by side.
# Every kernel family is here, every type of element that has code of its own, and ragged edges. Left out are
# - suites that differ by the element type alone (attention, reductions, norms): one of them stays;
# - of products of 8 and 64 bits what differs from bf16 by nothing else: factors, batches, large tiles, exact sums;
# - what strides and addresses change in clusters of fp16: bf16 has the same;
# - of attention by warpgroups the one of many tiles, most of which is the reference: others have many, too;
# - norms of rows that lie gigabytes apart: a shadow of all that memory;
# - from racecheck, of clusters all but agreement with the reference: one test takes up to three minutes;
# - from racecheck, clusters whose places in LDS are used again: Compute Sanitizer 2025.3 does not take account of
#   __syncwarp before one lane arrives at a barrier for all. (Seen with a kernel in which a warp reads what another writes
#   in turns: hazards for every lane but the one that arrives, with __syncwarp or a shuffle before; none where all lanes
#   arrive. So it is with the clusters' ring: made to arrive with all lanes, it has none.)
# - from synccheck, clusters of more than 8 workgroups that follow each other on an SM: Compute Sanitizer 2025.3 mistakes
#   barriers of their ninth and later workgroups for others, "Missing init" and "Missing wait". (Seen with a kernel in which
#   one lane starts a barrier, arrives and waits: no error in clusters of 8, 25 to 51 in clusters of 9.)
suites() {
  local short='*sizes_around*:*few_rows*:*few_aligned_rows*:*padded*:*k_in_parts*'
  local widths='softmax_widths*:softmax_mixed_types*:softmax_many_rows*'
  local values='softmax_special*:softmax_magnitudes*:softmax_nan_bits*'
  cat << END
softmax_clusters_fp32_agree softmax_test softmax_clusters/0.agree*
softmax_clusters_bf16_agree softmax_test softmax_clusters/2.agree*
norm_clusters_rms_agree norm_test norm_clusters.rms_agree*
norm_clusters_layer_agree norm_test norm_clusters.layer_agree*
norm_clusters_memory_agree norm_test norm_clusters_with_workspace.agree*
softmax_million softmax_test softmax_layout/*.a_million_columns
softmax_clusters_fp32 softmax_test softmax_clusters/0.*-*.agree*:*.rows_have*
softmax_clusters_bf16 softmax_test softmax_clusters/2.*-*.agree*
softmax_clusters_over_8 softmax_test softmax_clusters/0.rows_have*
softmax_clusters softmax_test softmax_cluster*-softmax_clusters/0.*:softmax_clusters/2.*:*.strides*:*_in_turn.*
softmax_clusters_in_turn softmax_test softmax_clusters_in_turn.*
norm_clusters_of_one_in_turn norm_test norm_clusters_in_turn.of_one_workgroup
norm_clusters_of_one_residual_in_turn norm_test norm_clusters_in_turn.of_one_workgroup_with_residual
norm_clusters_of_eight_in_turn norm_test norm_clusters_in_turn.of_eight_workgroups
norm_clusters_memory_in_turn norm_test norm_clusters_in_turn.through_memory
norm_clusters_strides norm_test norm_clusters*.strides*
norm_clusters_over_8 norm_test norm_clusters.infinities*
norm_clusters norm_test norm_cluster*-*.strides*:*.infinities*:norm_clusters_in_turn.*:norm_clusters.*agree*:norm_clusters_with_workspace.agree*
attention_warpgroups_ragged attention_warpgroup_test *.ragged
attention_warpgroups attention_warpgroup_test -*.ragged:*.many_tiles
matmul_values matmul_values_test *
group group_test *
softmax_widths softmax_test $widths
softmax_values softmax_test $values
softmax softmax_test -softmax_cluster*:$widths:$values:*a_million_columns
matmul_bf16 matmul_bf16_test *
attention_decode attention_decode_bf16_test *
attention_masks attention_masks_bf16_test *
attention_lengths attention_lengths_bf16_test *
attention_options attention_options_bf16_test *
layer_norm layer_norm_float_test *
rms_norm rms_norm_bf16_test *
reduce reduce_bf16_test *
norm_split norm_split_test *
matmul_grouped matmul_grouped_test *
matmul_fp64 matmul_fp64_test $short
matmul_fp8 matmul_fp8_test $short
matmul_int8 matmul_int8_test $short
attention_append attention_append_bf16_test *
norms norm_test -norm_cluster*:*beyond_32_bits*
lds lds_device *
matrix warp_device_test *
matmul_epilogue matmul_epilogue_test *
matmul_forced matmul_forced_test *
copy group_copy_test *
shuffle wave_shuffle_test *
scan wave_scan_test *
END
}

runs() {
  local name suite filter tool
  suites | while read -r name suite filter; do
    for tool in racecheck memcheck initcheck synccheck; do
      case $tool:$name in
        racecheck:*_clusters*_agree) ;;
        racecheck:*_clusters* | synccheck:*_over_8) continue ;;
      esac
      [[ "$tool $name" =~ ${ONLY:-.} ]] || continue
      echo "$tool $name $suite $filter"
    done
  done
}

check() { # <tool> <name> <suite> <filter>
  local log=$report/$1-$2.log begin=$SECONDS left=$((ends - $(date +%s))) code=0 ran skipped what
  if [ $left -le 0 ]; then
    echo "[cuda] $1 $2: NOT STARTED, $LIMIT_ALL s are over"
    return 1
  fi
  [ $left -lt "$LIMIT_EACH" ] || left=$LIMIT_EACH
  # tests provoke errors of the runtime's: those are not reported. Barriers of a workgroup: loops start them, which the
  # tools do not count, and of those that they have no room for they say that nobody started them.
  GTEST_FILTER=$4 timeout -k 5 "$left" compute-sanitizer --tool "$1" --report-api-errors no --num-cuda-barriers 256 \
    --error-exitcode 1 "$bin/$3" > "$log" 2>&1 || code=$?
  ran=$(sed -n 's/^\[==========\] \([0-9]*\) tests\? .* ran\..*/\1/p' "$log")
  skipped=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) tests\?,.*/\1/p' "$log")
  ran=$((${ran:-0} - ${skipped:-0}))
  what=$(grep -E 'SUMMARY|^\[  FAILED  \] [0-9]' "$log" | sed 's/^=* *//' | tr '\n' ' ')
  [ -n "$what" ] || what=$(tail -n 1 "$log")
  case $code in
    0) [ $ran != 0 ] && code=clean || code="FAILED, no test ran" ;;
    124 | 137)
      code="TIMED OUT" what="nothing found until then"
      [ "$(grep -c '^========= ' "$log")" -le 1 ] || what="findings are in its log"
      ;;
    *) code=FAILED ;;
  esac
  echo "[cuda] $1 $2: $code, $((SECONDS - begin)) s, $ran tests, ${what% }"
  [ "$code" = clean ]
}
total=$(runs | wc -l)
[ "$total" != 0 ] || {
  echo "bench/cuda_sanitize.sh: ONLY is '${ONLY-}', which no run matches: they are 'TOOL NAME', 'racecheck lds' say" >&2
  exit 2
}
command -v compute-sanitizer > /dev/null || PATH=$PATH:/usr/local/cuda/bin
command -v compute-sanitizer > /dev/null || {
  echo "bench/cuda_sanitize.sh: compute-sanitizer is neither on the PATH nor in /usr/local/cuda/bin" >&2
  exit 1
}
mkdir -p "$report"
export -f check
export bin report LIMIT_EACH=${LIMIT_EACH:-300} LIMIT_ALL=${LIMIT_ALL:-400}
export ends=$(($(date +%s) + LIMIT_ALL))
# the filter's stars are for GTest
runs | xargs -P "${JOBS:-$(nproc)}" -L 1 bash -fc 'check "$@"' check | tee "$report/sanitizers.log" || true
clean=$(grep -c ': clean, ' "$report/sanitizers.log" || true)
echo "[cuda] compute-sanitizer: $clean of $total runs clean in $SECONDS s" | tee -a "$report/sanitizers.log"
[ "$clean" = "$total" ]
