"""Checks that kernels contain the LDS instructions that they declare, no more and no others.

  check_lds.py --compiler COMPILER [--arch gfx942] --program PROGRAM -- COMMAND...

COMMAND runs the program, which prints "symbol opcode=count ..." for its own kernels. Proofs of conflict-free
access are about declared instructions; this ties them to what the compiler made.
"""

import argparse
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake" / "kernel_report"))
import code_objects  # noqa: E402

# Reads and writes of LDS; ds_swizzle, ds_permute and ds_bpermute move data between lanes without it.
MEMORY = re.compile(r"ds_(read|write|load|store|add|sub|min|max|and|or|xor|cmpst|wrxchg|inc|dec|append|consume)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--arch", default="gfx942")
    parser.add_argument("--program", required=True)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    tools = code_objects.Tools.of(options.compiler)
    kernels = {kernel.symbol: kernel for kernel in code_objects.kernels_of(tools, options.program, options.arch)}
    output = subprocess.run(options.command, text=True, capture_output=True, check=True).stdout

    checked, failed = 0, 0
    for line in output.splitlines():
        symbol, *uses = line.split()
        kernel = kernels.get(symbol)
        if kernel is None:
            failed += 1
            print(f"FAILED no kernel {symbol} for {options.arch}")
            continue
        checked += 1
        declared = {}
        for use in uses:
            opcode, count = use.split("=")
            declared[opcode] = declared.get(opcode, 0) + int(count)
        emitted = {opcode: count for opcode, count in kernel.opcodes.items() if MEMORY.match(opcode)}
        same = emitted == declared
        failed += not same
        print(f"{'ok    ' if same else 'FAILED'} {code_objects.short(kernel.name)}\n"
              f"         {' '.join(f'{opcode}={count}' for opcode, count in sorted(emitted.items()))}")
        if not same:
            print(f"         declared: {' '.join(uses)}")
    undeclared = [kernel for symbol, kernel in kernels.items() if symbol not in output]
    for kernel in undeclared:
        if any(MEMORY.match(opcode) for opcode in kernel.opcodes):
            failed += 1
            print(f"FAILED {code_objects.short(kernel.name)} uses LDS and declares nothing")
    print(f"{checked} kernels, {failed} problems")
    sys.exit(failed != 0 or checked == 0)


if __name__ == "__main__":
    main()
