"""Compiles each public header alone, included twice, with warnings as errors.

  check_headers.py --include DIR --std c++20 [--only-dirs arch core lds] [--headers x.hpp ...]
                   -- COMPILER FLAGS...

The headers are ordinary includes (-I), as in a program that uses them without CMake. Detail headers are
compiled too: a header that needs another one must say so.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wunused-result", "-Werror"]


def compile_header(command, include, std, header):
    text = f"#include <{header}>\n#include <{header}>\n"
    arguments = command + WARNINGS + [f"-std={std}", f"-I{include}", "-fsyntax-only", "-"]
    return subprocess.run(arguments, input=text, text=True, capture_output=True, check=False)


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
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    headers = options.headers or list(public_headers(options.include, options.only_dirs))
    if not headers:
        sys.exit("no headers found")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {
            header: pool.submit(compile_header, options.command, options.include, options.std, header)
            for header in headers
        }
        for header, job in jobs.items():
            result = job.result()
            if result.returncode != 0:
                failed += 1
                print(f"FAILED {header}\n{result.stderr}")
    print(f"{len(headers) - failed} of {len(headers)} headers compile alone as {options.std}")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
