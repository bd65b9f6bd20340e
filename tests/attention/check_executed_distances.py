"""Checks issue-to-wait distances in the steady loops that a program really executes on wavesim.

  check_executed_distances.py --wavesim WAVESIM --kernel PATTERN --kernels N --program PROGRAM [ARGUMENTS...]

PATTERN is a regular expression; N kernels at least must match it. A global load must be 900 clocks and more ahead of its
wait, counting that all resident waves of a SIMD issue as much meanwhile, an LDS read 64 of its own wave's.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

LEAST_GLOBAL, LEAST_LDS = 900, 64


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wavesim", required=True)
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--kernels", type=int, required=True)
    parser.add_argument("--program", required=True)
    options, arguments = parser.parse_known_args()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([options.wavesim, "--json", file.name, "--", options.program, *arguments], check=True,
                       stdout=subprocess.DEVNULL)
        kernels = json.loads(pathlib.Path(file.name).read_text(encoding="utf-8"))["kernels"]
    chosen = [one for one in kernels if re.search(options.kernel, one["name"])]
    failed = 0
    for one in chosen:
        least, waves = one["steady_loop"]["least_distance"], one["residency"]["waves_per_simd"]
        good = least["global"] * waves >= LEAST_GLOBAL and least["lds"] >= LEAST_LDS
        failed += not good
        print(f"{'ok      ' if good else 'TOO NEAR'} global {least['global']} x {waves}, lds {least['lds']}: {one['name'][:300]}")
    print(f"{len(chosen)} kernels, {failed} with loads too near to their waits")
    sys.exit(failed != 0 or len(chosen) < options.kernels)


if __name__ == "__main__":
    main()
