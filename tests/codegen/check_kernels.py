"""Prints what each kernel of the library takes and fails where one leaves its registers.

  check_kernels.py --compiler COMPILER [--arch gfx942] [--select REGEX] --programs PROGRAM...

Fails if a kernel in namespace wavetile has scratch memory, spilled registers (but for the scalar ones listed
below) or more LDS than a workgroup can have, if it is not compiled for exactly the workgroup size of its
config, or if no kernel was found.
"""

import argparse
import re
import sys

import code_objects

LDS_LIMIT = 65536  # bytes a workgroup can have on gfx942
REGISTER_FILE, REGISTER_GRANULE, MOST_WAVES = 512, 8, 8


def waves_per_simd(registers):
    """Waves of one SIMD that their vector registers leave room for."""
    granules = -(-max(registers, 1) // REGISTER_GRANULE) * REGISTER_GRANULE
    return min(MOST_WAVES, REGISTER_FILE // granules)


# Scalar registers of these kernels do not suffice: the compiler keeps the rest in lanes of a vector register
# (no memory is touched). At most so many; anything else, and any other kernel, fails.
KNOWN_SCALAR_SPILLS = [
    (r"matmul_skinny<.*(signed char|basic_fp8)", 5),
    (r"matmul_tile<.*basic_fp8.*, true>, wavetile::matmul_config\{128, 128", 32),
]


def allowed_scalar_spills(kernel):
    return max((most for name, most in KNOWN_SCALAR_SPILLS if re.search(name, kernel.name)), default=0)


def problems_of(kernel):
    tiled = re.search(r"matmul_config\{\d+, \d+, \d+, (\d+), (\d+), \d+\}", kernel.name)
    config = re.search(r"_config\{(?:\([\w:]+\)\d+, )?(\d+)[,}]", kernel.name)
    waves = int(tiled[1]) * int(tiled[2]) if tiled else int(config[1]) if config else None
    if waves and waves * 64 != kernel.number(".max_flat_workgroup_size"):
        yield f"compiled for {kernel.number('.max_flat_workgroup_size')} work-items, its config has {waves} waves"
    for key, what in [(".private_segment_fixed_size", "bytes of scratch a lane"),
                      (".vgpr_spill_count", "spilled vector registers")]:
        if kernel.number(key) != 0:
            yield f"{kernel.number(key)} {what}"
    if kernel.number(".sgpr_spill_count") > allowed_scalar_spills(kernel):
        yield (f"{kernel.number('.sgpr_spill_count')} spilled scalar registers, "
               f"allowed here {allowed_scalar_spills(kernel)}")
    if kernel.metadata.get(".uses_dynamic_stack") == "true":
        yield "a stack of unknown size"
    if kernel.number(".group_segment_fixed_size") > LDS_LIMIT:
        yield f"{kernel.number('.group_segment_fixed_size')} bytes of LDS, the limit is {LDS_LIMIT}"
    scratch = [opcode for opcode in kernel.opcodes if opcode.startswith("scratch_")]
    if scratch:
        yield f"scratch instructions: {', '.join(sorted(scratch))}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--arch", default="gfx942")
    parser.add_argument("--select", default=r"^wavetile::")
    parser.add_argument("--programs", nargs="+", required=True)
    options = parser.parse_args()
    tools = code_objects.Tools.of(options.compiler)

    kernels = {}
    for program in options.programs:
        for kernel in code_objects.kernels_of(tools, program, options.arch):
            if re.search(options.select, kernel.name):
                kernels[kernel.symbol] = kernel
    print(f"{'VGPR':>5} {'AGPR':>5} {'SGPR':>5} {'waves':>5} {'scratch':>7} {'LDS':>6} {'group':>5}  kernel")
    failed = 0
    for kernel in sorted(kernels.values(), key=lambda kernel: kernel.name):
        vgprs = kernel.number(".vgpr_count")
        print(f"{vgprs:5} {kernel.number('.agpr_count'):5} {kernel.number('.sgpr_count'):5} "
              f"{waves_per_simd(vgprs):5} {kernel.number('.private_segment_fixed_size'):7} "
              f"{kernel.number('.group_segment_fixed_size'):6} "
              f"{kernel.number('.max_flat_workgroup_size'):5}  {code_objects.short(kernel.name)}")
        for problem in problems_of(kernel):
            failed += 1
            print(f"      FAILED {problem}")
    print(f"{len(kernels)} kernels for {options.arch}, {failed} problems")
    sys.exit(failed != 0 or not kernels)


if __name__ == "__main__":
    main()
