"""Jobs that the processes of a test cluster can import."""

import os
import signal
from dataclasses import dataclass


class CountedData:
    """Data that notes on disk how often they are sent from this process."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        with open(self.path, "a") as file:
            print(os.getpid(), file=file)
        return CountedData, (self.path,)


@dataclass(frozen=True)
class Doubling:
    data_set: CountedData | None
    number: int


def double(job):
    assert job.data_set is not None
    return 2 * job.number


def kill_one_worker(job):
    """Kill the worker whose number the job has, and on any other say who is alive."""
    if os.getpid() == job:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()
