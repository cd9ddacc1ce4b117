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
import sys
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
from distributed.deploy.subprocess import SubprocessCluster
from measure import Table
from sklearn.exceptions import ConvergenceWarning

from hyperlvq import make_classifier
from hyperlvq.distributed import fit
from hyperlvq.distributed.samples import PartitionedRows

# Workers cannot import this file where it is itself imported.
cloudpickle.register_pickle_by_value(sys.modules[__name__])
KILLED_PASS = 5


def cluster_table(arguments=None):
    """Return the figures of both fits; `arguments` stand for a command line."""
    options = parse_arguments(arguments)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    undisturbed, record = measured_fit(options, kills=False)
    disturbed, record_of_disturbed = measured_fit(options, kills=True)
    largest = float(np.abs(undisturbed - disturbed).max())
    append(options, {"largest_difference_of_prototypes": largest})
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
    cluster = SubprocessCluster(
        n_workers=options.workers,
        threads_per_worker=1,
        dashboard_address=None,  # type: ignore[arg-type]  # as its documentation has it
        worker_kwargs={"memory_limit": options.memory_limit, "dashboard": False},
    )
    with cluster, Client(cluster) as client:
        client.wait_for_workers(options.workers, timeout=60)
        start = time.perf_counter()
        recipe = make_classifier(
            "intrvfl", "glvq", n_units=options.units, max_iter=options.iterations, random_state=0
        )
        with (
            watched_passes(client, kills) as passes,
            warnings.catch_warnings(action="ignore", category=ConvergenceWarning),
        ):
            X, y = table(options)
            model = fit(recipe, X, y, client)
        seconds = time.perf_counter() - start
        peaks = client.run(peak_megabytes)
    record = {"killed": kills, "seconds": seconds, **summary(options, passes, peaks)}
    append(options, record)
    return model[-1].prototypes_, record


def table(options):
    """Return features and labels that the workers make from a seed."""
    rng = da.random.default_rng(0)
    chunks = (options.partition_rows, options.features)
    X = rng.random((options.rows, options.features), chunks=chunks)
    bent = da.sin(6 * X[:, : options.features // 2]).sum(axis=1)
    y = (bent + rng.normal(size=options.rows, chunks=options.partition_rows) > 0).astype(int)
    return X, y


@contextmanager
def watched_passes(client, kills):
    """Yield a list that gets one record for each pass over the samples."""
    records: list[dict] = []
    original = PartitionedRows.total

    def total(self, function, *arguments, **options):
        if kills and len(records) == KILLED_PASS:
            Timer(records[-1]["seconds"] / 2, kill_worker, [client]).start()  # in mid-pass
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
    process, nanny = next(iter(client.run(lambda: (os.getpid(), os.getppid())).values()))
    for number in (nanny, process):
        os.kill(number, signal.SIGKILL)
    print("killed", nanny, process, flush=True)


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
    costs = [record for record in passes if record["pass"] == "_glvq_cost"]
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


def append(options, record):
    """Print a record and append it to the file of results."""
    settings = {name: value for name, value in vars(options).items() if name != "output"}
    line = json.dumps({**settings, **record})
    print(line, flush=True)
    with options.output.open("a") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    print(cluster_table())
