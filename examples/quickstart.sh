#!/usr/bin/env bash
# From a fresh clone to verified kernels: sets up what is missing, builds the example `quickstart`
# and runs it, on a gfx942 GPU if there is one, else on wavesim. Arguments go to the program. The exit
# code is the program's: 0 only if every row passed.
set -euo pipefail
# shellcheck source=../cmake/prepare.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cmake/prepare.sh"

prepare
targets=(quickstart)
[ "$preset" != sim ] || targets+=(wavesim wavesim_hip)
log=$build_dir/quickstart-build.log
echo "[quickstart] building (log: ${log#"$source_dir"/})" >&2
if ! cmake --build "$build_dir" -j "$jobs" --target "${targets[@]}" > "$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "[quickstart] error: the build failed" >&2
  exit 1
fi
if [ "$preset" = sim ]; then
  echo "[quickstart] no gfx942 GPU in use: running gfx942 machine code on the CPU with wavesim" >&2
  exec "$build_dir/bin/wavesim" -- "$build_dir/bin/quickstart" "$@"
fi
echo "[quickstart] running on the GPU" >&2
exec "$build_dir/bin/quickstart" "$@"
