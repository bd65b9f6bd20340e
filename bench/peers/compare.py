"""Runs kernels of others and ours on the same problems under wavesim and puts their counters side by side.

  compare.py --bin FOLDER --peer Triton=FOLDER --peer TileLang=FOLDER [--python PYTHON] --output FOLDER

Writes peers.json, peers.md and peers.svg. Every program checks its results and ends with an error when they are wrong;
then this ends with 1. FOLDER is what triton_compile.py and tilelang_compile.py wrote; of a problem's configurations the
one is shown that takes the whole device the least time (`device us`, where idle compute units count), and of those that
take as long the one with the least bound and latency. Of small products also the one that takes the least time with
the latency of its workgroups (`latency us`), which is another where few workgroups hide little.
"""

import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake" / "kernel_report"))
import instructions  # noqa: E402
from problems import COMPUTE_UNITS, is_small  # noqa: E402

CLOCK_MHZ = 2100  # as wavesim's bound has it

# problem -> (program, filter) of ours; names of the peers' are the same up to the configuration
OURS = {
    "softmax/fp32/512x1024": ("bench_softmax", "^softmax/fp32/512x1024"),
    "softmax/bf16/512x1024": ("bench_softmax", "^softmax/bf16/512x1024"),
    "softmax/bf16/64x4096": ("bench_softmax", "^softmax/bf16/64x4096"),
    "layer_norm/fp32/256x1024": ("bench_norms", "^layer_norm/fp32/256x1024"),
    "layer_norm/bf16/256x1024": ("bench_norms", "^layer_norm/bf16/256x1024"),
    "layer_norm/bf16/64x4096": ("bench_norms", "^layer_norm/bf16/64x4096"),
    "rms_norm/fp32/256x1024": ("bench_norms", "^rms_norm/fp32/256x1024"),
    "rms_norm/bf16/256x1024": ("bench_norms", "^rms_norm/bf16/256x1024"),
    "rms_norm/bf16/64x4096": ("bench_norms", "^rms_norm/bf16/64x4096"),
    "matmul/bf16/512x512x512": ("bench_matmul", "^matmul/bf16/512x512x512"),
    "matmul/bf16/256x256x2048": ("bench_matmul", "^matmul/bf16/256x256x2048"),
    "matmul/fp16/512x512x512": ("bench_matmul", "^matmul/fp16/512x512x512"),
    "matmul/bf16/4864x4096x512": ("bench_matmul", "^matmul/bf16/4864x4096x512"),
    "attention/bf16/2x512x128": ("bench_attention", "^attention/full/1x2/2x512x512x128"),
    "attention/bf16/2x512x64": ("bench_attention", "^attention/full/1x2/2x512x512x64"),
}
RATIOS = ("instructions", "valu", "bytes", "bound", "estimate", "device us", "latency us", "loop vector/matrix",
          "loop lds/matrix")
PRIMITIVES = ("wave_reduce", "wave_scan", "group_reduce", "group_scan")
SUM_ALL = ("bench_reduce", "^sum/all/fp32/512x1024", ["reduce", str(512 * 1024)])


def counters(wavesim, command):
    """What a program's kernels did, summed, for one of its launches of the whole."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "counters.json"
        done = subprocess.run([wavesim, "--json", str(file), "--", *command], text=True, capture_output=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return json.loads(file.read_text())


def latency_microseconds(kernel, launches):
    """Of one launch: as long as its workgroups take alone, in as many turns as the device needs, or the bound."""
    bound = kernel["bound"]
    resident = max(round(bound["alone"] / bound["latency"]), 1) if bound["latency"] else 1
    turns = math.ceil(kernel["workgroups"] / launches / (COMPUTE_UNITS * resident))
    return max(bound["device_microseconds"] / launches, turns * bound["alone"] / CLOCK_MHZ)


def figures(data, launches):
    """The row of the table; clocks are those of one compute unit that did all workgroups."""
    kernels = data["kernels"]
    total = data["total"]
    row = {unit: total["instructions"][unit] / launches for unit in ("valu", "trans", "mfma", "salu", "lds", "vmem")}
    row["instructions"] = sum(total["instructions"].values()) / launches
    row["conflicts"] = total["lds"]["conflicts"] / launches
    row["bytes"] = (total["global"]["bytes_read"] + total["global"]["bytes_written"]) / launches
    for name in ("bound", "estimate"):
        row[name] = sum(k["bound"][name] * k["workgroups"] for k in kernels) / launches
    main = max(kernels, key=lambda k: k["bound"]["bound"] * k["workgroups"])
    per_group = main["bound"]["clocks_per_group"]
    if per_group["matrix"] > 0:
        row["vector/matrix"] = per_group["vector"] / per_group["matrix"]
        row["lds/matrix"] = per_group["lds"] / per_group["matrix"]
        row["mfma share"] = row["mfma"] / row["instructions"]
    steady = main.get("steady_loop", {})
    if steady.get("matrix_clocks") and "begin" in steady:
        inside = [one for one in main["code"] if steady["begin"] <= one["offset"] <= steady["end"]]
        of_one = steady["matrix_clocks"] / steady["matrix_instructions"]
        matrix = sum(one["executions"] for one in inside if "mfma" in one["mnemonic"]) * of_one / 4
        vector = sum(one["executions"] * {"valu": 4, "transcendental": 16}.get(instructions.unit_of(one["mnemonic"]), 0)
                     for one in inside) / 4
        row["loop vector/matrix"] = vector / matrix
        row["loop lds/matrix"] = sum(one.get("lds_clocks", 0) for one in inside) / matrix
    row["device us"] = sum(k["bound"]["device_microseconds"] for k in kernels) / launches
    row["latency us"] = sum(latency_microseconds(k, launches) for k in kernels)
    near = main.get("steady_loop", {}).get("least_distance", {})
    row["distance global"], row["distance lds"] = near.get("global"), near.get("lds")
    row["kernels"] = len(kernels)
    return row


def text(value):
    if value is None:
        return "-"
    if isinstance(value, float) and value != int(value) or isinstance(value, float) and value < 10 and value != 0:
        return f"{value:.2f}"
    return f"{int(value):,}"


def table(rows):
    keys = ["valu", "trans", "mfma", "mfma share", "salu", "lds", "vmem", "conflicts", "bytes", "bound", "estimate",
            "device us", "latency us", "loop vector/matrix", "loop lds/matrix", "distance global", "distance lds"]
    lines = ["| problem | kernel | " + " | ".join(keys) + " |", "|---" * (len(keys) + 2) + "|"]
    for problem, who, row in rows:
        lines.append(f"| {problem} | {who} | " + " | ".join(text(row.get(key)) for key in keys) + " |")
    return "\n".join(lines)


def ratios(ours, theirs):
    result = {}
    for key in RATIOS:
        if theirs.get(key) and ours.get(key) is not None:
            result[key] = ours[key] / theirs[key]
    return result


def picture(compared):
    """Bars of ours over theirs as a small SVG: time of the whole device with latency."""
    bars = [(f"{problem}, {name.split()[0]}", ratio["latency us"]) for problem, name, ratio in compared]
    step, left, unit = 20, 330, 120
    width, height = left + int(unit * max(value for _, value in bars)) + 60, step * len(bars) + 50
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             '<text x="8" y="18" font-weight="bold">time of the device with latency, ours over theirs (simulated; below 1 ours takes less)</text>']
    for index, (label, value) in enumerate(bars):
        y = 34 + step * index
        colour = "#3b7dd8" if value <= 1 else "#d8733b"
        lines.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{label}</text>'
                     f'<rect x="{left}" y="{y}" width="{unit * value:.1f}" height="14" fill="{colour}"/>'
                     f'<text x="{left + unit * value + 5:.1f}" y="{y + 11}">{value:.2f}</text>')
    lines.append(f'<line x1="{left + unit}" y1="28" x2="{left + unit}" y2="{height - 12}" stroke="black"/></svg>')
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    wavesim = options.bin / "wavesim"
    script = pathlib.Path(__file__).resolve().parent / "run_kernel.py"
    os.environ["WAVESIM_PER_DISPATCH"] = "0"

    def ours(program, wanted):
        # verified once, counted once
        return figures(counters(wavesim, [options.bin / program, f"--benchmark_filter={wanted}"]), 2)

    rows, compared = [], []

    def add(problem, own, name, other):
        if (problem, "wavetile", own) not in rows:
            rows.append((problem, "wavetile", own))
        rows.append((problem, name, other))
        compared.append((problem, name, ratios(own, other)))

    peers = {}
    for peer in options.peer:
        label, _, folder = peer.partition("=")
        names = [name for name in json.loads((pathlib.Path(folder) / "manifest.json").read_text()) if "@" in name]
        peers[label] = folder, names
    for problem, (program, wanted) in OURS.items():
        own = None
        for label, (folder, names) in peers.items():
            tried = {name: figures(counters(wavesim, [options.python, script, folder, name]), 1)
                     for name in names if name.startswith(problem + "@")}
            if tried:
                own = own or ours(program, wanted)
                orders = ["device us"]
                kernel, _, shape = problem.split("/")
                if kernel == "matmul" and is_small(*map(int, shape.split("x")[:2])):
                    orders.append("latency us")
                best = [min(tried, key=lambda name: (round(tried[name][order], 3), tried[name]["estimate"]))
                        for order in orders]
                for name in dict.fromkeys(best):
                    config = name.split("@")[1]
                    add(problem, own, f"{label} {config}", tried[name])
                    print(f"{problem}: of {len(tried)} {label} configurations {config}", file=sys.stderr)
    for primitive in PRIMITIVES:
        own = ours("bench_primitives", f"^{primitive}/wavetile")
        for library in ("rocprim", "hipcub"):
            add(f"{primitive}/fp32/65536", own, library, ours("bench_primitives", f"^{primitive}/{library}"))
    device = options.bin / "rocprim_device"
    if device.exists():
        program, wanted, arguments = SUM_ALL
        add("sum of all/fp32/524288", ours(program, wanted), "rocprim::reduce",
            figures(counters(wavesim, [device, *arguments]), 1))
    lines = [table(rows), "", "Ours over theirs (below 1: ours is less):", "",
             "| problem | against | " + " | ".join(RATIOS) + " |", "|---" * (len(RATIOS) + 2) + "|"]
    for problem, name, ratio in compared:
        lines.append(f"| {problem} | {name} | " + " | ".join(f"{ratio[k]:.2f}" if k in ratio else "-" for k in RATIOS)
                     + " |")
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "peers.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (options.output / "peers.svg").write_text(picture(compared), encoding="utf-8")
    (options.output / "peers.json").write_text(json.dumps(
        [{"problem": problem, "kernel": name, **row} for problem, name, row in rows], indent=1), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
