"""Run a study: a list of jobs, done by an executor, one record appended as each ends.

Started again with the same folder, a study does what is missing; what was killed loses at most the
runs in flight.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from hyperlvq.checks import InputError, check_choice, check_integer
from hyperlvq.study.collection import Collection
from hyperlvq.study.data_set import COLLECTION, DataSet
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.protocol import PROTOCOLS, Run, n_splits
from hyperlvq.study.records import KEY, Job, Record, RecordFile, failure, key_of, open_records
from hyperlvq.study.settings import Settings, searched_settings

# Larger arrays reach the workers as one memory-mapped file, not as a copy each.
MAPPED_BYTES = 100_000
#: Turns jobs into records: yields each job with its record when that has been made.
Executor = Callable[[Sequence[Job]], Iterator[tuple[Job, Record]]]
# What a parameter was where a record does not name it, whatever its default has become since.
UNNAMED: dict[str, Any] = {
    "solver": "auto",
    "prototypes_per_class": 1,
    "init": "means",
    "init_noise": 1.0,
    "tol": 1e-5,
}


@dataclass(frozen=True)
class Step:
    """A record that has just been written, and how much of the study is done."""

    record: Record
    done: int
    total: int
    done_seconds: float
    total_seconds: float


def run_study(
    source: Collection,
    folder: str | Path,
    *,
    models: Sequence[str] | None = None,
    sets: Sequence[str] | None = None,
    settings: Settings | None = None,
    as_published: bool = False,
    n_seeds: int = 5,
    protocol: str = "paper",
    retry_failed: bool = False,
    executor: Executor | None = None,
) -> Iterator[Step]:
    """Run what a folder lacks of a study; yield each record after it has been appended.

    All models and data sets run by default, with what `default_settings` gives. `as_published`
    says whether models with settings of a file, such as the paper's table, are solved and started
    as in the paper; `retry_failed` whether runs whose record is an error count as missing. The
    executor is that of `processes` (by default one), a Dask cluster or a device.
    """
    check_choice("protocol", protocol, PROTOCOLS)
    check_integer("n_seeds", n_seeds, minimum=1)
    models = choose("model", models, MODELS)
    sets = choose("data set", sets, source.names())
    if settings is not None or as_published:
        chosen = [MODELS[name] for name in models]
        (settings or Settings()).check(chosen, protocol, as_published)
    data_sets, unreadable = load_sets(source, sets)
    settings = settings or default_settings(data_sets, protocol)
    with open_records(folder) as records:
        check_protocol(protocol, records.records)
        yield from note_unreadable(unreadable, protocol, records, retry_failed)
        runs = plan_runs(models, data_sets, settings, n_seeds, protocol, as_published)
        yield from do_missing(runs, records, executor, retry_failed)


def choose(kind: str, wanted: Sequence[str] | None, known: Iterable[str]) -> list[str]:
    """Return the names wanted, or all that are known; raise if one is not, or if there is none."""
    known = list(known)
    names = known if wanted is None else list(dict.fromkeys(wanted))
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        fault = f"no {kind} is called {unknown[0]!r}" if unknown else f"no {kind} is given"
        raise InputError(f"{fault}; choose from {', '.join(known)}")
    return names


def load_sets(
    source: Collection, names: Iterable[str]
) -> tuple[list[DataSet], dict[str, InputError]]:
    """Return the data sets that can be read, and what is wrong with the others."""
    data_sets, unreadable = [], {}
    for name in names:
        try:
            data_sets.append(source.load(name))
        except InputError as error:
            unreadable[name] = error
    return data_sets, unreadable


def default_settings(data_sets: Iterable[DataSet], protocol: str) -> Settings:
    """Return the settings of our own search where they are of use, elsewhere one per model.

    The search saw test samples, which the protocol "strict" forbids, and built-in sets only share
    names with those it was made on.
    """
    is_collection = all(data_set.source == COLLECTION for data_set in data_sets)
    return searched_settings() if protocol == "paper" and is_collection else Settings()


def check_protocol(protocol: str, records: Iterable[Record]) -> None:
    """Raise if the records are of another protocol: their figures do not go together."""
    for other in (each["protocol"] for each in records if each["protocol"] != protocol):
        raise InputError(
            f"the folder has records of the protocol {other!r}, not {protocol!r}: "
            "use another folder"
        )


def plan_runs(
    models: Sequence[str],
    data_sets: Iterable[DataSet],
    settings: Settings,
    n_seeds: int,
    protocol: str,
    as_published: bool = False,
) -> list[Run]:
    """Return the runs of a study."""
    return [
        Run(data_set, model, protocol, choice.parameters, split, seed, choice.origin)
        for model in map(MODELS.__getitem__, models)
        for data_set in data_sets
        for split in range(n_splits(data_set, protocol))
        if (choice := settings.choose(model, data_set.name, split, as_published)) is not None
        for seed in range(model.n_initialisations(choice.parameters, n_seeds))
    ]


def note_unreadable(
    unreadable: Mapping[str, InputError],
    protocol: str,
    records: RecordFile,
    retry_failed: bool = False,
) -> Iterator[Step]:
    """Record once why a data set cannot be read; the others go on."""
    nobody = {**dict.fromkeys(KEY), "protocol": protocol}
    failures = [failure({**nobody, "dataset": name}, error) for name, error in unreadable.items()]
    known = set() if retry_failed else {key_of(record) for record in records.records}
    missing = [record for record in failures if key_of(record) not in known]
    for done, record in enumerate(missing, 1):
        records.append(record)
        yield Step(record, done, len(missing), done, len(missing))


def do_missing(
    jobs: Sequence[Job],
    records: RecordFile,
    executor: Executor | None,
    retry_failed: bool = False,
) -> Iterator[Step]:
    """Do the jobs that have no record, the longest first so that cores stay busy to the end."""
    kept = [record for record in records.records if not (retry_failed and record.get("error"))]
    missing = sorted(missing_jobs(jobs, kept), key=lambda job: job.seconds(), reverse=True)
    done, done_seconds = len(jobs) - len(missing), 0.0
    total_seconds = sum(job.seconds() for job in missing)
    for job, record in (executor or processes())(missing):
        records.append(record)
        done += 1
        done_seconds += job.seconds()
        yield Step(record, done, len(jobs), done_seconds, total_seconds)


def missing_jobs(jobs: Iterable[Job], records: Iterable[Record]) -> list[Job]:
    """Return the jobs that have no record; raise if one has, but of something else."""
    known = {key_of(record): record for record in records}
    missing = []
    for job in jobs:
        description = job.description()
        record = known.get(key_of(description))
        if record is None:
            missing.append(job)
            continue
        published_or_not = {name: UNNAMED[name] for name in ("solver", "init")}
        found, wanted = {**UNNAMED, **record}, {**published_or_not, **description}
        for name, value in wanted.items():
            # Settings files may change their names; what they say is compared.
            if name != "settings" and found.get(name) != value:
                raise InputError(
                    f"the folder has a record of {record['model']} on {record['dataset']} with "
                    f"{name} = {found.get(name)!r}, not {value!r}: use another folder"
                )
    return missing


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
                "a worker process was killed, perhaps for lack of memory: run the same command "
                "with fewer jobs to continue"
            ) from None
        except OSError as error:  # jobs turn their own into records
            raise InputError(
                f"the data cannot be passed to the worker processes: {error.strerror or error}; "
                "use fewer jobs"
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
