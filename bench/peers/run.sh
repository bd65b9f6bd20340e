#!/usr/bin/env bash
# Kernels of others beside ours on wavesim: Triton's (compiled ahead of time; needs no GPU) and rocPRIM's. Writes
# build/report/peers.md and peers.json. Triton and NumPy come from PyPI into build/peers-venv.
set -euo pipefail
# shellcheck source=../../cmake/prepare.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/prepare.sh"
WAVETILE_PRESET=sim prepare
venv=$source_dir/build/peers-venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import triton, numpy' 2> /dev/null || "$venv/bin/python" -m pip install --quiet triton==3.9.0 numpy
cmake --build "$build_dir" -j "$jobs" --target wavesim wavesim_hip bench_softmax bench_norms bench_matmul bench_attention \
  bench_reduce bench_primitives rocprim_device > "$build_dir/peers-build.log" 2>&1 || {
  tail -n 40 "$build_dir/peers-build.log" >&2
  exit 1
}
kernels=$source_dir/build/peers-kernels
# contraction of products and sums as Triton 3.9 does by default, said aloud because 3.10 changes it
TRITON_DEFAULT_FP_FUSION=1 "$venv/bin/python" "$source_dir/bench/peers/triton_run.py" compile "$kernels" > "$build_dir/peers-triton.log"
"$venv/bin/python" "$source_dir/bench/peers/compare.py" --bin "$build_dir/bin" --triton "$kernels" \
  --python "$venv/bin/python" --output "$source_dir/build/report"
