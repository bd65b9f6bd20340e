"""Issue-to-wait distances: the clocks of other work that a wave issues between a load and the s_waitcnt that needs it.

Which wait needs a load follows from the counters. Vector memory completes in order, stores count too; LDS completes
in order; while a scalar load, a FLAT access or a message is outstanding only lgkmcnt(0) says anything.
"""

import collections

import flow
import instructions

PASSES = 8
# A counter that is full stops the wave until the oldest operation is done, which then meets no wait.
VMCNT_HOLDS, LGKMCNT_HOLDS = 64, 16


class Pipes:
    """When the issue slot, the vector unit and the matrix unit of a wave are free again."""

    def __init__(self):
        self.slot = self.vector = self.matrix = 0

    def issue(self, one):
        unit, clocks = instructions.unit_of(one.opcode), flow.clocks_of(one)
        if unit in ("valu", "transcendental", "mfma"):
            begin = max(self.slot, self.vector, self.matrix if unit == "mfma" else 0)
            self.slot = begin + instructions.SLOT
            if unit == "mfma":
                self.matrix = begin + clocks
            beside = unit == "mfma" and instructions.matrix_passes(one.opcode)[1]
            self.vector = self.slot if beside else begin + clocks
        else:
            self.slot += clocks

    def end(self):
        return max(self.slot, self.vector, self.matrix)


def counted(one):
    """(counts in vmcnt, counts in lgkmcnt, may overtake others there, kind of the load or None)"""
    unit = instructions.unit_of(one.opcode)
    load = instructions.is_load(one.opcode)
    if unit == "lds":
        return False, True, False, "lds" if load else None
    if unit == "scalar_load":
        return False, True, True, "scalar" if load else None
    if unit in ("global", "scratch"):
        return one.opcode not in ("buffer_inv", "buffer_wbl2"), False, False, unit if load else None
    if unit == "flat":
        return True, True, True, "global" if load else None
    if one.opcode.startswith("s_sendmsg"):
        return False, True, True, None
    return False, False, False, None


def of_path(path, loops):
    """The least distance of each kind of load on a path (taken eight times over if it loops), and the clocks and
    matrix clocks of a pass once the pipes are filled: ({kind: clocks}, clocks, matrix clocks)."""
    pipes, vector_memory, others = Pipes(), collections.deque(), collections.deque()
    unordered, least = 0, {}
    met = {}  # (load, wait) -> (times, least): a load counts with the wait that it meets most often

    def finish(entry, wait):
        start, kind, number = entry
        if kind is not None:
            times, distance = met.get((number, wait, kind), (0, 1 << 60))
            met[number, wait, kind] = (times + 1, min(distance, pipes.end() - start))

    ends = [0]
    for _ in range(PASSES if loops else 1):
        for number, one in enumerate(path):
            if one.opcode == "s_waitcnt":
                vm, lgkm = instructions.operations_left(one.operands)
                while vm is not None and len(vector_memory) > vm:
                    finish(vector_memory.popleft(), number)
                if lgkm is not None and (lgkm == 0 or not unordered):
                    while len(others) > lgkm:
                        finish(others.popleft(), number)
                    if not others:
                        unordered = 0
                continue
            pipes.issue(one)
            in_vm, in_lgkm, overtakes, kind = counted(one)
            if in_vm:
                if len(vector_memory) == VMCNT_HOLDS:
                    vector_memory.popleft()
                vector_memory.append((pipes.end(), kind, number))
            if in_lgkm:
                if len(others) == LGKMCNT_HOLDS:
                    others.popleft()
                others.append((pipes.end(), None if in_vm else kind, number))
                unordered += overtakes
        ends.append(pipes.end())
    chosen = {}
    for (number, _, kind), (times, distance) in met.items():
        known = chosen.get(number)
        if known is None or times > known[0] or times == known[0] and distance < known[1]:
            chosen[number] = (times, distance, kind)
    for _, distance, kind in chosen.values():
        least[kind] = min(distance, least.get(kind, distance))
    matrix = sum(flow.clocks_of(one) for one in path if instructions.unit_of(one.opcode) == "mfma")
    vector = sum(flow.clocks_of(one) for one in path if instructions.unit_of(one.opcode) in ("valu", "transcendental"))
    passes = ends[2] - ends[1] if loops else ends[1]
    return {"clocks": passes, "matrix_clocks": matrix, "vector_clocks": vector, "least_distance": dict(sorted(least.items()))}
