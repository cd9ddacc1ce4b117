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
                self._before = [library.num_threads for library in blas_libraries()]
                set_blas_threads([1] * len(self._before))
            self._holders += 1
            return max(self._before, default=1)

    def __exit__(self, *error):
        """Give BLAS its threads back if this was the last holder."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                set_blas_threads(self._before)


single_blas_thread = _SingleBlasThread()


@contextmanager
def block_threads():
    """Yield a `map` that uses as many threads as BLAS had, while BLAS is limited to one."""
    with single_blas_thread as n_threads, ThreadPoolExecutor(n_threads) as pool:
        yield partial(map_in_waves, pool, n_threads * BLOCKS_PER_THREAD) if n_threads > 1 else map


@cache
def blas_libraries():
    """Return all BLAS libraries in this process; looking for them takes a while."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


def set_blas_threads(counts):
    """Set the number of threads of each BLAS library."""
    # In recent versions of threadpoolctl only the first thread that limits OpenBLAS can do so, but
    # whichever thread holds the limit last must be able to lift it.
    for library, count in zip(blas_libraries(), counts, strict=True):
        allow_all_threads = getattr(library, "clear_controlling_thread", lambda force: None)
        allow_all_threads(force=True)
        library.set_num_threads(count)
        allow_all_threads(force=True)


def map_in_waves(pool, wave, function, items):
    """Yield function(item) in order; at most a wave of results waits to be consumed."""
    if len(items) == 1:
        yield from map(function, items)
    else:
        for start in range(0, len(items), wave):
            yield from pool.map(function, items[start : start + wave])
