from dataclasses import replace

import numpy as np
import pytest
from tiny_study import Source, make_set, without_times

from hyperlvq.batched import open_backend
from hyperlvq.checks import InputError
from hyperlvq.study import device
from hyperlvq.study.device_tuning import on_device, tune_on_device
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.records import read_records
from hyperlvq.study.settings import TUNED_FILE
from hyperlvq.study.tuning import TUNING_NAME, Search, tune_study

GRIDS = {
    "rls_features": {"alpha": (0.5, 1.0)},
    "rvfl_rls": {"n_units": (20, 30), "alpha": (0.5, 2.0)},
    "rvfl_glvq": {"slope": (3,), "prototypes_per_class": (1, 2)},
    "intrvfl_rls": {"n_units": (20, 30), "clip": (1, 3), "alpha": (0.5, 2.0)},
    "intrvfl_glvq_p1": {"slope": (3, 5)},
    "intrvfl_glvq": {"slope": (3, 5), "prototypes_per_class": (1, 2)},
    "glvq_features": {"slope": (5,), "prototypes_per_class": (1, 2)},
}


@pytest.fixture(autouse=True)
def small_grids(monkeypatch):
    for name, grid in GRIDS.items():
        monkeypatch.setitem(MODELS, name, replace(MODELS[name], grid=grid))


@pytest.fixture
def source():
    return Source(make_set("plain"), make_set("other", n_classes=3))


def tune(source, folder, models=tuple(GRIDS), **options):
    backend = open_backend("cpu")
    return list(tune_on_device(source, folder, backend, models=models, n_seeds=2, **options))


def records_of(folder):
    return without_times(read_records(folder, TUNING_NAME))


@pytest.mark.parametrize("protocol", ["paper", "strict"])
def test_records_are_those_of_tuning_one_by_one(tmp_path, source, protocol):
    tune(source, tmp_path / "batched", protocol=protocol)
    options = {"models": tuple(GRIDS), "n_seeds": 2, "protocol": protocol}
    list(tune_study(source, tmp_path / "single", **options))

    batched, single = (records_of(tmp_path / name) for name in ("batched", "single"))
    assert len(batched) == len(single)
    for found, expected in zip(batched, single, strict=True):
        assert found.keys() == expected.keys()
        assert found == expected or "glvq" in found["model"]
    # GLVQ may end in another minimum, where two samples of twenty change sides.
    found, expected = (
        np.concatenate([record["scores"] for record in part]) for part in (batched, single)
    )
    assert np.mean(found) == pytest.approx(np.mean(expected), abs=0.02)
    header, *_ = (tmp_path / "batched" / TUNED_FILE).read_text().splitlines()
    assert header == (tmp_path / "single" / TUNED_FILE).read_text().splitlines()[0]


def test_tuning_stops_when_time_is_up_and_goes_on_later(tmp_path, source):
    assert len(tune(source, tmp_path, minutes=1e-9)) == 1
    assert not (tmp_path / TUNED_FILE).exists()

    assert len(tune(source, tmp_path)) == 2 * len(GRIDS) - 1
    assert (tmp_path / TUNED_FILE).exists()
    assert tune(source, tmp_path) == []


@pytest.mark.parametrize(("grid", "max_iter"), [("full", 2), ("quick", 1)])
def test_training_stops_where_the_limits_of_a_grid_say(source, monkeypatch, grid, max_iter):
    small = {"n_units": (20,), "clip": (1, 3), "slope": (5,), "prototypes_per_class": (1,)}
    limits = {"full": {"max_iter": 2}, "quick": {"max_iter": 1}}
    model = replace(MODELS["intrvfl_glvq"], grid=small, quick_grid=small, limits=limits)
    iterations = []

    def note(*arguments):
        trained = train_glvq(*arguments)
        iterations.append(int(trained.n_iter.max()))
        return trained

    train_glvq = device.train_glvq
    monkeypatch.setattr(device, "train_glvq", note)
    search = Search(model, grid, {}, source.load("other"), None, "paper", 2)
    on_device(search, open_backend("cpu")).record()

    assert iterations == [max_iter] * 2


@pytest.mark.parametrize("name", ["rls_features", "glvq_features", "rvfl_rls"])
def test_values_that_are_not_finite_cannot_be_trained(source, name):
    data_set = source.load("plain")
    X = data_set.X.copy()
    X[data_set.tuning.train[-1], 0] = np.nan
    search = Search(MODELS[name], "full", {}, replace(data_set, X=X), None, "paper", 2)

    with pytest.raises(InputError, match=f"no setting of {name} can be trained"):
        on_device(search, open_backend("cpu")).record()


def test_single_class_cannot_be_trained(source):
    data_set = source.load("plain")
    alone = replace(data_set, tuning=data_set.tuning._replace(train=np.array([0, 2])))
    search = Search(MODELS["glvq_features"], "full", {}, alone, None, "paper", 2)

    with pytest.raises(InputError, match="no setting of glvq_features can be trained"):
        on_device(search, open_backend("cpu")).record()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["knn"]}, "there is no model to tune on a device 'knn'; there are rls_f"),
        ({"grid": "slow"}, "grid must be one of 'full', 'quick', got 'slow'"),
        ({"minutes": 0}, "minutes must be a finite number above 0, got 0"),
    ],
)
def test_wrong_option_is_refused(tmp_path, source, options, message):
    with pytest.raises(ValueError, match=message):
        tune(source, tmp_path, **options)
