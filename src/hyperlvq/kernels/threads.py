"""Threads for blocks of rows, instead of BLAS's own.

Idle threads of a BLAS spin for a while, and numpy and scipy each bring one: where they take turns
they slow each other down tenfold on small data. So BLAS gets one thread, and blocks of rows share
as many as it had, though no more than there are cores.
"""

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import cache, partial
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

# Several, so that a thread whose core has other work gets fewer.
BLOCKS_PER_THREAD = 4
# Products that take longer than it takes to start a thread.
PRODUCTS_WORTH_A_THREAD = 2**22


class _SingleBlasThread:
    """Limits BLAS to one thread while anyone in the process holds it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0

    def __enter__(self) -> int:
        """Limit BLAS if this is the first holder; return how many threads it has otherwise."""
        with self._lock:
            if self._holders == 0:
                self._before = [library.num_threads for library in blas_libraries()]
                set_blas_threads([1] * len(self._before))
            self._holders += 1
            return _usable_threads(self._before)

    def __exit__(self, *error: object) -> None:
        """Give BLAS its threads back if this was the last holder."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                set_blas_threads(self._before)

    def let_go(self) -> None:
        """Give BLAS its threads back in a forked process, which has none of the holders."""
        self._lock = Lock()
        if self._holders:
            self._holders = 0
            set_blas_threads(self._before)


single_blas_thread = _SingleBlasThread()


@contextmanager
def block_threads(blocks_per_thread: int = BLOCKS_PER_THREAD) -> Any:
    """Yield a `map` that uses as many threads as BLAS had, while BLAS is limited to one.

    So many results for each thread may wait to be consumed.
    """
    with single_blas_thread as n_threads, ThreadPoolExecutor(n_threads) as pool:
        yield partial(map_in_waves, pool, n_threads * blocks_per_thread) if n_threads > 1 else map


def share_rows(function: Any, n_rows: int, products_per_row: int, n_threads: Any = None) -> None:
    """Call function(rows) for slices that cover all rows, on several threads where that pays.

    The function must release the GIL; `n_threads` are as many as BLAS has unless given.
    """
    counts = [library.num_threads for library in blas_libraries()]
    n_threads = _usable_threads(counts if n_threads is None else [n_threads])
    n_threads = max(1, min(n_threads, n_rows * products_per_row // PRODUCTS_WORTH_A_THREAD))
    if n_threads == 1:
        function(slice(0, n_rows))
        return
    n_blocks = n_threads * BLOCKS_PER_THREAD
    bounds = [n_rows * block // n_blocks for block in range(n_blocks + 1)]
    remaining = deque(map(slice, bounds[:-1], bounds[1:]))

    def work():
        while remaining:
            try:
                rows = remaining.popleft()
            except IndexError:  # another thread has taken the last
                return
            function(rows)

    helpers: list[Future] = []
    try:
        with suppress(RuntimeError):  # the interpreter is about to end, and starts no more
            pool = _helpers(n_threads - 1)
            helpers.extend(pool.submit(copy_context().run, work) for _ in range(n_threads - 1))
        work()
    finally:
        remaining.clear()
        for helper in helpers:
            if not helper.cancel():  # it is at work, or has been
                helper.result()


@cache
def _helpers(n_threads):
    """Return threads that stay, as starting some takes longer than many a prediction."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="hyperlvq")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # a child has none of the threads
    os.register_at_fork(after_in_child=single_blas_thread.let_go)


def _usable_threads(counts):
    """Return the largest number of threads, at most one per core."""
    has_affinity = hasattr(os, "sched_getaffinity")
    n_cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return min(max(counts, default=1), n_cores)


@cache
def blas_libraries() -> list[Any]:
    """Return all BLAS libraries in this process; looking for them takes a while."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


def set_blas_threads(counts: list[Any]) -> None:
    """Set the number of threads of each BLAS library."""
    # In recent versions of threadpoolctl only the first thread that limits OpenBLAS can do so, but
    # whichever thread holds the limit last must be able to lift it.
    for library, count in zip(blas_libraries(), counts, strict=True):
        allow_all_threads = getattr(library, "clear_controlling_thread", lambda force: None)
        allow_all_threads(force=True)
        library.set_num_threads(count)
        allow_all_threads(force=True)


def map_in_waves(pool: Any, wave: int, function: Any, items: list[Any]) -> Any:
    """Yield function(item) in order; at most a wave of results waits to be consumed."""
    if len(items) == 1:
        yield from map(function, items)
    else:
        context = copy_context()  # in which numpy knows what to do about overflow

        def call(item):
            return context.copy().run(function, item)

        for start in range(0, len(items), wave):
            part = items[start : start + wave]
            try:
                results = pool.map(call, part)
            except RuntimeError:  # the interpreter is about to end, and starts no more
                results = map(function, part)
            yield from results
