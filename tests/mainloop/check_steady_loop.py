"""Checks the steady loops of the matrix product in a program's code objects.

  check_steady_loop.py --compiler COMPILER --tools FOLDER [--arch gfx942] --program PROGRAM -- COMMAND...

COMMAND prints a line for each kernel: its symbol, then key=value pairs: waves of a CU, resident waves of
a SIMD, matrix_clocks of one matrix instruction, lds and vector (what LDS clocks and vector instructions other
than matrix instructions may take, in percent of the matrix clocks of a SIMD), and the LDS instructions of one
step. The steady loop is the loop with the most matrix instructions; it holds two steps.

The distance of a load is the work that its wave issues between the load and the wait that needs it: the clocks
of matrix instructions, and four for every other vector, LDS or memory instruction. Waits count in order, as the
hardware does. --min-global applies to the distance times the resident waves, --min-lds to the distance alone.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

LDS_CLOCKS = {"ds_read_b128": 8, "ds_write_b128": 8, "ds_write_b64": 4, "ds_write_b32": 2, "ds_write_b16": 2,
              "ds_write_b16_d16_hi": 2}
ISSUE = 4  # clocks of a SIMD that one vector instruction takes


def functions_of(tools, code_objects, program, arch):
    """symbol -> list of (address, text) for all kernels of a program."""
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        for index, code in enumerate(code_objects.unbundle(code_objects.fat_binary(tools, program), arch)):
            path = pathlib.Path(folder) / f"{index}.co"
            path.write_bytes(code)
            current = None
            for line in code_objects.run(tools.objdump, "--disassemble", f"--mcpu={arch}", "--no-show-raw-insn",
                                         str(path)).splitlines():
                symbol = re.match(r"[0-9a-f]+ <(.+)>:$", line)
                if symbol:
                    current = result.setdefault(symbol[1], [])
                elif current is not None:
                    match = re.match(r"\s+(\S.*?)\s*// ([0-9A-F]+):(.*)$", line)
                    if match:
                        current.append((int(match[2], 16), f"{match[1]} {match[3]}"))
    return result


def steady_loop(function):
    """Instructions of the loop with the most matrix instructions, in address order from its entry."""
    start = function[0][0]
    best = []
    for at, (address, text) in enumerate(function):
        target = re.match(r"s_c?branch\S*.*<.*\+0x([0-9a-f]+)>", text)
        if target and start + int(target[1], 16) <= address:
            first = start + int(target[1], 16)
            body = [line for where, line in function[:at + 1] if where >= first]
            if sum("v_mfma" in line for line in body) > sum("v_mfma" in line for line in best):
                best = body
    return best


def distances(loop, matrix_clocks):
    """(kind, clocks) of every load, over three rounds of the loop; the last round's loads may stay open."""
    found = []
    clock = 0
    waiting = {"vmcnt": collections.deque(), "lgkmcnt": collections.deque()}
    for line in loop * 3:
        opcode = line.split()[0]
        if opcode == "s_waitcnt":
            for counter, allowed in re.findall(r"(\w+cnt)\((\d+)\)", line):
                while len(waiting.get(counter, ())) > int(allowed):
                    kind, issued = waiting[counter].popleft()
                    found.append((kind, clock - issued))
        elif opcode.startswith("global_load"):
            waiting["vmcnt"].append(("global", clock))
        elif opcode.startswith("ds_"):
            waiting["lgkmcnt"].append(("lds" if "read" in opcode else "write", clock))
        elif opcode.startswith(("s_load", "s_buffer", "flat_", "global_store", "buffer_")):
            raise SystemExit(f"unexpected in a steady loop: {line}")
        if opcode.startswith("v_mfma"):
            clock += matrix_clocks
        elif opcode.startswith(("v_", "ds_", "global_")):
            clock += ISSUE
    return found


def check(kernel, function, declared, options):
    loop = steady_loop(function)
    opcodes = collections.Counter(line.split()[0] for line in loop)
    matrix = sum(count for opcode, count in opcodes.items() if opcode.startswith("v_mfma"))
    if matrix == 0:
        yield "no loop with matrix instructions"
        return
    clocks = matrix * declared["matrix_clocks"]  # of one wave
    waves, resident = declared["waves"], declared["resident"]

    emitted = {opcode: count for opcode, count in opcodes.items() if opcode.startswith("ds_")}
    expected = {key: 2 * value for key, value in declared.items() if key.startswith("ds_")}
    if emitted != expected:
        yield f"LDS instructions {emitted}, declared for two steps: {expected}"
    lds = 100 * sum(LDS_CLOCKS.get(opcode, 64) * count for opcode, count in emitted.items()) * waves
    lds /= clocks * resident
    other = sum(count for opcode, count in opcodes.items()
                if opcode.startswith("v_") and not opcode.startswith("v_mfma"))
    vector = 100 * other * ISSUE / clocks
    memory = 100 * ISSUE * sum(count for opcode, count in opcodes.items() if opcode.startswith("global_")) / clocks
    found = distances(loop, int(declared["matrix_clocks"]))
    least = {kind: min((clock for what, clock in found if what == kind), default=0) for kind in ("global", "lds")}
    print(f"  {matrix} matrix instructions, LDS {lds:.1f} %, vector {vector:.2f} % (loads {memory:.2f} % besides), "
          f"least distance: global {least['global']} x {resident:.0f} waves, LDS {least['lds']}; "
          f"{kernel.number('.vgpr_count')} registers, {kernel.number('.agpr_count')} of them for accumulation")
    if lds > declared["lds"]:
        yield f"LDS clocks {lds:.1f} % of the matrix clocks, allowed {declared['lds']} %"
    if vector > declared["vector"]:
        yield f"vector instructions {vector:.2f} % of the matrix clocks, allowed {declared['vector']} %"
    if least["global"] * resident < options.min_global:
        yield f"a global load is waited for after {least['global']} clocks of {resident:.0f} waves"
    if least["lds"] < options.min_lds:
        yield f"an LDS read is waited for after {least['lds']} clocks"
    moves = sum(count for opcode, count in opcodes.items() if "accvgpr" in opcode)
    if moves:
        yield f"{moves} moves to or from accumulation registers"
    if kernel.number(".private_segment_fixed_size") or any("scratch" in opcode for opcode in opcodes):
        yield "scratch memory"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--tools", required=True, help="folder of code_objects.py")
    parser.add_argument("--arch", default="gfx942")
    parser.add_argument("--program", required=True)
    parser.add_argument("--min-global", type=float, default=900)
    parser.add_argument("--min-lds", type=float, default=64)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    sys.path.insert(0, options.tools)
    import code_objects

    tools = code_objects.Tools.of(options.compiler)
    functions = functions_of(tools, code_objects, options.program, options.arch)
    kernels = {kernel.symbol: kernel for kernel in
               code_objects.kernels_of(tools, options.program, options.arch)}
    output = subprocess.run(options.command, text=True, capture_output=True, check=True).stdout
    checked = failed = 0
    for line in output.splitlines():
        symbol, *pairs = line.split()
        if symbol not in kernels or symbol not in functions:
            failed += 1
            print(f"FAILED no kernel {symbol}")
            continue
        checked += 1
        print(code_objects.short(kernels[symbol].name))
        declared = {}
        for key, value in (pair.split("=") for pair in pairs):
            before = declared.get(key, 0.0) if key.startswith("ds_") else 0.0  # reads and writes of one width add up
            declared[key] = before + float(value)
        for problem in check(kernels[symbol], functions[symbol], declared, options):
            failed += 1
            print(f"  FAILED {problem}")
    print(f"{checked} loops, {failed} problems")
    sys.exit(failed != 0 or checked == 0)


if __name__ == "__main__":
    main()
