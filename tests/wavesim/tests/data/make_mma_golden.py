#!/usr/bin/env python3
"""Writes mma_golden.json: dot products by MMA-Sim's CDNA3 model, as bit patterns.

usage: python3 make_mma_golden.py MMA_SIM_CHECKOUT > mma_golden.json

MMA-Sim (github.com/microsoft/MMA-Sim, MIT) was checked by its authors against CDNA3 hardware; the
executor's matrix arithmetic is compared with these figures bit by bit. Needs torch.
"""
import json
import math
import random
import struct
import sys

sys.path.insert(0, sys.argv[1])
import torch
from mmasim.simulator.arithmetic import amd_fused_dot_rd_add

COMMIT = "c78513835c8b2ae61b35062afce4c4255bc6901c"
# kind: code bits, exponent bits, mantissa bits, bias, FNUZ, torch type, least exponent
KINDS = {
    "f16": (16, 5, 10, 15, False, torch.float16),
    "bf16": (16, 8, 7, 127, False, torch.bfloat16),
    "xf32": (32, 8, 23, 127, False, torch.float32),
    "fp8": (8, 4, 3, 8, True, torch.float8_e4m3fnuz),
    "bf8": (8, 5, 2, 16, True, torch.float8_e5m2fnuz),
}
CASES = [("f16", "f16", 16, 8), ("bf16", "bf16", 16, 8), ("xf32", "xf32", 8, 4),
         ("fp8", "fp8", 32, 16), ("fp8", "bf8", 32, 16), ("bf8", "fp8", 32, 16),
         ("bf8", "bf8", 32, 16)]


def decode(kind, code):
    width, ebits, mbits, bias, fnuz, _ = KINDS[kind]
    sign = -1.0 if code >> (width - 1) else 1.0
    field = code >> mbits & ((1 << ebits) - 1)
    mantissa = code & ((1 << mbits) - 1)
    if fnuz and code == 0x80:
        return math.nan
    if not fnuz and field == (1 << ebits) - 1:
        return math.nan if mantissa else sign * math.inf
    if field == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mbits)
    return sign * math.ldexp((1 << mbits) + mantissa, field - bias - mbits)


def compose(kind, sign, exponent, mantissa):
    """The code nearest to ±(1 + mantissa)·2^exponent inside the type's range; mantissa in [0, 1)."""
    width, ebits, mbits, bias, fnuz, _ = KINDS[kind]
    field = exponent + bias
    top = (1 << ebits) - (1 if fnuz else 2)
    m = int(mantissa * (1 << mbits))
    if field < 1:
        m = ((1 << mbits) | m) >> min(1 - field, mbits + 1)
        field = 0
    field = min(field, top)
    code = sign << (width - 1) | field << mbits | m
    return 0 if fnuz and code == 0x80 else code


def element(kind, rng, spread, centre, zeros=0.0):
    if rng.random() < zeros:
        return 0 if KINDS[kind][4] or rng.random() < 0.5 else 1 << (KINDS[kind][0] - 1)
    return compose(kind, rng.getrandbits(1), centre + rng.randint(-spread, spread), rng.random())


def f32_bits(x):
    try:
        return struct.unpack("<I", struct.pack("<f", x))[0]
    except OverflowError:
        return 0xFF800000 if x < 0 else 0x7F800000


def f32_value(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def evaluate(ka, kb, a, b, c, group):
    def values(kind, codes):
        if kind == "xf32":
            codes = [x & 0xFFFFE000 for x in codes]
        return torch.tensor([decode(kind, x) for x in codes], dtype=KINDS[kind][5])

    total = f32_value(c)
    for k in range(0, len(a), group):
        total = amd_fused_dot_rd_add(values(ka, a[k:k + group]), values(kb, b[k:k + group]),
                                     torch.tensor(total, dtype=torch.float32), 24,
                                     is_fp8=ka in ("fp8", "bf8"))
        total = f32_value(f32_bits(total))
    return 0x7FC00000 if math.isnan(total) else f32_bits(total)


def case(ka, kb, depth, group, index, rng):
    style = index % 12
    wide = ka in ("bf16", "xf32")
    spread, centre, zeros, c_at, c_spread = [
        (2, 0, 0, 0, 3),        # ordinary
        (6, 0, 0, 4, 8),        # spread exponents
        (12, 0, 0, -20, 12),    # C far below
        (3, 0, 0, 24, 8),       # C far above
        (2, -14, 0, -30, 12),   # small, denormals of the narrow types
        (2, -70 if wide else -12, 0, -140, 10),  # tiny results
        (3, 0, 0.8, 0, 30),     # many zeros
        (1, 0, 1.0, -110 if wide else 0, 30),  # only zeros
        (1, 63 if wide else 10, 0, 100, 27),   # huge
        (2, 0, 0, 0, 3),        # cancellation (below)
        (4, 0, 0, -130, 18),    # C denormal
        (40 if wide else 10, 0, 0.1, 0, 60),   # anything
    ][style]
    a = [element(ka, rng, spread, centre, zeros) for _ in range(depth)]
    b = [element(kb, rng, spread, centre, zeros) for _ in range(depth)]
    c = compose("xf32", rng.getrandbits(1), max(-149, min(127, c_at + rng.randint(-c_spread, c_spread))),
                rng.random())
    if index % 5 == 0:
        c = 0x80000000 if index % 2 else 0
    if style == 9:
        exact = sum(decode(ka, x) * decode(kb, y) for x, y in zip(a[:group], b[:group]))
        c = f32_bits(-exact) ^ rng.choice([0, 1, 2, 0x100])
    if index % 23 == 22:
        special = {"f16": [0x7C00, 0xFC00, 0x7E00], "bf16": [0x7F80, 0xFF80, 0x7FC0],
                   "xf32": [0x7F800000, 0xFF800000, 0x7FC00000], "fp8": [0x80], "bf8": [0x80]}
        a[rng.randrange(depth)] = rng.choice(special[ka])
        if rng.random() < 0.5:
            b[rng.randrange(depth)] = rng.choice(special[kb])
    if index % 29 == 28:
        c = rng.choice([0x7F800000, 0xFF800000, 0x7FC00000])
    return {"a": a, "b": b, "c": c, "d": evaluate(ka, kb, a, b, c, group)}


def main():
    rng = random.Random(20240601)
    out = {"source": "dot products by MMA-Sim's CDNA3 model, github.com/microsoft/MMA-Sim commit "
                     + COMMIT + " (make_mma_golden.py)", "sets": []}
    for ka, kb, depth, group in CASES:
        out["sets"].append({"a": ka, "b": kb, "k": depth,
                            "cases": [case(ka, kb, depth, group, i, rng) for i in range(96)]})
    text = json.dumps(out, separators=(",", ":"))
    print(text.replace('{"a":"', '\n{"a":"').replace('{"a":[', '\n{"a":['))


main()
