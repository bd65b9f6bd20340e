"""How the benchmarks of PyTorch are timed: as ours are on a GPU, between events, medians, with buffers that rotate through
more than any cache holds."""

import statistics

import torch

ROTATION_BYTES = 512 << 20
WARM_UP, TURNS = 3, 30


def sets_of(size):
    """How many sets of buffers of so many bytes rotate."""
    return min(ROTATION_BYTES // size + 1, 64)


def median_us(run):
    times = []
    for turn in range(WARM_UP + TURNS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run(turn)
        end.record()
        end.synchronize()
        if turn >= WARM_UP:
            times.append(1e3 * begin.elapsed_time(end))
    return statistics.median(times)
