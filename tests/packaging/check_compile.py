"""Compiles small programs that must, or must not, compile.

  check_compile.py --kind pass|fail --include DIR --files FILE... -- COMPILER FLAGS...

Each file states its own runs in comments at its start:

  // flags: -std=c++17          one run with these flags besides -std=c++20 (several lines, several runs);
                                without --offload-arch among them, gfx942 is compiled for
  // mode: object               generate code, instead of checking syntax and templates only
  // expect: wavetile needs     text the compiler must print; a failing file has at least one

A file that must fail is also compiled with -DWAVETILE_TEST_VALID, which selects the correct line of each
pair in it: so that it fails for the line it is about and for nothing else.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wunused-result", "-Werror"]
NOTE = re.compile(r"^// (flags|mode|expect): (.*)$", re.MULTILINE)


def run(options, path, flags, mode):
    with tempfile.TemporaryDirectory() as folder:  # what a compiler makes of /dev/null is its own affair
        output = ["-c", "-o", f"{folder}/out.o"] if mode == "object" else ["-fsyntax-only"]
        return compile_file(options, path, flags, output)


def compile_file(options, path, flags, output):
    if not any(flag.startswith("--offload-arch") for flag in flags):
        flags = flags + ["--offload-arch=gfx942"]
    command = options.command + WARNINGS + ["-std=c++20", f"-I{options.include}"] + flags + output
    result = subprocess.run(command + [str(path)], text=True, capture_output=True, check=False)
    return result.returncode, result.stdout + result.stderr


def check(options, path):
    """Problems of one file, as text."""
    notes = NOTE.findall(path.read_text())
    runs = [value.split() for key, value in notes if key == "flags"] or [[]]
    mode = next((value for key, value in notes if key == "mode"), "syntax")
    expected = [value for key, value in notes if key == "expect"]
    problems = []
    if options.kind == "fail" and not expected:
        problems.append(f"{path.name}: has no '// expect:' line")
    for flags in runs:
        code, text = run(options, path, flags, mode)
        name = f"{path.name} {' '.join(flags)}"
        if options.kind == "pass":
            if code != 0 or "warning:" in text:
                problems.append(f"{name}: does not compile cleanly\n{text}")
            continue
        if code == 0:
            problems.append(f"{name}: compiles, but should not")
        problems += [f"{name}: no '{part}' in\n{text}" for part in expected if part not in text]
    if options.kind == "fail" and "WAVETILE_TEST_VALID" in path.read_text():
        code, text = run(options, path, ["-DWAVETILE_TEST_VALID"], mode)
        if code != 0:
            problems.append(f"{path.name}: its valid form does not compile\n{text}")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=["pass", "fail"], required=True)
    parser.add_argument("--include", type=pathlib.Path, required=True)
    parser.add_argument("--files", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for problems in pool.map(lambda path: check(options, path), options.files):
            failed += bool(problems)
            for problem in problems:
                print(f"FAILED {problem}")
    print(f"{len(options.files) - failed} of {len(options.files)} files as they should be")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
