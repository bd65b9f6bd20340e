# Part of setup-toolchain.sh: finding a ROCm, or putting HIP together from Debian's packages.
# Sets chosen_compiler, chosen_rocm, chosen_device_libs, chosen_llvm_dir and chosen_summary.
# shellcheck shell=bash disable=SC2034

hip_version() { # <rocm root> -> "7.2"
  awk '/#define HIP_VERSION_MAJOR/ {major = $3} /#define HIP_VERSION_MINOR/ {minor = $3}
       END {if (major != "") print major "." minor}' "$1/include/hip/hip_version.h" 2> /dev/null
}

version_at_least() { dpkg --compare-versions "$1" ge "$2" 2> /dev/null ||
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

rocm_compiler() { # <rocm root>
  local path
  for path in "$1"/bin/amdclang++ "$1"/llvm/bin/amdclang++ "$1"/lib/llvm/bin/clang++ "$1"/llvm/bin/clang++; do
    [ -x "$path" ] && echo "$path" && return
  done
  return 1
}

# The first complete ROCm >= 6.4: headers and a compiler of its own.
find_rocm() {
  local root version prefixes
  IFS=':;' read -ra prefixes <<< "${CMAKE_PREFIX_PATH:-}"
  for root in "${ROCM_PATH:-}" "${HIP_PATH:-}" "${prefixes[@]}" /opt/rocm; do
    [ -n "$root" ] || continue
    version=$(hip_version "$root") || continue
    [ -n "$version" ] && rocm_compiler "$root" > /dev/null || continue
    if version_at_least "$version" 6.4; then
      echo "$root"
      return
    fi
    say "ignoring the ROCm in $root: its HIP is $version, 6.4 or newer is needed"
  done
}

# Compiles a kernel that touches the headers, the math library and the half types.
check_compiler() { # <compiler> <rocm root> <device libs or empty>
  local work=$prefix/check
  mkdir -p "$work"
  cat > "$work/check.hip" << 'KERNEL'
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
__global__ void check(float* x, __half* h, __hip_bfloat16* b) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = expf(x[i]) + __half2float(h[i]) + static_cast<float>(b[i]);
}
hipError_t start(float* x, __half* h, __hip_bfloat16* b) {
  check<<<1, 64>>>(x, h, b);
  return hipGetLastError();
}
KERNEL
  "$1" -x hip -std=c++20 --offload-arch=gfx942 --rocm-path="$2" ${3:+--rocm-device-lib-path="$3"} \
    -D__HIP_PLATFORM_AMD__ -I"$2/include" -O2 -c "$work/check.hip" -o "$work/check.o" > "$work/log" 2>&1
}

# LLVM >= 22 for wavesim: ROCm's own if it ships the development files, else the distribution's.
find_llvm_dir() { # [rocm root]
  local path version
  for path in ${1:+"$1"/llvm/lib/cmake/llvm "$1"/lib/llvm/lib/cmake/llvm} \
    $(ls -d /usr/lib/llvm-*/lib/cmake/llvm 2> /dev/null | sort -rV); do
    version=$(sed -n 's/^set(LLVM_VERSION_MAJOR \([0-9]*\))/\1/p' "$path/LLVMConfig.cmake" 2> /dev/null)
    if [ "${version:-0}" -ge 22 ]; then
      echo "$path"
      return
    fi
  done
}

build_packages=(cmake ninja-build g++ libgtest-dev libbenchmark-dev libfmt-dev nlohmann-json3-dev
  libcli11-dev libzstd-dev zlib1g-dev python3)

use_rocm() {
  local root=$1
  chosen_rocm=$root
  chosen_compiler=$(rocm_compiler "$root")
  chosen_device_libs=""
  check_compiler "$chosen_compiler" "$root" "" || {
    cat "$prefix/check/log" >&2
    die "$chosen_compiler of the ROCm in $root does not compile a kernel for gfx942 (output above)"
  }
  chosen_llvm_dir=$(find_llvm_dir "$root")
  if is_debian; then
    local packages=("${build_packages[@]}")
    if [ -n "$(missing_packages "${packages[@]}")" ] || [ -z "$chosen_llvm_dir" ]; then
      update_package_lists
    fi
    if [ -z "$chosen_llvm_dir" ] && has_llvm_22 "$(installable_clangs)"; then
      packages+=("llvm-$(installable_clangs | head -n 1)-dev")
    fi
    install_packages "${packages[@]}"
    chosen_llvm_dir=$(find_llvm_dir "$root")
  elif [ -n "$(missing_build_commands)" ]; then
    die "missing on this machine: $(missing_build_commands | paste -sd ' '). Install them, with the" \
      "development packages of GoogleTest, Google Benchmark, fmt, nlohmann-json and CLI11."
  fi
  [ -n "$chosen_llvm_dir" ] ||
    say "note: no LLVM 22 development files, so only the preset gfx942 can be built (wavesim needs them)"
  chosen_summary="HIP $(hip_version "$root") and $(basename "$chosen_compiler") of $root"
}

# Runs an apt tool on lists of our own; needs no root and leaves the machine's lists alone.
private_apt() {
  local tool=$1
  shift
  "$tool" -o Dir::Etc::SourceList="$apt_state/sources.list" -o Dir::Etc::SourceParts="$apt_state/none" \
    -o Dir::State="$apt_state" -o Dir::State::Lists="$apt_state/lists" \
    -o Dir::State::status="$apt_state/status" -o Dir::Cache="$apt_state/cache" -o Dir::Cache::pkgcache=pkgcache.bin \
    -o Dir::Cache::srcpkgcache=srcpkgcache.bin -o APT::Sandbox::User="$(id -un)" \
    -o Acquire::Languages=none -o APT::Update::Post-Invoke-Success::= "$@"
}

start_private_apt() {
  local uri key options="targets=Packages" suite
  apt_state=$prefix/apt
  rm -rf "$apt_state"
  mkdir -p "$apt_state"/{none,lists/partial,cache/archives/partial}
  : > "$apt_state/status"
  read -r uri key < <(machine_mirror) || die "apt has no source for this release of Debian; look at /etc/apt"
  [ "$key" = - ] || options+=" signed-by=$key"
  for suite in testing unstable experimental; do
    echo "deb [$options] $uri $suite main"
  done > "$apt_state/sources.list"
  say "reading Debian's newer suites (testing, unstable, experimental) for HIP"
  private_apt apt-get update -qq > "$apt_state/log" 2>&1 || {
    cat "$apt_state/log" >&2
    say "warning: not every suite could be read"
  }
}

versions_of() {
  private_apt apt-cache madison "$1" 2> /dev/null | awk -F'|' '{gsub(/ /, "", $2); print $2}' | sort -ruV
}
release_of() { sed -E 's/^([0-9]+\.[0-9]+).*/\1/' <<< "$1"; } # 7.2.4-1~exp1 -> 7.2

# Device libraries on offer, "<llvm> <version>", newest first.
device_libs_on_offer() {
  local llvm version
  private_apt apt-cache pkgnames rocm-device-libs- | sed -n 's/^rocm-device-libs-\([0-9][0-9]*\)$/\1/p' |
    sort -rn | while read -r llvm; do
    for version in $(versions_of "rocm-device-libs-$llvm"); do
      echo "$llvm $version"
    done
  done
}

# Candidates, best first: "<clang> <llvm of the device libs> <their version> <HIP version>". Device
# libraries are LLVM bitcode, which a newer clang reads too, so those of an older LLVM come second.
hip_candidates() { # <clang version>...
  local hip clang offer
  offer=$(device_libs_on_offer)
  for hip in $(versions_of libamdhip64-dev); do
    version_at_least "$hip" 6.4 || continue
    for clang in "$@"; do
      awk -v clang="$clang" -v hip="$hip" '$1 <= clang {print clang, $1, $2, hip}' <<< "$offer"
    done
  done
}

# Downloads (checked against the suite's signature) and unpacks packages named name=version.
unpack_packages() { # <folder> name=version...
  local folder=$1 deb
  shift
  rm -rf "$folder" "$apt_state/debs"
  mkdir -p "$folder" "$apt_state/debs"
  (cd "$apt_state/debs" && private_apt apt-get download -qq "$@" > "$apt_state/log" 2>&1) || {
    cat "$apt_state/log" >&2
    return 1
  }
  for deb in "$apt_state"/debs/*.deb; do
    dpkg -x "$deb" "$folder"
  done
}

# The newest version of a package from the same ROCm release, else from the same major one.
matching_version() { # <package> <HIP version>
  local version release
  release=$(release_of "$2")
  for version in $(versions_of "$1"); do
    [ "$(release_of "$version")" = "$release" ] && echo "$version" && return
  done
  for version in $(versions_of "$1"); do
    [ "${version%%.*}" = "${2%%.*}" ] && echo "$version" && return
  done
}

try_candidate() { # the fields of a candidate
  local clang=$1 libs_package=rocm-device-libs-$2 libs_version=$3 hip=$4
  local folder=$prefix/rocm.new package version libs
  local names=("libamdhip64-dev=$hip" "$libs_package=$libs_version")
  for package in librocprim-dev libhipcub-dev; do
    version=$(matching_version "$package" "$hip")
    if [ -n "$version" ]; then
      names+=("$package=$version")
    else
      say "warning: no $package goes with HIP $hip; programs that use it will not compile"
    fi
  done
  say "trying clang-$clang with HIP $hip and $libs_package $libs_version"
  unpack_packages "$folder" "${names[@]}" || return 1
  install_packages "${build_packages[@]}" "clang-$clang" "clang-tools-$clang" "lld-$clang" "llvm-$clang" \
    "llvm-$clang-dev" "libclang-rt-$clang-dev"
  libs=$(find "$folder/usr" -type d -name bitcode -path '*amdgcn*' | head -n 1)
  [ -n "$libs" ] && check_compiler "/usr/bin/clang++-$clang" "$folder/usr" "$libs" || {
    say "clang-$clang does not compile a kernel with these:"
    head -n 5 "$prefix/check/log" >&2
    return 1
  }
  rm -rf "$prefix/rocm"
  mv "$folder" "$prefix/rocm"
  chosen_compiler=/usr/bin/clang++-$clang
  chosen_rocm=$prefix/rocm/usr
  chosen_device_libs=$prefix/rocm/${libs#"$folder"/}
  chosen_llvm_dir=$(find_llvm_dir)
  [ "${hip%%.*}" -ge 7 ] || say "warning: HIP $hip is older than 7: results hold, counts may differ"
  [ -n "$chosen_llvm_dir" ] || say "warning: no LLVM 22 or newer here, so wavesim cannot be built"
  chosen_summary="HIP $hip, $libs_package $libs_version, clang $clang"
}

has_llvm_22() { awk '$1 >= 22 {found = 1} END {exit !found}' <<< "$1"; }

use_debian() {
  [ "$(dpkg --print-architecture)" = amd64 ] ||
    die "Debian has HIP's packages for amd64 only; this machine is $(dpkg --print-architecture)"
  local clangs
  clangs=$(installable_clangs)
  if [ -n "$(missing_packages "${build_packages[@]}")" ] || ! has_llvm_22 "$clangs"; then
    update_package_lists
    clangs=$(installable_clangs)
  fi
  if ! has_llvm_22 "$clangs"; then
    add_security_suite
    clangs=$(installable_clangs)
  fi
  start_private_apt
  local candidates candidate tried=0
  # shellcheck disable=SC2086
  candidates=$(hip_candidates $clangs)
  while read -r candidate; do
    [ -n "$candidate" ] && [ $tried -lt 6 ] || break
    tried=$((tried + 1))
    # shellcheck disable=SC2086
    if try_candidate $candidate < /dev/null; then
      rm -rf "$apt_state" "$prefix/check" "$prefix/rocm.new"
      return
    fi
  done <<< "$candidates"
  die "no working pair of clang and HIP was found." \
    "clang here: $(paste -sd ' ' <<< "${clangs:-none}")" \
    "HIP (libamdhip64-dev): $(versions_of libamdhip64-dev | paste -sd ' ')" \
    "device libraries: $(private_apt apt-cache pkgnames rocm-device-libs- | paste -sd ' ')" \
    "Install ROCm 6.4 or newer instead and set ROCM_PATH."
}
