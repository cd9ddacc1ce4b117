"""The cluster: how to reach it, sums over what it holds, and jobs of a study done by it."""

import gc
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial, reduce
from typing import Any

import dask
from dask.delayed import Delayed, delayed
from distributed import (
    CancelledError,
    Client,
    Future,
    KilledWorker,
    as_completed,
    default_client,
)
from distributed.comm import CommClosedError
from threadpoolctl import threadpool_limits

from hyperlvq.checks import InputError

Executor = Callable[[Sequence[Any]], Iterator[tuple[Any, Any]]]
CONNECT_SECONDS = 10
#: How often a task that fails is tried again; one whose worker died is tried again anyway.
RETRIES = 2
#: How many partial sums one task adds up, so that a worker sends one for many partitions.
FAN_IN = 16
#: Dask begins to spill at 0.6 of a worker's limit: two workers can take over from three.
SHARE_OF_MEMORY = 0.4
#: A setting of Dask, which would warn of tasks that hold so much.
LARGE_TASKS = {"distributed.admin.large-graph-warning-threshold": "1GB"}
SAME_COMMAND_GOES_ON = "the same command goes on where this one stopped"


def connect(address: str) -> Client:
    """Return a client of the scheduler at an address, with at least one worker."""
    client = _client_at(address)
    if isinstance(client, str):
        # A client that found no scheduler closes itself when it is collected. If that were while
        # another one starts, each would wait for the other.
        gc.collect()
        raise InputError(client)
    try:
        return checked_client(client)
    except InputError:
        client.close()
        raise


def _client_at(address: str) -> Client | str:
    """Return a client, or the sentence that says why there is none."""
    try:
        return Client(address, timeout=CONNECT_SECONDS)
    except (FileNotFoundError, PermissionError, ssl.SSLError) as error:
        return f"Dask cannot use its certificates for {address!r}: {error.strerror or error}"
    except (OSError, TimeoutError, ValueError):
        return f"there is no Dask scheduler at {address!r}"
    except TypeError:  # so Dask says that it has no certificates, or not that protocol
        return (
            f"Dask is not configured for {address!r}: tls:// needs certificates, which its "
            "configuration names under distributed.comm.tls"
        )


def checked_client(client: Client | None) -> Client:
    """Return the client given, or the one of this process; raise if it has no workers."""
    if client is None:
        try:
            client = default_client()
        except ValueError:
            sentence = "there is no Dask client: make one first, dask.distributed.Client(address)"
            raise InputError(sentence) from None
    if not client.nthreads():
        address = client.scheduler_info()["address"]
        raise InputError(f"the Dask cluster at {address} has no workers")
    return client


def memory_for_data(client: Client) -> float:
    """Return how many bytes of samples the workers may keep between passes."""
    limits = client.run(lambda dask_worker: dask_worker.memory_manager.memory_limit).values()
    return SHARE_OF_MEMORY * sum(limit or float("inf") for limit in limits)


def identity(value: Any) -> Any:
    """Return the value."""
    return value


def send(client: Client, value: Any) -> Delayed:
    """Return a value on the cluster: the scheduler keeps a copy, and workers pass it on."""
    return client.persist(delayed(identity)(value))


def total(
    client: Client,
    function: Callable[..., Any],
    parts: Sequence[Any],
    *arguments: Any,
    merge: Callable[[Any, Any], Any],
) -> Any:
    """Return function(part, *arguments) of all parts, merged two by two.

    Merging is a tree of fixed shape: the same numbers are added in the same order whichever
    worker has them. An argument is one task's result, which workers pass on to each other; it
    does not travel with every part's task.
    """
    sent = [delayed(identity)(argument) for argument in arguments]
    results = [delayed(function)(part, *sent) for part in parts]
    while len(results) > 1:
        groups = [results[start : start + FAN_IN] for start in range(0, len(results), FAN_IN)]
        results = [delayed(reduce)(merge, group) for group in groups]
    with one_sentence("partition", "smaller partitions need less"), dask.config.set(LARGE_TASKS):
        return client.compute(results[0], retries=RETRIES, sync=True)


@contextmanager
def one_sentence(task: str, advice: str, advice_when_lost: str = "") -> Iterator[None]:
    """Make one sentence of the loss of workers at a task, or of the scheduler."""
    try:
        yield
    except KilledWorker:
        raise InputError(
            f"workers died again and again at the same {task}, perhaps for lack of memory: {advice}"
        ) from None
    except (CancelledError, CommClosedError):
        sentence = f"the connection to the Dask scheduler was lost{advice_when_lost}"
        raise InputError(sentence) from None


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
    with one_sentence("job", SAME_COMMAND_GOES_ON, f": {SAME_COMMAND_GOES_ON}"):
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
                record_of_job,
                job.with_data(None),
                data_sets[id(job.data_set)],
                pure=False,
                retries=RETRIES,
                priority=-number,
            )


def record_of_job(job: Any, data_set: Any) -> Any:
    """Return the record of a job with its data set put back, in one thread as on one machine."""
    hold_to_one_thread()
    return job.with_data(data_set).record()


@cache
def hold_to_one_thread() -> None:
    """Hold this worker to one thread of BLAS and OpenMP, as Dask's nanny does."""
    threadpool_limits(1)
