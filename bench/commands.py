"""What people wait for on the command line: reading, predicting, training, starting."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from measure import Table
from sklearn.datasets import make_classification

N_TRAINING, N_PREDICTED, N_FEATURES = 20_000, 500_000, 20
REPEATS = 3
PROGRAM = [sys.executable, "-m", "hyperlvq"]
#: A small process that measures another one: a child starts with the memory of its parent.
MEASURE = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
wall, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([wall, used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss]))
"""
#: Of the time that pandas takes to read the table: the goal of when pandas 2 was current, which
#: takes several times as long as pandas 3.1.
MOST_OF_READING = 4
READ = """
import sys, time, pandas
times = []
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    pandas.read_csv(sys.argv[1])
    times.append(time.perf_counter() - start)
print(pandas.__version__, sorted(times)[len(times) // 2])
"""


def command_table(peers_python=None):
    """Measure the commands on a table of numbers, beside pandas here and at the peers."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder)
        model = folder / "model.hlvq"
        fit = ("fit", folder / "train.csv", "--target", "y", "-o", model)
        predict_many = ("predict", model, folder / "many.csv", "-o", folder / "out.csv")
        # once each: they take a while
        single, default, by_default = (
            measure_command([*PROGRAM, *map(str, call)])[0]
            for call in ((*fit, "--networks", "1"), fit, predict_many)
        )
        training = command_seconds(*fit, "--readout", "glvq")
        many = command_seconds(*predict_many)
        pythons = [sys.executable] if peers_python is None else [sys.executable, peers_python]
        readings = [reading_seconds(python, folder / "many.csv") for python in pythons]
        starts = {
            "predict": ("predict", model, folder / "one.csv"),
            "show": ("show", model),
            "evaluate": ("evaluate", model, folder / "few.csv"),
            "export": ("export", model, "--to", "c", "-o", folder / "firmware"),
            "--help": ("--help",),
        }
        started = [
            [f"{command}, CPU", f"{command_seconds(*call)[1]:.2f} s", "under 1.2 s"]
            for command, call in starts.items()
        ]
    goal = f"at most {MOST_OF_READING} times that to predict"
    shape = f"{N_PREDICTED:,} rows x {N_FEATURES}"
    return Table(
        "The command line, medians",
        ["", "", "goal"],
        [
            [f"fit, {N_TRAINING:,} rows x {N_FEATURES}", f"{default:.1f} s", "under 60 s"],
            ["fit --networks 1", f"{single:.1f} s", "under 10 s"],
            ["fit --readout glvq, 5 folds", f"{training[0]:.1f} s", "under 8 s"],
            [f"predict, {shape}", f"{by_default:.1f} s", ""],
            ["predict, glvq", f"{many[0]:.1f} s", ""],
            *(
                [f"  pandas {version} reads it", f"{s:.2f} s, {many[0] / s:.1f} times", goal]
                for version, s in readings
            ),
            ["its peak memory", f"{many[2] / 1e6:.0f} MB", "under 300 MB"],
            *started,
        ],
        ["Wall-clock time on all cores, or CPU time of a command on one or a few rows."],
    )


def write_tables(folder):
    """Write a table to train on, and tables of rows to predict."""
    X, y = make_classification(
        N_TRAINING + N_PREDICTED, N_FEATURES, n_informative=10, n_classes=3, random_state=0
    )
    frame = pd.DataFrame(X.round(6)).add_prefix("x").assign(y=np.array([*"abc"])[y])
    frame[:N_TRAINING].to_csv(folder / "train.csv", index=False)
    frame[:50].to_csv(folder / "few.csv", index=False)
    frame[N_TRAINING:].drop(columns="y").to_csv(folder / "many.csv", index=False)
    frame[:1].to_csv(folder / "one.csv", index=False)


def reading_seconds(python, path):
    """Return the version of an interpreter's pandas, and how long it takes to read a table."""
    command = [python, "-c", READ, str(path), str(REPEATS)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    version, seconds = found.stdout.split()
    return version, float(seconds)


def command_seconds(*arguments):
    """Return the medians of a command's wall-clock and CPU seconds, and of its peak memory."""
    found = [measure_command([*PROGRAM, *map(str, arguments)]) for _ in range(REPEATS)]
    return [median(values) for values in zip(*found, strict=True)]


def measure_command(command):
    """Return wall-clock seconds, CPU seconds and bytes of one run."""
    found = subprocess.run(
        [sys.executable, "-c", MEASURE, *command], check=True, capture_output=True
    )
    return json.loads(found.stdout)


if __name__ == "__main__":
    print(command_table())
