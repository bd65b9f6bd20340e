"""Compiles the kernels of triton_kernels.py ahead of time for hip/gfx942. Needs no GPU.

  triton_compile.py FOLDER

Writes code objects and manifest.json for run_kernel.py, and prints the names of what was compiled.
"""

import json
import math
import pathlib
import sys

from problems import HEADS, PRODUCTS, ROWS, is_small

WARPS = (1, 4, 8)
# tile, warps, stages, as the tutorial's list for AMD has them
PRODUCT_CONFIGS = [(128, 128, 64, 4, 2), (128, 128, 64, 8, 2), (256, 256, 64, 8, 2), (128, 128, 32, 4, 2), (64, 64, 64, 4, 2)]
# for products that have fewer tiles of those than there are compute units
SMALL_PRODUCT_CONFIGS = [(64, 64, 32, 4, 2), (64, 64, 128, 4, 2), (64, 32, 64, 4, 2), (32, 64, 64, 4, 2), (32, 32, 32, 1, 2),
                         (32, 32, 64, 1, 2), (32, 32, 128, 1, 2), (32, 32, 64, 4, 2)]
# the same with k in parts: tile, warps, stages, parts
SPLIT_PRODUCT_CONFIGS = [(128, 128, 64, 4, 2, 4), (64, 64, 64, 4, 2, 2), (64, 64, 64, 4, 2, 4), (64, 64, 64, 4, 2, 8),
                         (32, 32, 64, 1, 2, 4)]
SUM_BLOCK = 1024
ATTENTION_CONFIGS = [(128, 64, 4, 1), (128, 64, 4, 2), (128, 32, 4, 1), (128, 128, 4, 1), (256, 64, 8, 1)]


def jobs():
    """name -> kernel, arguments by name, constants, grid, options; a name twice: one kernel after the other"""
    for kernel, shapes in ROWS.items():
        for dtype, rows, columns in shapes:
            for warps in WARPS:
                arguments = {"x": dtype, "y": dtype, "columns": columns}
                if kernel.endswith("norm"):
                    arguments = {"x": dtype, "y": dtype, "weight": dtype, "columns": columns, "epsilon": 1e-5}
                yield (f"{kernel}/{dtype}/{rows}x{columns}@{warps}-warps", kernel, arguments, {"BLOCK": columns},
                       (rows, 1), {"num_warps": warps})
    for dtype, m, n, k in PRODUCTS:
        small = is_small(m, n)
        for bm, bn, bk, warps, stages in PRODUCT_CONFIGS + (SMALL_PRODUCT_CONFIGS if small else []):
            yield (f"matmul/{dtype}/{m}x{n}x{k}@{bm}x{bn}x{bk}-{warps}-warps-{stages}-stages", "matmul",
                   {"a": dtype, "b": dtype, "d": dtype, "m": m, "n": n, "k": k},
                   {"BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk, "GROUP": 4}, (-(-m // bm) * -(-n // bn), 1),
                   {"num_warps": warps, "num_stages": stages})
        for bm, bn, bk, warps, stages, parts in SPLIT_PRODUCT_CONFIGS if small else []:
            name = f"matmul/{dtype}/{m}x{n}x{k}@{bm}x{bn}x{bk}-{warps}-warps-{stages}-stages-{parts}-parts"
            # "fp32 PARTS": memory that the first kernel writes and the second reads
            yield (name, "matmul_parts",
                   {"a": dtype, "b": dtype, "partial": f"fp32 {parts}", "m": m, "n": n, "k": k, "part": k // parts},
                   {"BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk, "GROUP": 4}, (-(-m // bm) * -(-n // bn), parts),
                   {"num_warps": warps, "num_stages": stages})
            yield (name, "sum_parts", {"partial": f"fp32 {parts}", "d": dtype, "count": m * n},
                   {"PARTS": parts, "BLOCK": SUM_BLOCK}, (-(-m * n // SUM_BLOCK), 1), {"num_warps": 4})
    for dtype, heads, length, head in HEADS:
        for bm, bn, warps, stages in ATTENTION_CONFIGS:
            yield (f"attention/{dtype}/{heads}x{length}x{head}@{bm}x{bn}-{warps}-warps-{stages}-stages", "attention",
                   {"q": dtype, "k": dtype, "v": dtype, "o": dtype, "scale": 1 / math.sqrt(head), "length": length},
                   {"HEAD": head, "BLOCK_M": bm, "BLOCK_N": bn}, (length // bm, heads),
                   {"num_warps": warps, "num_stages": stages, "waves_per_eu": 2})


def compile_all(folder):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    import triton_kernels

    folder.mkdir(parents=True, exist_ok=True)
    kinds = {str: lambda dtype: "*" + dtype, int: lambda _: "i32", float: lambda _: "fp32"}
    manifest = {"version": triton.__version__}
    for number, (name, kernel, arguments, constants, grid, options) in enumerate(jobs()):
        signature = {key: kinds[type(value)](value.split()[0] if isinstance(value, str) else value)
                     for key, value in arguments.items()}
        signature.update({key: "constexpr" for key in constants})
        # what Triton's launcher would tell the compiler of these arguments, too
        even = {(index,): [["tt.divisibility", 16]] for index, value in enumerate(arguments.values())
                if isinstance(value, str) or isinstance(value, int) and value % 16 == 0}
        source = ASTSource(fn=getattr(triton_kernels, kernel), signature=signature, constexprs=constants, attrs=even)
        try:
            made = triton.compile(source, target=GPUTarget("hip", "gfx942", 64), options=options)
        except Exception as error:  # one configuration that does not fit is no reason to stop
            print(f"{name}: not compiled: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        if made.metadata.shared > 65536:
            print(f"{name}: left out, {made.metadata.shared} bytes of LDS do not fit", file=sys.stderr)
            continue
        file = f"{number}.hsaco"
        (folder / file).write_bytes(made.asm["hsaco"])
        manifest.setdefault(name, []).append({"file": file, "kernel": made.metadata.name, "arguments": arguments, "grid": grid,
                          "threads": 64 * options["num_warps"], "lds": made.metadata.shared})
        print(name)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    compile_all(pathlib.Path(sys.argv[1]))
