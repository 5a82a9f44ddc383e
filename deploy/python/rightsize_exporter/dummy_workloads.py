"""Work to try a tracker with."""
import os
import time


def cpu_single(duration: float = 1) -> None:
    """Keeps one core busy for so many seconds."""
    until = time.time() + duration
    while time.time() < until:
        sum(range(1000))


def cpu_multi(duration: float = 1, ncores: int = os.cpu_count() or 1) -> None:
    """Keeps so many cores busy for so many seconds, in processes below this one."""
    from multiprocessing import get_context
    with get_context("fork").Pool(ncores) as pool:
        pool.map(cpu_single, [duration] * ncores)
