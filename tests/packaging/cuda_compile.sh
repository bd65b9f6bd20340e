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
compile() { # <architecture> <option> <source> [option]
  "$nvcc" -x cu -gencode="$1" -std=c++20 --expt-relaxed-constexpr --diag-suppress=554,128,177 \
    -Xcompiler=-Wall,-Wextra,-Wno-restrict -Werror=all-warnings -Iinclude -Itests/support -Itests/support/cuda \
    -Itests/wavesim "$2" "${@:4}" "$3" -o "$folder/object.o"
  echo "compiled $3 for $1"
}
sm80=arch=compute_80,code=sm_80 sm90=arch=compute_90,code=sm_90
compile $sm90 -c tests/wave/lane_test.hip
compile $sm80 -c tests/group/copy_test.hip
compile $sm90 -c tests/matrix/warp_device_test.hip
# headers that are for NVIDIA alone, each by itself
for header in $(find include -path '*/cuda/*.hpp' | sort); do
  echo "#include <${header#include/}>" > "$folder/header.cu"
  compile arch=compute_90a,code=compute_90a -ptx "$folder/header.cu" > "$folder/log" || {
    echo "$header does not compile alone" >&2
    exit 1
  }
done
echo "compiled headers for NVIDIA, each alone"
# all kernels, as far as PTX: with wgmma, which only 90a has, and without
compile arch=compute_90a,code=compute_90a -ptx tests/packaging/cuda_calls.hip
compile arch=compute_80,code=compute_80 -ptx tests/packaging/cuda_calls.hip -DPRODUCTS_ONLY
