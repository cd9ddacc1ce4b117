"""Jobs of a study, done by the workers of a Dask cluster."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from functools import cache, partial
from typing import Any

import dask
from distributed import Client, Future, KilledWorker, as_completed
from distributed.comm import CommClosedError
from threadpoolctl import threadpool_limits

from hyperlvq.checks import InputError
from hyperlvq.distributed.cluster import RETRIES, connect, identity

GOES_ON = "the same command goes on where this one stopped"
CONNECTION_LOST = f"the connection to the Dask scheduler was lost: {GOES_ON}"
RunJobs = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[tuple[Any, Any]]]


@contextmanager
def cluster_jobs(address: str) -> Iterator[RunJobs]:
    """Yield what runs jobs on the cluster at an address."""
    with connect(address) as client:
        yield partial(run_jobs, client)


def run_jobs(
    client: Client, function: Callable[[Any], Any], items: Sequence[Any]
) -> Iterator[tuple[Any, Any]]:
    """Yield (item, function(item)) as they end, those that come first in `items` started first.

    An item's `data_set` is sent apart from it, once for all items that share it, and workers pass
    it on to each other. The job of a worker that dies goes to another one.
    """
    numbers = {future: number for number, future in enumerate(submit(client, function, items))}
    try:
        for future, result in as_completed(list(numbers), loop=client.loop, with_results=True):
            if future.cancelled():  # its result is an error that as_completed does not raise
                raise InputError(CONNECTION_LOST)
            yield items[numbers.pop(future)], result
    except KilledWorker:
        raise InputError(
            f"workers died again and again at the same job, perhaps for lack of memory: {GOES_ON}"
        ) from None
    except CommClosedError:
        raise InputError(CONNECTION_LOST) from None


def submit(
    client: Client, function: Callable[[Any], Any], items: Sequence[Any]
) -> Iterator[Future]:
    """Yield the future of every item's result."""
    data_sets: dict[int, Future] = {}
    # Data sets are sent as tasks, which the scheduler can repeat, and not scattered: scattered
    # data are lost with the worker that holds them. Dask would warn of such large tasks.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        for number, item in enumerate(items):
            data_set = getattr(item, "data_set", None) if is_dataclass(item) else None
            if data_set is not None and id(data_set) not in data_sets:
                data_sets[id(data_set)] = client.submit(identity, data_set, pure=False)
            yield client.submit(
                do_job,
                function,
                item if data_set is None else replace(item, data_set=None),
                None if data_set is None else data_sets[id(data_set)],
                pure=False,
                retries=RETRIES,
                priority=-number,
            )


def do_job(function: Callable[[Any], Any], item: Any, data_set: Any) -> Any:
    """Return function(item) with its data set put back, in one thread as on one machine."""
    hold_to_one_thread()
    return function(item if data_set is None else replace(item, data_set=data_set))


@cache
def hold_to_one_thread() -> None:
    """Hold this worker to one thread of BLAS and OpenMP, as Dask's nanny does."""
    threadpool_limits(1)
