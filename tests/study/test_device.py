from dataclasses import replace
from time import perf_counter

import numpy as np
import pytest
from tiny_study import GRIDS, Source, make_grids_small, make_set, without_times

from hyperlvq.batched.backend import Backend, open_backend
from hyperlvq.checks import InputError
from hyperlvq.study import device
from hyperlvq.study.collection import BuiltinCollection
from hyperlvq.study.device import device_executor, device_models, search_together
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.records import TIMES, key_of, read_records
from hyperlvq.study.runner import run_study
from hyperlvq.study.settings import TUNED_FILE, Settings
from hyperlvq.study.tuning import TUNING_NAME, GridSearch, tune_study

RLS = ["rls_features", "rvfl_rls", "intrvfl_rls"]
GLVQ = [
    *("glvq_features", "rvfl_glvq", "intrvfl_glvq_p1", "intrvfl_glvq_p1_10"),
    *("intrvfl_glvq", "intrvfl_glvq_10"),
]
SMALL = {"n_units": 40, "clip": 3, "alpha": 0.5, "slope": 5, "prototypes_per_class": 2}
COLUMNS = {
    column: SMALL[name] for model in (*RLS, *GLVQ) for name, column in MODELS[model].columns.items()
}
SEARCHED = [name for name in GRIDS if name != "knn"]


def settings_of(sets=("plain", "other", "filed"), **changes):
    """Return settings of small models."""
    values = COLUMNS | changes
    rows = {(name, None): {**values} for name in sets}
    return Settings("small", frozenset(values), rows, "strict")


@pytest.fixture
def source():
    return Source(
        make_set("plain"), make_set("other", n_classes=3), make_set("filed", has_test_file=True)
    )


def study(source, folder, backend=None, minutes=None, **options):
    """Run a study on a device to its end and return what it yielded."""
    options = {"settings": settings_of(), "n_seeds": 2, "models": device_models(), **options}
    executor = device_executor(backend or Backend(np), minutes)
    return list(run_study(source, folder, executor=executor, **options))


NO_PROBABILITIES = {"log_loss": None, "confidence_bins": None}


def both_ways(source, folder, models, backend=None, **options):
    """Return the records of a study on a device and of one without, in the same order.

    They are compared without what a device does not compute, the measures of probabilities.
    """
    options = {"models": models, "settings": settings_of(), "n_seeds": 2, **options}
    study(source, folder / "batched", backend, **options)
    list(run_study(source, folder / "single", **options))
    parts = [without_times(read_records(folder / name)) for name in ("batched", "single")]
    return [[record | NO_PROBABILITIES for record in part] for part in parts]


def values_of(name, *parts):
    return ([record[name] for record in part] for part in parts)


@pytest.mark.parametrize("protocol", ["paper", "strict"])
def test_records_of_rls_are_those_of_runs_one_by_one(tmp_path, source, backend, protocol):
    batched, single = both_ways(source, tmp_path, RLS, backend, protocol=protocol)

    assert batched == single
    assert len({record["accuracy"] for record in batched}) > 5
    batched, single = (read_records(tmp_path / name) for name in ("batched", "single"))
    assert {(*record, "device") for record in single} == {tuple(record) for record in batched}
    assert {record["device"] for record in batched} == {"cpu"}


@pytest.mark.parametrize("protocol", ["paper", "strict"])
def test_records_of_glvq_are_those_of_runs_one_by_one(tmp_path, source, protocol):
    options = {"sets": ["plain", "filed"], "protocol": protocol}
    batched, single = both_ways(source, tmp_path, GLVQ, **options)

    found, expected = ([record.pop("accuracy") for record in part] for part in (batched, single))
    iterations = [[record.pop("iterations") for record in part] for part in (batched, single)]
    limited = [
        n_iter
        for n_iter, record in zip(iterations[0], batched, strict=True)
        if "max_iter" in record
    ]
    assert max(limited) == 10 < max(iterations[0])
    assert batched == single
    # In another minimum a sample of ten may change sides, now and then.
    assert np.mean(found) == pytest.approx(np.mean(expected), abs=0.01)
    assert np.mean(np.not_equal(found, expected)) < 0.2
    assert np.median(np.subtract(*iterations)) == 0


@pytest.mark.parametrize("model", ["glvq_features", "rvfl_glvq", "intrvfl_glvq"])
def test_glvq_on_real_data_has_the_accuracy_of_runs_one_by_one(tmp_path, backend, model):
    iris = BuiltinCollection().load("iris")
    source = Source(replace(iris, splits=iris.splits[:1]))
    batched, single = both_ways(source, tmp_path, [model], backend, settings=settings_of(["iris"]))

    assert len(batched) == 2
    for found, expected in zip(batched, single, strict=True):
        assert key_of(found) == key_of(expected)
        assert found["accuracy"] == pytest.approx(expected["accuracy"], abs=2.1 / 38)


@pytest.mark.parametrize("as_published", [False, True])
def test_every_seed_starts_where_a_run_by_itself_does(tmp_path, source, as_published):
    options = {"sets": ["plain"], "n_seeds": 3, "as_published": as_published}
    batched, single = both_ways(source, tmp_path, ["glvq_features"], **options)

    found, expected = values_of("iterations", batched, single)
    assert {record["init_noise"] for record in batched} == {1.0 if as_published else 0.1}
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


@pytest.mark.parametrize("model", ["rvfl_rls", "rvfl_glvq"])
def test_seeds_of_a_split_share_parts_of_the_time_it_took(tmp_path, source, model):
    start = perf_counter()
    study(source, tmp_path, models=[model], sets=["plain"], n_seeds=3)
    elapsed = perf_counter() - start

    records = read_records(tmp_path)
    times = [record[name] for record in records for name in TIMES]
    assert min(times) > 0
    assert sum(times) < elapsed
    assert len({(r["split"], *(r[name] for name in TIMES)) for r in records}) == 4


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
    batched, single = both_ways(source, tmp_path, ["rvfl_rls", "intrvfl_glvq"], **options)

    batched, single = ([r for r in part if r["error"]] for part in (batched, single))
    assert len(batched) == 4 * 2
    assert batched == single


def lacking(data_set, rows):
    """Return the data set without the first feature of some rows."""
    X = data_set.X.copy()
    X[rows, 0] = np.nan
    return replace(data_set, X=X)


@pytest.mark.parametrize("model", ["rls_features", "glvq_features", "intrvfl_glvq"])
def test_single_class_is_the_error_of_a_run_by_itself(tmp_path, model):
    data_set = make_set("plain")
    alone = data_set.splits[0]._replace(train=np.flatnonzero(data_set.y == 0))
    source = Source(replace(data_set, splits=(alone, *data_set.splits[1:])))
    batched, single = both_ways(source, tmp_path, [model])

    found, expected = values_of("error", batched, single)
    assert found == expected
    assert {record["split"] for record in batched if record["error"]} == {0}
    assert "needs samples of at least two classes, got one class: 0" in found[0]


@pytest.mark.parametrize("model", ["rls_features", "glvq_features", "rvfl_rls", "rvfl_glvq"])
@pytest.mark.parametrize("side", ["train", "test"])
def test_value_that_is_missing_is_the_error_of_a_run_by_itself(tmp_path, model, side):
    data_set = make_set("plain")
    source = Source(lacking(data_set, getattr(data_set.splits[0], side)[-1]))
    found, expected = values_of("error", *both_ways(source, tmp_path, [model]))

    assert {*found} >= {"Input X contains NaN."}
    assert found == expected


@pytest.mark.parametrize("model", ["intrvfl_rls", "intrvfl_glvq_p1_10"])
def test_missing_values_are_left_out_where_a_run_by_itself_leaves_them_out(tmp_path, model):
    source = Source(lacking(make_set("plain"), slice(None, None, 7)))
    batched, single = both_ways(source, tmp_path, [model], protocol="strict")

    assert {record["error"] for record in batched} == {None}
    found, expected = values_of("accuracy", batched, single)
    assert found == expected


def test_start_that_is_a_minimum_counts_as_one_iteration(tmp_path, source, monkeypatch):
    model = replace(MODELS["glvq_features"], fixed={"init_noise": 0.1, "tol": 1e9})
    monkeypatch.setitem(MODELS, "glvq_features", model)
    batched, single = both_ways(source, tmp_path, ["glvq_features"], sets=["plain"])

    assert {record["iterations"] for record in batched} == {1}
    assert batched == single


def test_device_that_fails_is_a_record_for_every_run(tmp_path, source, monkeypatch):
    def fail(*_):
        raise MemoryError("out of memory\nand more")

    monkeypatch.setattr(device.rls, "train_rls", fail)
    steps = study(source, tmp_path, models=["rvfl_rls", "glvq_features"], sets=["plain"])

    errors = {(step.record["model"], step.record["error"]) for step in steps}
    assert errors == {("rvfl_rls", "out of memory"), ("glvq_features", None)}
    monkeypatch.undo()
    assert len(study(source, tmp_path, models=["rvfl_rls"], sets=["plain"], retry_failed=True)) == 8


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [*RLS, *GLVQ]),
        ({"as_published": True}, GLVQ),
        ({"grid": "full"}, SEARCHED),
        ({"wanted": ["rvfl_rls"]}, ["rvfl_rls"]),
    ],
)
def test_models_of_rls_and_glvq_alone_are_trained_on_a_device(options, expected):
    assert {*device_models(**options)} == {*expected}


@pytest.mark.parametrize(
    ("wanted", "options", "message"),
    [
        (["intrvfl_glvq_votes"], {}, "there is no model to run on a device 'intrvfl_"),
        (
            ["glvq_features", "rvfl_rls"],
            {"as_published": True},
            "there is no model to run on a device as published 'rvfl_rls'; there are glvq_f",
        ),
        (None, {"grid": "slow"}, "grid must be one of 'full', 'quick', got 'slow'"),
    ],
)
def test_other_models_are_refused(wanted, options, message):
    with pytest.raises(ValueError, match=message):
        device_models(wanted, **options)


@pytest.mark.parametrize(("model", "as_published"), [("knn", False), ("rls_features", True)])
def test_jobs_of_other_models_are_not_begun(tmp_path, source, model, as_published):
    with pytest.raises(InputError, match=f"{model} cannot be trained on a device with these"):
        study(source, tmp_path, models=[model], as_published=as_published)


def test_time_must_be_positive():
    with pytest.raises(ValueError, match="minutes must be a finite number above 0, got 0"):
        device_executor(Backend(np), minutes=0)


@pytest.fixture
def small_grids(monkeypatch):
    make_grids_small(monkeypatch)


def tune(source, folder, minutes=None, **options):
    executor = device_executor(open_backend("cpu"), minutes)
    options = {"models": SEARCHED, "sets": ["plain", "other"], "n_seeds": 2, **options}
    return list(tune_study(source, folder, executor=executor, **options))


@pytest.mark.usefixtures("small_grids")
@pytest.mark.parametrize("protocol", ["paper", "strict"])
def test_searches_have_the_records_of_tuning_one_by_one(tmp_path, source, protocol):
    options = {"models": SEARCHED, "sets": ["plain", "other"], "n_seeds": 2, "protocol": protocol}
    tune(source, tmp_path / "batched", **options)
    list(tune_study(source, tmp_path / "single", **options))

    folders = tmp_path / "batched", tmp_path / "single"
    batched, single = (without_times(read_records(each, TUNING_NAME)) for each in folders)
    assert len(batched) == len(single)
    for found, expected in zip(batched, single, strict=True):
        assert found.keys() == expected.keys()
        assert found == expected or "glvq" in found["model"]
    # GLVQ may end in another minimum, where two samples of twenty change sides.
    found, expected = (
        np.concatenate([record["scores"] for record in part]) for part in (batched, single)
    )
    assert np.mean(found) == pytest.approx(np.mean(expected), abs=0.02)
    header, other = ((each / TUNED_FILE).read_text().splitlines()[0] for each in folders)
    assert header == other


@pytest.mark.usefixtures("small_grids")
def test_tuning_stops_when_time_is_up_and_goes_on_later(tmp_path, source):
    assert len(tune(source, tmp_path, minutes=1e-9)) == 1
    assert not (tmp_path / TUNED_FILE).exists()

    assert len(tune(source, tmp_path)) == 2 * len(SEARCHED) - 1
    assert (tmp_path / TUNED_FILE).exists()
    assert tune(source, tmp_path) == []


@pytest.mark.parametrize(("grid", "max_iter"), [("full", 2), ("quick", 1)])
def test_training_stops_where_the_limits_of_a_grid_say(source, monkeypatch, grid, max_iter):
    small = {"n_units": (20,), "clip": (1, 3), "slope": (5,), "prototypes_per_class": (1,)}
    limits = {"full": {"max_iter": 2}, "quick": {"max_iter": 1}}
    model = replace(MODELS["intrvfl_glvq"], grid=small, quick_grid=small, limits=limits)
    iterations = []

    def spy(*arguments):
        trained = train_glvq(*arguments)
        iterations.append(int(trained.n_iter.max()))
        return trained

    train_glvq = device.glvq.train_glvq
    monkeypatch.setattr(device.glvq, "train_glvq", spy)
    search = GridSearch(source.load("other"), model, "paper", grid, {}, None, 2)
    search_together(search, open_backend("cpu"))

    assert iterations == [max_iter] * 2


def with_a_missing_value(data_set):
    return lacking(data_set, data_set.tuning.train[-1])


def with_a_single_class(data_set):
    return replace(data_set, tuning=data_set.tuning._replace(train=np.array([0, 2])))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("rls_features", with_a_missing_value),
        ("glvq_features", with_a_missing_value),
        ("rvfl_rls", with_a_missing_value),
        ("glvq_features", with_a_single_class),
    ],
)
@pytest.mark.usefixtures("small_grids")
def test_search_on_samples_that_teach_nothing_fails(source, name, change):
    data_set = change(source.load("plain"))
    search = GridSearch(data_set, MODELS[name], "paper", "full", {}, None, 2)

    with pytest.raises(InputError, match=f"no setting of {name} can be trained"):
        search_together(search, open_backend("cpu"))
