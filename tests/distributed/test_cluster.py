import importlib
import os
import re
import signal
import sys
from threading import Timer

import dask
import pytest
from cluster_jobs import CountedData, Doubling, Killing
from distributed import Client
from shell import hyperlvq
from tiny_study import Source, make_set, without_times

from hyperlvq.checks import InputError
from hyperlvq.distributed import cluster
from hyperlvq.distributed.cluster import cluster_executor, do_jobs
from hyperlvq.study.records import read_records
from hyperlvq.study.runner import run_study

STUDY = ("--sets", "iris,wine", "--seeds", "2")
MODELS = ("--models", "rls_features,knn,intrvfl_centroids,intrvfl_glvq_p1_10")


@pytest.fixture
def address(client):
    return client.scheduler_info()["address"]


def test_study_on_a_cluster_has_the_records_of_processes(tmp_path, address):
    options = ("study", "run", *STUDY, *MODELS)
    here = hyperlvq(*options, "-o", tmp_path / "here", "--jobs", "2")
    there = hyperlvq(*options, "-o", tmp_path / "there", "--dask", address)

    assert here[0] == there[0] == 0
    records = without_times(read_records(tmp_path / "there"))
    assert len(records) == 2 * 4 * (2 + 2 * 2)
    assert records == without_times(read_records(tmp_path / "here"))


def test_tuning_on_a_cluster_has_the_settings_of_processes(tmp_path, address):
    options = ("study", "tune", *STUDY, "--models", "rls_features,knn", "--grid", "quick")
    here = hyperlvq(*options, "-o", tmp_path / "here", "--jobs", "1")
    there = hyperlvq(*options, "-o", tmp_path / "there", "--dask", address)

    assert here[0] == there[0] == 0
    settings = [(tmp_path / name / "settings.csv").read_bytes() for name in ("here", "there")]
    assert settings[0] == settings[1]
    assert there[1].splitlines()[1:] == here[1].splitlines()[1:]


def test_failures_are_records_as_in_processes(tmp_path, address):
    source = Source(make_set("plain"), broken=["lost"])
    with cluster_executor(address) as executor:
        steps = list(run_study(source, tmp_path, models=["knn"], executor=executor))

    assert sorted(str(step.record["error"]) for step in steps) == [
        *["None"] * 4,
        "lost_R.dat is missing",
    ]


def test_data_set_leaves_this_process_once(tmp_path, client):
    data_set = CountedData(tmp_path / "sent")
    jobs = [Doubling(data_set, number) for number in range(20)]

    results = {job.number: result for job, result in do_jobs(client, jobs)}
    assert results == {number: 2 * number for number in range(20)}
    senders = (tmp_path / "sent").read_text().split()
    assert senders.count(str(os.getpid())) == 1


def test_job_of_a_worker_that_dies_goes_to_another(client, one_more_worker):
    jobs = [Killing("data", one_more_worker.pid)] * 12

    survivors = {result for _, result in do_jobs(client, jobs)}
    assert one_more_worker.wait(timeout=10) == -signal.SIGKILL
    assert one_more_worker.pid not in survivors


def test_scheduler_that_dies_is_one_sentence(mortal_scheduler):
    scheduler, its_client = mortal_scheduler
    results = do_jobs(its_client, [Doubling("data", 1), Doubling("data", 2)])
    Timer(0.2, scheduler.kill).start()

    with pytest.raises(InputError, match="the connection to the Dask scheduler was lost: the same"):
        next(results)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere", "what:is:this"])
def test_wrong_address_is_one_sentence(tmp_path, monkeypatch, address):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    code, _, errors = hyperlvq("study", "run", "-o", tmp_path / "study", "--dask", address)

    assert code == 2
    assert errors == f"hyperlvq: there is no Dask scheduler at {address!r}\n"
    assert not (tmp_path / "study").exists()


def test_tls_without_certificates_is_one_sentence():
    with pytest.raises(InputError, match=r"not configured for 'tls://.*': tls:// needs certificat"):
        cluster.connect("tls://127.0.0.1:1")


def test_certificates_that_are_not_there_are_one_sentence():
    files = {"distributed.comm.tls.ca-file": "no.pem", "distributed.comm.tls.client.cert": "no.pem"}
    with (
        dask.config.set(files),
        pytest.raises(InputError, match=r"cannot use its certificates for 'tls://.*: No such file"),
    ):
        cluster.connect("tls://127.0.0.1:1")


def test_client_that_found_no_scheduler_is_gone(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    before = set(Client._instances)

    with pytest.raises(InputError, match="there is no Dask scheduler") as caught:
        cluster.connect("127.0.0.1:1")
    assert caught.value.__context__ is None  # whose frames would keep it
    assert set(Client._instances) == before


def test_cluster_without_workers_is_one_sentence():
    options = {"n_workers": 0, "processes": False, "dashboard_address": ":0"}
    with (
        Client(**options, set_as_default=False) as idle,
        pytest.raises(InputError, match=r"^the Dask cluster at inproc://.* has no workers$"),
    ):
        cluster.checked_client(idle)


def test_missing_extra_is_one_sentence_and_an_import_error(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("hyperlvq.distributed")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dask.array", None)
    sentence = "Dask is missing; this needs: pip install 'hyperlvq[dask]'"

    code, _, errors = hyperlvq("study", "run", "-o", tmp_path, "--dask", "host:1")
    assert (code, errors) == (2, f"hyperlvq: {sentence}\n")
    with pytest.raises(ImportError, match=re.escape(sentence)):
        importlib.import_module("hyperlvq.distributed")
