"""Run a study: a list of runs, shared among cores, one record appended as each ends.

Started again with the same folder, a study does what is missing; what was killed loses at most the
runs in flight.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from hyperlvq.checks import InputError, check_choice, check_integer
from hyperlvq.study import protocol as protocols
from hyperlvq.study.data_set import COLLECTION, DataSet
from hyperlvq.study.experiments import MODELS, Model
from hyperlvq.study.records import KEY, Record, RecordFile, key_of, open_records
from hyperlvq.study.schedule import START_SECONDS, estimated_seconds, longest_first
from hyperlvq.study.settings import Settings, searched_settings

# Larger arrays reach the workers as one memory-mapped file, not as a copy each.
MAPPED_BYTES = 100_000
# What a parameter is where a record does not name it: the estimators' own defaults.
UNNAMED = {"solver": "auto", "prototypes_per_class": 1, "init_noise": 1.0}


#: Takes a function and items, yields (item, function(item)) as they end.
RunJobs = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[tuple[Any, Any]]]


class DataSource(Protocol):
    """Where data sets come from."""

    def names(self) -> list[str]:
        """Return the names of the data sets."""

    def load(self, name: str) -> DataSet:
        """Return a data set."""


class Job(Protocol):
    """A piece of work that ends in one record."""

    def description(self) -> Record:
        """Return what its record says before it has been made."""

    def record(self) -> Record:
        """Do it."""

    def seconds(self) -> float:
        """Return about how long it will take."""


@dataclass(frozen=True)
class Run:
    """One model on one split of one data set with one seed."""

    model: Model
    parameters: dict[str, Any]
    data_set: DataSet
    split: int
    seed: int
    protocol: str
    settings_name: str

    def description(self) -> Record:
        """Return what its record says before it has been made."""
        return {**protocols.describe(*self._arguments()), "settings": self.settings_name}

    def record(self) -> Record:
        """Make the run."""
        return {**protocols.evaluate(*self._arguments()), "settings": self.settings_name}

    def record_of(self, part: protocols.Part, **outcome: Any) -> Record:
        """Return its record from what came out where it was made, as `protocols.success` takes."""
        description = protocols.describe(*self._arguments())
        record = protocols.success(description, part, **outcome)
        return {**record, "settings": self.settings_name}

    def seconds(self) -> float:
        """Return about how long it will take."""
        y = self.data_set.y
        return estimated_seconds(
            self.model, self.parameters, len(y), self.data_set.X.shape[1], int(y.max()) + 1
        )

    def _arguments(self) -> tuple[Model, dict[str, Any], DataSet, int, int, str]:
        return self.model, self.parameters, self.data_set, self.split, self.seed, self.protocol


@dataclass(frozen=True)
class Unreadable:
    """A data set that cannot be read: one record says why, and the others go on."""

    protocol: str
    dataset: str
    error: InputError

    def description(self) -> Record:
        """Return what its record says of the study."""
        return {**dict.fromkeys(KEY), "protocol": self.protocol, "dataset": self.dataset}

    def record(self) -> Record:
        """Raise what is wrong."""
        raise self.error

    def seconds(self) -> float:
        """Return about how long it will take."""
        return START_SECONDS


@dataclass(frozen=True)
class Progress:
    """A record that has just been written, and how much of the study is done."""

    record: Record
    done: int
    total: int
    done_seconds: float
    total_seconds: float


def choose(kind: str, wanted: Sequence[str] | None, known: Iterable[str]) -> list[str]:
    """Return the names wanted, or all that are known; raise if one is not, or if there is none."""
    known = list(known)
    if wanted is not None and not wanted:
        raise InputError(f"no {kind} is named; there are {', '.join(known)}")
    for name in wanted or ():
        if name not in known:
            raise InputError(f"there is no {kind} {name!r}; there are {', '.join(known)}")
    return known if wanted is None else list(dict.fromkeys(wanted))


def plan(
    models: Sequence[str],
    data_sets: Iterable[DataSet],
    settings: Settings,
    n_seeds: int,
    protocol: str,
) -> list[Run]:
    """Return the runs of a study."""
    return [
        Run(model, choice.parameters, data_set, split, seed, protocol, choice.origin)
        for model in map(MODELS.__getitem__, models)
        for data_set in data_sets
        for split in range(protocols.n_splits(data_set, protocol))
        if (choice := settings.choose(model, data_set.name, split)) is not None
        for seed in range(n_seeds if model.is_random else 1)
    ]


def load_sets(
    source: DataSource, names: Iterable[str], protocol: str
) -> tuple[list[DataSet], list[Unreadable]]:
    """Return the data sets that can be read, and the others."""
    data_sets, unreadable = [], []
    for name in names:
        try:
            data_sets.append(source.load(name))
        except InputError as error:
            unreadable.append(Unreadable(protocol, name, error))
    return data_sets, unreadable


def run_study(
    source: DataSource,
    folder: str | Path,
    *,
    models: Sequence[str] | None = None,
    sets: Sequence[str] | None = None,
    settings: Settings | None = None,
    n_seeds: int = 5,
    protocol: str = "paper",
    n_jobs: int = 1,
    retry_failed: bool = False,
    run_jobs: RunJobs | None = None,
) -> Iterator[Progress]:
    """Run what a folder lacks of a study; yield each record after it has been appended.

    Parameters
    ----------
    source : DataSource
        The collection.
    folder : path
        Where the records are; created if need be.
    models, sets : sequence of str, default=None
        Names of models and data sets; all of them by default.
    settings : Settings, default=None
        Parameters per model and data set, `Settings()` for one setting a model; by default what
        `default_settings` gives.
    n_seeds : int, default=5
        Number of initialisations.
    protocol : {"paper", "strict"}, default="paper"
        How data are scaled and split.
    n_jobs : int, default=1
        Number of processes, each of one thread.
    retry_failed : bool, default=False
        Whether runs whose record is an error count as missing.
    run_jobs : callable, default=None
        What does the runs, such as a cluster; by default `n_jobs` processes.

    Yields
    ------
    progress : Progress
        The record and how much is done; the records of earlier runs are not repeated.
    """
    check_choice("protocol", protocol, protocols.PROTOCOLS)
    check_integer("n_seeds", n_seeds, minimum=1)
    check_integer("n_jobs", n_jobs, minimum=1)
    models = choose("model", models, MODELS)
    if settings is not None:
        check_settings(settings, models, protocol)
    names = choose("data set", sets, source.names())
    data_sets, unreadable = load_sets(source, names, protocol)
    settings = settings or default_settings(data_sets, protocol)
    with open_records(folder) as records:
        check_protocol(protocol, records.records)
        runs = plan(models, data_sets, settings, n_seeds, protocol)
        yield from do_missing([*unreadable, *runs], records, n_jobs, retry_failed, run_jobs)


def default_settings(data_sets: Iterable[DataSet], protocol: str) -> Settings:
    """Return the settings of our own search where they are of use, elsewhere one a model.

    The search saw test samples, which the protocol "strict" forbids, and built-in sets only share
    names with those it was made on.
    """
    is_collection = all(data_set.source == COLLECTION for data_set in data_sets)
    return searched_settings() if protocol == "paper" and is_collection else Settings()


def check_settings(settings: Settings, models: Iterable[str], protocol: str) -> None:
    """Raise if settings are incomplete, or would let test samples into the protocol "strict"."""
    settings.check(map(MODELS.__getitem__, models))
    if protocol == "strict" and settings.rows and settings.tuning != "strict":
        raise InputError(
            f"the settings {settings.name} were not tuned within the training samples, as the "
            "protocol strict asks: their column 'tuning' does not say strict"
        )


def check_protocol(protocol: str, records: Iterable[Record]) -> None:
    """Raise if the records are of another protocol: their figures do not go together."""
    for record in records:
        if record["protocol"] != protocol:
            raise InputError(
                f"the folder has records of the protocol {record['protocol']!r}, "
                f"not {protocol!r}: take another folder"
            )


def do_missing(
    jobs: Sequence[Job],
    records: RecordFile,
    n_jobs: int,
    retry_failed: bool = False,
    run_jobs: RunJobs | None = None,
) -> Iterator[Progress]:
    """Do the jobs that have no record, the longest first, and say how far they are."""
    kept = [record for record in records.records if not (retry_failed and record.get("error"))]
    missing = longest_first(missing_jobs(jobs, kept), lambda job: job.seconds())
    done, done_seconds = len(jobs) - len(missing), 0.0
    total_seconds = sum(job.seconds() for job in missing)
    run_jobs = run_jobs or partial(execute, n_jobs=n_jobs)
    for job, record in run_jobs(make_record, missing):
        records.append(record)
        done += 1
        done_seconds += job.seconds()
        yield Progress(record, done, len(jobs), done_seconds, total_seconds)


def missing_jobs(jobs: Iterable[Job], records: Iterable[Record]) -> list[Job]:
    """Return the jobs that have no record; raise if one has, but of something else."""
    known = {key_of(record): record for record in records}
    missing = []
    for job in jobs:
        description = job.description()
        record = known.get(key_of(description))
        if record is None:
            missing.append(job)
        else:
            check_same(description, record)
    return missing


def check_same(description: Record, record: Record) -> None:
    """Raise if a record was made with other parameters than are wanted now."""
    found = {**UNNAMED, **record}
    for name, value in {"solver": UNNAMED["solver"], **description}.items():
        # Settings files may change their names; what they say is compared.
        if name != "settings" and found.get(name) != value:
            raise InputError(
                f"the folder has a record of {record['model']} on {record['dataset']} with "
                f"{name} = {found.get(name)!r}, not {value!r}: take another folder"
            )


def make_record(job: Job) -> Record:
    """Return the record of a job, whatever happens in it."""
    try:
        return job.record()
    except Exception as error:  # one bad run must not end a study of thousands
        return protocols.failure(job.description(), error)


def execute(
    function: Callable[[Any], Any], items: Sequence[Any], n_jobs: int
) -> Iterator[tuple[Any, Any]]:
    """Yield (item, function(item)) as they end; `n_jobs` processes of one thread each."""
    with one_thread_each():
        parallel = Parallel(
            n_jobs,
            return_as="generator_unordered",
            batch_size=1,
            max_nbytes=MAPPED_BYTES,
            mmap_mode="r",
            initializer=end_with,
            initargs=(os.getpid(),),
        )
        calls = (delayed(_with_number)(function, number, item) for number, item in enumerate(items))
        try:
            for number, result in parallel(calls):
                yield items[number], result
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


def _with_number(function, number, item):
    return number, function(item)


def end_with(parent: int) -> None:
    """Let this worker end soon after its parent, which may be killed; joblib's wait for minutes."""
    threading.Thread(target=_outlive_by_a_second, args=(parent,), daemon=True).start()


def _outlive_by_a_second(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


@contextmanager
def one_thread_each():
    """Hold this process, and the workers it starts, to one thread of BLAS and OpenMP."""
    with (
        threadpool_limits(1),
        parallel_config(backend="loky", inner_max_num_threads=1),
    ):
        yield
