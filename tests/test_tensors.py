"""Estimators on torch tensors under scikit-learn's array_api_dispatch, on a GPU where there is one.

scipy asks for SCIPY_ARRAY_API=1 before it is imported; `make test` sets it.
"""

import os
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.utils import estimator_checks

import hyperlvq
from hyperlvq import (
    CentroidClassifier,
    GLVQClassifier,
    IntRVFLLayer,
    KGLVQClassifier,
    LVQ1Classifier,
    PerceptronClassifier,
    RLSClassifier,
    RVFLLayer,
    make_classifier,
    rls_path,
)
from hyperlvq.export.plan import make_plan

torch = pytest.importorskip("torch", reason="needs torch: pip install 'hyperlvq[torch]'")
DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
ON_TENSORS = [
    IntRVFLLayer(60),
    RVFLLayer(30),
    CentroidClassifier(),
    RLSClassifier(0.5),
    RLSClassifier(0.5, penalty="identity"),
    GLVQClassifier(prototypes_per_class=2),
]


@pytest.fixture(autouse=True)
def dispatch():
    if os.environ.get("SCIPY_ARRAY_API") != "1":
        pytest.skip("needs SCIPY_ARRAY_API=1 in the environment; make test sets it")
    with config_context(array_api_dispatch=True):
        yield


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture
def on_device(device):
    """Return what brings arrays to the device."""
    return lambda *arrays: [torch.as_tensor(array, device=device) for array in arrays]


def test_is_tensor_only_with_dispatch():
    tensor = torch.zeros(2, 2)

    assert hyperlvq.tensors.is_tensor(tensor)
    assert not hyperlvq.tensors.is_tensor(np.zeros(2))
    assert not hyperlvq.tensors.is_tensor([[0.0]])
    with config_context(array_api_dispatch=False):
        assert not hyperlvq.tensors.is_tensor(tensor)


def test_arrays_of_other_libraries_are_refused():
    stranger = SimpleNamespace(__array_namespace__=lambda: None)

    with pytest.raises(TypeError, match="numpy arrays and torch tensors, got types"):
        hyperlvq.tensors.is_tensor(stranger)


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


@pytest.mark.parametrize("clip", [1, 3, 200])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_integer_activations_equal_those_on_numpy(rng, on_device, clip, dtype):
    X = np.concatenate([rng.uniform(-0.1, 1.1, size=(50, 7)), np.arange(28).reshape(4, 7) / 40])
    X = X.astype(dtype)  # 40 units: the last rows have levels, and float32 has them inexactly
    X[3, 2] = X[10] = np.nan
    (tensor,) = on_device(X)
    layer = IntRVFLLayer(40, clip=clip, random_state=0)
    found = layer.fit(tensor).transform(tensor)
    expected = IntRVFLLayer(40, clip=clip, random_state=0).fit(X).transform(X)

    assert found.device == tensor.device
    assert str(found.dtype) == f"torch.{expected.dtype}"
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sigmoids_are_those_on_numpy(rng, on_device, dtype):
    X = rng.uniform(size=(30, 5)).astype(dtype)
    (tensor,) = on_device(X)
    found = RVFLLayer(20, random_state=0).fit(tensor).transform(tensor)
    expected = RVFLLayer(20, random_state=0).fit(X).transform(X)

    assert str(found.dtype) == f"torch.{dtype}"
    np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "readout",
    [
        CentroidClassifier(),
        RLSClassifier(2.0),
        RLSClassifier(0.0),
        RLSClassifier(0.1, solver="eigen"),
        RLSClassifier(3.0, penalty="identity", solver="cholesky"),
    ],
    ids=str,
)
def test_closed_forms_are_those_on_numpy(activations, rng, on_device, readout, weighted):
    X, y = activations
    weights = rng.integers(3, size=len(y)).astype(float) if weighted else None
    expected = readout.fit(X, y, sample_weight=weights).decision_function(X)
    on_numpy = hyperlvq.to_numpy(readout)
    tensor, labels = on_device(X, y)
    readout.fit(tensor, labels, sample_weight=weights)

    np.testing.assert_allclose(
        readout.decision_function(tensor).cpu().numpy(), expected, rtol=1e-4, atol=1e-4
    )
    attribute = "coef_" if isinstance(readout, RLSClassifier) else "prototypes_"
    np.testing.assert_allclose(
        getattr(hyperlvq.to_numpy(readout), attribute), getattr(on_numpy, attribute), atol=1e-7
    )


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
@pytest.mark.parametrize("weighted", [False, True])
def test_glvq_ends_at_the_cost_it_has_on_numpy(activations, rng, on_device, dtype, weighted):
    X, y = activations[0].astype(dtype), np.array(["a", "b", "c"])[activations[1]]
    weights = rng.uniform(size=len(y)) if weighted else None
    counts = {"a": 1, "b": 3, "c": 2}
    expected = GLVQClassifier(counts, slope=4, random_state=0).fit(X, y, sample_weight=weights)
    (tensor,) = on_device(X)
    readout = GLVQClassifier(counts, slope=4, random_state=0).fit(tensor, y, sample_weight=weights)

    assert readout.prototypes_.device == tensor.device
    assert readout.prototype_classes_.tolist() == [0, 1, 1, 1, 2, 2]
    assert len(readout.loss_curve_) == readout.n_iter_
    assert (np.diff(readout.loss_curve_) <= 0).all()
    assert readout.loss_curve_[0] == pytest.approx(expected.loss_curve_[0], rel=1e-4)
    assert readout.loss_curve_[-1] == pytest.approx(expected.loss_curve_[-1], rel=0.02, abs=1e-4)
    assert (readout.predict(tensor) == expected.predict(X)).mean() > 0.95
    np.testing.assert_allclose(
        hyperlvq.to_numpy(readout).decision_function(X),
        readout.decision_function(tensor).cpu().numpy(),
        rtol=1e-3,
        atol=1e-2,
    )


def test_labels_come_back_as_tensors_or_as_what_torch_lacks(activations, on_device):
    X, y = on_device(*activations)
    names = np.array(["low", "mid", "high"])[activations[1]]

    assert torch.equal(CentroidClassifier().fit(X, 10 * y).predict(X) % 10, torch.zeros_like(y))
    found = CentroidClassifier().fit(X, names).predict(X)
    assert isinstance(found, np.ndarray)
    assert set(found) == {"low", "mid", "high"}


def test_two_classes_have_one_score(activations, on_device):
    X, y = on_device(activations[0], activations[1] == 1)
    readout = CentroidClassifier().fit(X, y)

    assert readout.decision_function(X).ndim == 1
    assert torch.equal(readout.predict(X), readout.decision_function(X) > 0)


def test_warm_start_goes_on_from_the_prototypes(activations, on_device):
    X, y = on_device(*activations)
    readout = GLVQClassifier(slope=4, max_iter=3, warm_start=True, random_state=0)
    with pytest.warns(ConvergenceWarning, match="limit of 3 iterations"):
        first = readout.fit(X, y).loss_curve_[-1]
    with pytest.warns(ConvergenceWarning):
        assert readout.fit(X, y).loss_curve_[0] < first
    with pytest.raises(ValueError, match="warm_start needs the classes"):
        readout.fit(X, y + 1)
    with pytest.raises(ValueError, match=r"was fitted on torch on .* and got numpy"):
        readout.fit(*activations)


def test_start_that_is_a_minimum_takes_one_iteration(activations, on_device):
    X, y = on_device(*activations)
    readout = GLVQClassifier(tol=1e9, random_state=0).fit(X, y)
    expected = GLVQClassifier(tol=1e9, random_state=0).fit(*activations)

    assert readout.n_iter_ == 1
    assert readout.loss_curve_ == pytest.approx(expected.loss_curve_, rel=1e-6)
    np.testing.assert_allclose(
        hyperlvq.to_numpy(readout).prototypes_, expected.prototypes_, rtol=1e-5
    )


def test_recipe_stays_on_the_device_saves_and_exports(wine, on_device, tmp_path):
    pytest.importorskip("skops", reason="needs skops: pip install 'hyperlvq[save]'")
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


def test_cross_validation_takes_tensors(wine, on_device):
    X, y = on_device(*wine)
    model = make_classifier("intrvfl", "centroids", n_units=100, random_state=0)

    assert cross_val_score(model, X, y, cv=3).mean() > 0.9


@pytest.mark.parametrize(
    "readout", [KGLVQClassifier(), LVQ1Classifier(), PerceptronClassifier()], ids=str
)
def test_other_readouts_say_that_they_take_no_tensors(activations, readout, on_device):
    with pytest.raises(TypeError, match=f"{type(readout).__name__} takes numpy arrays"):
        readout.fit(*on_device(*activations))


def test_partial_fit_takes_no_tensors(activations, on_device):
    with pytest.raises(TypeError, match="partial_fit takes numpy arrays"):
        CentroidClassifier().partial_fit(*on_device(*activations), classes=[0, 1, 2])
    with pytest.raises(TypeError, match="rls_path takes numpy arrays"):
        rls_path(*on_device(*activations), alphas=[1.0])


@pytest.mark.parametrize(
    "readout",
    [GLVQClassifier(solver="sgd"), RLSClassifier(solver="qr"), RLSClassifier(solver="pinv")],
    ids=str,
)
def test_solvers_of_the_host_say_so(activations, readout, on_device):
    with pytest.raises(ValueError, match=f"solver='{readout.solver}' takes no torch tensors"):
        readout.fit(*on_device(*activations))


def test_penalty_too_small_for_the_solver_is_named(activations, on_device):
    readout = RLSClassifier(1e-12, solver="cholesky")

    with pytest.raises(ValueError, match="alpha=1e-12 is too small for solver='cholesky'"):
        readout.fit(*on_device(*activations))


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


def test_bad_labels_and_weights_are_named(activations, on_device):
    X, y = on_device(*activations)

    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        CentroidClassifier().fit(X, y[:-1])
    with pytest.raises(ValueError, match="y must have one dimension"):
        CentroidClassifier().fit(X, torch.stack([y, y], axis=1))
    with pytest.raises(ValueError, match="at least two classes, got one class: 0"):
        CentroidClassifier().fit(X, 0 * y)
    with pytest.raises(ValueError, match="sample_weight must not be negative"):
        CentroidClassifier().fit(X, y, sample_weight=-torch.ones(len(X)))
    with pytest.raises(ValueError, match="contains NaN"):
        CentroidClassifier().fit(X.float() * torch.nan, y)


def test_columns_of_labels_are_taken(activations, on_device):
    X, y = on_device(*activations)

    assert CentroidClassifier().fit(X, y[:, None]).score(X, y) > 0.9


def test_devices_torch_cannot_compute_double_precision_on_are_refused():
    tensor = torch.zeros(3, 2, device="meta")

    with pytest.raises(ValueError, match="device cpu or cuda, got meta"):
        hyperlvq.batched.backend.backend_of(tensor)
