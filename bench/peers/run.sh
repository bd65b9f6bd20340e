#!/usr/bin/env bash
# Kernels of others beside ours on wavesim: Triton's and TileLang's (compiled ahead of time; needs no GPU), rocPRIM's and
# hipCUB's. Writes build/report/peers.md, peers.json and peers.svg. The Python packages come from PyPI into
# build/peers-venv, without PyTorch.
set -euo pipefail
# shellcheck source=../../cmake/prepare.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/prepare.sh"
WAVETILE_PRESET=sim prepare
venv=$source_dir/build/peers-venv
peers=$source_dir/bench/peers
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
echo "[peers] Triton and TileLang" >&2
"$venv/bin/python" -c 'import triton, numpy' 2> /dev/null || "$venv/bin/python" -m pip install --quiet triton==3.9.0 numpy
(cd "$peers" && "$venv/bin/python" -c 'import without_torch; without_torch.install(); import tilelang') 2> /dev/null || {
  "$venv/bin/python" -m pip install --quiet 'apache-tvm-ffi>=0.1.11,<0.1.13' cloudpickle ml-dtypes psutil tqdm typing-extensions \
    'z3-solver>=4.13.0,<4.15.5'
  "$venv/bin/python" -m pip install --quiet --no-deps tilelang==0.1.15
}
echo "[peers] building" >&2
cmake --build "$build_dir" -j "$jobs" --target wavesim wavesim_hip bench_softmax bench_norms bench_matmul bench_attention \
  bench_reduce bench_primitives rocprim_device > "$build_dir/peers-build.log" 2>&1 || {
  tail -n 40 "$build_dir/peers-build.log" >&2
  exit 1
}
kernels=$source_dir/build/peers-kernels
# contraction of products and sums as Triton 3.9 does by default, said aloud because 3.10 changes it
TRITON_DEFAULT_FP_FUSION=1 "$venv/bin/python" "$peers/triton_compile.py" "$kernels/triton" > "$build_dir/peers-triton.log"
prepare_compiler
"$venv/bin/python" "$peers/tilelang_compile.py" "$kernels/tilelang" --compiler "$compiler" "${rocm_flags[@]}" \
  > "$build_dir/peers-tilelang.log" 2> "$build_dir/peers-tilelang.err" || {
  tail -n 40 "$build_dir/peers-tilelang.err" >&2
  exit 1
}
grep -E ': (not|left out)' "$build_dir/peers-tilelang.err" >&2 || true
"$venv/bin/python" "$peers/compare.py" --bin "$build_dir/bin" --peer "Triton=$kernels/triton" \
  --peer "TileLang=$kernels/tilelang" --python "$venv/bin/python" --output "$source_dir/build/report"
