"""One table of counters by kernel from rocprofv3's CSV files, from wavesim's JSON, or both line by line.

  table.py [--simulated wavesim.json] [--measured counter_collection.csv...]

Names are rocprofv3's. With both, kernels are those that are in both, sums over all dispatches, and the last column is
measured over simulated. Exit code 1 when there is nothing to show.
"""

import argparse
import csv
import json
import sys

COUNTERS = ("SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_MFMA", "SQ_INSTS_LDS", "SQ_INSTS_SMEM", "SQ_INSTS_BRANCH",
            "SQ_INSTS_VMEM", "SQ_VALU_MFMA_BUSY_CYCLES", "SQ_LDS_IDX_ACTIVE", "SQ_LDS_BANK_CONFLICT",
            "TCP_TOTAL_ACCESSES_sum")


def simulated(path):
    """kernel -> counter -> value, by the equations of wavesim's README."""
    with open(path, encoding="utf-8") as file:
        kernels = json.load(file)["kernels"]
    result = {}
    for one in kernels:
        by_unit = one["instructions"]
        values = (one["waves"], by_unit["valu"] + by_unit["trans"] + by_unit["mfma"], by_unit["mfma"], by_unit["lds"],
                  by_unit["smem"], by_unit["branch"], by_unit["vmem"] + by_unit["flat"], one["mfma"]["clocks"],
                  one["lds"]["clocks"], one["lds"]["conflicts"], one["global"]["tcp_accesses"])
        result[one["name"]] = dict(zip(COUNTERS, values))
    return result


def measured(paths):
    """The same from rows of one counter and dispatch each."""
    result = {}
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                kernel = result.setdefault(row["Kernel_Name"].removesuffix(".kd"), {})
                name = row["Counter_Name"]
                kernel[name] = kernel.get(name, 0) + float(row["Counter_Value"])
    return result


def show(kernels, columns):
    """`columns`: (head, kernel -> counter -> value)"""
    for kernel in kernels:
        print(kernel)
        print(f"  {'counter':28}" + "".join(f"{head:>18}" for head, _ in columns)
              + (f"{'measured/simulated':>20}" if len(columns) == 2 else ""))
        for counter in COUNTERS:
            values = [column[kernel].get(counter) for _, column in columns]
            if all(value is None for value in values):
                continue
            line = "".join(f"{'-' if value is None else f'{value:,.0f}':>18}" for value in values)
            if len(values) == 2 and None not in values:
                line += f"{values[1] / values[0]:>20.4f}" if values[0] else f"{'=' if values[1] == 0 else '-':>20}"
            print(f"  {counter:28}{line}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulated")
    parser.add_argument("--measured", nargs="*", default=[])
    options = parser.parse_args()
    columns = []
    if options.simulated:
        columns.append(("simulated", simulated(options.simulated)))
    if options.measured:
        columns.append(("measured", measured(options.measured)))
    if not columns:
        parser.error("neither --simulated nor --measured is given")
    kernels = [name for name in columns[0][1] if all(name in column for _, column in columns)]
    show(kernels, columns)
    left_out = sorted({name for _, column in columns for name in column} - set(kernels))
    if left_out:
        print("only on one side: " + "; ".join(left_out))
    sys.exit(not kernels)


if __name__ == "__main__":
    main()
