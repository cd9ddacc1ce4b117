import gzip
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_study import Source, make_set, without_times

from hyperlvq.checks import InputError
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.protocol import Run, estimated_seconds
from hyperlvq.study.records import RECORDS_NAME, key_of, read_records
from hyperlvq.study.runner import (
    choose,
    default_settings,
    missing_jobs,
    plan_runs,
    processes,
    run_study,
)
from hyperlvq.study.settings import Settings, read_settings, searched_settings

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


@pytest.mark.parametrize(
    ("protocol", "n_runs"),
    [("paper", (4 + 1) * (1 + 3)), ("strict", (4 + 4) * (1 + 3))],
)
def test_models_that_are_not_random_run_once_per_split(source, protocol, n_runs):
    data_sets = [source.load(name) for name in source.names()]
    runs = plan_runs(["rls_features", "glvq_features"], data_sets, Settings(), 3, protocol)

    assert len({key_of(run.description()) for run in runs}) == len(runs) == n_runs


def test_set_with_an_empty_cell_is_left_out_of_its_model(source):
    runs = plan_runs(["knn", "ridge"], [source.load("plain")], settings_of(knn_k=None), 1, "paper")

    assert [run.model.name for run in runs] == ["ridge"] * 4


def test_every_run_has_one_record_and_progress_ends_when_all_is_done(tmp_path, source):
    steps = study(source, tmp_path)

    records = read_records(tmp_path)
    assert [step.record for step in steps] == records
    assert len({key_of(record) for record in records}) == (4 + 1) * (1 + 1 + 2)
    assert all(record["error"] is None for record in records)
    assert [step.done for step in steps] == [*range(1, 21)]
    assert {step.total for step in steps} == {20}
    assert steps[-1].done_seconds == pytest.approx(steps[-1].total_seconds)
    assert study(source, tmp_path) == []
    assert read_records(tmp_path) == records


def test_record_is_that_of_the_run_and_names_its_settings(tmp_path, source):
    settings = settings_of("best", knn_k=3)
    study(source, tmp_path, models=["knn"], sets=["plain"], settings=settings)

    record = read_records(tmp_path)[2]
    place = record["split"], 0, "best"
    alone = Run(source.load("plain"), MODELS["knn"], "paper", {"n_neighbors": 3}, *place)
    assert without_times([record]) == without_times([alone.record()])


def test_all_models_and_sets_run_by_default(tmp_path, source, monkeypatch):
    monkeypatch.setattr("hyperlvq.study.runner.MODELS", {name: MODELS[name] for name in QUICK})
    study(source, tmp_path, models=None)

    records = read_records(tmp_path)
    assert {record["model"] for record in records} == {*QUICK}
    assert {record["dataset"] for record in records} == {"plain", "filed"}


def test_a_run_takes_as_long_as_a_training_on_all_samples():
    (run, *_) = plan_runs(["glvq_features"], [make_set(n_classes=3)], Settings(), 1, "paper")

    assert run.seconds() == estimated_seconds(run.model, run.parameters, 40, 3, 3)


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


def test_processes_give_the_records_of_one(tmp_path, source):
    study(source, tmp_path / "one")
    study(source, tmp_path / "two", executor=processes(2))

    one, two = (without_times(read_records(tmp_path / name)) for name in ("one", "two"))
    assert one == two


def test_set_that_cannot_be_read_is_noted_once_and_the_others_go_on(tmp_path, source):
    broken = Source(source.load("plain"), broken=["lost"])
    steps = study(broken, tmp_path, models=["knn"])

    (failure,) = [step.record for step in steps if step.record["error"]]
    assert failure["error"] == "lost_R.dat is missing"
    assert key_of(failure) == ("paper", None, "lost", None, None)
    assert failure["accuracy"] is None
    assert len(steps) == 1 + 4
    assert study(broken, tmp_path, models=["knn"]) == []
    assert len(read_records(tmp_path)) == 5
    assert len(study(broken, tmp_path, models=["knn"], retry_failed=True)) == 1


def test_set_that_can_be_read_at_last_is_run(tmp_path, source):
    study(Source(broken=["plain"]), tmp_path, models=["knn"])
    steps = study(source, tmp_path, models=["knn"], sets=["plain"])

    assert [step.record["error"] for step in steps] == [None] * 4


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_run_that_fails_is_a_record_and_is_repeated_only_if_asked(tmp_path, source, n_jobs):
    options = {"models": ["knn"], "settings": settings_of(knn_k=1000)}
    steps = study(source, tmp_path, executor=processes(n_jobs), **options)

    records = {record["dataset"]: record for record in read_records(tmp_path)}
    assert records["plain"]["error"].startswith("Expected n_neighbors <= n_samples_fit")
    assert records["plain"]["n_neighbors"] == 1000
    assert records["plain"]["accuracy"] is None
    assert records["filed"]["error"] is None
    assert len(steps) == 5
    assert study(source, tmp_path, **options) == []
    assert len(study(source, tmp_path, retry_failed=True, **options)) == 4


def test_a_settings_file_may_change_its_name(tmp_path, source):
    study(source, tmp_path, models=["knn"])

    assert not study(source, tmp_path, models=["knn"], settings=settings_of("best", knn_k=5))


@pytest.mark.parametrize(
    ("first", "solvers"), [(True, "'pinv', not 'auto'"), (False, "'auto', not 'pinv'")]
)
def test_another_solver_needs_another_folder(tmp_path, source, first, solvers):
    settings = settings_of(tuning="paper", rls_features_lmb=2)
    options = {"models": ["rls_features"], "sets": ["plain"], "settings": settings}
    study(source, tmp_path, as_published=first, **options)

    assert not study(source, tmp_path, as_published=first, **options)
    with pytest.raises(InputError, match=f"on plain with solver = {solvers}: use another"):
        study(source, tmp_path, as_published=not first, **options)


def test_published_kglvq_runs_once_and_needs_another_folder_than_ours(tmp_path, source):
    settings = settings_of(tuning="paper", kglvq_ppc=1, kglvq_beta=2, kglvq_sigma=0.5)
    options = {"models": ["kglvq"], "sets": ["plain"], "settings": settings, "n_seeds": 3}
    published = study(source, tmp_path / "published", as_published=True, **options)
    ours = study(source, tmp_path / "ours", **options)

    assert len(ours) == 3 * len(published)
    with pytest.raises(InputError, match="with init = 'published', not 'means': use another"):
        study(source, tmp_path / "published", **options)


@pytest.mark.parametrize("model", ["kglvq", "glvq_features"])
def test_a_parameter_that_records_did_not_name_at_first_is_what_it_was_then(model):
    settings = settings_of(tuning="paper", glvq_features_beta=2)
    runs = plan_runs([model], [make_set("plain")], settings, 1, "paper", as_published=True)
    records = [run.description() for run in runs]
    named = {"kglvq": {"tol": 1e-5}, "glvq_features": {"prototypes_per_class": 1, "init_noise": 1}}
    for record in records:
        assert {name: record.pop(name) for name in named[model]} == named[model]

    assert missing_jobs(runs, records) == []


@pytest.mark.parametrize(
    ("protocol", "places", "expected"),
    [
        ("paper", ["collection"], searched_settings()),
        ("strict", ["collection"], Settings()),
        ("paper", ["collection", "built-in"], Settings()),
    ],
)
def test_searched_settings_are_the_default_where_they_are_of_use(protocol, places, expected):
    data_sets = [replace(make_set("wine"), source=place) for place in places]

    assert default_settings(data_sets, protocol) == expected


def test_a_study_runs_with_searched_settings_by_default(tmp_path):
    study(Source(make_set("wine"), make_set("plain")), tmp_path, models=["rls_features"])

    found = {(record["dataset"], record["settings"]): record for record in read_records(tmp_path)}
    alpha = searched_settings().rows["wine", None]["rls_features_lmb"]
    assert {key: record["alpha"] for key, record in found.items()} == {
        ("wine", "search"): alpha,
        ("plain", "defaults"): MODELS["rls_features"].defaults["alpha"],
    }
    assert not any("solver" in record for record in found.values())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"settings": settings_of("defaults", knn_k=3)},
            "knn on plain with n_neighbors = 5, not 3: use another",
        ),
        ({"protocol": "strict"}, "records of the protocol 'paper', not 'strict': use"),
        ({"source": "built-in"}, "source = 'collection', not 'built-in': use another"),
    ],
)
def test_another_study_needs_another_folder(tmp_path, source, changes, message):
    study(source, tmp_path, models=["knn"])
    place = changes.pop("source", "collection")
    other = Source(replace(source.load("plain"), source=place))

    with pytest.raises(InputError, match=message):
        study(other, tmp_path, models=["knn"], **changes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "lax"}, "protocol must be one of 'paper', 'strict', got 'lax'"),
        ({"n_seeds": 0}, "n_seeds must be at least 1, got 0"),
        (
            {"settings": settings_of("best", knn_k=3), "protocol": "strict"},
            "the settings best cannot be used with the protocol st",
        ),
    ],
)
def test_wrong_option_is_refused_before_a_folder_is_made(tmp_path, source, options, message):
    with pytest.raises(ValueError, match=message):
        study(source, tmp_path / "study", **options)

    assert not (tmp_path / "study").exists()


def test_name_given_twice_counts_once():
    assert choose("model", ["b", "a", "b"], "abc") == ["b", "a"]
    assert choose("model", None, "abc") == ["a", "b", "c"]


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("paper", {"as_published": True}),
        ("searched", {}),
        ("strict", {"protocol": "strict", "n_seeds": 1}),
        ("strict-defaults", {"protocol": "strict", "n_seeds": 1}),
        ("strict-tuned", {"protocol": "strict", "n_seeds": 1}),
    ],
)
def test_committed_records_leave_nothing_to_run(tmp_path, uci, uci_path, name, options):
    folder = Path(__file__).parents[2] / "docs" / "study" / name
    content = gzip.decompress((folder / "records.jsonl.gz").read_bytes())
    (tmp_path / RECORDS_NAME).write_bytes(content)
    records = read_records(tmp_path)
    files = {
        "paper": uci_path.with_name("paper_results.csv"),
        **dict.fromkeys(("strict", "strict-tuned"), folder / "settings.csv"),
    }

    steps = run_study(
        uci,
        tmp_path,
        models=[*{record["model"] for record in records if record["model"]}],
        sets=[*{record["dataset"] for record in records}],
        settings=read_settings(files[name]) if name in files else None,
        **options,
    )
    assert list(steps) == []


class Killing:
    """A job that kills the process that does it."""

    def record(self):
        signal.raise_signal(signal.SIGKILL)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_worker_is_one_sentence():
    with pytest.raises(InputError, match="a worker process was killed, perhaps for lack of memory"):
        list(processes(2)([Killing()] * 4))


def test_number_of_processes_is_checked():
    with pytest.raises(ValueError, match="n_jobs must be at least 1, got 0"):
        processes(0)
