"""Checks, by what wavesim executes, that waves which alternate overlap softmax with matrix instructions.

  check_overlap.py --wavesim WAVESIM --program PROGRAM [PROGRAM'S ARGUMENTS...]

The steady loop of each kernel named so must consist of halves that end at barriers: matrix instructions without any
exponential, then exponentials with no more than the last few matrix instructions. The second group of waves must be one
barrier, so half a step, behind the first: then the two waves of a SIMD are in different halves all the time. What the
softmax half issues must take less than the matrix half's matrix instructions.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

TRANSCENDENTAL = ("v_exp_f32", "v_log_f32", "v_rcp_f32", "v_rsq_f32", "v_sqrt_f32")
MATRIX_CLOCKS, VECTOR_CLOCKS, TRANSCENDENTAL_CLOCKS = 32, 4, 16
LAST_FEW = 4


def halves_of(loop):
    """Lists of opcodes, from after one barrier up to the next, around the loop."""
    halves, current = [], []
    for one in loop:
        if one["mnemonic"].startswith("s_barrier"):
            halves.append(current)
            current = []
        else:
            current.append(one["mnemonic"].split(" ")[0])
    halves[0] = current + halves[0]
    return halves


def faults_of(kernel):
    steady = kernel["steady_loop"]
    code = sorted(kernel["code"], key=lambda one: one["offset"])
    inside = [one for one in code if steady["begin"] <= one["offset"] < steady["end"]]
    often = max(one["executions"] for one in inside)
    # the path of a step in the middle: first and last steps skip something, masked ones do more
    halves = halves_of([one for one in inside if 2 * one["executions"] > often])
    counts = []
    for half in halves:
        matrix = sum(name.startswith("v_mfma") for name in half)
        exponentials = sum(name.startswith(TRANSCENDENTAL) for name in half)
        vector = sum(name.startswith("v_") for name in half) - matrix - exponentials
        counts.append((matrix, exponentials, VECTOR_CLOCKS * vector + TRANSCENDENTAL_CLOCKS * exponentials))
    print(kernel["name"][:120])
    for matrix, exponentials, clocks in counts:
        print(f"    {matrix} matrix instructions, {exponentials} exponentials, {clocks} clocks of vector work")
    multiplying = [one for one in counts if one[0] > LAST_FEW]
    weighing = [one for one in counts if one[0] <= LAST_FEW]
    faults = []
    if not multiplying or len(multiplying) != len(weighing):
        faults.append("halves with matrix instructions and such without do not alternate")
    if any(exponentials for _, exponentials, _ in multiplying) or not all(exponentials for _, exponentials, _ in weighing):
        faults.append("exponentials are not in the other half")
    if weighing and multiplying and max(clocks for _, _, clocks in weighing) >= MATRIX_CLOCKS * min(one[0] for one in multiplying):
        faults.append("the softmax half takes longer than the matrix half")
    waves = kernel["waves"]
    before = [one["executions"] for one in code if one["mnemonic"].startswith("s_barrier") and one["offset"] < steady["begin"]]
    after = [one["executions"] for one in code if one["mnemonic"].startswith("s_barrier") and one["offset"] >= steady["end"]]
    if sorted(before) != [waves // 2, waves] or after != [waves // 2]:
        faults.append(f"barriers before the loop {before} and behind it {after}: half of {waves} waves should have one more first")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wavesim", required=True)
    parser.add_argument("--program", required=True)
    options, arguments = parser.parse_known_args()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([options.wavesim, "--json", file.name, "--", options.program, *arguments], check=True,
                       stdout=subprocess.DEVNULL)
        kernels = json.loads(pathlib.Path(file.name).read_text(encoding="utf-8"))["kernels"]
    # the last flag of attention_config
    alternating = [one for one in kernels if "128, 128}, false, false, true}" in one["name"]]
    faults = [fault for one in alternating for fault in faults_of(one)]
    for fault in faults:
        print(f"FAULT {fault}")
    sys.exit(bool(faults) or not alternating)


if __name__ == "__main__":
    main()
