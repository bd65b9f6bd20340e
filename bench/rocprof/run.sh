#!/usr/bin/env bash
# Hardware counters of a program's kernels by rocprofv3, in the table of wavesim's:
#
#   bash bench/rocprof/run.sh OUTPUT-FOLDER PROGRAM [ARGUMENT...]
#
# With SIMULATED=<file of `wavesim --json FILE -- PROGRAM`> the simulated counts stand beside the measured ones.
# The program runs once for each row of counters.txt.
set -euo pipefail
[ $# -ge 2 ] || {
  sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
output=$1
shift
die() {
  echo "$@" >&2
  exit 1
}
command -v rocprofv3 > /dev/null || die "rocprofv3 is not on PATH; it comes with ROCm (package rocprofiler-sdk) and needs a GPU"
[ -z "${SIMULATED:-}" ] || [ -f "$SIMULATED" ] || die "SIMULATED=$SIMULATED: no such file"
counter_files() { find "$output" -name '*counter_collection.csv' | sort; }
mkdir -p "$output"
[ -z "$(counter_files)" ] || die "$output holds counters of an earlier run, which would be added to these"
rocprofv3 -i "$here/counters.txt" --output-format csv -d "$output" -- "$@"
mapfile -t files < <(counter_files)
[ ${#files[@]} -gt 0 ] || die "rocprofv3 wrote no counters below $output"
python3 "$here/table.py" ${SIMULATED:+--simulated "$SIMULATED"} --measured "${files[@]}"
