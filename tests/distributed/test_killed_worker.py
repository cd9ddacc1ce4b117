import signal
from threading import Timer

import dask.array as da
import numpy as np
import pytest

from hyperlvq import make_classifier
from hyperlvq.distributed import cluster, fit
from hyperlvq.distributed.samples import PartitionedRows

N_ROWS = 20_000
PASSES_BEFORE = 3


def table():
    """Return features and labels that workers make from a seed."""
    rng = da.random.default_rng(1)
    X = rng.random((N_ROWS, 10), chunks=(1000, 10))
    return X, (da.sin(6 * X[:, :5]).sum(axis=1) > 0).astype(int)


@pytest.mark.filterwarnings("ignore:L-BFGS stopped")
@pytest.mark.parametrize("room", [float("inf"), 100 * N_ROWS])
def test_worker_killed_in_mid_fit_changes_nothing(client, one_more_worker, monkeypatch, room):
    monkeypatch.setattr(cluster, "memory_for_data", lambda client: room)
    model = make_classifier("intrvfl", "glvq", n_units=200, max_iter=6, random_state=0)
    undisturbed = fit(model, *table(), client)
    n_passes, original = 0, PartitionedRows.total

    def kill_in_mid_pass(*arguments, **options):
        nonlocal n_passes
        n_passes += 1
        if n_passes == PASSES_BEFORE:
            assert all(client.has_what().values())  # the worker's samples go with it
            Timer(0.05, one_more_worker.send_signal, [signal.SIGKILL]).start()
        return original(*arguments, **options)

    monkeypatch.setattr(PartitionedRows, "total", kill_in_mid_pass)
    disturbed = fit(model, *table(), client)

    assert one_more_worker.wait(timeout=10) == -signal.SIGKILL
    assert n_passes > PASSES_BEFORE
    assert len(client.nthreads()) == 2
    np.testing.assert_array_equal(disturbed[-1].prototypes_, undisturbed[-1].prototypes_)
