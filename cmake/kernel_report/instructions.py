"""What an instruction of a CDNA GPU is: its unit, its width, and the clocks that it takes of a wave's issue.

Clocks: an instruction takes an issue slot of 4 clocks; a transcendental one 16 of the vector unit; a matrix
instruction its passes of 4 clocks (AMD matrix instruction calculator), beside which vector work fits unless its
inputs are fp32 or fp64. Waits and barriers take none.
"""

import re

SLOT = 4
TRANSCENDENTAL = 16
TRANSCENDENTAL_NAMES = re.compile(r"v_(exp|log|rcp|rcp_iflag|rsq|sqrt|sin|cos)_(legacy_)?(f16|f32|f64)")
MATRIX = re.compile(r"v_(?:mfma|smfmac)_\w+?_(\d+)x\d+x(\d+)(_?)(?:(\d+)b_)?(.+)")
UNITS = ("mfma", "valu", "transcendental", "salu", "scalar_load", "lds", "global", "scratch", "flat", "branch", "wait",
         "nop", "barrier", "other")
_known = {}


def without_encoding(opcode):
    return re.sub(r"_(e32|e64|dpp|sdwa|e64_dpp)$", "", opcode)


def unit_of(opcode):
    """One of UNITS; the same answer for the same opcode."""
    if opcode not in _known:
        _known[opcode] = _unit_of(without_encoding(opcode))
    return _known[opcode]


def _unit_of(name):
    if MATRIX.match(name):
        return "mfma"
    if name.startswith("v_"):
        return "transcendental" if TRANSCENDENTAL_NAMES.match(name) else "valu"
    if name.startswith("ds_"):
        return "lds"
    for prefix, unit in (("global_", "global"), ("buffer_", "global"), ("scratch_", "scratch"), ("flat_", "flat")):
        if name.startswith(prefix):
            return unit
    if name.startswith("s_waitcnt") or name == "s_sleep":
        return "wait"
    if name in ("s_nop", "s_barrier"):
        return name[2:]
    if name in ("s_branch", "s_setpc_b64", "s_swappc_b64", "s_call_b64") or name.startswith("s_cbranch"):
        return "branch"
    if re.match(r"s_(load|buffer_load|store|scratch_load|atomic|dcache|memtime|memrealtime)", name):
        return "scalar_load"
    if name.startswith("s_") and not re.match(r"s_(endpgm|setprio|sendmsg|trap|sethalt|inst_prefetch|code_end)", name):
        return "salu"
    return "other"


def global_width(opcode):
    """Bytes that a lane moves with a global, buffer or scratch instruction, as text: "16", or "atomic"."""
    if "atomic" in opcode:
        return "atomic"
    match = re.search(r"dword(?:x(\d))?", opcode)
    if match:
        return str(4 * int(match[1] or 1))
    if "short" in opcode or "d16" in opcode and "byte" not in opcode:
        return "2"
    return "1" if "byte" in opcode else "other"


def matrix_passes(opcode):
    """Passes of a matrix instruction, and whether the vector unit is free beside it. None for others."""
    match = MATRIX.match(without_encoding(opcode))
    if not match:
        return None
    rows, k, inputs = int(match[1]), int(match[2]), match[5].split("_")[-1]
    wide = inputs in ("f32", "f64")
    if rows == 4:
        return (4 if inputs == "f64" else 2), not wide
    # names of gfx90a do not tell the number of blocks
    several = match[4] is not None or not match[3] and k <= 4
    return (8 if rows == 32 else 4) * (2 if wide or several else 1), not wide


def is_load(opcode):
    unit = unit_of(opcode)
    if unit == "lds":
        return bool(re.match(r"ds_(read|load|consume|append|ordered_count)", opcode)
                    or "_rtn" in opcode)
    if unit in ("global", "scratch", "flat"):
        return "_load_" in opcode
    return unit == "scalar_load" and "load" in opcode


def operations_left(operands):
    """(vmcnt, lgkmcnt) of an s_waitcnt's text; None where that counter is not waited for."""
    vm = re.search(r"vmcnt\((\d+)\)", operands)
    lgkm = re.search(r"lgkmcnt\((\d+)\)", operands)
    if not vm and not lgkm and re.fullmatch(r"0|0x0", operands.strip()):
        return 0, 0
    return (int(vm[1]) if vm else None), (int(lgkm[1]) if lgkm else None)


def mix_of(code):
    """Counts by unit; LDS by opcode, global and scratch accesses by direction and width."""
    units = dict.fromkeys(UNITS, 0)
    lds, memory, matrix = {}, {}, {}
    moves = 0
    for one in code:
        unit = unit_of(one.opcode)
        units[unit] += 1
        name = without_encoding(one.opcode)
        if unit == "lds":
            lds[name] = lds.get(name, 0) + 1
        elif unit == "mfma":
            matrix[name] = matrix.get(name, 0) + 1
        elif unit in ("global", "scratch", "flat"):
            direction = "load" if "_load_" in name else "store" if "_store_" in name else "other"
            key = f"{unit}_{direction}_{global_width(name)}"
            memory[key] = memory.get(key, 0) + 1
        elif name.startswith("v_accvgpr"):
            moves += 1
    return {"instructions": len(code), **units, "accvgpr_moves": moves, "mfma_by_opcode": dict(sorted(matrix.items())),
            "lds_by_opcode": dict(sorted(lds.items())), "memory_by_width": dict(sorted(memory.items()))}
