"""Checks that object files of one program share only weak symbols of the library.

  check_symbols.py --nm NM OBJECT OBJECT...
"""

import argparse
import collections
import subprocess
import sys


def symbols(nm, path):
    """(kind, name) of each symbol an object defines."""
    text = subprocess.run([nm, "--defined-only", path], text=True, capture_output=True, check=True).stdout
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 3:
            yield fields[1], fields[2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nm", required=True)
    parser.add_argument("objects", nargs="+")
    options = parser.parse_args()
    strong, weak = collections.Counter(), collections.Counter()
    for path in options.objects:
        for kind, name in set(symbols(options.nm, path)):
            if kind in "TDBRGS":
                strong[name] += 1
            elif kind in "WVu":
                weak[name] += 1
    duplicates = [name for name, count in strong.items() if count > 1]
    shared = sum(1 for name, count in weak.items() if count > 1 and "wavetile" in name)
    print(f"{len(options.objects)} objects share {shared} weak symbols of wavetile")
    for name in duplicates:
        print(f"FAILED defined more than once: {name}")
    library = [name for name in strong if name.startswith(("_ZN8wavetile", "_ZNK8wavetile"))]
    for name in library:
        print(f"FAILED a header defines a strong symbol: {name}")
    sys.exit(bool(duplicates or library or shared == 0))


if __name__ == "__main__":
    main()
