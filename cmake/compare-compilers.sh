#!/usr/bin/env bash
# What two compilers and several architecture flags make of the same kernels: ours, and a softmax as a newcomer writes
# it. Needs no GPU and no root.
#
#   bash cmake/compare-compilers.sh [OUTPUT-FOLDER]        default: build/report/compilers
#
# The newer set is the one of cmake/setup-toolchain.sh (ROCm 7.2 class). The older one is clang 19 of this Debian
# release with the HIP headers 6.4 and rocm-device-libs-17 of Debian's newer suites and of Debian 13, all unpacked below
# build/toolchain-6.4 (WAVETILE_OLDER_DIR). Writes a report of every file, compiler and flag, and compilers.md.
set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
output=${1:-$source_dir/build/report/compilers}
prefix=${WAVETILE_OLDER_DIR:-$source_dir/build/toolchain-6.4}
mkdir -p "$prefix" "$output"
prefix=$(cd "$prefix" && pwd)
# shellcheck source=setup-packages.sh
source "$source_dir/cmake/setup-packages.sh"
# shellcheck source=setup-hip.sh
source "$source_dir/cmake/setup-hip.sh"
say() { printf '[compilers] %s\n' "$*" >&2; }
die() {
  printf '[compilers] error: %s\n' "$@" >&2
  exit 1
}

newest_of() { versions_of "$1" | awk -v wanted="$2" 'index($0, wanted) == 1 && !found {print; found = 1}'; } # <package> <version prefix>

# Device libraries of LLVM 17 are in Debian 13 only, which the lists of setup-hip.sh leave out.
add_trixie() {
  local line
  line=$(sed -n 's/ testing main$/ trixie main/p' "$apt_state/sources.list")
  echo "$line" >> "$apt_state/sources.list"
  private_apt apt-get update -qq > "$apt_state/log" 2>&1 || say "warning: Debian 13 could not be read"
}

set_up_older() {
  local hip libs folder=$prefix/clang
  [ ! -f "$prefix/complete" ] || return 0
  is_debian || die "the older set is put together from Debian's packages, and this is $(os_name)"
  say "fetching clang 19"
  rm -rf "$folder"
  mkdir -p "$folder/debs"
  (cd "$folder/debs" && apt-get download -qq clang-19 libclang-common-19-dev libclang-cpp19 libllvm19 lld-19 llvm-19) \
    > "$prefix/log" 2>&1 || die "clang-19 could not be had: $(tail -n 2 "$prefix/log")"
  for deb in "$folder"/debs/*.deb; do
    dpkg -x "$deb" "$folder"
  done
  start_private_apt
  add_trixie
  hip=$(newest_of libamdhip64-dev 6.4)
  libs=$(newest_of rocm-device-libs-17 6)
  [ -n "$hip" ] && [ -n "$libs" ] || die "no HIP 6.4 is offered any more: libamdhip64-dev $(versions_of libamdhip64-dev | paste -sd ' ')," \
    "rocm-device-libs-17 $(versions_of rocm-device-libs-17 | paste -sd ' ')"
  say "unpacking HIP $hip and device libraries $libs"
  unpack_packages "$prefix/rocm" "libamdhip64-dev=$hip" "rocm-device-libs-17=$libs" ||
    die "HIP $hip could not be had"
  echo "clang 19, HIP $hip, rocm-device-libs-17 $libs" > "$prefix/summary"
  rm -rf "$apt_state" "$folder/debs"
  touch "$prefix/complete"
}

# Reports of the kernels in a file; says why where the compiler refuses it.
report() { # <label> <compiler> <rocm> <device libs> <file> <flag or none> <arch>
  local label=$1 compiler=$2 rocm=$3 libs=$4 file=$5 flag=$6 arch=$7
  local name
  name=$output/$(basename "$file" .hip).$label
  if ! "$compiler" -x hip -std=c++20 --cuda-device-only --no-gpu-bundle-output ${flag:+"$flag"} --rocm-path="$rocm" \
    ${libs:+--rocm-device-lib-path="$libs"} -D__HIP_PLATFORM_AMD__ -isystem "$rocm/include" -I"$source_dir/include" -O3 \
    -c "$file" -o "$name.co" > "$name.log" 2>&1; then
    say "$(basename "$file") with $label: does not compile: $(grep -m 1 'error:' "$name.log" | cut -c1-160)"
    return 1
  fi
  python3 "$source_dir/cmake/kernel_report/report.py" --compiler "$compiler" --arch "$arch" --quiet --json "$name.json" \
    --text "$name.txt" "$name.co"
}

bash "$source_dir/cmake/setup-toolchain.sh"
toolchain=${WAVETILE_TOOLCHAIN_DIR:-$source_dir/build/toolchain}
value_of() { sed -n "s/.*set($1 \"\(.*\)\")$/\1/p" "$toolchain/toolchain.cmake" | head -n 1; }
set_up_older
newer=$(value_of CMAKE_CXX_COMPILER) newer_rocm=$(value_of WAVETILE_ROCM_PATH) newer_libs=$(value_of WAVETILE_DEVICE_LIB_PATH)
older=$prefix/clang/usr/lib/llvm-19/bin/clang++ older_rocm=$prefix/rocm/usr
older_libs=$(find "$prefix/rocm/usr" -type d -name bitcode -path '*amdgcn*' | head -n 1)
export LD_LIBRARY_PATH=$prefix/clang/usr/lib/x86_64-linux-gnu:$prefix/clang/usr/lib/llvm-19/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

sources=$source_dir/bench/compilers
for file in newcomer_softmax shipped; do
  say "$file"
  report 6.4 "$older" "$older_rocm" "$older_libs" "$sources/$file.hip" --offload-arch=gfx942 gfx942 || true
  report 7.2 "$newer" "$newer_rocm" "$newer_libs" "$sources/$file.hip" --offload-arch=gfx942 gfx942
  report generic "$newer" "$newer_rocm" "$newer_libs" "$sources/$file.hip" --offload-arch=gfx9-4-generic gfx9-4-generic || true
  report no-flag "$newer" "$newer_rocm" "$newer_libs" "$sources/$file.hip" "" gfx906 || true
done

compare() { # <file> <label>...
  local file=$1 label arguments=()
  shift
  for label in "$@"; do
    [ ! -f "$output/$file.$label.json" ] || arguments+=("$label=$output/$file.$label.json")
  done
  python3 "$source_dir/cmake/kernel_report/compare.py" "${arguments[@]}"
}
{
  echo "6.4: $(cat "$prefix/summary"). 7.2: $(cat "$toolchain/summary")."
  for file in newcomer_softmax shipped; do
    printf '\n## %s: compilers\n\n' "$file"
    compare "$file" 6.4 7.2
    printf '\n## %s: architecture flags (7.2)\n\n' "$file"
    compare "$file" no-flag generic 7.2
  done
} > "$output/compilers.md"
cat "$output/compilers.md"
