"""Kernels in TileLang as its examples for AMD build them: tiles in shared memory, T.gemm with packed matrix
instructions, online softmax over blocks of keys. T.exp becomes the fast __expf; T.exp2 would become exp2f, which takes
seven instructions."""

import math

import tilelang.rocm.language as T

ACCUMULATE = "float32"


def matmul(dtype, m, n, k, block_m, block_n, block_k, threads, stages, pack):
    """d = a bT; rows of a and b have k elements."""

    @T.prim_func
    def product(a: T.Tensor((m, k), dtype), b: T.Tensor((n, k), dtype), d: T.Tensor((m, n), dtype)):
        with T.Kernel(T.ceildiv(n, block_n), T.ceildiv(m, block_m), threads=threads) as (column, row):
            tile_a = T.alloc_shared((block_m, block_k), dtype)
            tile_b = T.alloc_shared((block_n, block_k), dtype)
            total = T.alloc_fragment((block_m, block_n), ACCUMULATE)
            T.clear(total)
            for step in T.Pipelined(T.ceildiv(k, block_k), num_stages=stages):
                T.copy(a[row * block_m, step * block_k], tile_a)
                T.copy(b[column * block_n, step * block_k], tile_b)
                T.gemm(tile_a, tile_b, total, transpose_B=True, k_pack=pack)
            T.copy(total, d[row * block_m, column * block_n])

    return product


def attention(dtype, heads, length, head, block_m, block_n, threads, stages, pack):
    """Heads one after the other, each of length x head elements; length a multiple of both blocks."""
    shape, factor = (heads, length, head), 1 / math.sqrt(head)

    @T.prim_func
    def heads_apart(q: T.Tensor(shape, dtype), k: T.Tensor(shape, dtype), v: T.Tensor(shape, dtype),
                    o: T.Tensor(shape, dtype)):
        with T.Kernel(T.ceildiv(length, block_m), heads, threads=threads) as (block, which):
            queries = T.alloc_shared((block_m, head), dtype)
            keys = T.alloc_shared((block_n, head), dtype)
            values = T.alloc_shared((block_n, head), dtype)
            scores = T.alloc_fragment((block_m, block_n), ACCUMULATE)
            weights = T.alloc_fragment((block_m, block_n), dtype)
            total = T.alloc_fragment((block_m, head), ACCUMULATE)
            top = T.alloc_fragment((block_m,), ACCUMULATE)
            before = T.alloc_fragment((block_m,), ACCUMULATE)
            shrink = T.alloc_fragment((block_m,), ACCUMULATE)
            part = T.alloc_fragment((block_m,), ACCUMULATE)
            weight = T.alloc_fragment((block_m,), ACCUMULATE)
            T.copy(q[which, block * block_m:(block + 1) * block_m, :], queries)
            T.fill(total, 0)
            T.fill(weight, 0)
            T.fill(top, -T.infinity(ACCUMULATE))
            for step in T.Pipelined(T.ceildiv(length, block_n), num_stages=stages):
                T.copy(k[which, step * block_n:(step + 1) * block_n, :], keys)
                T.clear(scores)
                T.gemm(queries, keys, scores, transpose_B=True, k_pack=pack, policy=T.GemmWarpPolicy.FullRow)
                T.copy(top, before)
                T.reduce_max(scores, top, dim=1, clear=False)
                for i in T.Parallel(block_m):
                    shrink[i] = T.exp((before[i] - top[i]) * factor)
                for i, j in T.Parallel(block_m, block_n):
                    scores[i, j] = T.exp(scores[i, j] * factor - top[i] * factor)
                T.reduce_sum(scores, part, dim=1)
                for i in T.Parallel(block_m):
                    weight[i] = weight[i] * shrink[i] + part[i]
                for i, j in T.Parallel(block_m, head):
                    total[i, j] *= shrink[i]
                T.copy(scores, weights)
                T.copy(v[which, step * block_n:(step + 1) * block_n, :], values)
                T.gemm(weights, values, total, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_m, head):
                total[i, j] /= weight[i]
            T.copy(total, o[which, block * block_m:(block + 1) * block_m, :])

    return heads_apart
