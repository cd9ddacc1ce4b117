"""A study that is killed again and again ends in the records of one that never was, and alone."""

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from shell import PROGRAM
from tiny_study import without_times

from hyperlvq.study.records import read_records

N_KILLS = 10
MODELS = "rls_features,ridge,knn,intrvfl_centroids,glvq_features,intrvfl_glvq_p1_10"
N_RUNS = 2 * 4 * (3 + 3 * 5)  # sets × splits × (models that are not random + others × seeds)
STUDY = ("--sets", "iris,wine", "--models", MODELS, "--seeds", "5")


def heed_sighup():
    """Undo what `nohup` tells its command, that it ignores SIGHUP."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def start(tmp_path):
    """Return what starts a study in a session of its own; whatever is left of it is killed."""
    processes = []
    environment = os.environ | {"JOBLIB_TEMP_FOLDER": str(tmp_path)}

    def start_study(folder, n_jobs):
        command = [*PROGRAM, "study", "run", "-o", folder, "--jobs", str(n_jobs), *STUDY]
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=heed_sighup,
        )
        processes.append(process)
        return process

    yield start_study
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.stderr.close()
        process.wait()
        for semaphore in Path("/dev/shm").glob(f"sem.loky-{process.pid}-*"):
            semaphore.unlink()


def n_lines(folder):
    path = folder / "records.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for_lines(process, folder, n_wanted):
    while n_lines(folder) < n_wanted:
        assert process.poll() is None, process.stderr.read().decode()
        time.sleep(0.005)


def members(session):
    """Return the processes of a session that are not dead."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended just now
            state, _, _, its_session, *_ = path.read_text().rpartition(") ")[2].split()
            found += [path.parent.name] if its_session == str(session) and state != "Z" else []
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's list of processes")
@pytest.mark.parametrize(("number", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGKILL", -9)])
def test_workers_end_with_the_study_that_started_them(tmp_path, start, number, code):
    process = start(tmp_path / "study", n_jobs=2)
    wait_for_lines(process, tmp_path / "study", 1)
    assert len(members(process.pid)) > 2

    os.kill(process.pid, getattr(signal, number))
    assert process.wait(timeout=5) == code
    ended = time.monotonic()
    while members(process.pid) and time.monotonic() < ended + 5:
        time.sleep(0.1)
    assert members(process.pid) == []


def test_study_killed_ten_times_ends_in_the_same_records(tmp_path, start):
    rng = random.Random(20211)
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    assert start(undisturbed, n_jobs=1).wait() == 0
    for number in range(N_KILLS):
        # workers outlive a run that is killed alone by a moment, and must not hinder the next one
        n_jobs, kill = (1, 2, 1)[number % 3], (os.kill, os.killpg)[number % 2]
        process = start(killed, n_jobs)
        wait_for_lines(process, killed, n_lines(killed) + rng.randint(1, 6))
        kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert n_lines(killed) < N_RUNS
    assert start(killed, n_jobs=2).wait() == 0

    records = read_records(killed)
    assert len(records) == N_RUNS
    assert without_times(records) == without_times(read_records(undisturbed))
