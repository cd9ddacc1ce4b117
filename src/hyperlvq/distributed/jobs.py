"""Jobs of a study, done by the workers of a Dask cluster."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import dask
from distributed import CancelledError, Client, Future, as_completed
from threadpoolctl import threadpool_limits

from hyperlvq.distributed.cluster import LARGE_TASKS, RETRIES, connect, identity, one_sentence

GOES_ON = "the same command goes on where this one stopped"
Executor = Callable[[Sequence[Any]], Iterator[tuple[Any, Any]]]


@contextmanager
def cluster_executor(address: str) -> Iterator[Executor]:
    """Yield what does jobs on the cluster at an address: their `record()`, in any order.

    The `data_set` of jobs is sent apart from them, once for all that share it, and workers pass it
    on to each other; `with_data` takes it out of a job and puts it back.
    """
    with connect(address) as client:
        yield partial(do_jobs, client)


def do_jobs(client: Client, jobs: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each job with its record as it ends, those that come first in `jobs` started first.

    The job of a worker that dies goes to another one.
    """
    numbers = {future: number for number, future in enumerate(submit(client, jobs))}
    with one_sentence("job", GOES_ON, f": {GOES_ON}"):
        for future, record in as_completed(list(numbers), loop=client.loop, with_results=True):
            if future.cancelled():
                raise CancelledError  # which as_completed does not
            yield jobs[numbers.pop(future)], record


def submit(client: Client, jobs: Sequence[Any]) -> Iterator[Future]:
    """Yield the future of every job's record."""
    data_sets: dict[int, Future] = {}
    # Data sets are sent as tasks, which the scheduler can repeat, and not scattered: scattered
    # data are lost with the worker that holds them.
    with dask.config.set(LARGE_TASKS):
        for number, job in enumerate(jobs):
            if id(job.data_set) not in data_sets:
                sent = client.submit(identity, job.data_set, pure=False)
                data_sets[id(job.data_set)] = sent
            yield client.submit(
                record_of,
                job.with_data(None),
                data_sets[id(job.data_set)],
                pure=False,
                retries=RETRIES,
                priority=-number,
            )


def record_of(job: Any, data_set: Any) -> Any:
    """Return the record of a job with its data set put back, in one thread as on one machine."""
    hold_to_one_thread()
    return job.with_data(data_set).record()


@cache
def hold_to_one_thread() -> None:
    """Hold this worker to one thread of BLAS and OpenMP, as Dask's nanny does."""
    threadpool_limits(1)
