"""Fit a table that no worker could hold on a real Dask cluster, and kill a worker meanwhile.

    python bench/cluster.py [--rows 10000000] [--units 1000] [-o build/cluster.jsonl]

Starts a scheduler and workers as processes of their own, over TCP on loopback; makes the table on
the workers from a seed; fits it twice, the second time with one worker and its nanny killed by
SIGKILL, as when a machine is lost; prints and appends one record for each, and how far the
prototypes are apart.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from unittest.mock import patch

import cloudpickle
import dask.array as da
import numpy as np
from distributed import Client
from sklearn.exceptions import ConvergenceWarning
from tables import Table, as_text

from hyperlvq import make_classifier
from hyperlvq.distributed import fit
from hyperlvq.distributed.samples import PartitionedRows

# Workers cannot import this file where it is itself imported.
cloudpickle.register_pickle_by_value(sys.modules[__name__])
KILLED_PASS = 5
SECONDS_INTO_PASS = 3


def main():
    """Fit undisturbed and disturbed, and compare."""
    print(as_text(cluster_table()))


def cluster_table(arguments=None):
    """Return the figures of both fits; `arguments` stand for a command line."""
    options = parse_arguments(arguments)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    undisturbed, record = measured_fit(options, kills=False)
    disturbed, record_of_disturbed = measured_fit(options, kills=True)
    largest = float(np.abs(undisturbed - disturbed).max())
    note(options, {"largest_difference_of_prototypes": largest})
    title = f"GLVQ on a Dask cluster: {options.rows} × {options.units}, {options.workers} workers"
    header = ["", "seconds", "an evaluation", "rows a second and worker", "memory of a worker"]
    rows = [row(record), row(record_of_disturbed)]
    return Table(title, header, rows, [f"Largest difference of prototypes: {largest:g}."])


def row(record):
    """Return the cells of one fit."""
    return [
        "a worker killed" if record["killed"] else "undisturbed",
        f"{record['seconds']:.0f}",
        f"{record['median_of_passes']['seconds']:.1f} s",
        f"{record['rows_per_second_per_worker']:.0f}",
        f"{max(record['peak_megabytes_of_workers']) / 1e3:.2f} GB",
    ]


def parse_arguments(arguments):
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Fit on a Dask cluster, and kill a worker.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--partition-rows", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--memory-limit", default="2GB")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/cluster.jsonl"))
    return parser.parse_args(arguments)


def measured_fit(options, kills):
    """Return the prototypes of one fit on a cluster of its own, and its times, noted."""
    with running_cluster(options) as address, Client(address) as client:
        client.wait_for_workers(options.workers, timeout=60)
        start = time.perf_counter()
        with watched_passes(client, kills) as passes, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            X, y = table(options)
            model = fit(recipe(options), X, y, client)
        seconds = time.perf_counter() - start
        peaks = client.run(peak_megabytes)
    record = {"killed": kills, "seconds": seconds, **summary(options, passes, peaks)}
    note(options, record)
    return model[-1].prototypes_, record


def recipe(options):
    """Return the unfitted model."""
    return make_classifier(
        "intrvfl", "glvq", n_units=options.units, max_iter=options.iterations, random_state=0
    )


def table(options):
    """Return features and labels that the workers make from a seed."""
    rng = da.random.default_rng(0)
    chunks = (options.partition_rows, options.features)
    X = rng.random((options.rows, options.features), chunks=chunks)
    bent = da.sin(6 * X[:, : options.features // 2]).sum(axis=1)
    y = (bent + rng.normal(size=options.rows, chunks=options.partition_rows) > 0).astype(int)
    return X, y


@contextmanager
def running_cluster(options):
    """Yield the address of a scheduler with workers; all end with the context."""
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        log = (options.output.parent / "cluster.log").open("a")

        def start(*arguments):
            command = [sys.executable, "-m", "dask", *map(str, arguments)]
            processes.append(subprocess.Popen(command, stdout=log, stderr=log))

        try:
            start("scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard",
                  "--scheduler-file", file)  # fmt: skip
            while not file.exists():
                time.sleep(0.1)
            for number in range(options.workers):
                start("worker", "--scheduler-file", file, "--nthreads", 1, "--no-dashboard",
                      "--memory-limit", options.memory_limit, "--name", number,
                      "--local-directory", folder)  # fmt: skip
            yield json.loads(file.read_text())["address"]
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait(timeout=30)


@contextmanager
def watched_passes(client, kills):
    """Yield a list that gets one record for each pass over the samples."""
    records: list[dict] = []
    original = PartitionedRows.total

    def total(self, function, *arguments, **options):
        if kills and len(records) == KILLED_PASS:
            Timer(SECONDS_INTO_PASS, kill_worker, [client]).start()
        before = readings(client)
        result = original(self, function, *arguments, **options)
        differences = {name: value - before[name] for name, value in readings(client).items()}
        records.append({"pass": function.__name__, **differences})
        print(records[-1], flush=True)
        return result

    with patch.object(PartitionedRows, "total", total):
        yield records


def readings(client):
    """Return the clock, the workers' CPU time and the traffic so far."""
    return {
        "traffic": loopback_bytes(),
        "cpu_seconds": sum(client.run(time.process_time).values()),
        "seconds": time.perf_counter(),
    }


def kill_worker(client):
    """Kill one worker and the nanny that would start it again."""
    process, nanny = next(iter(client.run(process_and_parent).values()))
    for number in (nanny, process):
        os.kill(number, signal.SIGKILL)
    print("killed", nanny, process, flush=True)


def process_and_parent():
    """Return the numbers of this process and of the one that started it."""
    return os.getpid(), os.getppid()


def peak_megabytes():
    """Return the most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def loopback_bytes():
    """Return how many bytes have gone over loopback since the machine started."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    (line,) = [line for line in lines if line.strip().startswith("lo:")]
    return int(line.split(":")[1].split()[0])


def summary(options, passes, peaks):
    """Return what the passes of one fit took."""
    costs = [record for record in passes if record["pass"] == "glvq_cost"]
    medians = {
        name: float(np.median([record[name] for record in costs]))
        for name in ("seconds", "cpu_seconds", "traffic")
    }
    return {
        "evaluations": len(costs),
        "median_of_passes": medians,
        "rows_per_second_per_worker": options.rows / medians["seconds"] / options.workers,
        "rows_per_cpu_second": options.rows / medians["cpu_seconds"],
        "smallest_traffic": min(record["traffic"] for record in costs),
        "pass_seconds": [round(record["seconds"], 1) for record in passes],
        "peak_megabytes_of_workers": [round(peak) for peak in peaks.values()],
    }


def note(options, record):
    """Print a record and append it to the file of results."""
    settings = {name: value for name, value in vars(options).items() if name != "output"}
    line = json.dumps({**settings, **record})
    print(line, flush=True)
    with options.output.open("a") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    main()
