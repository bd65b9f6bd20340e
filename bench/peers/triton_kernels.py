"""Kernels in Triton as its tutorials build them: a row a program for softmax and norms, tiles with grouped order
for the matrix product, online softmax over blocks of keys for attention."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=-float("inf")).to(tl.float32)
    weights = tl.exp(values - tl.max(values, axis=0))
    result = weights / tl.sum(weights, axis=0)
    tl.store(y + row * columns + at, result.to(y.dtype.element_ty), mask=inside)


@triton.jit
def layer_norm(x, y, weight, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    factor = tl.load(weight + at, mask=inside).to(tl.float32)
    tl.store(y + row * columns + at, (centred * scale * factor).to(y.dtype.element_ty), mask=inside)


@triton.jit
def rms_norm(x, y, weight, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    scale = 1 / tl.sqrt(tl.sum(values * values, axis=0) / columns + epsilon)
    factor = tl.load(weight + at, mask=inside).to(tl.float32)
    tl.store(y + row * columns + at, (values * scale * factor).to(y.dtype.element_ty), mask=inside)


@triton.jit
def matmul(a, b, d, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    """d = a bT; rows of a and b have k elements."""
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + program % (GROUP * tiles_n) % height
    tile_n = program % (GROUP * tiles_n) // height
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n
    depth = tl.arange(0, BLOCK_K)
    from_a = a + rows[:, None] * k + depth[None, :]
    from_b = b + columns[None, :] * k + depth[:, None]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        left = k - step * BLOCK_K
        piece_a = tl.load(from_a, mask=depth[None, :] < left, other=0.0)
        piece_b = tl.load(from_b, mask=depth[:, None] < left, other=0.0)
        total = tl.dot(piece_a, piece_b, total)
        from_a += BLOCK_K
        from_b += BLOCK_K
    row = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(d + row[:, None] * n + column[None, :], total.to(d.dtype.element_ty), mask=inside)


@triton.jit
def matmul_parts(a, b, partial, m, n, k, part, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                 GROUP: tl.constexpr):
    """Sums of one part of k a program along the second axis of the grid; `part` values of k, a multiple of BLOCK_K."""
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + program % (GROUP * tiles_n) % height
    tile_n = program % (GROUP * tiles_n) // height
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n
    depth = tl.program_id(1) * part + tl.arange(0, BLOCK_K)
    from_a = a + rows[:, None] * k + depth[None, :]
    from_b = b + columns[None, :] * k + depth[:, None]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, part // BLOCK_K):
        total = tl.dot(tl.load(from_a), tl.load(from_b), total)
        from_a += BLOCK_K
        from_b += BLOCK_K
    row = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(partial + tl.program_id(1) * m * n + row[:, None] * n + column[None, :], total, mask=inside)


@triton.jit
def sum_parts(partial, d, count, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    """d = the sums of all parts of k, in order."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for part in tl.static_range(PARTS):
        total += tl.load(partial + part * count + at, mask=inside, other=0.0)
    tl.store(d + at, total.to(d.dtype.element_ty), mask=inside)


@triton.jit
def attention(q, k, v, o, scale, length, HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Heads one after the other, each of length x HEAD elements; length a multiple of both blocks."""
    base = tl.program_id(1) * length * HEAD
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    keys, elements = tl.arange(0, BLOCK_N), tl.arange(0, HEAD)
    queries = tl.load(q + base + rows[:, None] * HEAD + elements[None, :])
    top = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    weight = tl.zeros((BLOCK_M,), dtype=tl.float32)
    total = tl.zeros((BLOCK_M, HEAD), dtype=tl.float32)
    factor = scale * 1.4426950408889634
    for start in range(0, length, BLOCK_N):
        block_k = tl.load(k + base + (start + keys)[None, :] * HEAD + elements[:, None])
        scores = tl.dot(queries, block_k)
        now = tl.maximum(top, tl.max(scores, axis=1) * factor)
        p = tl.exp2(scores * factor - now[:, None])
        shrink = tl.exp2(top - now)
        weight = weight * shrink + tl.sum(p, axis=1)
        total = total * shrink[:, None]
        block_v = tl.load(v + base + (start + keys)[:, None] * HEAD + elements[None, :])
        total = tl.dot(p.to(v.dtype.element_ty), block_v, total)
        top = now
    total = total / weight[:, None]
    tl.store(o + base + rows[:, None] * HEAD + elements[None, :], total.to(o.dtype.element_ty))
