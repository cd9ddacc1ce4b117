"""A real cluster: scheduler and workers as processes of their own, over TCP on loopback."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from distributed import Client

START_SECONDS = 60
TESTS = Path(__file__).parents[1]


@contextmanager
def process(*arguments):
    """Start one of Dask's programs; it ends with the context."""
    command = [sys.executable, "-m", "dask", *map(str, arguments)]
    started = subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield started
    finally:
        started.kill()
        started.wait()


@contextmanager
def worker(scheduler_file):
    """Start a worker that nobody starts again when it dies."""
    options = ("--nthreads", 1, "--no-nanny", "--no-dashboard", "--memory-limit", "1GB")
    folder = ("--local-directory", scheduler_file.parent)
    with process("worker", "--scheduler-file", scheduler_file, *options, *folder) as started:
        yield started


@contextmanager
def scheduler(file):
    """Start a scheduler that writes to a file where it is."""
    options = ("--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", file)
    with process("scheduler", *options) as started:
        deadline = time.monotonic() + START_SECONDS
        while not file.exists() or not file.read_text():
            assert time.monotonic() < deadline, "the scheduler does not start"
            time.sleep(0.05)
        yield started


@pytest.fixture(scope="session")
def scheduler_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("dask") / "scheduler.json"
    with scheduler(file), worker(file), worker(file):
        yield file


@pytest.fixture
def mortal_scheduler(tmp_path):
    """A scheduler of its own, to be killed, and a client of it; there are no workers."""
    file = tmp_path / "scheduler.json"
    with (
        scheduler(file) as started,
        Client(scheduler_file=str(file), set_as_default=False) as connected,
    ):
        yield started, connected


@pytest.fixture(scope="session")
def client(scheduler_file):
    with Client(scheduler_file=str(scheduler_file), set_as_default=False) as connected:
        connected.wait_for_workers(2, timeout=START_SECONDS)
        yield connected


@pytest.fixture
def one_more_worker(scheduler_file, client):
    """A third worker, to be killed."""
    with worker(scheduler_file) as started:
        client.wait_for_workers(3, timeout=START_SECONDS)
        yield started
