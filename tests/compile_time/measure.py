"""Measures what the library adds to compile time and fails above a budget.

  measure.py --folder DIR --work DIR -- COMPILER FLAGS...

Each row compares two programs of DIR, host and one device architecture at the flags given. The figure is
processor time (user and system, of all compiler processes), which a busy machine disturbs less than elapsed
time does. Both programs are compiled alternately. The table shows medians; the gate takes the least of
each program's times, since whatever else runs can only add to them, and repeats until the difference is
within the budget or the attempts are used up. Where a machine is slower for a while, one program's least can
be from before and the other's from within; so a row over its budget fails only if the median of differences
within a round is over it, too, each divided by how slow the machine was in that round.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

# What is added, by which program, over which, in seconds; None: shown only. Which of the two that tell a machine's
# speed is of the same kind: parsing, or optimising many kernels.
ROWS = [
    ("HIP's own header, for comparison", "hip_header", "empty", None, "empty"),
    ("many kernels of none, for comparison", "reference", "empty", None, "reference"),
    ("umbrella header", "umbrella", "empty", 1.0, "empty"),
    ("one softmax kernel", "softmax_kernel", "umbrella", 1.0, "empty"),
    ("a call of softmax<float>, all kernels", "softmax_call", "empty", 3.0, "reference"),
    ("one matmul kernel, tiles of 256 x 256", "matmul_kernel", "umbrella", 1.0, "empty"),
    ("a call of matmul<bf16>, all kernels", "matmul_call", "empty", 10.0, "reference"),
    ("one attention kernel, heads of 128", "attention_kernel", "umbrella", 2.0, "empty"),
    ("a call of attention<bf16>, all heads", "attention_call", "empty", 20.0, "reference"),
    ("layout search and proofs", "layout_proofs", "layout_headers", 0.3, "empty"),
]
# Budgets are seconds of a machine that takes this long for them; a slower one has as much more. That of the reference is
# derived: it takes 0.214 of what matmul's call adds (measured side by side), which README has as 8.65 s, and an empty file.
SPEED = {"empty": 1.2, "reference": 3.05}
MEMORY_LIMIT_MIB = 1024
ROUNDS, MOST_ROUNDS = 3, 12


def compile_once(options, name):
    """Processor seconds and peak memory in MiB of one compilation."""
    source = options.folder / f"{name}.hip"
    command = options.command + ["-c", str(source), "-o", str(options.work / f"{name}.o")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    stderr = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{source} does not compile\n{stderr.decode()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)

    times, memory = {}, {}

    def add_round(names):
        round_times = {}
        for name in names:
            round_times[name], peak = compile_once(options, name)
            times.setdefault(name, []).append(round_times[name])
            memory[name] = max(memory.get(name, 0), peak)
        return round_times

    names = sorted({name for row in ROWS for name in row[1:3]})
    start = time.monotonic()
    first = [add_round(names) for _ in range(ROUNDS)]
    slowness = {name: max(1.0, min(times[name]) / seconds) for name, seconds in SPEED.items()}
    failed = False
    print(f"{'added by':36} {'median s':>9} {'least s':>9} {'budget s':>9} {'peak MiB':>9}")
    for title, name, base, budget, speed in ROWS:
        excess = lambda: min(times[name]) - min(times[base])
        wanted, budget = budget, budget and round(budget * slowness[speed], 2)
        rounds = list(first)
        while budget is not None and excess() > budget and len(rounds) < MOST_ROUNDS:
            rounds.append(add_round(dict.fromkeys([speed, base, name])))
        median = statistics.median(times[name]) - statistics.median(times[base])
        over = memory[name] > MEMORY_LIMIT_MIB
        if budget is not None and excess() > budget:
            within = statistics.median((one[name] - one[base]) / max(1.0, one[speed] / SPEED[speed]) for one in rounds)
            over |= within > wanted
        failed |= over
        print(f"{title:36} {median:9.2f} {excess():9.2f} {budget or '-':>9} {memory[name]:9.0f}"
              f"{'  OVER BUDGET' if over else ''}")
    print(f"an empty HIP file: {statistics.median(times['empty']):.2f} s; all of this: "
          f"{time.monotonic() - start:.0f} s")
    sys.exit(failed)


if __name__ == "__main__":
    main()
