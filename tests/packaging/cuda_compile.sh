#!/usr/bin/env bash
# Compiles device code of the portable path with nvcc where there is one; needs no NVIDIA GPU.
#
#   cuda_compile.sh SOURCE_DIRECTORY
set -euo pipefail
cd "$1"
nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) || {
  echo "skipped: nvcc is neither on the PATH nor in /usr/local/cuda/bin, so the CUDA path is not compiled"
  exit 0
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
compile() { # <option> <source>
  "$nvcc" -x cu -arch=sm_90 -std=c++20 --expt-relaxed-constexpr --diag-suppress=554,128,177 \
    -Xcompiler=-Wall,-Wextra,-Wno-restrict -Werror=all-warnings -Iinclude -Itests/support -Itests/support/cuda \
    -Itests/wavesim "$1" "$2" -o "$folder/object.o"
  echo "compiled $2"
}
compile -c tests/wave/lane_test.hip
compile -c tests/group/copy_test.hip
compile -c tests/matrix/warp_device_test.hip
compile -ptx tests/packaging/cuda_calls.hip # all kernels, as far as PTX
