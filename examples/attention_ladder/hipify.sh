#!/usr/bin/env bash
# What hipify-perl makes of port.cu, and what becomes of that on gfx942: the differences, then the program as it is, with
# masks of 64 bits and with all bits set, each compiled and run (by wavesim where there is no GPU). Needs no root.
#
#   bash examples/attention_ladder/hipify.sh
#
# hipify-perl is the one on PATH or, on Debian, the newest package of its newer suites, unpacked below build/hipify.
set -euo pipefail
if [ $# -gt 0 ]; then
  case $1 in --help | -h)
    if [ $# -eq 1 ]; then
      echo "hipify.sh: shows what hipify-perl makes of port.cu and runs it; it takes no arguments but --help"
      exit 0
    fi
    shift
    ;;
  esac
  echo "hipify.sh: error: there is no argument '$1'; allowed: --help, or none" >&2
  exit 2
fi
# shellcheck source=../../cmake/prepare.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/prepare.sh"
prepare
[ "$preset" != sim ] || cmake --build "$build_dir" -j "$jobs" --target wavesim wavesim_hip > "$build_dir/hipify-build.log" 2>&1
prefix=$source_dir/build/hipify
mkdir -p "$prefix"
# shellcheck source=../../cmake/setup-packages.sh
source "$source_dir/cmake/setup-packages.sh"
# shellcheck source=../../cmake/setup-hip.sh
source "$source_dir/cmake/setup-hip.sh"
say() { printf '[hipify] %s\n' "$*" >&2; }
die() {
  printf '[hipify] error: %s\n' "$@" >&2
  exit 1
}

hipify=$(command -v hipify-perl || echo "$prefix/root/usr/bin/hipify-perl")
if [ ! -f "$hipify" ]; then
  is_debian || die "hipify-perl is not on PATH; it comes with ROCm"
  start_private_apt
  version=$(versions_of hipify-perl | head -n 1)
  [ -n "$version" ] || die "Debian's newer suites offer no hipify-perl"
  unpack_packages "$prefix/root" "hipify-perl=$version" || die "hipify-perl $version could not be had"
  rm -rf "$apt_state"
fi

port=$source_dir/examples/attention_ladder/port.cu
perl "$hipify" -print-stats "$port" > "$prefix/port.hip" 2> "$prefix/statistics"
sed -n '/CONVERTED refs count\|TOTAL lines\|WARNINGS/p' "$prefix/statistics"
diff "$port" "$prefix/port.hip" || true

prepare_compiler
runner=()
link=("-L$rocm/lib" "-Wl,-rpath,$rocm/lib")
if [ "$preset" = sim ]; then
  runner=("$build_dir/bin/wavesim" --)
  link=("-L$build_dir/wavesim" -fuse-ld=lld)
fi
try() { # <what> <file>
  printf '\n== %s\n' "$1"
  if ! "$compiler" -x hip -std=c++20 -O3 --offload-arch=gfx942 "${rocm_flags[@]}" --hip-link "${link[@]}" -lamdhip64 \
    -o "$prefix/port" "$2" > "$prefix/log" 2>&1; then
    grep -o 'error: .*' "$prefix/log" | sort -u || cat "$prefix/log"
    return
  fi
  "${runner[@]}" "$prefix/port" 2>&1 | head -n 4 || true
}
try "as hipify-perl leaves it" "$prefix/port.hip"
sed 's/0xffffffff/0xffffffffull/' "$prefix/port.hip" > "$prefix/wide.hip"
try "masks 0xffffffffull" "$prefix/wide.hip"
sed 's/0xffffffff/~0ull/' "$prefix/port.hip" > "$prefix/all.hip"
try "masks ~0ull" "$prefix/all.hip"
sed 's/0xffffffff, value, step/~0ull, value, step, warp/; s/0xffffffff, value, 0/~0ull, value, 0, warp/' "$prefix/port.hip" > "$prefix/said.hip"
try "masks ~0ull, the width said" "$prefix/said.hip"
