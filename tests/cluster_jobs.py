"""Jobs that the processes of a test cluster can import."""

import os
import signal
from dataclasses import dataclass, replace
from typing import Any


class CountedData:
    """Data that note on disk how often they are sent from this process."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        with open(self.path, "a") as file:
            print(os.getpid(), file=file)
        return CountedData, (self.path,)


@dataclass(frozen=True)
class Doubling:
    data_set: Any
    number: int

    def with_data(self, data_set):
        return replace(self, data_set=data_set)

    def record(self):
        assert self.data_set is not None
        return 2 * self.number


class Killing(Doubling):
    """Kill the worker of this process number; any other tells its own."""

    def record(self):
        if os.getpid() == self.number:
            os.kill(os.getpid(), signal.SIGKILL)
        return os.getpid()
