"""Basic blocks and natural loops of a kernel, and the way of most work through a loop. Calls are stepped over."""

import instructions

ENDS = ("s_endpgm", "s_setpc_b64", "s_trap")
ASSUMED_PASSES = 8


def clocks_of(one):
    unit = instructions.unit_of(one.opcode)
    if unit == "mfma":
        return 4 * instructions.matrix_passes(one.opcode)[0]
    if unit == "transcendental":
        return instructions.TRANSCENDENTAL
    if unit in ("wait", "barrier", "other"):
        return 0
    if unit == "nop":
        return 4 * (int(one.operands, 0) % 16 + 1)
    return instructions.SLOT


class Flow:
    """`blocks`: lists of instructions in reverse postorder; `next`: block numbers; `loops`: outer before inner, each
    (header, sorted blocks, parent index or -1, depth)."""

    def __init__(self, code):
        self._cut(code)
        self._order()
        self._find_dominators()
        self._find_loops()

    def _cut(self, code):
        leaders, after = {code[0].address} if code else set(), {}
        for index, one in enumerate(code):
            behind = code[index + 1].address if index + 1 < len(code) else None
            if one.opcode == "s_branch" or one.opcode.startswith("s_cbranch"):
                offset = int(one.operands.split()[0], 0) & 0xFFFF
                target = one.address + 4 + 4 * (offset - 0x10000 if offset & 0x8000 else offset)
                after[one.address] = [target] if one.opcode == "s_branch" else [behind, target]
            elif one.opcode in ENDS:
                after[one.address] = []
            else:
                continue
            leaders.update(to for to in [*after[one.address], behind] if to is not None)
        self.blocks, starts = [], {}
        for one in code:
            if one.address in leaders:
                starts[one.address] = len(self.blocks)
                self.blocks.append([])
            self.blocks[-1].append(one)
        self.next = []
        for index, block in enumerate(self.blocks):
            follow = after.get(block[-1].address)
            if follow is None:
                follow = [self.blocks[index + 1][0].address] if index + 1 < len(self.blocks) else []
            self.next.append([starts[to] for to in follow if to in starts])

    def _order(self):
        post, seen, stack = [], {0}, [(0, 0)] if self.blocks else []
        while stack:
            block, at = stack.pop()
            if at == len(self.next[block]):
                post.append(block)
                continue
            stack.append((block, at + 1))
            to = self.next[block][at]
            if to not in seen:
                seen.add(to)
                stack.append((to, 0))
        order = post[::-1]
        place = {block: index for index, block in enumerate(order)}
        self.blocks = [self.blocks[block] for block in order]
        self.next = [[place[to] for to in self.next[block]] for block in order]
        self.before = [[] for _ in order]
        for block, follow in enumerate(self.next):
            for to in follow:
                self.before[to].append(block)

    def _find_dominators(self):
        self.dominator = [0] + [None] * (len(self.blocks) - 1) if self.blocks else []
        changed = True
        while changed:
            changed = False
            for block in range(1, len(self.blocks)):
                common = None
                for one in self.before[block]:
                    if self.dominator[one] is None:
                        continue
                    if common is None:
                        common = one
                        continue
                    while one != common:
                        if one > common:
                            one = self.dominator[one]
                        else:
                            common = self.dominator[common]
                if common != self.dominator[block]:
                    self.dominator[block] = common
                    changed = True

    def leads_back(self, start, to):
        while start > to:
            start = self.dominator[start]
        return start == to

    def _find_loops(self):
        self.loops = []
        for header in range(len(self.blocks)):
            work = [one for one in self.before[header] if self.leads_back(one, header)]
            if not work:
                continue
            inside = {header, *work}
            work = [one for one in work if one != header]
            while work:
                for one in self.before[work.pop()]:
                    if one not in inside:
                        inside.add(one)
                        work.append(one)
            parent, depth = -1, 0
            for outer in range(len(self.loops) - 1, -1, -1):
                if header in self.loops[outer][1]:
                    parent, depth = outer, self.loops[outer][3] + 1
                    break
            self.loops.append((header, inside, parent, depth))

    def heaviest_path(self, first, inside, accept):
        """Instructions on the way of most clocks from block `first` to one that is accepted as the last."""
        cost = {block: sum(map(clocks_of, self.blocks[block])) for block in inside}
        best, last, most = {first: (cost[first], first)}, first, 0
        for block in sorted(inside):
            if block not in best:
                continue
            if accept(block) and best[block][0] >= most:
                most, last = best[block][0], block
            for to in self.next[block]:
                if to in inside and to > block and not self.leads_back(block, to):
                    clocks = best[block][0] + cost[to]
                    if to not in best or clocks > best[to][0]:
                        best[to] = (clocks, block)
        path = [last]
        while path[-1] != first:
            path.append(best[path[-1]][1])
        return [one for block in reversed(path) for one in self.blocks[block]]

    def hottest_loop(self):
        """Instructions of one pass through the loop of most work, or of the whole kernel without one; and whether it
        is a loop. Every loop is taken to run eight times; where there are matrix instructions only these count."""
        if not self.blocks:
            return [], False
        has_matrix = any(instructions.unit_of(one.opcode) == "mfma" for block in self.blocks for one in block)
        passes = [1] * len(self.blocks)
        for _, inside, _, depth in self.loops:
            for block in inside:
                passes[block] = ASSUMED_PASSES ** (depth + 1)

        def weight(block):
            return passes[block] * sum(clocks_of(one) for one in self.blocks[block]
                                       if not has_matrix or instructions.unit_of(one.opcode) == "mfma")

        weights = [weight(block) for block in range(len(self.blocks))]
        clocks = [sum(weights[block] for block in inside) for _, inside, _, _ in self.loops]
        chosen = -1
        while True:
            inner = [index for index, loop in enumerate(self.loops) if loop[2] == chosen and clocks[index] > 0]
            heaviest = max(inner, key=lambda index: clocks[index], default=-1)
            if heaviest < 0 or chosen >= 0 and 2 * clocks[heaviest] < clocks[chosen]:
                break
            chosen = heaviest
        if chosen < 0:
            whole = set(range(len(self.blocks)))
            return self.heaviest_path(0, whole, lambda block: not self.next[block]), False
        header, inside, _, _ = self.loops[chosen]
        return self.heaviest_path(header, inside, lambda block: header in self.next[block]), True
