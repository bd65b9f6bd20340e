#!/usr/bin/env bash
# Hardware counters of a program's kernels by rocprofv3, in the table of wavesim's:
#
#   bash bench/rocprof/run.sh OUTPUT-FOLDER PROGRAM [ARGUMENT...]
#
# With SIMULATED=<file of `wavesim --json FILE -- PROGRAM`> the simulated counts stand beside the measured ones.
set -euo pipefail
[ $# -ge 2 ] || {
  sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
output=$1
shift
command -v rocprofv3 > /dev/null || {
  echo "rocprofv3 is not on PATH; it comes with ROCm (package rocprofiler-sdk)" >&2
  exit 1
}
mkdir -p "$output"
rocprofv3 -i "$here/counters.txt" --output-format csv -d "$output" -- "$@"
mapfile -t files < <(find "$output" -name '*counter_collection.csv' | sort)
python3 "$here/table.py" ${SIMULATED:+--simulated "$SIMULATED"} --measured "${files[@]}"
