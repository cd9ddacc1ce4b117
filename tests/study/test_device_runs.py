from dataclasses import replace
from time import perf_counter

import numpy as np
import pytest
from tiny_study import Source, make_set, without_times

from hyperlvq.batched.backend import Backend
from hyperlvq.checks import InputError
from hyperlvq.study import device, device_runs
from hyperlvq.study.builtin import BuiltinCollection
from hyperlvq.study.device_runs import run_study_on_device
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.records import TIMES, key_of, read_records
from hyperlvq.study.runner import run_study
from hyperlvq.study.settings import Settings

COLUMNS = {
    "rls_features_lmb": 0.5,
    "rvfl_rls_n": 30,
    "rvfl_rls_lmb": 0.5,
    "intrvfl_rls_n": 40,
    "intrvfl_rls_kappa": 3,
    "intrvfl_rls_lmb": 8,
    "glvq_features_beta": 4,
    "glvq_features_ppc": 2,
    "rvfl_glvq_n": 30,
    "rvfl_glvq_beta": 4,
    "rvfl_glvq_ppc": 2,
    "intrvfl_glvq_p1_n": 40,
    "intrvfl_glvq_p1_kappa": 1,
    "intrvfl_glvq_p1_beta": 5,
    "intrvfl_glvq_n": 40,
    "intrvfl_glvq_kappa": 3,
    "intrvfl_glvq_beta": 5,
    "intrvfl_glvq_ppc": 2,
}
RLS = ("rls_features", "rvfl_rls", "intrvfl_rls")
GLVQ = (
    *("glvq_features", "rvfl_glvq", "intrvfl_glvq_p1", "intrvfl_glvq_p1_10"),
    *("intrvfl_glvq", "intrvfl_glvq_10"),
)


def settings_of(sets=("plain", "other", "filed"), tuning="strict", **changes):
    """Return settings of small models; of published ones `tuning` is None."""
    values = COLUMNS | changes
    rows = {(name, None): {**values} for name in sets}
    return Settings("small", frozenset(values), rows, tuning)


@pytest.fixture
def source():
    return Source(
        make_set("plain"), make_set("other", n_classes=3), make_set("filed", has_test_file=True)
    )


def study(source, folder, backend=None, **options):
    """Run a study on a device to its end and return what it yielded."""
    options = {"settings": settings_of(), "n_seeds": 2, **options}
    return list(run_study_on_device(source, folder, backend or Backend(np), **options))


def both_ways(source, folder, backend, models, **options):
    """Return the records of a study on a device and of one without, in the same order."""
    options = {"models": models, "settings": settings_of(), "n_seeds": 2, **options}
    study(source, folder / "batched", backend, **options)
    list(run_study(source, folder / "single", **options))
    return [without_times(read_records(folder / name)) for name in ("batched", "single")]


@pytest.mark.parametrize("protocol", ["paper", "strict"])
def test_records_of_rls_are_those_of_runs_one_by_one(tmp_path, source, backend, protocol):
    batched, single = both_ways(source, tmp_path, backend, RLS, protocol=protocol)

    assert batched == single
    assert len({record["accuracy"] for record in batched}) > 5


@pytest.mark.parametrize("protocol", ["paper", "strict"])
def test_records_of_glvq_are_those_of_runs_one_by_one(tmp_path, source, protocol):
    options = {"sets": ["plain", "filed"], "protocol": protocol}
    batched, single = both_ways(source, tmp_path, None, GLVQ, **options)

    found, expected = ([record.pop("accuracy") for record in part] for part in (batched, single))
    iterations = [[record.pop("iterations") for record in part] for part in (batched, single)]
    assert batched == single
    # In another minimum a sample of ten may change sides, now and then.
    assert np.mean(found) == pytest.approx(np.mean(expected), abs=0.01)
    assert np.mean(np.not_equal(found, expected)) < 0.2
    assert np.median(np.subtract(*iterations)) == 0


@pytest.mark.parametrize("model", ["glvq_features", "rvfl_glvq", "intrvfl_glvq"])
def test_glvq_on_real_data_has_the_accuracy_of_runs_one_by_one(tmp_path, backend, model):
    iris = BuiltinCollection().load("iris")
    source = Source(replace(iris, splits=iris.splits[:1]))
    batched, single = both_ways(source, tmp_path, backend, [model], settings=settings_of(["iris"]))

    assert len(batched) == 2
    for found, expected in zip(batched, single, strict=True):
        assert key_of(found) == key_of(expected)
        assert found["accuracy"] == pytest.approx(expected["accuracy"], abs=2.1 / 38)


def test_keys_are_in_the_order_of_runs_one_by_one(tmp_path, source):
    both_ways(source, tmp_path, None, ["rvfl_rls", "rvfl_glvq"], sets=["filed"])

    batched, single = (read_records(tmp_path / name) for name in ("batched", "single"))
    assert {tuple(record) for record in batched} == {(*record, "device") for record in single}
    assert {record["device"] for record in batched} == {"cpu"}


def test_iterations_end_at_the_limit_of_a_model(tmp_path, source):
    study(source, tmp_path, models=["intrvfl_glvq", "intrvfl_glvq_10"], sets=["other"])

    most = {"intrvfl_glvq": 0, "intrvfl_glvq_10": 0}
    for record in read_records(tmp_path):
        most[record["model"]] = max(most[record["model"]], record["iterations"])
    assert most["intrvfl_glvq_10"] == 10 < most["intrvfl_glvq"]


def test_every_seed_starts_where_a_run_by_itself_does(tmp_path, source):
    options = {"models": ["glvq_features"], "sets": ["plain"], "n_seeds": 3}
    batched, single = both_ways(source, tmp_path, None, **options)

    found, expected = ([record["iterations"] for record in part] for part in (batched, single))
    assert len({*expected}) > 3
    assert np.mean(np.equal(found, expected)) > 0.7  # roundings may end one sooner


def test_published_settings_of_glvq_start_as_the_paper_does(tmp_path, source):
    published = settings_of(tuning=None)
    columns = published.columns - {"rvfl_glvq_ppc"}
    published = replace(published, columns=columns)
    options = {"settings": published, "sets": ["plain"]}
    batched, single = both_ways(source, tmp_path, None, ["rvfl_glvq"], **options)

    assert {(run["init_noise"], run["prototypes_per_class"]) for run in batched} == {(1.0, 1)}
    found, expected = ([record["iterations"] for record in part] for part in (batched, single))
    assert len({*expected}) > 3
    assert np.mean(np.equal(found, expected)) > 0.7  # roundings may end one sooner


def test_little_memory_changes_nothing(tmp_path, source):
    models = ["glvq_features", "rvfl_glvq", "intrvfl_rls"]
    options = {"models": models, "sets": ["filed"], "n_seeds": 3}
    study(source, tmp_path / "much", **options)
    small = replace(Backend(np), batch_bytes=40_000, block_bytes=10_000)
    study(source, tmp_path / "little", small, **options)

    much, little = (without_times(read_records(tmp_path / name)) for name in ("much", "little"))
    assert much == little


def test_seeds_of_a_split_are_trained_together_and_share_their_time(tmp_path, source, monkeypatch):
    sizes = []

    def note(runs, *arguments):
        sizes.append(len(runs))
        return train_together(runs, *arguments)

    train_together = device_runs.train_together
    monkeypatch.setattr(device_runs, "train_together", note)
    study(source, tmp_path, models=["rvfl_rls"], sets=["plain"], n_seeds=3)

    assert sizes == [3, 3, 3, 3]
    times = {
        (record["split"], *(record[name] for name in TIMES)) for record in read_records(tmp_path)
    }
    assert len(times) == 4


@pytest.mark.parametrize("model", ["rvfl_rls", "rvfl_glvq"])
def test_times_are_parts_of_the_time_it_took(tmp_path, source, model):
    start = perf_counter()
    study(source, tmp_path, models=[model], sets=["plain"])
    elapsed = perf_counter() - start

    times = [record[name] for record in read_records(tmp_path) for name in TIMES]
    assert min(times) > 0
    assert sum(times) < elapsed


def test_study_on_a_device_does_what_is_missing(tmp_path, source):
    options = {"models": ["rls_features", "rvfl_rls"], "settings": settings_of()}
    list(run_study(source, tmp_path, n_seeds=1, **options))
    steps = study(source, tmp_path, n_seeds=2, **options)

    assert {(step.record["model"], step.record["seed"]) for step in steps} == {("rvfl_rls", 1)}
    assert study(source, tmp_path, n_seeds=2, **options) == []


def test_study_stops_when_time_is_up_and_goes_on_later(tmp_path, source):
    options = {"models": ["rvfl_rls"], "sets": ["plain"]}
    first = study(source, tmp_path, minutes=1e-9, **options)
    rest = study(source, tmp_path, minutes=10, **options)

    assert [step.done for step in first] == [1, 2]
    assert len({step.record["split"] for step in first}) == 1
    assert [step.done for step in rest] == [3, 4, 5, 6, 7, 8]


def test_all_models_that_can_run_by_default(tmp_path, source):
    study(source, tmp_path, sets=["filed"], n_seeds=1)

    assert {record["model"] for record in read_records(tmp_path)} == {*RLS, *GLVQ}


@pytest.mark.parametrize(
    "changes",
    [
        {"rvfl_rls_n": 10.5},
        {"rvfl_rls_lmb": -1},
        {"intrvfl_glvq_ppc": 1.5},
        {"intrvfl_glvq_beta": 0},
        {"intrvfl_glvq_kappa": 0},
    ],
)
def test_wrong_parameter_is_the_error_of_a_run_by_itself(tmp_path, source, changes):
    options = {"settings": settings_of(["plain"], **changes), "sets": ["plain"]}
    models = ["rvfl_rls", "intrvfl_glvq"]
    batched, single = both_ways(source, tmp_path, None, models, **options)

    batched, single = ([r for r in part if r["error"]] for part in (batched, single))
    assert len(batched) == 4 * 2
    assert batched == single


@pytest.mark.parametrize("model", ["rls_features", "glvq_features", "intrvfl_glvq"])
def test_single_class_is_the_error_of_a_run_by_itself(tmp_path, model):
    data_set = make_set("plain")
    alone = data_set.splits[0]._replace(train=np.flatnonzero(data_set.y == 0))
    source = Source(replace(data_set, splits=(alone, *data_set.splits[1:])))
    batched, single = both_ways(source, tmp_path, None, [model])

    failed = [record for record in batched if record["error"]]
    assert failed == [record for record in single if record["error"]]
    assert {record["split"] for record in failed} == {0}
    assert "needs samples of at least two classes, got one class: 0" in failed[0]["error"]


@pytest.mark.parametrize("model", ["rls_features", "glvq_features", "rvfl_rls", "rvfl_glvq"])
@pytest.mark.parametrize("side", ["train", "test"])
def test_value_that_is_missing_is_the_error_of_a_run_by_itself(tmp_path, model, side):
    data_set = make_set("plain")
    X = data_set.X.copy()
    X[getattr(data_set.splits[0], side)[-1], 0] = np.nan
    source = Source(replace(data_set, X=X))
    batched, single = both_ways(source, tmp_path, None, [model])

    assert {record["error"] for record in batched} >= {"Input X contains NaN."}
    assert [record["error"] for record in batched] == [record["error"] for record in single]


@pytest.mark.parametrize("model", ["intrvfl_rls", "intrvfl_glvq_p1_10"])
def test_missing_values_are_left_out_where_a_run_by_itself_leaves_them_out(tmp_path, model):
    data_set = make_set("plain")
    X = data_set.X.copy()
    X[::7, 0] = np.nan
    batched, single = both_ways(
        Source(replace(data_set, X=X)), tmp_path, None, [model], protocol="strict"
    )

    assert {record["error"] for record in batched} == {None}
    assert [record["accuracy"] for record in batched] == [record["accuracy"] for record in single]


def test_start_that_is_a_minimum_counts_as_one_iteration(tmp_path, source, monkeypatch):
    model = replace(MODELS["glvq_features"], fixed={"init_noise": 0.1, "tol": 1e9})
    monkeypatch.setitem(MODELS, "glvq_features", model)
    batched, single = both_ways(source, tmp_path, None, ["glvq_features"], sets=["plain"])

    assert {record["iterations"] for record in batched} == {1}
    assert batched == single


def test_device_that_fails_is_a_record_for_every_run(tmp_path, source, monkeypatch):
    def fail(*_):
        raise MemoryError("out of memory\nand more")

    monkeypatch.setattr(device_runs, "try_penalties", fail)
    steps = study(source, tmp_path, models=["rvfl_rls", "glvq_features"], sets=["plain"])

    errors = {(step.record["model"], step.record["error"]) for step in steps}
    assert errors == {("rvfl_rls", "out of memory"), ("glvq_features", None)}
    monkeypatch.undo()
    assert len(study(source, tmp_path, models=["rvfl_rls"], sets=["plain"], retry_failed=True)) == 8


def test_set_that_cannot_be_read_is_one_record(tmp_path, source):
    broken = Source(source.load("plain"), broken=["lost"])
    steps = study(broken, tmp_path, models=["rvfl_rls"])

    (failure,) = [step.record for step in steps if step.record["error"]]
    assert failure["error"] == "lost_R.dat is missing"
    assert len(steps) == 1 + 8


@pytest.mark.parametrize("model", RLS)
def test_published_settings_of_rls_are_refused_before_a_folder_is_made(tmp_path, source, model):
    models = ["glvq_features", model]
    with pytest.raises(InputError, match=f"{model} cannot run on a device with the settings small"):
        study(source, tmp_path / "study", models=models, settings=settings_of(tuning=None))

    assert not (tmp_path / "study").exists()


def test_published_settings_of_other_sets_do_no_harm(tmp_path, source):
    published = settings_of(["other"], tuning=None)
    study(source, tmp_path, models=["rls_features"], sets=["plain"], settings=published)

    assert {record["settings"] for record in read_records(tmp_path)} == {"defaults"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["knn"]}, "there is no model to run on a device 'knn'; there are rls_f"),
        ({"models": ["intrvfl_glvq_votes"]}, "there is no model to run on a device 'intrvfl_"),
        ({"models": []}, "no model to run on a device is named; there are rls_features, "),
        ({"sets": ["trees"]}, "there is no data set 'trees'; there are plain, other, filed$"),
        ({"minutes": 0}, "minutes must be a finite number above 0, got 0"),
        ({"protocol": "lax"}, "protocol must be one of 'paper', 'strict', got 'lax'"),
    ],
)
def test_wrong_option_is_refused_before_a_folder_is_made(tmp_path, source, options, message):
    with pytest.raises(ValueError, match=message):
        study(source, tmp_path / "study", **options)

    assert not (tmp_path / "study").exists()


def test_every_model_that_can_run_is_one_of_rls_or_glvq_alone():
    assert {name for name in MODELS if device.runs_on_device(MODELS[name])} == {*RLS, *GLVQ}
