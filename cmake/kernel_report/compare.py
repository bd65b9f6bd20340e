"""Sets kernel reports (JSON files of report.py) of the same code side by side, as a Markdown table.

  compare.py LABEL=FILE LABEL=FILE... [--select REGEX]

A kernel whose figures are all the same in every file is said to be so.
"""

import argparse
import json
import re
import sys

import contract

COLUMNS = {"VGPR": "vgprs", "AGPR": "agprs", "private segment": "private_segment", "VGPR spills": "vgpr_spills",
           "waves": "waves_per_simd", "instructions": "code.instructions", "v_accvgpr": "code.accvgpr_moves",
           "VALU": "code.valu", "MFMA": "code.mfma", "LDS": "code.lds", "global": "code.global",
           "scratch": "code.scratch", "loop clocks": "loop.clocks", "loop vector clocks": "loop.vector_clocks",
           "global distance": "loop.least_distance.global"}


def short(name):
    return re.sub(r"wavetile::(kernels::)?", "", name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--select", default="")
    options = parser.parse_args()
    sets = []
    for argument in options.files:
        label, _, path = argument.partition("=")
        if not path:
            parser.error(f"'{argument}' is not LABEL=FILE")
        with open(path, encoding="utf-8") as file:
            sets.append((label, {short(k["name"]): k for k in json.load(file)["kernels"]}))
    names = sorted({name for _, kernels in sets for name in kernels if re.search(options.select, name)})
    if not names:
        sys.exit("no kernel to compare")
    print("| kernel | | " + " | ".join(COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    changed = dict.fromkeys(COLUMNS, 0)
    for name in names:
        rows = [(label, [contract.value_at(kernels[name], path) for path in COLUMNS.values()])
                for label, kernels in sets if name in kernels]
        if len(rows) > 1 and all(values == rows[0][1] for _, values in rows):
            rows = [("all: no difference", rows[0][1])]
        for index, column in enumerate(COLUMNS):
            changed[column] += len({values[index] for _, values in rows}) > 1
        for label, values in rows:
            print(f"| `{name}` | {label} | " + " | ".join(str(value) for value in values) + " |")
        missing = [label for label, kernels in sets if name not in kernels]
        if missing:
            print(f"| `{name}` | not in: {', '.join(missing)} |" + " |" * len(COLUMNS))
    print(f"\n{len(names)} kernels; changed in: "
          + ", ".join(f"{column} {count}" for column, count in changed.items()))


if __name__ == "__main__":
    main()
