#!/usr/bin/env bash
# Sets up what is needed to build wavetile and writes <prefix>/toolchain.cmake for the presets.
#
#   bash cmake/setup-toolchain.sh
#
# A ROCm 6.4 or newer (ROCM_PATH, HIP_PATH, CMAKE_PREFIX_PATH, /opt/rocm) is used as it is. Without one,
# on Debian: clang, lld and LLVM come from the machine's own release; HIP's headers, device libraries,
# rocPRIM and hipCUB are taken as files from Debian's newer suites, found at the mirror that this
# machine's apt already uses, and unpacked below the prefix. The system itself is not upgraded.
#
# Prefix: WAVETILE_TOOLCHAIN_DIR, else build/toolchain of this clone. A second run finds its own result
# and ends at once; two runs at the same time wait for each other.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
prefix=${WAVETILE_TOOLCHAIN_DIR:-$source_dir/build/toolchain}
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
# shellcheck source=setup-packages.sh
source "$source_dir/cmake/setup-packages.sh"
# shellcheck source=setup-hip.sh
source "$source_dir/cmake/setup-hip.sh"

say() { printf '[toolchain] %s\n' "$*" >&2; }
die() {
  printf '[toolchain] error: %s\n' "$@" >&2
  exit 1
}

# What the result depends on: these scripts, the ROCm found and the system packages still being there.
fingerprint() {
  local rocm=$1
  cat "$source_dir"/cmake/setup-*.sh | cksum
  echo "rocm=$rocm prefix=$prefix"
}

# Everything recorded as used by the last run must still exist.
result_is_current() {
  [ -f "$prefix/toolchain.cmake" ] && [ -f "$prefix/stamp" ] && [ -f "$prefix/used-paths" ] || return 1
  [ "$(cat "$prefix/stamp")" = "$1" ] || return 1
  local path
  while read -r path; do
    [ -e "$path" ] || return 1
  done < "$prefix/used-paths"
  missing_commands=$(missing_build_commands)
  [ -z "$missing_commands" ]
}

write_result() {
  local compiler=$1 rocm=$2 device_libs=$3 llvm_dir=$4
  {
    echo "# Written by cmake/setup-toolchain.sh. A compiler named by CXX or on the command line wins."
    echo "if(NOT DEFINED CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})"
    echo "  set(CMAKE_CXX_COMPILER \"$compiler\")"
    echo "endif()"
    echo "set(WAVETILE_ROCM_PATH \"$rocm\")"
    [ -z "$device_libs" ] || echo "set(WAVETILE_DEVICE_LIB_PATH \"$device_libs\")"
    [ -z "$llvm_dir" ] || printf 'if(NOT DEFINED LLVM_DIR)\n  set(LLVM_DIR "%s")\nendif()\n' "$llvm_dir"
  } > "$prefix/toolchain.cmake.new"
  printf '%s\n' "$compiler" "$rocm/include/hip/hip_runtime.h" ${device_libs:+"$device_libs"} \
    ${llvm_dir:+"$llvm_dir"} > "$prefix/used-paths"
  mv "$prefix/toolchain.cmake.new" "$prefix/toolchain.cmake"
}

main() {
  local rocm stamp
  exec 9> "$prefix/lock"
  flock 9
  rocm=$(find_rocm)
  stamp=$(fingerprint "$rocm")
  if result_is_current "$stamp"; then
    say "ready: $(cat "$prefix/summary")"
    return
  fi
  rm -f "$prefix/stamp"

  if [ -n "$rocm" ]; then
    use_rocm "$rocm"
  elif is_debian; then
    use_debian
  else
    die "no ROCm 6.4 or newer was found (looked at ROCM_PATH, HIP_PATH, CMAKE_PREFIX_PATH and /opt/rocm)." \
      "On $(os_name) install it from AMD: https://rocm.docs.amd.com/projects/install-on-linux/" \
      "(packages hip-dev, rocm-device-libs, rocm-llvm, rocprim-dev, hipcub-dev), then run this again."
  fi
  write_result "$chosen_compiler" "$chosen_rocm" "$chosen_device_libs" "$chosen_llvm_dir"
  echo "$chosen_summary" > "$prefix/summary"
  echo "$stamp" > "$prefix/stamp"
  say "done: $chosen_summary"
}

main "$@"
