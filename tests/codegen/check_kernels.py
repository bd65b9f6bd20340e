"""Prints what each kernel of the library takes and fails where one breaks the contract of shipped kernels.

  check_kernels.py --compiler COMPILER [--arch gfx942] [--select REGEX] [--contract FILE] --programs PROGRAM...

Beside the contract (cmake/kernel_report/contract.py says what one is; without the option there is none): a kernel
must be compiled for exactly the workgroup size of its config, and a kernel must be found.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake" / "kernel_report"))
import report  # noqa: E402


def work_items_of_config(name):
    """Of the config among a kernel's template arguments; None without one."""
    tiled = re.search(r"matmul_config\{\d+, \d+, \d+, (\d+), (\d+), \d+[^}]*\}", name)
    config = re.search(r"_config\{(?:\([\w:]+\)\d+, )?(\d+)[,}]", name)
    if not tiled and not config:
        return None
    return 64 * (int(tiled[1]) * int(tiled[2]) if tiled else int(config[1]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--arch", default="gfx942")
    parser.add_argument("--select", default=r"^wavetile::")
    parser.add_argument("--contract")
    parser.add_argument("--programs", nargs="+", required=True)
    options = parser.parse_args()
    kernels = report.reports_of(options.compiler, options.programs, options.arch, options.select)
    print(report.table_of([{**one, "name": re.sub(r"wavetile::(kernels::|detail::)?", "", one["name"])}
                           for one in kernels]))
    failed = 0
    for one in kernels:
        items = work_items_of_config(one["name"])
        if items and items != one["group_size"]:
            failed += 1
            print(f"FAILED {one['name']}\n    compiled for {one['group_size']} work-items, its config has {items}")
    if options.contract and not report.check(options.contract, kernels, report.compiler_line(options.compiler)):
        failed += 1
    sys.exit(failed != 0 or not kernels)


if __name__ == "__main__":
    main()
