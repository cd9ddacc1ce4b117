import signal
from dataclasses import replace

import numpy as np
import pytest
from tiny_study import Source, make_set, without_times

from hyperlvq.checks import InputError
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.protocol import evaluate
from hyperlvq.study.records import key_of, open_records, read_records
from hyperlvq.study.runner import choose, default_settings, execute, plan, run_study
from hyperlvq.study.schedule import estimated_seconds
from hyperlvq.study.settings import Settings, searched_settings

QUICK = ["rls_features", "knn", "glvq_features"]


@pytest.fixture
def source():
    return Source(make_set("plain"), make_set("filed", has_test_file=True))


def study(source, folder, **options):
    """Run a study to its end and return what it yielded."""
    return list(run_study(source, folder, **{"models": QUICK, "n_seeds": 2, **options}))


def settings_of(name="other", tuning=None, **values):
    """Return settings of the set "plain"."""
    return Settings(name, frozenset(values), {("plain", None): values}, tuning)


def keys(records):
    return [key_of(record) for record in records]


@pytest.mark.parametrize(
    ("protocol", "n_runs"),
    [("paper", (4 + 1) * (1 + 3)), ("strict", (4 + 4) * (1 + 3))],
)
def test_models_that_are_not_random_run_once_a_split(source, protocol, n_runs):
    data_sets = [source.load(name) for name in source.names()]
    runs = plan(["rls_features", "glvq_features"], data_sets, Settings(), 3, protocol)

    assert len({key_of(run.description()) for run in runs}) == len(runs) == n_runs


def test_set_with_an_empty_cell_is_left_out_of_its_model(source):
    runs = plan(["knn", "ridge"], [source.load("plain")], settings_of(knn_k=None), 1, "paper")

    assert [run.model.name for run in runs] == ["ridge"] * 4


def test_every_run_has_a_record(tmp_path, source):
    steps = study(source, tmp_path)

    records = read_records(tmp_path)
    assert [step.record for step in steps] == records
    assert len(set(keys(records))) == len(records) == (4 + 1) * (1 + 1 + 2)
    assert all(record["error"] is None for record in records)


def test_record_is_that_of_the_protocol_and_names_its_settings(tmp_path, source):
    settings = settings_of("best", knn_k=3)
    study(source, tmp_path, models=["knn"], sets=["plain"], settings=settings)

    record = read_records(tmp_path)[2]
    place = source.load("plain"), record["split"], 0, "paper"
    alone = evaluate(MODELS["knn"], {"n_neighbors": 3}, *place)
    assert without_times([record]) == without_times([{**alone, "settings": "best"}])


def test_all_models_and_sets_run_by_default(tmp_path, source, monkeypatch):
    monkeypatch.setattr("hyperlvq.study.runner.MODELS", {name: MODELS[name] for name in QUICK})
    study(source, tmp_path, models=None)

    records = read_records(tmp_path)
    assert {record["model"] for record in records} == {*QUICK}
    assert {record["dataset"] for record in records} == {"plain", "filed"}


def test_progress_ends_when_all_is_done(tmp_path, source):
    steps = study(source, tmp_path)

    assert [step.done for step in steps] == [*range(1, 21)]
    assert {step.total for step in steps} == {20}
    assert steps[-1].done_seconds == pytest.approx(steps[-1].total_seconds)


def test_a_run_takes_as_long_as_a_training_on_all_samples():
    (run, *_) = plan(["glvq_features"], [make_set(n_classes=3)], Settings(), 1, "paper")

    assert run.seconds() == estimated_seconds(run.model, run.parameters, 40, 3, 3)


def test_study_that_is_complete_does_nothing(tmp_path, source):
    study(source, tmp_path)
    before = read_records(tmp_path)

    assert study(source, tmp_path) == []
    assert read_records(tmp_path) == before


def test_study_goes_on_where_it_was_left(tmp_path, source):
    whole = study(source, tmp_path / "whole")
    interrupted = run_study(source, tmp_path / "parts", models=QUICK, n_seeds=2)
    for _ in range(7):
        next(interrupted)
    interrupted.close()
    rest = study(source, tmp_path / "parts")

    assert len(rest) == len(whole) - 7
    assert [step.done for step in rest] == [*range(8, 21)]
    assert without_times(read_records(tmp_path / "parts")) == without_times(
        read_records(tmp_path / "whole")
    )


def test_study_may_grow(tmp_path, source):
    study(source, tmp_path, models=["knn"], sets=["plain"])
    steps = study(source, tmp_path, models=["knn", "ridge"])

    assert len(steps) == 1 + 5
    assert len(read_records(tmp_path)) == 10


def test_processes_give_the_records_of_one(tmp_path, source):
    study(source, tmp_path / "one", n_jobs=1)
    study(source, tmp_path / "two", n_jobs=2)

    one, two = (without_times(read_records(tmp_path / name)) for name in ("one", "two"))
    assert one == two


def test_set_that_cannot_be_read_is_one_record_and_the_others_go_on(tmp_path, source):
    broken = Source(source.load("plain"), broken=["lost"])
    steps = study(broken, tmp_path, models=["knn"])

    (failure,) = [step.record for step in steps if step.record["error"]]
    assert failure["error"] == "lost_R.dat is missing"
    assert key_of(failure) == ("paper", None, "lost", None, None)
    assert failure["accuracy"] is None
    assert len(steps) == 1 + 4


def test_set_that_cannot_be_read_is_noted_once(tmp_path, source):
    broken = Source(source.load("plain"), broken=["lost"])
    study(broken, tmp_path, models=["knn"])

    assert study(broken, tmp_path, models=["knn"]) == []
    assert len(read_records(tmp_path)) == 5


def test_set_that_can_be_read_at_last_is_run(tmp_path, source):
    study(Source(broken=["plain"]), tmp_path, models=["knn"])
    steps = study(source, tmp_path, models=["knn"], sets=["plain"])

    assert [step.record["error"] for step in steps] == [None] * 4


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_run_that_fails_is_a_record_with_its_error(tmp_path, source, n_jobs):
    settings = settings_of(knn_k=1000)
    steps = study(source, tmp_path, models=["knn"], settings=settings, n_jobs=n_jobs)

    records = {record["dataset"]: record for record in read_records(tmp_path)}
    assert records["plain"]["error"].startswith("Expected n_neighbors <= n_samples_fit")
    assert records["plain"]["n_neighbors"] == 1000
    assert records["plain"]["accuracy"] is None
    assert records["filed"]["error"] is None
    assert len(steps) == 5


def test_run_that_failed_is_not_repeated(tmp_path, source):
    settings = settings_of(knn_k=1000)
    study(source, tmp_path, models=["knn"], settings=settings)

    assert study(source, tmp_path, models=["knn"], settings=settings) == []


def test_parameter_of_the_wrong_type_is_a_record_too(tmp_path, source):
    settings = settings_of(intrvfl_rls_n=10.5, intrvfl_rls_kappa=3)
    study(source, tmp_path, models=["intrvfl_centroids"], sets=["plain"], settings=settings)

    errors = {record["error"] for record in read_records(tmp_path)}
    assert errors == {"n_units must be an integer, got 10.5"}


def test_other_settings_need_another_folder(tmp_path, source):
    study(source, tmp_path, models=["knn"])

    with pytest.raises(InputError, match="knn on plain with n_neighbors = 5, not 3: take another"):
        study(source, tmp_path, models=["knn"], settings=settings_of("defaults", knn_k=3))


def test_a_settings_file_may_change_its_name(tmp_path, source):
    study(source, tmp_path, models=["knn"])

    assert not study(source, tmp_path, models=["knn"], settings=settings_of("best", knn_k=5))


@pytest.mark.parametrize(
    ("first", "second", "solvers"),
    [(None, "paper", "'pinv', not 'auto'"), ("paper", None, "'auto', not 'pinv'")],
)
def test_another_solver_needs_another_folder(tmp_path, source, first, second, solvers):
    options = {"models": ["rls_features"], "sets": ["plain"]}
    settings = [settings_of(tuning=tuning, rls_features_lmb=2) for tuning in (first, second)]
    study(source, tmp_path, settings=settings[0], **options)

    assert not study(source, tmp_path, settings=settings[0], **options)
    with pytest.raises(InputError, match=f"on plain with solver = {solvers}: take another"):
        study(source, tmp_path, settings=settings[1], **options)


@pytest.mark.parametrize(
    ("protocol", "place", "expected"),
    [
        ("paper", "collection", searched_settings()),
        ("strict", "collection", Settings()),
        ("paper", "built-in", Settings()),
    ],
)
def test_searched_settings_are_the_default_where_they_are_of_use(protocol, place, expected):
    data_set = replace(make_set("wine"), source=place)

    assert default_settings([data_set], protocol) == expected


def test_a_study_runs_with_searched_settings_by_default(tmp_path):
    study(Source(make_set("wine"), make_set("plain")), tmp_path, models=["rls_features"])

    found = {(record["dataset"], record["settings"]): record for record in read_records(tmp_path)}
    alpha = searched_settings().rows["wine", None]["rls_features_lmb"]
    assert {key: record["alpha"] for key, record in found.items()} == {
        ("wine", "search"): alpha,
        ("plain", "defaults"): MODELS["rls_features"].defaults["alpha"],
    }
    assert not any("solver" in record for record in found.values())


def test_strict_refuses_settings_that_have_seen_test_samples(tmp_path, source):
    with pytest.raises(InputError, match="the settings best were not tuned within the training"):
        study(
            source,
            tmp_path,
            models=["knn"],
            protocol="strict",
            settings=settings_of("best", knn_k=3),
        )


def test_failed_runs_are_run_again_if_asked(tmp_path, source):
    bad = settings_of("bad", knn_k=0)
    steps = study(source, tmp_path, models=["knn"], settings=bad)
    n_failed = sum(step.record["error"] is not None for step in steps)

    assert n_failed
    assert not study(source, tmp_path, models=["knn"], settings=bad)
    again = study(source, tmp_path, models=["knn"], settings=bad, retry_failed=True)
    assert len(again) == n_failed


def test_other_protocol_needs_another_folder(tmp_path, source):
    study(source, tmp_path, models=["knn"])

    with pytest.raises(InputError, match="records of the protocol 'paper', not 'strict': take"):
        study(source, tmp_path, models=["ridge"], protocol="strict")


def test_other_source_needs_another_folder(tmp_path, source):
    study(source, tmp_path, models=["knn"])
    built_in = Source(replace(source.load("plain"), source="built-in"))

    with pytest.raises(InputError, match="source = 'collection', not 'built-in': take another"):
        study(built_in, tmp_path, models=["knn"])


def test_folder_that_another_run_writes_to_is_refused(tmp_path, source):
    with (
        open_records(tmp_path),
        pytest.raises(InputError, match="another run is writing to"),
    ):
        study(source, tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["gvlq"]}, "there is no model 'gvlq'; there are rls_features, .*ridge$"),
        ({"sets": ["trees"]}, "there is no data set 'trees'; there are plain, filed$"),
        ({"models": []}, "no model is named; there are rls_features, "),
        ({"sets": []}, "no data set is named; there are plain, filed$"),
        ({"protocol": "lax"}, "protocol must be one of 'paper', 'strict', got 'lax'"),
        ({"n_seeds": 0}, "n_seeds must be at least 1, got 0"),
        ({"n_jobs": 0}, "n_jobs must be at least 1, got 0"),
    ],
)
def test_wrong_option_is_refused_before_a_folder_is_made(tmp_path, source, options, message):
    with pytest.raises(ValueError, match=message):
        study(source, tmp_path / "study", **options)

    assert not (tmp_path / "study").exists()


def test_name_given_twice_counts_once():
    assert choose("model", ["b", "a", "b"], "abc") == ["b", "a"]
    assert choose("model", None, "abc") == ["a", "b", "c"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_come_with_their_items(n_jobs):
    results = dict(execute(np.square, [3, 1, 2], n_jobs))

    assert results == {3: 9, 1: 1, 2: 4}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_worker_is_one_sentence():
    with pytest.raises(InputError, match="a worker process was killed, perhaps for lack of memory"):
        list(execute(signal.raise_signal, [signal.SIGKILL] * 4, n_jobs=2))
