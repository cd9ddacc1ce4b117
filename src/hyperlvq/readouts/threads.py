"""Threads for blocks of rows, instead of BLAS's own.

numpy and scipy each bring a BLAS whose idle threads spin for a while; where both take turns, as
in L-BFGS, they slow each other down tenfold on small data. So BLAS gets one thread, and blocks
of rows share the others.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial

from threadpoolctl import ThreadpoolController

BLOCKS_PER_THREAD = 4


@contextmanager
def block_threads():
    """Yield a `map` that uses as many threads as BLAS had, while BLAS is limited to one."""
    blas = blas_libraries()
    n_threads = max((library["num_threads"] for library in blas.info()), default=1)
    with blas.limit(limits=1), ThreadPoolExecutor(n_threads) as pool:
        yield partial(map_in_waves, pool, n_threads * BLOCKS_PER_THREAD) if n_threads > 1 else map


@cache
def blas_libraries():
    """Return the handle of all BLAS libraries in this process; looking for them takes a while."""
    return ThreadpoolController().select(user_api="blas")


def map_in_waves(pool, wave, function, items):
    """Yield function(item) in order; at most a wave of results waits to be consumed."""
    if len(items) == 1:
        yield from map(function, items)
    else:
        for start in range(0, len(items), wave):
            yield from pool.map(function, items[start : start + wave])
