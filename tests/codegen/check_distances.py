"""Checks that the kernel report's loops and distances, made from disassembly alone, are those of wavesim.

  check_distances.py --compiler COMPILER --wavesim WAVESIM --programs PROGRAM...

Two implementations, in Python and in C++, of the same rules: for each kernel the hottest loop's clocks, matrix clocks
and least distances must be the same.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake" / "kernel_report"))
import report  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--wavesim", required=True)
    parser.add_argument("--programs", nargs="+", required=True)
    options = parser.parse_args()
    compared, failed = 0, 0
    for program in options.programs:
        ours = {one["symbol"]: one for one in report.reports_of(options.compiler, [program])}
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            subprocess.run([options.wavesim, "--distances", program, "--json", file.name], check=True)
            theirs = json.loads(pathlib.Path(file.name).read_text(encoding="utf-8"))["kernels"]
        if len(theirs) != len(ours):
            failed += 1
            print(f"{program}: {len(ours)} kernels here, {len(theirs)} in wavesim")
        for kernel in theirs:
            steady, loop = kernel["steady_loop"], ours[kernel["mangled"]]["loop"]
            mine = {"clocks": loop["clocks"], "matrix_clocks": loop["matrix_clocks"],
                    "vector_clocks": loop["vector_clocks"], "matrix_instructions": loop["mfma"],
                    "instructions": loop["instructions"], "least_distance": loop["least_distance"]}
            compared += 1
            different = [key for key in mine if mine[key] != steady.get(key)]
            if different:
                failed += 1
                print(f"DIFFERENT {kernel['name']}")
                for key in different:
                    print(f"    {key}: {mine[key]} here, {steady.get(key)} in wavesim")
    print(f"{compared} kernels compared, {failed} different")
    sys.exit(failed != 0 or compared == 0)


if __name__ == "__main__":
    main()
