#!/usr/bin/env bash
# Builds the portable path with nvcc, runs its tests and then its benchmarks on the NVIDIA GPU of this machine,
# and PyTorch's on the same shapes where it is installed.
#
#   bench/cuda.sh [--sanitize | --sanitize-only] [DIRECTORY]
#
# DIRECTORY (build/cuda/report) gets build.log, tests.log and one JSON file for each program. With --sanitize
# cuda_sanitize.sh runs at last, with --sanitize-only nothing else after the build.
# Environment: CUDA_ARCHITECTURES (that of the GPU, else 80;90a), JOBS (all cores),
# CMAKE_ARGUMENTS (where GoogleTest, Google Benchmark or CLI11 are not installed:
# -DWAVETILE_GOOGLETEST_SOURCE=… -Dbenchmark_DIR=… -DCLI11_DIR=…).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sanitize=0 measure=1
case ${1:-} in
  --sanitize) sanitize=1 && shift ;;
  --sanitize-only) sanitize=1 measure=0 && shift ;;
  -*)
    echo "bench/cuda.sh: unknown option $1; there are --sanitize and --sanitize-only" >&2
    exit 2
    ;;
esac
command -v nvcc > /dev/null || PATH=/usr/local/cuda/bin:$PATH
command -v nvcc > /dev/null || {
  echo "bench/cuda.sh: nvcc is neither on the PATH nor in /usr/local/cuda/bin" >&2
  exit 1
}
build=build/cuda
report=${1:-$build/report}
mkdir -p "$report"
failed=0

# Code for one GPU takes half the time of code for both kinds.
architectures=${CUDA_ARCHITECTURES:-}
case ${architectures:-$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | sort -u)} in
  9.0) architectures=90a ;;
  8.*) architectures=80 ;;
esac
echo "[cuda] building" >&2
# shellcheck disable=SC2086 # several arguments
cmake --preset cuda -DCMAKE_CUDA_ARCHITECTURES="${architectures:-80;90a}" ${CMAKE_ARGUMENTS:-} \
  > "$report/build.log"
cmake --build $build -j "${JOBS:-$(nproc)}" >> "$report/build.log" 2>&1 || {
  grep -E 'error|FAILED' "$report/build.log" | head -n 40 >&2
  exit 1
}

if [ $measure = 1 ]; then
  echo "[cuda] testing" >&2
  ctest --test-dir $build --output-on-failure -j "${JOBS:-$(nproc)}" > "$report/tests.log" 2>&1 || failed=1
  tail -n 20 "$report/tests.log"
  for example in quickstart decode_step transformer_block; do
    echo "[cuda] $example" >&2
    $build/bin/$example > "$report/$example.log" 2>&1 || failed=1
  done

  # PyTorch's packages bring cuBLAS, which bench_matmul measures beside
  cublas=$(python3 -c 'import nvidia, pathlib; print(next((str(f.parent) for p in nvidia.__path__
    for f in pathlib.Path(p).rglob("libcublas.so.*")), ""))' 2> /dev/null || true)
  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}${cublas:+:$cublas}
  for name in softmax reduce norms matmul attention; do
    echo "[cuda] bench_$name" >&2
    $build/bin/bench_$name --benchmark_out="$report/bench_$name.json" --benchmark_out_format=json || failed=1
  done
  if python3 -c 'import torch' 2> /dev/null; then
    python3 bench/peers/torch_rows.py "$report/torch_rows.json" || failed=1
    python3 bench/peers/torch_attention.py "$report/torch_attention" || failed=1
  fi
fi

[ $sanitize = 0 ] || bash bench/cuda_sanitize.sh $build/bin "$report" || failed=1
exit $failed
