#!/usr/bin/env bash
# Sets up what is missing, builds everything and runs the whole suite. Arguments go to ctest:
#
#   bash tests/run.sh [-R softmax] [-L host] ...
set -euo pipefail
# shellcheck source=../cmake/prepare.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cmake/prepare.sh"

prepare
if [ "$preset" = sim ]; then
  echo "== no gfx942 GPU in use: device tests run on wavesim (preset sim) =="
else
  echo "== device tests run on the GPU (preset $preset) =="
fi
cmake --build "$build_dir" -j "$jobs"
exec ctest --test-dir "$build_dir" --output-on-failure --no-tests=error -j "$(nproc)" "$@"
