"""Runs a GoogleTest program of others under all of wavesim's checks and compares what they find with what is known.

  expected_findings.py --wavesim WAVESIM [--threads N] --expect CHECK KERNEL COUNT [--expect ...] -- COMMAND...

CHECK is the name of a check, KERNEL a regular expression for the kernel's name, COUNT how many different findings
there must be. Anything else that is found fails, and so does a finding that is no longer there. The program's own
tests must pass. Notes are not counted.
"""

import argparse
import collections
import re
import subprocess
import sys

FOUND_SOMETHING = 86
FINDING = re.compile(r"^wavesim: (\w+) #\d+: (.*)$")
KERNEL = re.compile(r"^  kernel +(.*)$")


def findings_of(text):
    """(check, kernel) of every finding in the order of the report."""
    found, check = [], None
    for line in text.splitlines():
        if match := FINDING.match(line):
            check = match.group(1)
        elif check and (match := KERNEL.match(line)):
            found.append((check, match.group(1)))
            check = None
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wavesim", required=True)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--expect", nargs=3, action="append", default=[], metavar=("CHECK", "KERNEL", "COUNT"))
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    run = subprocess.run([options.wavesim, "--check", "--threads", options.threads, "--", *options.command],
                         text=True, capture_output=True)
    failures = []
    if run.returncode != (FOUND_SOMETHING if options.expect else 0):
        failures.append(f"exit code {run.returncode}")
    if "[  PASSED  ]" not in run.stdout or "[  FAILED  ]" in run.stdout:
        failures.append("the program's own tests did not pass")
    counts = collections.Counter()
    for check, kernel in findings_of(run.stderr):
        known = [i for i, (c, pattern, _) in enumerate(options.expect) if c == check and re.search(pattern, kernel)]
        if known:
            counts[known[0]] += 1
        else:
            failures.append(f"not expected: {check} in {kernel}")
    for i, (check, pattern, count) in enumerate(options.expect):
        print(f"{check} in {pattern}: {counts[i]} found, {count} expected")
        if counts[i] != int(count):
            failures.append(f"{counts[i]} instead of {count}: {check} in {pattern}")
    if failures:
        print(run.stdout[-4000:], run.stderr[-8000:], *failures, sep="\n")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
