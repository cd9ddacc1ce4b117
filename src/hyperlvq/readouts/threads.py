"""Threads for blocks of rows, instead of BLAS's own.

Idle threads of a BLAS spin for a while, and numpy and scipy each bring one: where they take turns
they slow each other down tenfold on small data. So BLAS gets one thread, and blocks of rows share
the others.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from threading import Lock

from threadpoolctl import ThreadpoolController

BLOCKS_PER_THREAD = 4


class _SingleBlasThread:
    """Limits BLAS to one thread while anyone in the process holds it."""

    def __init__(self):
        self._lock = Lock()
        self._holders = 0

    def __enter__(self):
        """Limit BLAS if this is the first holder; return how many threads it has otherwise."""
        with self._lock:
            if self._holders == 0:
                blas = blas_libraries()
                self._threads = max((lib["num_threads"] for lib in blas.info()), default=1)
                self._limit = blas.limit(limits=1)
                self._limit.__enter__()
            self._holders += 1
            return self._threads

    def __exit__(self, *error):
        """Give BLAS its threads back if this was the last holder."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._limit.__exit__(None, None, None)


single_blas_thread = _SingleBlasThread()


@contextmanager
def block_threads():
    """Yield a `map` that uses as many threads as BLAS had, while BLAS is limited to one."""
    with single_blas_thread as n_threads, ThreadPoolExecutor(n_threads) as pool:
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
