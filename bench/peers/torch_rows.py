"""PyTorch's softmax, normalisations and reductions on the shapes of bench_softmax, bench_norms and bench_reduce,
timed the same way: medians of event times, buffers that rotate through more than any cache holds, beside a copy of the same bytes.

  torch_rows.py [OUTPUT.json]
"""

import json
import sys

import torch
from torch.nn import functional

from torch_timing import median_us, sets_of

SOFTMAX = [(131072, 128), (65536, 1024), (16384, 4096), (8192, 8192), (2048, 32768), (512, 131072), (128, 1048576),
           (1000003, 50)]
REDUCE = [(131072, 128), (65536, 1024), (8192, 8192), (512, 131072), (128, 1048576)]
NORMS = [(131072, 128), (65536, 1024), (16384, 4096), (16384, 5120), (8192, 8192), (4096, 16384), (512, 131072),
         (128, 1048576)]
TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def main():
    results = []

    def add(name, run, moved, copy):
        time = median_us(run)
        results.append({"name": name, "median_us": time, "TB/s": 1e-6 * moved / time, "%copy": 100 * copy / time})
        print(f"{name:40} {time:10.1f} us {1e-6 * moved / time:6.2f} TB/s {100 * copy / time:6.1f} % of copy")

    def rows_of(shapes, kind):
        for rows, columns in shapes:
            for label, dtype in TYPES.items():
                size = rows * columns * dtype.itemsize
                count = sets_of(size)
                x = [torch.randn(rows, columns, device="cuda", dtype=dtype) for _ in range(count)]
                y = [torch.empty_like(one) for one in x]
                copy = median_us(lambda turn: y[turn % count].copy_(x[turn % count]))
                shape = f"{label}/{rows}x{columns}"
                if kind == "softmax":
                    add(f"softmax/{shape}", lambda t: torch.softmax(x[t % count], -1, out=y[t % count]), 2 * size, copy)
                    add(f"log_softmax/{shape}", lambda t: torch.log_softmax(x[t % count], -1, out=y[t % count]),
                        2 * size, copy)
                    continue
                if kind == "norms":
                    weight = torch.randn(columns, device="cuda", dtype=dtype)
                    add(f"rms_norm/{shape}", lambda t: functional.rms_norm(x[t % count], (columns,), weight, 1e-5),
                        2 * size, copy)
                    add(f"layer_norm/{shape}", lambda t: functional.layer_norm(x[t % count], (columns,), weight),
                        2 * size, copy)
                    continue
                for name, axis in (("rows", 1), ("columns", 0), ("all", None)):
                    add(f"sum/{name}/{shape}", lambda t: torch.sum(x[t % count], axis, dtype=torch.float32), size,
                        copy / 2)
                    if axis is None:
                        add(f"max/{name}/{shape}", lambda t: torch.max(x[t % count]), size, copy / 2)
                    else:
                        add(f"max/{name}/{shape}", lambda t: torch.amax(x[t % count], axis), size, copy / 2)

    rows_of(SOFTMAX, "softmax")
    rows_of(NORMS, "norms")
    rows_of(REDUCE, "reduce")
    if len(sys.argv) > 1:
        context = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            json.dump({"context": context, "benchmarks": results}, file, indent=1)


if __name__ == "__main__":
    main()
