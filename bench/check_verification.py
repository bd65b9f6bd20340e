"""Runs a benchmark with --corrupt and fails unless every one of its rows was found to be wrong.

  check_verification.py COMMAND...
"""

import re
import subprocess
import sys


def main():
    done = subprocess.run(sys.argv[1:] + ["--corrupt"], text=True, capture_output=True)
    rows = [line for line in done.stdout.splitlines() if re.match(r"\S+/\S+ ", line)]
    passed = [row for row in rows if "wrong" not in row]
    print("\n".join(passed))
    print(f"exit code {done.returncode}; {len(rows)} results spoilt, {len(passed)} of them not noticed")
    sys.exit(done.returncode != 1 or not rows or bool(passed))


if __name__ == "__main__":
    main()
