"""Checks that LDS instructions take, when they are executed, the clocks that the kernels' layouts promise.

  check_lds_clocks.py --wavesim WAVESIM [--kernels REGEX] -- COMMAND...

Runs COMMAND under wavesim with --json. Shipped kernels assert at compile time that their declared accesses are
free of bank conflicts, so each LDS read and write must have cost exactly the phases of its width, in every
execution: what the compiler emitted is what was proven.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

READ_OR_WRITE = re.compile(r"ds_(read|write)")


def phases(opcode):
    """Clocks of a conflict-free access by opcode: wavetile/arch/gfx942.hpp has the same facts."""
    width = re.search(r"_[biu](128|96|64|32|16|8)(_d16)?(_hi)?$", opcode)
    bits = int(width.group(1)) if width else 0
    single = {128: 8, 96: 8, 64: 4, 32: 2, 16: 2, 8: 2}.get(bits)
    return single and single * (2 if re.match(r"ds_(read|write)2", opcode) else 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wavesim", required=True)
    parser.add_argument("--kernels", default=".")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "counters.json")
        subprocess.run([options.wavesim, "--json", file, "--", *options.command], check=True,
                       stdout=subprocess.DEVNULL)
        with open(file, encoding="utf-8") as counters:
            kernels = json.load(counters)["kernels"]

    instructions, failed = 0, 0
    for kernel in kernels:
        if not re.search(options.kernels, kernel["name"]):
            continue
        for one in kernel["code"]:
            if not READ_OR_WRITE.match(one["mnemonic"]):
                continue
            instructions += 1
            promised = phases(one["mnemonic"])
            counted = one.get("lds_clocks", 0)
            # A wave without active lanes takes none.
            if promised is None or one.get("lds_conflicts", 0) != 0 or counted > promised * one["executions"] \
                    or (counted == 0 and one.get("lanes", 0) != 0):
                failed += 1
                print(f"FAILED {kernel['name'][:100]} {one['offset']:#x} {one['mnemonic']}: {counted} clocks in "
                      f"{one['executions']} executions, {promised} promised for each")
    print(f"{instructions} LDS instructions, {failed} problems")
    sys.exit(failed != 0 or instructions == 0)


if __name__ == "__main__":
    main()
