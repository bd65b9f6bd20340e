"""Checks that host and device passes agree on the layout of parameter structs.

  check_sizes.py --source FILE --include DIR --archs gfx942 gfx1100 -- COMPILER FLAGS...

The source defines a constant array `parameter_sizes`; its initialiser is read from the LLVM IR of the host
pass and of each device pass.
"""

import argparse
import re
import subprocess
import sys

ARRAY = re.compile(r"@parameter_sizes = .*constant (\[\d+ x i32\] \[[^\]]*\])")


def array_of(options, *which):
    command = options.command + ["-std=c++20", f"-I{options.include}", "-S", "-emit-llvm", "-nogpulib", "-o", "-"]
    result = subprocess.run(command + list(which) + [options.source], text=True, capture_output=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{which}: does not compile\n{result.stderr}")
    match = ARRAY.search(result.stdout)
    if not match:
        sys.exit(f"{which}: no array parameter_sizes")
    return [int(value) for value in re.findall(r"i32 (\d+)", match[1])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--archs", nargs="+", required=True)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    passes = {"host": array_of(options, "--offload-host-only", f"--offload-arch={options.archs[0]}")}
    for arch in options.archs:
        passes[arch] = array_of(options, "--offload-device-only", f"--offload-arch={arch}")
    for name, values in passes.items():
        print(f"{name:8} {' '.join(str(value) for value in values)}")
    sys.exit(len({tuple(values) for values in passes.values()}) != 1)


if __name__ == "__main__":
    main()
