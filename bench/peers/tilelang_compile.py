"""Makes the kernels of tilelang_kernels.py into HIP sources with TileLang, and these into code objects for gfx942.
Needs neither a GPU nor PyTorch.

  tilelang_compile.py FOLDER --compiler CLANG++ [FLAGS for the compiler: where ROCm is]

Writes HIP sources, code objects and manifest.json for run_kernel.py, and prints the names of what was compiled. With
--select REGEX only kernels of these names.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import without_torch

without_torch.install()

import tilelang  # noqa: E402
from tilelang import tvm  # noqa: E402
from tilelang.engine.lower import lower  # noqa: E402
from tilelang.env import TILELANG_TEMPLATE_PATH  # noqa: E402

import tilelang_kernels  # noqa: E402
from problems import HEADS, PRODUCTS, is_small  # noqa: E402

NAMES = {"bf16": "bfloat16", "fp16": "float16"}
# tile, threads, stages, matrix instructions packed along k
PRODUCT_CONFIGS = [(128, 128, 32, 256, 0, 2), (128, 128, 64, 256, 0, 2), (128, 128, 32, 256, 2, 2), (256, 256, 32, 512, 0, 2)]
# for products that have fewer tiles of those than there are compute units
SMALL_PRODUCT_CONFIGS = [(64, 64, 64, 256, 0, 2), (64, 64, 64, 256, 2, 2), (64, 64, 128, 256, 0, 2), (64, 32, 64, 128, 0, 2),
                         (32, 64, 64, 128, 0, 2), (32, 32, 64, 64, 0, 2), (32, 32, 128, 64, 0, 2)]
ATTENTION_CONFIGS = [(128, 32, 256, 0, 1), (128, 32, 256, 0, 2), (64, 64, 256, 0, 2), (64, 64, 128, 0, 2)]
# TileLang's headers include rocWMMA's for this alone
ROCWMMA = "#pragma once\n#include <hip/hip_bfloat16.h>\n"


def jobs():
    """name, kernel, its arguments' dtype, what makes it"""
    for dtype, m, n, k in PRODUCTS:
        for bm, bn, bk, threads, stages, pack in PRODUCT_CONFIGS + (SMALL_PRODUCT_CONFIGS if is_small(m, n) else []):
            yield (f"matmul/{dtype}/{m}x{n}x{k}@{bm}x{bn}x{bk}-{threads // 64}-waves-{stages}-stages-pack-{pack}", dtype,
                   tilelang_kernels.matmul, (NAMES[dtype], m, n, k, bm, bn, bk, threads, stages, pack))
    for dtype, heads, length, head in HEADS:
        for bm, bn, threads, stages, pack in ATTENTION_CONFIGS:
            yield (f"attention/{dtype}/{heads}x{length}x{head}@{bm}x{bn}-{threads // 64}-waves-{stages}-stages-pack-{pack}",
                   dtype, tilelang_kernels.attention, (NAMES[dtype], heads, length, head, bm, bn, threads, stages, pack))


def launch_of(host):
    """Kernel, names of its arguments, grid, threads and bytes of LDS, from the call in the host's half."""
    call = re.search(r'T\.call_packed\("(\w+_kernel)", (.*)\)', str(host))
    words = call[2].split(", ")
    arguments = [word for word in words if not word.isdigit()]
    numbers = [int(word) for word in words if word.isdigit()]
    return call[1], arguments, numbers[:2], numbers[2], numbers[5] if len(numbers) > 5 else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--select", default="")
    options, flags = parser.parse_known_args()
    folder = options.folder
    (folder / "rocwmma").mkdir(parents=True, exist_ok=True)
    (folder / "rocwmma" / "rocwmma.hpp").write_text(ROCWMMA)
    target = tvm.target.Target({"kind": "hip", "mcpu": "gfx942", "thread_warp_size": 64})
    manifest = {"version": tilelang.__version__}
    for number, (name, dtype, make, arguments) in enumerate(jobs()):
        if not re.search(options.select, name):
            continue
        try:
            with target:
                made = lower(make(*arguments), target=target, enable_device_compile=False, enable_host_codegen=False)
        except Exception as error:  # one configuration that does not fit is no reason to stop
            print(f"{name}: not lowered: {str(error).splitlines()[-1][:200]}", file=sys.stderr)
            continue
        kernel, order, grid, threads, lds = launch_of(made.host_mod)
        if lds > 65536:
            print(f"{name}: left out, {lds} bytes of LDS do not fit", file=sys.stderr)
            continue
        source, file = folder / f"{number}.hip", folder / f"{number}.hsaco"
        source.write_text(made.kernel_source)
        # as TileLang calls hipcc
        done = subprocess.run([options.compiler, "-x", "hip", "-std=c++17", "-O3", "--offload-arch=gfx942",
                               "--cuda-device-only", "--no-gpu-bundle-output", *flags, "-isystem", str(folder), "-isystem",
                               TILELANG_TEMPLATE_PATH, "-o", str(file), str(source)],
                              text=True, capture_output=True)
        if done.returncode != 0:
            print(f"{name}: not compiled: {done.stderr[:400]}", file=sys.stderr)
            continue
        manifest[name] = {"file": file.name, "kernel": kernel, "arguments": dict.fromkeys(order, dtype), "grid": grid,
                          "threads": threads, "lds": lds}
        print(name, flush=True)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))


if __name__ == "__main__":
    main()
