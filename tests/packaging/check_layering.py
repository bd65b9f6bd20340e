"""Checks that every header includes only layers before its own: arch, core, lds, wave, group, matrix,
kernels, launch, then the operators at the top level and the umbrella header.

  check_layering.py INCLUDE_DIR
"""

import pathlib
import re
import sys

LAYERS = ["arch", "core", "lds", "wave", "group", "matrix", "kernels", "launch"]
BASE = {"version.hpp", "config.hpp", "integers.hpp"}  # below every layer
UMBRELLA = "wavetile.hpp"
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def rank(header):
    """Position of a header, named relative to include/wavetile."""
    if header in BASE:
        return -1
    if header == UMBRELLA:
        return len(LAYERS) + 1
    folder = header.split("/")[0] if "/" in header else None
    if folder is None:
        return len(LAYERS)
    return LAYERS.index(folder) if folder in LAYERS else None


def main():
    root = pathlib.Path(sys.argv[1]) / "wavetile"
    problems = []
    headers = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.hpp"))
    includes = 0
    for header in headers:
        own = rank(header)
        if own is None:
            problems.append(f"{header}: its folder is no layer ({', '.join(LAYERS)})")
            continue
        for target in INCLUDE.findall((root / header).read_text()):
            if not target.startswith("wavetile/"):
                if (root / header).parent.joinpath(target).exists():
                    problems.append(f'{header}: includes {target} by a relative path, use <wavetile/...>')
                continue
            target = target.removeprefix("wavetile/")
            includes += 1
            if target not in headers:
                problems.append(f"{header}: includes wavetile/{target}, which does not exist")
            elif rank(target) is not None and rank(target) > own:
                problems.append(f"{header}: includes wavetile/{target} of a later layer")
    print("\n".join(problems))
    print(f"{len(headers)} headers, {includes} includes, {len(problems)} against the order of layers")
    sys.exit(bool(problems) or not headers)


if __name__ == "__main__":
    main()
