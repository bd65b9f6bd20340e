"""Problems on which kernels of others run beside ours. A kernel's name is kernel/dtype/shape@config."""

ROWS = {"softmax": [("fp32", 512, 1024), ("bf16", 512, 1024), ("bf16", 64, 4096)],
        "layer_norm": [("fp32", 256, 1024), ("bf16", 256, 1024), ("bf16", 64, 4096)],
        "rms_norm": [("fp32", 256, 1024), ("bf16", 256, 1024), ("bf16", 64, 4096)]}
# d = a bT of m x n x k; the last is large enough for large tiles on all compute units
PRODUCTS = [("bf16", 512, 512, 512), ("bf16", 256, 256, 2048), ("fp16", 512, 512, 512), ("bf16", 4864, 4096, 512)]
HEADS = [("bf16", 2, 512, 128), ("bf16", 2, 512, 64)]  # heads, queries and keys, elements
COMPUTE_UNITS = 304


def is_small(m, n):
    """Fewer tiles of 128 x 128 than compute units: smaller tiles, and k in parts, may take less time."""
    return -(-m // 128) * -(-n // 128) < COMPUTE_UNITS
