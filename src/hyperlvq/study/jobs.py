"""Jobs of a study, each of which ends in one record, and the processes that do them here."""

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from hyperlvq.checks import InputError, check_integer
from hyperlvq.study.data_set import DataSet
from hyperlvq.study.experiments import Model
from hyperlvq.study.records import Record, failure

# Larger arrays reach the workers as one memory-mapped file, not as a copy each.
MAPPED_BYTES = 100_000


@dataclass(frozen=True)
class Job(ABC):
    """A piece of work with a model on a data set."""

    data_set: DataSet
    model: Model
    protocol: str

    def description(self) -> Record:
        """Return what its record says before it has been made."""
        return {
            "protocol": self.protocol,
            "model": self.model.name,
            "dataset": self.data_set.name,
            "source": self.data_set.source,
        }

    @abstractmethod
    def seconds(self) -> float:
        """Return about how long it will take."""

    @abstractmethod
    def result(self) -> Record:
        """Do it and return its record."""

    def record(self) -> Record:
        """Do it and return its record, whatever happens."""
        try:
            return self.result()
        except Exception as error:  # one bad run must not end a study of thousands
            return failure(self.description(), error)

    def with_data(self, data_set: Any) -> Self:
        """Return the job with other data, such as None where they travel apart from it."""
        return replace(self, data_set=data_set)


#: Turns jobs into records: yields each job with its record when that has been made.
Executor = Callable[[Sequence[Job]], Iterator[tuple[Job, Record]]]


def processes(n_jobs: int = 1) -> Executor:
    """Return the executor of so many processes, each of one thread."""
    return partial(_in_processes, check_integer("n_jobs", n_jobs, minimum=1))


def _in_processes(n_jobs: int, jobs: Sequence[Job]) -> Iterator[tuple[Job, Record]]:
    with threadpool_limits(1), parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = Parallel(
            n_jobs,
            return_as="generator_unordered",
            batch_size=1,
            max_nbytes=MAPPED_BYTES,
            mmap_mode="r",
            initializer=_end_with,
            initargs=(os.getpid(),),
        )
        calls = (delayed(_numbered_record)(number, job) for number, job in enumerate(jobs))
        try:
            for number, record in parallel(calls):
                yield jobs[number], record
        except BrokenProcessPool:
            raise InputError(
                "a worker process was killed, perhaps for lack of memory: fewer jobs need less, "
                "and the same command goes on where this one stopped"
            ) from None
        except OSError as error:  # jobs turn their own into records
            raise InputError(
                f"the worker processes cannot be given their work: {error.strerror or error}; "
                "fewer jobs need less"
            ) from None


def _numbered_record(number: int, job: Job) -> tuple[int, Record]:
    return number, job.record()


def _end_with(parent: int) -> None:
    """Let this worker end soon after its parent, which may be killed; joblib's wait for minutes."""

    def outlive_by_a_second() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=outlive_by_a_second, daemon=True).start()
