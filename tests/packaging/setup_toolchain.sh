#!/usr/bin/env bash
# Tests of cmake/setup-toolchain.sh that need no network and install nothing.
#
#   setup_toolchain.sh SOURCE WORK COMPILER ROCM_ROOT [DEVICE_LIBS]
set -euo pipefail
source_dir=$1 work=$2 compiler=$3 rocm=$4 device_libs=${5:-}
prefix=$work/prefix
rm -rf "$work"
mkdir -p "$prefix"
say() { echo "$*" >&2; }
die() { printf '%s\n' "$@" >&2; exit 1; }
# shellcheck source=../../cmake/setup-packages.sh
source "$source_dir/cmake/setup-packages.sh"
# shellcheck source=../../cmake/setup-hip.sh
source "$source_dir/cmake/setup-hip.sh"

failed=0
expect() { # <description> <expected> <actual>
  if [ "$2" = "$3" ]; then
    echo "ok: $1"
  else
    printf 'FAILED: %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
    failed=1
  fi
}
contains() { case $2 in *"$1"*) echo yes ;; *) echo "no: $2" ;; esac; }

# A ROCm as AMD lays it out, made of links to what this machine has.
fake_rocm() { # <folder> [version header]
  mkdir -p "$1/bin" "$1/amdgcn"
  ln -s "$rocm/share" "$1/share"
  ln -s "${device_libs:-$rocm/amdgcn/bitcode}" "$1/amdgcn/bitcode"
  printf '#!/bin/sh\nexec "%s" "$@"\n' "$compiler" > "$1/bin/amdclang++"
  chmod +x "$1/bin/amdclang++"
  if [ -z "${2:-}" ]; then
    ln -s "$rocm/include" "$1/include"
  else
    mkdir -p "$1/include/hip"
    echo "$2" > "$1/include/hip/hip_version.h"
  fi
}
fake_rocm "$work/rocm-good"
fake_rocm "$work/rocm-old" $'#define HIP_VERSION_MAJOR 6\n#define HIP_VERSION_MINOR 3'
mkdir -p "$work/rocm-empty"

expect "an old ROCm is passed over, the next one taken" "$work/rocm-good" \
  "$(ROCM_PATH=$work/rocm-old HIP_PATH=$work/rocm-empty CMAKE_PREFIX_PATH=/nowhere:$work/rocm-good find_rocm \
    2> "$work/messages")"
expect "and it is said why" yes "$(contains "its HIP is 6.3, 6.4 or newer is needed" "$(cat "$work/messages")")"

setup() { ROCM_PATH=$work/rocm-good WAVETILE_TOOLCHAIN_DIR=$work/toolchain \
  bash "$source_dir/cmake/setup-toolchain.sh" 2>&1; }
# A ROCm with a compiler inside is used as it is; both of two runs at once succeed.
setup > "$work/first" &
first=$!
setup > "$work/second"
wait "$first"
expect "one of two runs at once does the work, the other finds it done" "1 1" \
  "$(cat "$work/first" "$work/second" | grep -c ' done: ') $(cat "$work/first" "$work/second" | grep -c ' ready: ')"
expect "the ROCm's compiler is chosen" yes \
  "$(contains "$work/rocm-good/bin/amdclang++" "$(cat "$work/toolchain/toolchain.cmake")")"
start=$(date +%s%N)
setup > /dev/null
milliseconds=$((($(date +%s%N) - start) / 1000000))
expect "a further run takes less than 2 s (took $milliseconds ms)" yes \
  "$([ $milliseconds -lt 2000 ] && echo yes || echo no)"
rm "$work/rocm-good/bin/amdclang++"
ln -s "$compiler" "$work/rocm-good/bin/amdclang++"
mv "$work/toolchain/used-paths" "$work/used-paths"
expect "a result that lost a file is made again" yes "$(contains ' done: ' "$(setup)")"

# Without root, the exact command is printed instead.
message=$(root_command() { return 1; } && missing_packages() { echo clang-22 cmake; } &&
  install_packages clang-22 cmake 2>&1) || true
expect "without root the command to run is printed" yes \
  "$(contains "apt-get install -y --no-install-recommends clang-22 cmake" "$message")"

# The machine's mirror is found in both formats of apt's sources, with its keyring.
if command -v apt-get > /dev/null && is_debian; then
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mkdir -p "$work/apt/lists" "$work/apt/parts"
  mirror_of() { # <sources file>
    rm -f "$work"/apt/parts/*
    cp "$1" "$work/apt/parts/"
    cat > "$work/apt/apt.conf" << CONF
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$work/apt/parts";
Dir::State::Lists "$work/apt/lists";
CONF
    APT_CONFIG=$work/apt/apt.conf machine_mirror
  }
  cat > "$work/one.list" << LIST
deb http://security.invalid/debian-security $codename-security main
deb [arch=amd64 signed-by=/usr/share/keyrings/some.gpg] http://mirror.invalid/debian/ $codename main
LIST
  cat > "$work/two.sources" << SOURCES
Types: deb
URIs: http://security.invalid/debian-security
Suites: $codename-security
Components: main

Types: deb
URIs: http://mirror.invalid/debian/
Suites: $codename $codename-updates
Components: main
Signed-By: /usr/share/keyrings/other.gpg
SOURCES
  echo "deb http://mirror.invalid/debian stable main" > "$work/three.list"
  expect "mirror in a list file" "http://mirror.invalid/debian/ /usr/share/keyrings/some.gpg" \
    "$(mirror_of "$work/one.list")"
  expect "mirror in a deb822 file" "http://mirror.invalid/debian/ /usr/share/keyrings/other.gpg" \
    "$(mirror_of "$work/two.sources")"
  expect "mirror without a keyring, by suite name" "http://mirror.invalid/debian/ -" \
    "$(mirror_of "$work/three.list")"
fi
exit $failed
