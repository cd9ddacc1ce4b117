from dataclasses import replace
from time import perf_counter

import numpy as np
import pytest
from tiny_study import GRIDS, Source, make_grids_small, make_set, without_times

from hyperlvq.batched.backend import Backend, open_backend
from hyperlvq.checks import InputError
from hyperlvq.study import device
from hyperlvq.study.device import device_executor, device_models, search_together
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.records import TIMES, read_records
from hyperlvq.study.runner import plan_runs, processes
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
PLAIN = make_set("plain")
FILED = make_set("filed", has_test_file=True)
SETS = [PLAIN, make_set("other", n_classes=3), FILED]
NUMPY = Backend(np)


def plan(models, data_sets, n_seeds=2, protocol="paper", as_published=False, **changes):
    """Return runs with settings of small models."""
    values = COLUMNS | changes
    rows = {(data_set.name, None): values for data_set in data_sets}
    settings = Settings("small", frozenset(values), rows, "strict")
    return plan_runs(models, data_sets, settings, n_seeds, protocol, as_published)


def records_of(runs, backend=NUMPY, minutes=None):
    return [record for _, record in device_executor(backend, minutes)(runs)]


def both_ways(models, data_sets, backend=NUMPY, **options):
    """Return the records of runs on a device and of runs one by one, in the same order.

    They are compared without what a device does not compute, the measures of probabilities.
    """
    runs = plan(models, data_sets, **options)
    parts = records_of(runs, backend), [record for _, record in processes()(runs)]
    nothing = {"log_loss": None, "confidence_bins": None}
    return [without_times([record | nothing for record in part]) for part in parts]


def values_of(name, *parts):
    return ([record[name] for record in part] for part in parts)


@pytest.mark.parametrize("protocol", ["paper", "strict"])
def test_records_of_rls_are_those_of_runs_one_by_one(backend, protocol):
    batched, single = both_ways(RLS, SETS, backend, protocol=protocol)

    assert batched == single
    assert len({record["accuracy"] for record in batched}) > 5


@pytest.mark.parametrize("protocol", ["paper", "strict"])
def test_records_of_glvq_are_those_of_runs_one_by_one(protocol):
    batched, single = both_ways(GLVQ, [PLAIN, FILED], protocol=protocol)

    found, expected = ([record.pop("accuracy") for record in part] for part in (batched, single))
    limits = [record.get("max_iter") for record in batched]
    iterations = [[record.pop("iterations") for record in part] for part in (batched, single)]
    limited = [n for n, limit in zip(iterations[0], limits, strict=True) if limit]
    assert max(limited) == 10 < max(iterations[0])
    assert batched == single
    # In another minimum a sample of ten may change sides, now and then.
    assert np.mean(found) == pytest.approx(np.mean(expected), abs=0.01)
    assert np.mean(np.not_equal(found, expected)) < 0.2
    assert np.median(np.subtract(*iterations)) == 0


@pytest.mark.parametrize("as_published", [False, True])
def test_every_seed_starts_where_a_run_by_itself_does(as_published):
    options = {"n_seeds": 3, "as_published": as_published}
    batched, single = both_ways(["glvq_features"], [PLAIN], **options)

    found, expected = values_of("iterations", batched, single)
    assert {record["init_noise"] for record in batched} == {1.0 if as_published else 0.1}
    assert len({*expected}) > 3
    assert np.mean(np.equal(found, expected)) > 0.7  # roundings may end one sooner


def test_little_memory_changes_nothing():
    runs = plan(["glvq_features", "rvfl_glvq", "intrvfl_rls"], [FILED], n_seeds=3)
    small = replace(NUMPY, batch_bytes=40_000, block_bytes=10_000)

    assert without_times(records_of(runs)) == without_times(records_of(runs, small))


@pytest.mark.parametrize("model", ["rvfl_rls", "rvfl_glvq"])
def test_seeds_of_a_split_share_parts_of_the_time_it_took_and_name_the_device(model):
    start = perf_counter()
    records = records_of(plan([model], [PLAIN], n_seeds=3))
    elapsed = perf_counter() - start

    times = [record[name] for record in records for name in TIMES]
    assert min(times) > 0
    assert sum(times) < elapsed
    assert len({(r["split"], *(r[name] for name in TIMES)) for r in records}) == 4
    assert {record["device"] for record in records} == {"cpu"}


@pytest.mark.parametrize(("minutes", "n_records"), [(1e-9, 2), (10, 8)])
def test_what_is_begun_is_ended_when_time_is_up(minutes, n_records):
    records = records_of(plan(["rvfl_rls"], [PLAIN]), minutes=minutes)

    assert [record["seed"] for record in records] == [0, 1] * (n_records // 2)


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
def test_wrong_parameter_is_the_error_of_a_run_by_itself(changes):
    batched, single = both_ways(["rvfl_rls", "intrvfl_glvq"], [PLAIN], **changes)

    batched, single = ([r for r in part if r["error"]] for part in (batched, single))
    assert len(batched) == 4 * 2
    assert batched == single


def lacking(data_set, rows):
    """Return the data set without the first feature of some rows."""
    X = data_set.X.copy()
    X[rows, 0] = np.nan
    return replace(data_set, X=X)


def of_one_class(data_set):
    """Return the data set with one class to train on in its first split and its tuning split."""
    rows = np.flatnonzero(data_set.y == 0)
    first, *others = data_set.splits
    tuning = data_set.tuning._replace(train=rows)
    return replace(data_set, splits=(first._replace(train=rows), *others), tuning=tuning)


ONE_CLASS = of_one_class(PLAIN)
LACKING_IN_TRAINING = lacking(PLAIN, [PLAIN.splits[0].train[-1], PLAIN.tuning.train[-1]])
LACKING_IN_A_TEST = lacking(PLAIN, PLAIN.splits[0].test[-1])


@pytest.mark.parametrize("model", ["rls_features", "glvq_features", "rvfl_rls", "rvfl_glvq"])
@pytest.mark.parametrize(
    ("data_set", "error"),
    [
        (ONE_CLASS, "needs samples of at least two classes, got one class: 0"),
        (LACKING_IN_TRAINING, "Input X contains NaN."),
        (LACKING_IN_A_TEST, "Input X contains NaN."),
    ],
)
def test_samples_that_teach_nothing_are_the_error_of_a_run_by_itself(model, data_set, error):
    found, expected = values_of("error", *both_ways([model], [data_set]))

    assert found == expected
    assert error in found[0]


@pytest.mark.parametrize("model", ["intrvfl_rls", "intrvfl_glvq_p1_10"])
def test_missing_values_are_left_out_where_a_run_by_itself_leaves_them_out(model):
    data_set = lacking(PLAIN, slice(None, None, 7))
    batched, single = both_ways([model], [data_set], protocol="strict")

    assert {record["error"] for record in batched} == {None}
    found, expected = values_of("accuracy", batched, single)
    assert found == expected


def test_start_that_is_a_minimum_counts_as_one_iteration(monkeypatch):
    model = replace(MODELS["glvq_features"], fixed={"init_noise": 0.1, "tol": 1e9})
    monkeypatch.setitem(MODELS, "glvq_features", model)
    batched, single = both_ways(["glvq_features"], [PLAIN])

    assert {record["iterations"] for record in batched} == {1}
    assert batched == single


def test_device_that_fails_is_a_record_for_every_run(monkeypatch):
    def fail(*_):
        raise MemoryError("out of memory\nand more")

    monkeypatch.setattr(device.rls, "train_rls", fail)
    records = records_of(plan(["rvfl_rls", "glvq_features"], [PLAIN]))

    errors = [(record["model"], record["error"]) for record in records]
    assert errors == [("rvfl_rls", "out of memory")] * 8 + [("glvq_features", None)] * 8


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [*RLS, *GLVQ]),
        ({"as_published": True}, GLVQ),
        ({"grid": "full"}, SEARCHED),
        ({"grid": "published", "as_published": True}, [n for n in SEARCHED if n in GLVQ]),
        ({"wanted": ["rvfl_rls"]}, ["rvfl_rls"]),
    ],
)
def test_models_of_rls_and_glvq_alone_are_trained_on_a_device(options, expected):
    assert {*device_models(**options)} == {*expected}


@pytest.mark.parametrize(
    ("wanted", "options", "message"),
    [
        (["intrvfl_glvq_votes"], {}, "no model to run on a device is called 'intrvfl_"),
        (
            ["glvq_features", "rvfl_rls"],
            {"as_published": True},
            "no model to run on a device as published is called 'rvfl_rls'; choose from glvq_f",
        ),
        (None, {"grid": "slow"}, "grid must be one of 'full', .*, got 'slow'"),
    ],
)
def test_other_models_are_refused(wanted, options, message):
    with pytest.raises(ValueError, match=message):
        device_models(wanted, **options)


@pytest.mark.parametrize(("model", "as_published"), [("knn", False), ("rls_features", True)])
def test_jobs_of_other_models_are_not_begun(model, as_published):
    with pytest.raises(InputError, match=f"{model} cannot be trained on a device with these"):
        records_of(plan([model], [PLAIN], as_published=as_published))


def test_time_must_be_positive():
    with pytest.raises(ValueError, match="minutes must be a finite number above 0, got 0"):
        device_executor(NUMPY, minutes=0)


@pytest.fixture
def small_grids(monkeypatch):
    make_grids_small(monkeypatch)


def tune(folder, executor=None, **options):
    options = {"models": SEARCHED, "n_seeds": 2, **options}
    return list(tune_study(Source(*SETS[:2]), folder, executor=executor, **options))


@pytest.mark.usefixtures("small_grids")
@pytest.mark.parametrize("protocol", ["paper", "strict"])
def test_searches_have_the_records_of_tuning_one_by_one(tmp_path, protocol):
    tune(tmp_path / "batched", device_executor(open_backend("cpu")), protocol=protocol)
    tune(tmp_path / "single", protocol=protocol)

    folders = tmp_path / "batched", tmp_path / "single"
    batched, single = (without_times(read_records(each, TUNING_NAME)) for each in folders)
    for found, expected in zip(batched, single, strict=True):
        assert found.keys() == expected.keys()
        assert found == expected or "glvq" in found["model"]
    # GLVQ may end in another minimum, where two samples of twenty change sides.
    found, expected = map(np.concatenate, values_of("scores", batched, single))
    assert np.mean(found) == pytest.approx(np.mean(expected), abs=0.02)
    header, other = ((each / TUNED_FILE).read_text().splitlines()[0] for each in folders)
    assert header == other


@pytest.mark.usefixtures("small_grids")
def test_tuning_stops_when_time_is_up_and_goes_on_later(tmp_path):
    assert len(tune(tmp_path, device_executor(NUMPY, minutes=1e-9))) == 1
    assert not (tmp_path / TUNED_FILE).exists()

    assert len(tune(tmp_path, device_executor(NUMPY))) == 2 * len(SEARCHED) - 1
    assert (tmp_path / TUNED_FILE).exists()
    assert tune(tmp_path) == []


@pytest.mark.parametrize("data_set", [ONE_CLASS, LACKING_IN_TRAINING])
@pytest.mark.parametrize("name", ["rls_features", "glvq_features", "rvfl_rls"])
@pytest.mark.usefixtures("small_grids")
def test_search_on_samples_that_teach_nothing_fails(data_set, name):
    search = GridSearch(data_set, MODELS[name], "paper", "full", {}, None, 2)

    with pytest.raises(InputError, match=f"no setting of {name} can be trained"):
        search_together(search, NUMPY)
