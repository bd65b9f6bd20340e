"""Turns JSON files of the benchmarks into one self-contained HTML page.

  report.py FILE.json... --output index.html
  report.py --compare BEFORE.json AFTER.json [--output index.html]
  report.py --beside OURS.json THEIRS.json [--only PREFIX,...] [--picture FILE.svg] [--output index.html]
  report.py FILE.json... --roofline PICTURE.svg      the simulated bounds of all files under the roofs, alone

Every file gets a table with all its counters and pictures: share of a copy's speed for measured files; bytes over the
minimum, least clocks by unit and a roofline of these bounds for simulated ones. Benchmarks with the counters `flops` and `bytes`
also get a roofline, under the roofs that the file's context names (`peak_tflops`, `peak_tbytes`). With
--compare the two files are set against each other by name, as ratios of medians (measured) or instructions
(simulated). With --beside, which may be given several times, the benchmarks of two measured files that have one name
are drawn side by side and their ratio is given; --picture writes these bars to a file, too. Without matplotlib the page has
the tables only, and says so. A file that is none of benchmarks, or a folder for the output that is not there, is
refused in one line; nothing is written then.
"""

import argparse
import base64
import html
import io
import json
import pathlib
import statistics
import sys

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

BOOKKEEPING = {"name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions",
               "repetition_index", "threads", "iterations", "real_time", "cpu_time", "time_unit"}
STYLE = """body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#1c2430}
table{border-collapse:collapse;font-size:13px}td,th{padding:.2em .7em;border-bottom:1px solid #dde2e8;text-align:right}
td:first-child,th:first-child{text-align:left;font-family:ui-monospace,monospace}img{max-width:100%}
.label{background:#eef2f7;padding:.1em .5em;border-radius:.3em}.wrap{overflow-x:auto}"""


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def document_of(path):
    """The JSON of a file of benchmarks; ends the program with a line that names what is wrong in one that is none."""
    try:
        data = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        sys.exit(f"{path}: cannot be read: {error.strerror}")
    except (ValueError, RecursionError) as error:
        sys.exit(f"{path}: no JSON: {error}")
    if not isinstance(data, dict) or "benchmarks" not in data:
        sys.exit(f"{path}: no list 'benchmarks' in it")
    rows, context = data["benchmarks"], data.get("context", {})
    if not isinstance(rows, list) or not rows:
        sys.exit(f"{path}: 'benchmarks' is {shown(rows)}; allowed: a list of benchmarks, one or more")
    if not isinstance(context, dict):
        sys.exit(f"{path}: 'context' is {shown(context)}; allowed: an object")
    for roof in ("peak_tflops", "peak_tbytes"):
        try:
            float(context.get(roof, 0))
        except (TypeError, ValueError):
            sys.exit(f"{path}: '{roof}' of the context is {shown(context[roof])}; allowed: a number")
    kinds = {"name": (lambda value: isinstance(value, str), "text"), "real_time": (is_number, "a number"),
             "cpu_time": (is_number, "a number"), "time_unit": (lambda value: value in ("ns", "us", "ms", "s"), "ns, us, ms, s"),
             "error_message": (lambda value: isinstance(value, str), "text")}
    for number, one in enumerate(rows, 1):
        if not isinstance(one, dict):
            sys.exit(f"{path}: benchmark {number} is {shown(one)}; allowed: an object")
        if "name" not in one:
            sys.exit(f"{path}: benchmark {number} has no 'name'")
        for key, (good, allowed) in kinds.items():
            if key in one and not good(one[key]):
                sys.exit(f"{path}: '{key}' of benchmark {number} is {shown(one[key])}; allowed: {allowed}")
    return data


def shown(value):
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


class BenchFile:
    """The benchmarks of one JSON file without Google Benchmark's bookkeeping."""

    def __init__(self, path):
        data = document_of(path)
        self.path = pathlib.Path(path)
        self.context = data.get("context", {})
        self.rows = []
        for one in data["benchmarks"]:
            counters = {k: v for k, v in one.items() if k not in BOOKKEEPING and is_number(v)}
            if not counters and "real_time" in one:
                counters = {f"real_time_{one.get('time_unit', 'ns')}": one["real_time"]}
            name = one["name"].split("/iterations")[0].removesuffix("/manual_time")
            self.rows.append((name, counters, one.get("error_message")))

    def simulated(self):
        return any(key.startswith("sim_") for _, counters, _ in self.rows for key in counters)

    def label(self):
        if self.simulated():
            return "simulated counts (wavesim), no times"
        return "measured on " + str(self.context.get("device", "this machine's CPU"))


def figure_html(figure, alt):
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=110, bbox_inches="tight")
    plt.close(figure)
    text = base64.b64encode(data.getvalue()).decode()
    return f'<p><img alt="{html.escape(alt)}" src="data:image/png;base64,{text}"></p>'


def bars(rows, key, title, limit=None):
    """A horizontal bar per benchmark, grouped by what stands before the last slash."""
    chosen = [(name, counters[key]) for name, counters, _ in rows if key in counters]
    if plt is None or not chosen:
        return ""
    figure, axes = plt.subplots(figsize=(9, 0.24 * len(chosen) + 1))
    names, values = zip(*reversed(chosen))
    groups = sorted({name.rsplit("/", 1)[0] for name in names})
    colours = plt.get_cmap("tab20").colors
    axes.barh(names, values, color=[colours[groups.index(n.rsplit("/", 1)[0]) % 20] for n in names])
    if limit is not None:
        axes.axvline(limit, color="black", linewidth=0.8)
    axes.set_title(title, loc="left", fontsize=11)
    axes.tick_params(labelsize=8)
    axes.margins(y=0.01)
    return figure_html(figure, title)


def roofline(bench):
    points = [(name, c) for name, c, _ in bench.rows if min(c.get(key, 0) for key in ("flops", "bytes", "median_us")) > 0]
    if plt is None or not points:
        return ""
    figure, axes = plt.subplots(figsize=(8, 5))
    for name, c in points:
        axes.loglog(c["flops"] / c["bytes"], 1e-6 * c["flops"] / c["median_us"], "o", label=name)
    context = bench.context
    if "peak_tflops" in context and "peak_tbytes" in context:
        flops, speed = float(context["peak_tflops"]), float(context["peak_tbytes"])
        intensity = [10**(i / 20 - 1) for i in range(100)]
        axes.loglog(intensity, [min(flops, speed * i) for i in intensity], "k-", linewidth=1)
    axes.set_xlabel("flop per byte")
    axes.set_ylabel("TFLOP/s")
    axes.legend(fontsize=7)
    return figure_html(figure, "roofline")


def bounds(bench):
    """Clocks that each unit of a compute unit takes at least, of one launch, side by side."""
    units = ["matrix", "vector", "lds", "memory"]
    rows = [(name, c) for name, c, _ in bench.rows if "sim_bound_clocks" in c]
    if plt is None or not rows:
        return ""
    figure, axes = plt.subplots(figsize=(9, 0.45 * len(rows) + 1))
    for index, unit in enumerate(units):
        at = [len(rows) - 1 - row + 0.3 - 0.2 * index for row in range(len(rows))]
        axes.barh(at, [c.get(f"sim_{unit}_clocks", 0) for _, c in rows], height=0.18, label=unit)
    axes.set_yticks(range(len(rows)), [name for name, _ in reversed(rows)], fontsize=8)
    axes.set_title("least clocks of each unit of one compute unit (simulated)", loc="left", fontsize=11)
    axes.legend(fontsize=8)
    axes.margins(y=0.01)
    return figure_html(figure, "least clocks by unit")


def draw_bound_roofline(axes, rows):
    """Flops for each clock of the bound under the roofs of a compute unit of gfx942: 2048 flops of 16-bit and 4096 of
    8-bit matrix instructions, and its share of memory, 5325 GB/s over 304 compute units at 2100 MHz."""
    for index, (name, c) in enumerate(rows):
        clocks = max(c["sim_bound_clocks"], c.get("sim_hbm_clocks", 0))
        axes.loglog(c["flops"] / c["bytes"], c["flops"] / clocks, "os^vDPX*"[index // 10 % 8], label=name)
    intensity = [10**(i / 20 - 0.5) for i in range(80)]
    for roof, line in ((2048, "k-"), (4096, "k:")):
        axes.loglog(intensity, [min(roof, 8.34 * i) for i in intensity], line, linewidth=1)
    axes.set_xlabel("flop per byte that must move")
    axes.set_ylabel("flop per clock of a compute unit, at most")
    axes.set_title("bounds under the roofs of a compute unit, 16 bits and 8 bits (simulated)", loc="left", fontsize=10)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5))


def rows_with_bounds(bench):
    return [(name, c) for name, c, _ in bench.rows
            if min(c.get(key, 0) for key in ("flops", "bytes", "sim_bound_clocks")) > 0]


def bound_roofline(bench):
    rows = rows_with_bounds(bench)
    if plt is None or not rows:
        return ""
    figure, axes = plt.subplots(figsize=(8, 5))
    draw_bound_roofline(axes, rows)
    return figure_html(figure, "roofline of bounds")


def write_svg(figure, to):
    """Text as text, and the same file from the same figures."""
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "wavetile"})
    figure.savefig(to, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    print(f"wrote {to}")


def write_roofline(paths, to):
    rows = [row for path in paths for row in rows_with_bounds(BenchFile(path))]
    if plt is None or not rows:
        sys.exit("no roofline: " + ("matplotlib is not installed" if plt is None else "no simulated bounds in these files"))
    figure, axes = plt.subplots(figsize=(8, 5))
    draw_bound_roofline(axes, rows)
    write_svg(figure, to)


def table(rows):
    keys = list(dict.fromkeys(key for _, counters, _ in rows for key in counters))
    head = "".join(f"<th>{html.escape(key)}</th>" for key in ["benchmark"] + keys)
    lines = []
    for name, counters, error in rows:
        cells = "".join(f"<td>{counters[key]:.6g}</td>" if key in counters else "<td></td>" for key in keys)
        if error:
            cells = f'<td colspan="{len(keys)}">failed: {html.escape(error)}</td>'
        lines.append(f"<tr><td>{html.escape(name)}</td>{cells}</tr>")
    return f'<div class="wrap"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def section(path):
    bench = BenchFile(path)
    parts = [f"<h2>{html.escape(bench.path.stem)}</h2>", f'<p><span class="label">{html.escape(bench.label())}</span></p>']
    if bench.simulated():
        parts += [bars(bench.rows, "sim_bytes/minimum", "bytes moved over the minimum (simulated)", 1),
                  bounds(bench), bound_roofline(bench)]
    else:
        parts += [bars(bench.rows, "%copy", "per cent of a copy of the same bytes (measured)", 100), roofline(bench)]
    parts.append(table(bench.rows))
    return "".join(parts)


def comparison(before_path, after_path):
    before, after = BenchFile(before_path), BenchFile(after_path)
    if before.simulated() != after.simulated():
        sys.exit("a simulated and a measured file cannot be compared")
    key = "sim_instructions" if before.simulated() else "median_us"
    old = {name: counters for name, counters, _ in before.rows}
    rows = []
    for name, counters, _ in after.rows:
        if key in counters and key in old.get(name, {}) and counters[key] > 0:
            rows.append((name, {f"before {key}": old[name][key], f"after {key}": counters[key],
                                "before/after": old[name][key] / counters[key]}, None))
    if not rows:
        sys.exit(f"no benchmark with the counter {key} is in both files")
    ratios = [counters["before/after"] for _, counters, _ in rows]
    text = (f"<p>{len(rows)} benchmarks in both; before/after of {html.escape(key)}: median {statistics.median(ratios):.3f}, "
            f"least {min(ratios):.3f}, most {max(ratios):.3f}. Above 1 the second file is better.</p>")
    title = f"{before.path.stem} → {after.path.stem}"
    return (f"<h2>{html.escape(title)}</h2><p><span class='label'>{html.escape(before.label())} | "
            f"{html.escape(after.label())}</span></p>{text}" + bars(rows, "before/after", "before over after", 1) + table(rows))


SPEEDS = ["TFLOP/s", "TB/s"]


def side_by_side(pairs):
    """(name, key, ours, theirs) of the benchmarks that both files of a pair have."""
    rows = []
    for ours_path, theirs_path in pairs:
        ours, theirs = BenchFile(ours_path), BenchFile(theirs_path)
        peer = {name: counters for name, counters, _ in theirs.rows}
        for name, counters, _ in ours.rows:
            key = next((k for k in SPEEDS if k in counters and peer.get(name, {}).get(k, 0) > 0), None)
            if key:
                rows.append((name, key, counters[key], peer[name][key]))
    if not rows:
        sys.exit("no benchmark with a speed is in both files of a pair")
    return rows


def speeds_figure(rows, peer):
    keys = [key for key in SPEEDS if any(row[1] == key for row in rows)]
    figure, places = plt.subplots(len(keys), 1, squeeze=False, figsize=(9, 0.3 * len(rows) + 1.2 * len(keys)),
                                  height_ratios=[sum(row[1] == key for row in rows) + 1 for key in keys])
    for axes, key in zip(places[:, 0], keys):
        chosen = [row for row in reversed(rows) if row[1] == key]
        at = range(len(chosen))
        axes.barh([y + 0.2 for y in at], [row[2] for row in chosen], height=0.38, label="wavetile")
        axes.barh([y - 0.2 for y in at], [row[3] for row in chosen], height=0.38, label=peer)
        axes.set_yticks(at, [row[0] for row in chosen], fontsize=8)
        axes.set_title(key, loc="left", fontsize=11)
        axes.legend(fontsize=8, loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False)
        axes.margins(y=0.01)
    figure.tight_layout()
    return figure


def beside(options):
    rows = side_by_side(options.beside)
    if options.only:
        rows = [row for row in rows if row[0].startswith(tuple(options.only.split(",")))]
    if not rows:
        sys.exit(f"--only {options.only}: no benchmark starts so")
    device = BenchFile(options.beside[0][0]).label()
    ratios = [ours / theirs for _, _, ours, theirs in rows]
    ahead = sum(ratio >= 1 for ratio in ratios)
    text = (f"<h2>Beside {html.escape(options.peer)}</h2><p><span class='label'>{html.escape(device)}</span></p><p>{len(rows)} "
            f"benchmarks in both, {ahead} at least as fast; ours over theirs: median {statistics.median(ratios):.2f}, "
            f"least {min(ratios):.2f}, most {max(ratios):.2f}.</p>")
    print(f"{len(rows)} benchmarks, {ahead} at least as fast, median {statistics.median(ratios):.2f}, "
          f"least {min(ratios):.2f}, most {max(ratios):.2f}")
    picture = ""
    if plt is not None:
        if options.picture:
            write_svg(speeds_figure(rows, options.peer), options.picture)
        picture = figure_html(speeds_figure(rows, options.peer), f"beside {options.peer}")
    elif options.picture:
        sys.exit("--picture needs matplotlib")
    return text + picture + table([(name, {"wavetile " + key: ours, f"{options.peer} {key}": theirs,
                                           "ratio": ours / theirs}, None) for name, key, ours, theirs in rows])


def check_outputs(options):
    """Folders are not made: a mistyped one would be, anywhere."""
    for option, path in (("--output", options.output), ("--picture", options.picture), ("--roofline", options.roofline)):
        if path and not path.parent.is_dir():
            sys.exit(f"{option} {path}: there is no folder {path.parent}")
        if path and path.is_dir():
            sys.exit(f"{option} {path}: it is a folder")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--compare", nargs=2, type=pathlib.Path, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--roofline", type=pathlib.Path, metavar="PICTURE.svg")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("index.html"))
    parser.add_argument("--beside", nargs=2, type=pathlib.Path, action="append", metavar=("OURS", "THEIRS"))
    parser.add_argument("--peer", default="PyTorch", help="whose figures THEIRS are (PyTorch)")
    parser.add_argument("--only", help="names that start with one of these, with commas between them")
    parser.add_argument("--picture", type=pathlib.Path, help="where the bars of --beside go, besides the page")
    options = parser.parse_args()
    if not options.files and not options.compare and not options.beside:
        parser.error("no JSON file given")
    if (options.only or options.picture) and not options.beside:
        parser.error("--only and --picture belong to --beside")
    check_outputs(options)
    if options.roofline:
        write_roofline(options.files, options.roofline)
        return
    body = "".join(section(path) for path in options.files)
    if options.compare:
        body = comparison(*options.compare) + body
    if options.beside:
        body = beside(options) + body
    if plt is None:
        body = "<p>matplotlib is not installed: tables only.</p>" + body
    page = (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>wavetile benchmarks</title>'
            f"<style>{STYLE}</style><h1>wavetile benchmarks</h1>{body}</html>\n")
    try:
        options.output.write_text(page, encoding="utf-8")
    except OSError as error:
        sys.exit(f"--output {options.output}: cannot be written: {error.strerror}")
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
