"""Compiles each public header alone, included twice, with warnings as errors.

  check_headers.py --include DIR --std c++20 [--only-dirs arch core lds] [--headers x.hpp ...]
                   [--lean-flags=FLAG,...] -- COMPILER FLAGS...

The headers are ordinary includes (-I), as in a program that uses them without CMake. Detail headers are
compiled too: a header that needs another one must say so. Lean flags leave something out that costs most of
the time and can only help a header (clang's own HIP wrapper header): one that fails with them gets a second
try without.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wunused-result", "-Werror"]


def compile_header(options, header):
    text = f"#include <{header}>\n#include <{header}>\n"
    arguments = options.command + WARNINGS + [f"-std={options.std}", f"-I{options.include}", "-fsyntax-only"]
    for extra in [options.lean_flags.split(","), []] if options.lean_flags else [[]]:
        result = subprocess.run(arguments + extra + ["-"], input=text, text=True, capture_output=True, check=False)
        if result.returncode == 0:
            break
    return result


def public_headers(include, only_dirs):
    root = include / "wavetile"
    for path in sorted(root.rglob("*.hpp")):
        parts = path.relative_to(root).parts
        if not only_dirs or len(parts) > 1 and parts[0] in only_dirs:
            yield path.relative_to(include).as_posix()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", type=pathlib.Path, required=True)
    parser.add_argument("--std", default="c++20")
    parser.add_argument("--only-dirs", nargs="*", default=[])
    parser.add_argument("--headers", nargs="*")
    parser.add_argument("--lean-flags", default="")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    headers = options.headers or list(public_headers(options.include, options.only_dirs))
    if not headers:
        sys.exit("no headers found")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {header: pool.submit(compile_header, options, header) for header in headers}
        for header, job in jobs.items():
            result = job.result()
            if result.returncode != 0:
                failed += 1
                print(f"FAILED {header}\n{result.stderr}")
    print(f"{len(headers) - failed} of {len(headers)} headers compile alone as {options.std}")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
