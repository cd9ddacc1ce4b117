"""Estimators on torch tensors, as scikit-learn and its users handle them."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_checks

import hyperlvq
from hyperlvq import (
    CentroidClassifier,
    GLVQClassifier,
    IntRVFLLayer,
    RLSClassifier,
    RVFLLayer,
    make_classifier,
)
from hyperlvq.engines import NUMPY_ENGINE, TorchEngine, engine_of
from hyperlvq.export.plan import make_plan

torch = pytest.importorskip("torch", reason="needs torch: pip install 'hyperlvq[torch]'")
pytestmark = pytest.mark.usefixtures("dispatch")
ON_TENSORS = [
    IntRVFLLayer(60),
    RVFLLayer(30),
    CentroidClassifier(),
    RLSClassifier(0.5),
    RLSClassifier(0.5, penalty="identity"),
    GLVQClassifier(prototypes_per_class=2),
]


def test_tensors_have_their_engine_only_with_dispatch():
    tensor = torch.zeros(2, 2)

    assert isinstance(engine_of(tensor), TorchEngine)
    assert engine_of(np.zeros(2)) is engine_of([[0.0]]) is NUMPY_ENGINE
    with config_context(array_api_dispatch=False):
        assert engine_of(tensor) is NUMPY_ENGINE


def test_arrays_of_other_libraries_are_refused():
    stranger = SimpleNamespace(__array_namespace__=lambda: None)

    with pytest.raises(TypeError, match="numpy arrays and torch tensors, got types"):
        engine_of(stranger)


@pytest.mark.skipif(
    not hasattr(estimator_checks, "check_array_api_mixed_inputs"), reason="needs scikit-learn 1.8"
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("estimator", ON_TENSORS, ids=str)
def test_scikit_learns_own_check(estimator, dtype, has_weights, device):
    with config_context(array_api_dispatch=False):
        estimator_checks.check_array_api_input(
            type(estimator).__name__,
            estimator,
            "torch",
            device,
            dtype,
            check_sample_weight=has_weights,
        )


def test_recipe_stays_on_the_device_saves_and_exports(wine, on_device, tmp_path):
    X, y = on_device(*wine)
    model = make_classifier("intrvfl", "glvq", n_units=100, random_state=0).fit(X, y)
    found = model.predict(X)
    hyperlvq.save(model, tmp_path / "wine.hlvq")
    loaded = hyperlvq.load(tmp_path / "wine.hlvq")

    assert found.device == X.device
    assert model.score(X, y) > 0.98
    np.testing.assert_array_equal(loaded.predict(wine[0]), found.cpu().numpy())
    np.testing.assert_array_equal(hyperlvq.to_numpy(model).predict(wine[0]), found.cpu().numpy())
    assert type(model[-1].prototypes_) is torch.Tensor
    assert len(make_plan(model).classes) == 3


def test_model_and_data_must_be_in_one_place(activations, on_device):
    X, y = on_device(*activations)
    readout, layer = CentroidClassifier().fit(X, y), IntRVFLLayer(10).fit(X.float())

    with pytest.raises(ValueError, match=r"fitted on torch on .* and got numpy: .*to_numpy"):
        readout.predict(activations[0])
    with pytest.raises(ValueError, match="IntRVFLLayer was fitted on torch"):
        layer.transform(np.zeros((2, 40)))
    with pytest.raises(ValueError, match="fitted on numpy and got torch"):
        CentroidClassifier().fit(*activations).predict(X)
    with pytest.raises(ValueError, match=r"fitted on torch on .* and got numpy"):
        readout.partial_fit(*activations)
    with (
        config_context(array_api_dispatch=False),
        pytest.raises(ValueError, match=r"got torch on .* without array_api_dispatch"),
    ):
        readout.predict(X)


def test_tensors_are_arrays_to_a_model_of_numpy_without_dispatch(activations):
    X, y = torch.as_tensor(activations[0]), activations[1]

    with config_context(array_api_dispatch=False):
        readout = CentroidClassifier().fit(X, y)
        assert isinstance(readout.predict(X), np.ndarray)


@pytest.mark.parametrize("estimator", [RVFLLayer(), GLVQClassifier()], ids=str)
def test_devices_without_double_precision_are_refused(estimator):
    tensor = torch.zeros(3, 2, device="meta")

    with pytest.raises(ValueError, match="device cpu or cuda, got meta"):
        estimator.fit(tensor, [0, 1, 0])


def test_graphs_of_gradients_are_left_behind(activations, on_device):
    X, y = on_device(activations[0].astype(np.float32), activations[1])
    X.requires_grad_()

    assert not RVFLLayer(5).fit_transform(X).requires_grad
    assert not GLVQClassifier(random_state=0).fit(X, y).prototypes_.requires_grad


def test_to_numpy_is_a_model_of_its_own(activations, on_device):
    X, y = on_device(*activations)
    votes = VotingClassifier([("a", CentroidClassifier()), ("b", RLSClassifier())])
    votes.fit(activations[0], activations[1])
    votes.named_estimators_["a"] = CentroidClassifier().fit(X, y)
    moved = hyperlvq.to_numpy(votes).named_estimators_["a"]
    before = votes.named_estimators_["a"].class_weights_.tolist()
    moved.partial_fit(*activations)

    assert isinstance(moved.prototypes_, np.ndarray)
    assert votes.named_estimators_["a"].class_weights_.tolist() == before


def test_models_are_cloned_pickled_and_searched(wine, on_device):
    X, y = on_device(*wine)
    model = make_classifier("intrvfl", "glvq", n_units=60, random_state=0)
    search = GridSearchCV(model, {"readout__slope": [2, 8]}, cv=2).fit(X, y)
    copied = pickle.loads(pickle.dumps(search.best_estimator_))

    assert search.best_score_ > 0.9
    assert torch.equal(copied.predict(X), search.predict(X))
    assert clone(search.best_estimator_).get_params()["readout__slope"] in (2, 8)
