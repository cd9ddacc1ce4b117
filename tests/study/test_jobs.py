import signal
from dataclasses import dataclass

import pytest

from hyperlvq.checks import InputError
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.jobs import Job, processes


@dataclass(frozen=True)
class Raising(Job):
    """A job that raises a signal where it is done."""

    number: int

    def description(self):
        return {}

    def seconds(self):
        return 1

    def result(self):
        signal.raise_signal(self.number)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_worker_is_one_sentence():
    jobs = [Raising(None, MODELS["knn"], "paper", signal.SIGKILL)] * 4

    with pytest.raises(InputError, match="a worker process was killed, perhaps for lack of memory"):
        list(processes(2)(jobs))


def test_number_of_processes_is_checked():
    with pytest.raises(ValueError, match="n_jobs must be at least 1, got 0"):
        processes(0)
