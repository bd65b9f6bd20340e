#!/usr/bin/env bash
# Runs rocPRIM's own tests, as Debian builds them for gfx942, on wavesim.
#
#   bash tests/peers/rocprim.sh [--timeout SECONDS] [--all | NAME...]
#
# Gets the newest librocprim-tests and the C library it was built with (unpacked beside, nothing is
# installed), runs every binary without its *Large* cases, and prints a table. By default the ones that
# must pass; --all adds the rest. Needs Debian on amd64, 4 GB of disk and a built preset sim.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
prefix=$source_dir/build/peers/rocprim
runtime=$source_dir/build/sim/wavesim
seconds=900

required=(test_warp_{exchange,load,reduce,scan,scan_disable_dpp,sort,store}
  test_block_{adjacent_difference,discontinuity,exchange,histogram,load_store,radix_rank,radix_sort,reduce}
  test_block_{run_length_decode,scan,shuffle,sort_bitonic,sort_merge,sort_merge_stable}
  test_intrinsics test_hipgraph_{algs,basic} test_thread_algos
  test_device_{reduce,scan,merge,merge_sort,radix_sort,select,partition,histogram,run_length_encode}
  test_device_{reduce_by_key,segmented_reduce,transform,binary_search,nth_element,adjacent_difference}
  test_device_{adjacent_find,find_end,find_first_of,batch_memcpy})
# These pass on a runtime that executes nothing, so a pass says nothing.
empty=" test_accumulator_t test_bit_cast test_intrinsics_atomic test_invoke_result \
test_lookback_reproducibility test_no_half_operators test_radix_key_codec test_rocprim_tuple \
test_rocprim_types test_texture_cache_iterator test_type_traits_interface_cpp17 \
test_type_traits_interface_cpp20 test_type_traits_interface_gnupp17 test_type_traits_interface_gnupp20 "

say() { echo "rocprim.sh: $*" >&2; }
die() {
  printf '%s\n' "rocprim.sh: $1" "${@:2}" >&2
  exit 1
}

# shellcheck source=../../cmake/setup-packages.sh
. "$source_dir/cmake/setup-packages.sh"
# shellcheck source=../../cmake/setup-hip.sh
. "$source_dir/cmake/setup-hip.sh"

get_tests() {
  [ -e "$prefix/complete" ] && return
  is_debian && [ "$(dpkg --print-architecture)" = amd64 ] || die "this needs Debian on amd64"
  mkdir -p "$prefix"
  start_private_apt
  local tests package names=()
  tests=$(versions_of librocprim-tests | head -n 1)
  [ -n "$tests" ] || die "no suite of Debian offers librocprim-tests"
  for package in libc6 libstdc++6 libgcc-s1; do
    names+=("$package=$(versions_of "$package" | head -n 1)")
  done
  say "downloading librocprim-tests $tests (1.6 GB) and ${names[*]}"
  unpack_packages "$prefix/root" "librocprim-tests=$tests" "${names[@]}" || die "the download failed"
  rm -rf "$apt_state"
  echo "$tests" > "$prefix/complete"
}

# "pass|FAIL|too long|stopped" and why, after a run whose output is in the log.
verdict() { # <exit code> <log>
  local reason
  reason=$(sed -n 's/^wavesim: stop: //p' "$2" | head -n 1 | cut -c 1-70)
  case $1 in
    0) echo "pass|" ;;
    124 | 137) echo "too long|" ;;
    70) echo "stopped|$reason" ;;
    *) echo "FAIL|$(grep -c '^\[  FAILED  \] .*)$' "$2") cases" ;;
  esac
}

# The tests free and allocate up to gigabytes in every case. glibc gives such memory back to the system
# each time, and on a virtual machine to have it again can cost more than everything else.
tunables=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=1099511627776:glibc.malloc.hugetlb=1

# A case of this one holds three times as much on the host as on the device, which by default has half of the
# machine's memory. Where the device is too small the test leaves a size out and says so.
quarter=$(awk '/^MemTotal/ { printf "%d", $2 * 256 }' /proc/meminfo)

run() { # <name>
  local name=$1 code begin=$SECONDS log=$prefix/logs/$1.log result spent left_out
  local settings=(GLIBC_TUNABLES=$tunables)
  [ "$1" != test_device_merge_sort ] || settings+=("WAVESIM_MEMORY=${WAVESIM_MEMORY:-$quarter}")
  spent=$(
    TIMEFORMAT='%U %S'
    { time env "${settings[@]}" timeout "$seconds" \
      "$root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" \
      --library-path "$root/usr/lib/x86_64-linux-gnu:$runtime:$folder:$llvm:/usr/lib/x86_64-linux-gnu" \
      "$folder/$name" --gtest_filter='-*Large*' > "$log" 2>&1; } 2>&1
    echo $?
  )
  code=${spent##*$'\n'}
  result=$(verdict "$code" "$log")
  [[ $empty != *" $name "* ]] || result="proves nothing|"
  left_out=$(grep -c '^Out of memory. Skipping test for size' "$log" || true)
  [ "$left_out" = 0 ] || result+=" $left_out sizes left out by the test: device memory"
  printf '%-42s %-14s %5s cases %5d s, of processors %5.0f s  %s\n' "$name" "${result%%|*}" \
    "$(grep -c '^\[       OK' "$log" || true)" $((SECONDS - begin)) \
    "$(head -n 1 <<< "$spent" | awk '{ print $1 + $2 }')" "${result#*|}"
  [ "$code" = 0 ] || failed+=("$name")
}

names=()
while [ $# -gt 0 ]; do
  case $1 in
    --timeout) seconds=$2 && shift ;;
    --all) names=(all) ;;
    -*) die "unknown option $1" ;;
    *) names+=("$1") ;;
  esac
  shift
done

[ -e "$runtime/libamdhip64.so.7" ] ||
  die "$runtime/libamdhip64.so.7 is missing: run tests/run.sh, or cmake --build --preset sim"
get_tests
root=$prefix/root
folder=$root/usr/libexec/rocm/librocprim-tests
llvm=$(dirname "$(ldd "$runtime/libamdhip64.so.7" | awk '/libLLVM/ {print $3; exit}')")
mkdir -p "$prefix/logs"
if [ ${#names[@]} = 0 ]; then
  names=("${required[@]}")
elif [ "${names[0]}" = all ]; then
  mapfile -t others < <(cd "$folder" && ls -d test_* | grep -vxF "$(printf '%s\n' "${required[@]}")")
  names=("${required[@]}" "${others[@]}")
fi

echo "librocprim-tests $(cat "$prefix/complete"), $(nproc) cores, at most $seconds s each"
failed=()
for name in "${names[@]}"; do
  [ -x "$folder/$name" ] || die "there is no test $name in the package"
  run "$name"
done
bad=0
for name in "${failed[@]}"; do
  [[ " ${required[*]} " != *" $name "* ]] || bad=$((bad + 1))
done
echo "${#names[@]} binaries, ${#failed[@]} not passed, $bad of these must pass"
[ $bad = 0 ]
