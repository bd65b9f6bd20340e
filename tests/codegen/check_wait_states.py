"""Checks that no path through a kernel reads the result of a matrix instruction too early.

  check_wait_states.py --compiler COMPILER [--arch gfx942] [--select REGEX] --programs PROGRAM...

The hardware does not wait for a matrix instruction when a vector, LDS or memory instruction reads its result: the
program must put wait states between the two. LLVM does, but overlooks paths through some taken branches. Here every
path of the disassembly is followed, and each instruction on it counts for one state, s_nop for those it says.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake" / "kernel_report"))
import code_objects  # noqa: E402
import flow  # noqa: E402
import instructions  # noqa: E402

REGISTERS = re.compile(r"(?<![\w.])([va])(?:(\d+)|\[(\d+):(\d+)\])(?!\w)")
MEMORY = ("lds", "global", "scratch", "flat")


def registers_of(text):
    found = set()
    for file, one, first, last in REGISTERS.findall(text):
        low = int(one or first)
        found.update((file, number) for number in range(low, int(last or low) + 1))
    return found


def accesses_of(one):
    """(registers read, registers written)"""
    unit = instructions.unit_of(one.opcode)
    first, _, rest = one.operands.partition(",")
    if unit in MEMORY and not instructions.is_load(one.opcode):
        return registers_of(one.operands), set()
    if unit in MEMORY + ("valu", "transcendental", "mfma"):
        return registers_of(rest), registers_of(first)
    return set(), set()


def states_needed(producer, unit):
    """Between a matrix instruction and a reader of its result; LLVM's hazard recogniser has the same numbers."""
    passes, beside = instructions.matrix_passes(producer.opcode)
    if instructions.without_encoding(producer.opcode).endswith("f64"):
        four = "_4x4x4" in producer.opcode
        return (9 if four else 18) if unit in MEMORY else (6 if four else 11)
    return passes + (3 if beside else 2)


def early_readers(blocks, follow):
    """[(producer, reader, states there, states needed)], the least states of each pair."""
    facts = {one.address: (instructions.unit_of(one.opcode), *accesses_of(one)) for block in blocks for one in block}
    found = {}
    for number, block in enumerate(blocks):
        for place, producer in enumerate(block):
            if facts[producer.address][0] != "mfma":
                continue
            most = states_needed(producer, "lds")
            work, best = [(number, place + 1, 0, frozenset(facts[producer.address][2]))], {}
            while work:
                at, begin, states, live = work.pop()
                if begin == 0:
                    if any(known <= states and live <= registers for known, registers in best.get(at, [])):
                        continue
                    best.setdefault(at, []).append((states, live))
                for one in blocks[at][begin:]:
                    unit, read, written = facts[one.address]
                    if unit != "mfma" and live & read:
                        needed = states_needed(producer, unit)
                        known = found.get((producer.address, one.address))
                        if states < needed and (known is None or states < known[2]):
                            found[producer.address, one.address] = (producer, one, states, needed)
                    live -= written
                    states += int(one.operands, 0) % 16 + 1 if unit == "nop" else 1
                    if states >= most or not live:
                        break
                else:
                    work += [(to, 0, states, live) for to in follow[at]]
    return list(found.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--arch", default="gfx942")
    parser.add_argument("--select", default=r"^wavetile::")
    parser.add_argument("--programs", nargs="+", required=True)
    options = parser.parse_args()
    tools = code_objects.Tools.of(options.compiler)
    seen, checked, failed = set(), 0, 0
    for program in options.programs:
        for kernel in code_objects.kernels_of(tools, program, options.arch):
            if kernel.symbol in seen or not re.search(options.select, kernel.name):
                continue
            seen.add(kernel.symbol)
            if not any(instructions.unit_of(one.opcode) == "mfma" for one in kernel.code):
                continue
            checked += 1
            graph = flow.Flow(kernel.code)
            early = early_readers(graph.blocks, graph.next)
            failed += bool(early)
            for producer, reader, states, needed in early:
                print(f"FAILED {code_objects.short(kernel.name)}\n    {producer.address:#x} {producer.opcode} "
                      f"{producer.operands}\n    {reader.address:#x} {reader.opcode} {reader.operands}: {states} wait "
                      f"states, {needed} are needed")
    print(f"{checked} kernels with matrix instructions, {failed} read a result too early")
    sys.exit(failed != 0 or checked == 0)


if __name__ == "__main__":
    main()
