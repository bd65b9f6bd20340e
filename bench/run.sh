#!/usr/bin/env bash
# Builds and runs every benchmark that this machine can run and writes build/report/: one JSON file for
# each and index.html. On a GPU times are measured; without one device code runs on wavesim, which
# counts. Arguments go to every benchmark (--benchmark_filter=softmax …).
set -euo pipefail
# shellcheck source=../cmake/prepare.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cmake/prepare.sh"

prepare
programs=(bench_softmax bench_reduce bench_norms bench_matmul bench_attention bench_primitives)
runner=()
targets=("${programs[@]}")
if [ "$preset" = sim ]; then
  runner=("$build_dir/bin/wavesim" --)
  targets+=(wavesim wavesim_hip bench_wavesim)
fi
echo "[bench] building" >&2
cmake --build "$build_dir" -j "$jobs" --target "${targets[@]}" > "$build_dir/bench-build.log" 2>&1 || {
  tail -n 40 "$build_dir/bench-build.log" >&2
  exit 1
}

report=$source_dir/build/report
mkdir -p "$report"
files=()
failed=0
run() { # name, command…
  local name=$1
  shift
  echo "[bench] $name" >&2
  if "$@" --benchmark_out="$report/$name.json" --benchmark_out_format=json; then
    files+=("$report/$name.json")
  else
    failed=1
  fi
}
for program in "${programs[@]}"; do
  run "$program" "${runner[@]}" "$build_dir/bin/$program" "$@"
done
if [ "$preset" = sim ]; then
  run bench_wavesim "$build_dir/bin/bench_wavesim" --benchmark_min_time=0.05 "$@"
fi

# matplotlib draws the pictures; where it cannot be had the page has tables only
python=python3
if ! python3 -c 'import matplotlib' 2> /dev/null; then
  venv=$source_dir/build/report-venv
  if [ -x "$venv/bin/python" ] || python3 -m venv "$venv" 2> /dev/null; then
    "$venv/bin/python" -c 'import matplotlib' 2> /dev/null ||
      "$venv/bin/python" -m pip install --quiet matplotlib || true
    python=$venv/bin/python
  fi
fi
"$python" "$source_dir/bench/report.py" "${files[@]}" --output "$report/index.html"
exit "$failed"
