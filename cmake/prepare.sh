# Sourced by tests/run.sh and examples/quickstart.sh: set-up and configuration in one call.
#
#   prepare            sets $source_dir, $preset (sim or gfx942), $build_dir and $jobs
#   prepare_compiler   then sets $compiler, $rocm and the array $rocm_flags, for device code outside of CMake
#
# The preset is gfx942 where a gfx942 GPU and a HIP runtime are present, else sim; WAVETILE_PRESET
# decides otherwise.
# shellcheck shell=bash

# The kernel driver lists its devices; 90402 is gfx942.
gpu_present() {
  grep -qs '^gfx_target_version 90402$' /sys/class/kfd/kfd/topology/nodes/*/properties &&
    [ -n "$(sed -n 's/^set(WAVETILE_ROCM_PATH "\(.*\)")$/\1/p' "$toolchain_file" |
      xargs -I{} find {}/lib -maxdepth 1 -name 'libamdhip64.so.*' 2> /dev/null)" ]
}

# One compile job needs up to 1.5 GiB.
compile_jobs() {
  local cores gigabytes
  cores=$(nproc)
  gigabytes=$(awk '/^MemAvailable/ {print int($2 / 1048576 / 1.5)}' /proc/meminfo)
  [ "$gigabytes" -ge 1 ] || gigabytes=1
  echo $((cores < gigabytes ? cores : gigabytes))
}

prepare() {
  source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  toolchain_file=${WAVETILE_TOOLCHAIN_DIR:-$source_dir/build/toolchain}/toolchain.cmake
  bash "$source_dir/cmake/setup-toolchain.sh"
  if [ -n "${WAVETILE_PRESET:-}" ]; then
    preset=$WAVETILE_PRESET
  elif gpu_present; then
    preset=gfx942
  else
    preset=sim
  fi
  build_dir=$source_dir/build/$preset
  jobs=$(compile_jobs)
  mkdir -p "$build_dir"
  if ! (cd "$source_dir" && cmake --preset "$preset") > "$build_dir/configure.log" 2>&1; then
    cat "$build_dir/configure.log" >&2
    return 1
  fi
}

prepare_compiler() {
  local libraries
  compiler=$(sed -n 's/^set(CMAKE_CXX_COMPILER "\(.*\)")$/\1/p' "$build_dir"/CMakeFiles/*/CMakeCXXCompiler.cmake | head -n 1)
  rocm=$(sed -n 's/^set(WAVETILE_ROCM_PATH "\(.*\)")$/\1/p' "$toolchain_file")
  libraries=$(sed -n 's/^set(WAVETILE_DEVICE_LIB_PATH "\(.*\)")$/\1/p' "$toolchain_file")
  # shellcheck disable=SC2034
  rocm_flags=(--rocm-path="$rocm" ${libraries:+--rocm-device-lib-path="$libraries"} -D__HIP_PLATFORM_AMD__
    -isystem "$rocm/include")
}
