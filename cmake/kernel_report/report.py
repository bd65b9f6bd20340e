"""What a compiler made of the kernels in HIP programs, objects, libraries or code objects.

  report.py --compiler COMPILER [--arch gfx942] [--select REGEX] [--json FILE] [--text FILE] [--quiet]
            [--table] [--contract FILE] [--write-contract FILE] PROGRAM...

Per kernel: registers, spills, private segment, LDS, waves a SIMD, the mix of instructions in all of it and in a pass
of the hottest loop, and the least issue-to-wait distance of its loads. Needs Python 3.9 and the LLVM tools that
belong to the compiler; no GPU. With --contract the exit code is 1 when a kernel breaks it (see contract.py);
--write-contract writes one that these kernels keep exactly. Exit code 2: bad arguments, no contract in that file, no
kernel found, a damaged file, or a compiler whose tools cannot read its kernels.
"""

import argparse
import json
import re
import subprocess
import sys

import code_objects
import contract
import summary


class UsageError(Exception):
    """An argument that is not allowed."""


def compiler_line(compiler):
    try:
        lines = subprocess.run([compiler, "--version"], text=True, capture_output=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError) as error:
        raise UsageError(f"--compiler '{compiler}': {error}") from error
    if not lines:
        raise UsageError(f"--compiler '{compiler}': it does not say its version")
    return lines[0]


def reports_of(compiler, programs, arch="gfx942", select=""):
    """Reports of the kernels whose name matches, each symbol once, ordered by name."""
    tools = code_objects.Tools.of(compiler)
    found = {}
    for program in programs:
        for kernel in code_objects.kernels_of(tools, program, arch):
            if kernel.symbol not in found and re.search(select, kernel.name):
                found[kernel.symbol] = kernel
    return [summary.summary_of(kernel, arch) for kernel in sorted(found.values(), key=lambda kernel: kernel.name)]


def table_of(reports):
    lines = [f"{'VGPR':>5} {'AGPR':>5} {'SGPR':>5} {'waves':>5} {'scratch':>7} {'LDS':>6} {'group':>5}  kernel"]
    for one in reports:
        waves = one["waves_per_simd"]
        lines.append(f"{one['vgprs']:5} {one['agprs']:5} {one['sgprs']:5} {waves if waves is not None else '?':>5} "
                     f"{one['private_segment']:7} {one['lds']:6} {one['group_size']:5}  {one['name']}")
    return "\n".join(lines)


def check(path, reports, compiler):
    """Whether the kernels keep the contract; says what does not."""
    terms = contract.load(path)
    wanted = terms.get("compiler", "")
    if wanted not in compiler:
        print(f"{path}: not checked, because it is for {wanted!r} and this compiler is {compiler!r}")
        return True
    problems = contract.violations(terms, reports)
    last = None
    for name, text in sorted(problems):
        if name != last:
            print(f"CONTRACT BROKEN: {name}")
        last = name
        print(f"    {text}")
    print(f"{path}: {len(reports)} kernels, {len(problems)} violations")
    return not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--arch", default="gfx942")
    parser.add_argument("--select", default="", help="only kernels whose name this regular expression finds")
    parser.add_argument("--json")
    parser.add_argument("--text")
    parser.add_argument("--quiet", action="store_true", help="do not print the text")
    parser.add_argument("--table", action="store_true", help="print a line for each kernel instead of the text")
    parser.add_argument("--contract")
    parser.add_argument("--write-contract")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    try:
        try:
            re.compile(options.select)
        except re.error as error:
            raise UsageError(f"--select '{options.select}' is no regular expression: {error}") from error
        if options.contract:
            contract.load(options.contract)  # before the work
        line = compiler_line(options.compiler)
        reports = reports_of(options.compiler, options.programs, options.arch, options.select)
        if not reports:
            print(f"no kernels for {options.arch} in {', '.join(options.programs)}", file=sys.stderr)
            return 2
        text = f"{len(reports)} kernels for {options.arch}, {line}\n\n" + "\n\n".join(map(summary.text_of, reports)) + "\n"
        if options.table:
            print(table_of(reports))
        elif not options.quiet:
            print(text)
        if options.text:
            with open(options.text, "w", encoding="utf-8") as file:
                file.write(text)
        if options.json:
            document = {"schema": "wavetile-kernels", "version": 1, "arch": options.arch, "compiler": line,
                        "kernels": reports}
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(document, file, indent=1)
        if options.write_contract:
            with open(options.write_contract, "w", encoding="utf-8") as file:
                json.dump(contract.exact(reports, " ".join(line.split()[:4]).split(".")[0]), file, indent=1)
        if options.contract:
            return 0 if check(options.contract, reports, line) else 1
        return 0
    except (contract.ContractError, code_objects.Unreadable, UsageError, OSError) as error:
        print(f"kernel report: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
