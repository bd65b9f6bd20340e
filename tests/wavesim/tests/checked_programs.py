"""Every HIP program that a test runs on wavesim is run under all checks as well, but for what README says.

  checked_programs.py --build BUILD_FOLDER --ctest CTEST --readme README

Compares the tests that CTest knows with the table "Without checks" of the checks' README: a line "| `PROGRAM` |"
for a program that no test runs under `--check`, "| `PROGRAM`: `CASE` `CASE` |" for GoogleTest cases that its checked
run leaves out. Neither may have what the other has not.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

CHECKED = {"--check", "expected_findings.py"}  # the latter runs its command under all checks
FILTER = "--gtest_filter="


def is_hip_program(path):
    return path.is_file() and b"libamdhip64.so" in path.read_bytes()


def runs_of(tests, folder):
    """(program, arguments before it, arguments behind it) of each test that names a HIP program."""
    known = {}
    for test in tests:
        words = test.get("command", [])
        for i, word in enumerate(words):
            path = pathlib.Path(word)
            if i == 0 or path.parent != folder:
                continue
            if path not in known:
                known[path] = is_hip_program(path)
            if known[path]:
                yield path.name, words[:i], words[i + 1:]


def documented(readme):
    """Programs without checks, and (program, case) pairs, of the table."""
    programs, cases = set(), set()
    section = readme.read_text(encoding="utf-8").split("### Without checks", 1)[1].split("\n#", 1)[0]
    for row in re.findall(r"^\| (`.*?) \|", section, re.M):
        program, *left_out = re.findall(r"`([^`]+)`", row)
        if left_out:
            cases |= {(program, case) for case in left_out}
        else:
            programs.add(program)
    return programs, cases


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--ctest", required=True)
    parser.add_argument("--readme", required=True, type=pathlib.Path)
    options = parser.parse_args()
    listing = subprocess.run([options.ctest, "--show-only=json-v1"], cwd=options.build, check=True, text=True,
                             capture_output=True).stdout
    run, checked, cases = set(), set(), set()
    for program, before, behind in runs_of(json.loads(listing)["tests"], options.build.resolve() / "bin"):
        run.add(program)
        if not CHECKED & {pathlib.Path(word).name for word in before}:
            continue
        checked.add(program)
        for word in behind:
            if word.startswith(FILTER):
                wanted, _, unwanted = word[len(FILTER):].partition("-")
                cases |= {(program, case) for case in unwanted.split(":") if case}
                if wanted not in ("", "*"):
                    cases.add((program, "all but " + wanted))
    programs_said, cases_said = documented(options.readme)
    problems = [f"{p} is run by tests, never under --check, and the README has no reason" for p in
                sorted(run - checked - programs_said)]
    problems += [f"the README says that {p} is not checked, but it is, or no test runs it" for p in
                 sorted(programs_said - (run - checked))]
    problems += [f"{p} leaves out {c} under --check, and the README has no reason" for p, c in
                 sorted(cases - cases_said)]
    problems += [f"the README says that {p} leaves out {c}, but it does not" for p, c in sorted(cases_said - cases)]
    print(f"{len(run)} HIP programs, {len(checked)} under all checks, {len(cases)} cases left out", *problems, sep="\n")
    sys.exit(bool(problems) or not checked)


if __name__ == "__main__":
    main()
