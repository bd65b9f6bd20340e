"""PyTorch's scaled dot product attention on the shapes of bench_attention on a GPU, with the FlashAttention and the
cuDNN backend, timed the same way: medians of event times, buffers that rotate through more than any cache holds.

  torch_attention.py [PREFIX]   writes PREFIX_flash.json and PREFIX_cudnn.json, by the names of bench_attention
"""

import json
import sys

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from torch_timing import median_us, sets_of

TOKENS = 16384
# batch, query heads, heads of k and v, queries, keys, elements
PREFILL = [(TOKENS // length, 2048 // d, 2048 // d, length, length, d) for d in (128, 64)
           for length in (1024, 2048, 4096, 8192, 16384)]
DECODE = [(64, 32, 8, 1, 4096, 128), (1, 32, 8, 1, 32768, 128), (128, 64, 8, 1, 2048, 128), (64, 32, 32, 1, 2048, 64)]
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def main():
    results = {label: [] for label in BACKENDS}

    def add(kind, shape, causal):
        batch, q_heads, kv_heads, queries, keys, d = shape
        size = 2 * d * batch * (2 * q_heads * queries + 2 * kv_heads * keys)
        count = sets_of(size)

        def arrays(heads, rows):
            return [torch.randn(batch, heads, rows, d, device="cuda", dtype=torch.bfloat16) for _ in range(count)]

        q, k, v = arrays(q_heads, queries), arrays(kv_heads, keys), arrays(kv_heads, keys)
        pairs = queries * (queries + 1) // 2 if causal else queries * keys
        flops = 4 * pairs * batch * q_heads * d
        name = f"{kind}/{batch}x{q_heads}/{kv_heads}x{queries}x{keys}x{d}"
        for label, backend in BACKENDS.items():
            def run(turn):
                i = turn % count
                functional.scaled_dot_product_attention(q[i], k[i], v[i], is_causal=causal,
                                                        enable_gqa=q_heads != kv_heads)
            try:
                with sdpa_kernel(backend):
                    time = median_us(run)
            except RuntimeError as error:
                print(f"{name:48} {label}: {str(error).splitlines()[0]}")
                continue
            results[label].append({"name": name, "median_us": time, "TFLOP/s": 1e-6 * flops / time,
                                   "TB/s": 1e-6 * size / time})
            print(f"{name:48} {label} {time:10.1f} us {1e-6 * flops / time:7.1f} TFLOP/s {1e-6 * size / time:6.2f} TB/s")

    for shape in PREFILL:
        for causal in (False, True):
            add("attention/" + ("causal" if causal else "full"), shape, causal)
    add("attention/causal", (1, 32, 8, 8192, 8192, 128), True)
    for shape in DECODE:
        add("decode", shape, False)
    if len(sys.argv) > 1:
        for label, benchmarks in results.items():
            context = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "backend": label}
            with open(f"{sys.argv[1]}_{label}.json", "w", encoding="utf-8") as file:
                json.dump({"context": context, "benchmarks": benchmarks}, file, indent=1)


if __name__ == "__main__":
    main()
