import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

import hyperlvq
from hyperlvq import (
    CentroidClassifier,
    GLVQClassifier,
    KGLVQClassifier,
    LVQ1Classifier,
    PerceptronClassifier,
    RLSClassifier,
    rls_path,
)

torch = pytest.importorskip("torch", reason="needs torch: pip install 'hyperlvq[torch]'")
pytestmark = pytest.mark.usefixtures("dispatch")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "readout",
    [
        CentroidClassifier(),
        RLSClassifier(2.0),
        RLSClassifier(0.0),
        RLSClassifier("loo"),
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


@pytest.mark.parametrize("readout", [CentroidClassifier(), GLVQClassifier(random_state=0)], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_those_on_numpy(activations, on_device, readout, n_classes):
    X, y = activations[0], np.minimum(activations[1], n_classes - 1)
    tensor, labels = on_device(X, y)

    found = readout.fit(tensor, labels).predict_proba(tensor)
    assert found.device == tensor.device
    np.testing.assert_allclose(
        found.cpu().numpy(), hyperlvq.to_numpy(readout).predict_proba(X), rtol=1e-4, atol=1e-6
    )
    assert torch.equal(found.argmax(axis=1), readout.predict(tensor))


@pytest.mark.parametrize("readout", [CentroidClassifier(), GLVQClassifier(2, random_state=0)])
def test_prototype_distances_are_those_on_numpy(activations, on_device, readout):
    tensor, labels = on_device(*activations)

    found = readout.fit(tensor, labels).prototype_distances(tensor)
    assert found.device == tensor.device
    expected = hyperlvq.to_numpy(readout).prototype_distances(activations[0])
    np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_slope_and_cost_are_those_on_numpy(activations, on_device, class_weight):
    weights = np.arange(len(activations[1])) % 3
    readout = GLVQClassifier(class_weight=class_weight, random_state=0)
    expected = vars(readout.fit(*activations, sample_weight=weights)).copy()
    readout.fit(*on_device(*activations), sample_weight=weights)

    assert readout.slope_ == expected["slope_"]
    assert readout.loss_curve_[-1] == pytest.approx(expected["loss_curve_"][-1], rel=1e-3)


def test_labels_come_back_as_tensors(activations, on_device):
    X, y = on_device(*activations)
    tens = CentroidClassifier().fit(X, 10 * y).predict(X)
    two = CentroidClassifier().fit(X, y == 1)

    assert torch.equal(tens, 10 * CentroidClassifier().fit(X, y).predict(X))
    assert tens.unique().tolist() == [0, 10, 20]
    assert two.decision_function(X).ndim == 1
    assert torch.equal(two.predict(X), two.decision_function(X) > 0)


@pytest.mark.parametrize(("dtype", "offset"), [(np.float32, 3000.25), (np.int16, 30000)])
def test_features_far_from_zero_keep_their_distances(rng, on_device, dtype, offset):
    y = np.arange(200) % 2
    X = (np.round(rng.normal(size=(200, 3)) * 20 + 60 * y[:, np.newaxis]) + offset).astype(dtype)
    expected = CentroidClassifier().fit(X, y).decision_function(X)
    tensor, labels = on_device(X, y)

    found = CentroidClassifier().fit(tensor, labels).decision_function(tensor)
    np.testing.assert_allclose(found.cpu().numpy(), expected, atol=1e-3)


def test_warm_start_goes_on_from_the_prototypes(activations, on_device):
    X, y = on_device(*activations)
    readout = GLVQClassifier(slope=4, max_iter=3, warm_start=True, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter=3 iterations") as caught:
        first = readout.fit(X, y).loss_curve_[-1]
    assert caught[0].filename == __file__
    with pytest.warns(ConvergenceWarning):
        assert readout.fit(X, y).loss_curve_[0] < first
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


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (KGLVQClassifier().fit, TypeError, "KGLVQClassifier supports numpy arrays only"),
        (LVQ1Classifier().fit, TypeError, "LVQ1Classifier supports numpy arrays only"),
        (PerceptronClassifier().fit, TypeError, "PerceptronClassifier supports numpy arrays only"),
        (CentroidClassifier().partial_fit, TypeError, "partial_fit supports numpy arrays only"),
        (partial(rls_path, alphas=[1.0]), TypeError, "rls_path supports numpy arrays only"),
        (
            GLVQClassifier(solver="sgd").fit,
            ValueError,
            "solver='sgd' does not support torch tensors",
        ),
        (RLSClassifier(solver="qr").fit, ValueError, "solver='qr' does not support torch tensors"),
        (
            RLSClassifier(solver="pinv").fit,
            ValueError,
            "solver='pinv' does not support torch tensors",
        ),
        (
            RLSClassifier(1e-12, solver="cholesky").fit,
            ValueError,
            "alpha=1e-12 is too small for solver='cholesky'",
        ),
    ],
)
def test_what_takes_no_tensors_says_so(activations, on_device, use, error, message):
    with pytest.raises(error, match=message):
        use(*on_device(*activations))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, torch.stack([y, y], axis=1)), "y should be a 1d array"),
        (lambda X, y: (X, None), "requires y to be passed"),
        (lambda X, y: (X, 0 * y), "at least two classes, got one class: 0"),
        (lambda X, y: (X, y, -torch.ones(len(X))), "sample_weight must not be negative"),
        (lambda X, y: (X.float() * torch.nan, y), "contains NaN"),
        (lambda X, y: (X.double() * 1e-170, y), "the largest absolute feature must be from"),
    ],
)
@pytest.mark.parametrize("readout", [CentroidClassifier(), RLSClassifier()], ids=repr)
def test_bad_samples_are_named(activations, on_device, readout, change, message):
    with pytest.raises(ValueError, match=message):
        readout.fit(*change(*on_device(*activations)))


def test_columns_of_labels_are_taken_with_a_warning(activations, on_device):
    X, y = on_device(*activations)

    with pytest.warns(DataConversionWarning):
        readout = CentroidClassifier().fit(X, y[:, None])
    assert readout.score(X, y) > 0.9


@pytest.mark.parametrize("dtype", [">i8", np.longdouble, np.uint16, "U5"])
def test_labels_that_torch_lacks_stay_on_the_host(activations, on_device, dtype):
    (X,) = on_device(activations[0])
    y = activations[1].astype(dtype)
    found = CentroidClassifier().fit(X, y).predict(X)

    assert isinstance(found, np.ndarray)
    assert found.dtype == y.dtype
    assert (found == y).mean() > 0.9


def test_glvq_of_features_far_from_zero_keeps_its_accuracy(iris, on_device):
    X, y = (iris[0] + 3000).astype(np.float32), iris[1]
    readout = GLVQClassifier(random_state=0)
    expected = readout.fit(X, y).score(X, y)
    tensor, labels = on_device(X, y)

    assert float(readout.fit(tensor, labels).score(tensor, labels)) == pytest.approx(expected, 0.02)


@pytest.mark.parametrize("scale", [1e-46, 1e40])
def test_weights_of_any_size_count_alike(activations, on_device, scale):
    X, y = on_device(*activations)
    readout = GLVQClassifier(slope=4, max_iter=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        expected = readout.fit(X, y, sample_weight=np.ones(len(y))).loss_curve_
        found = readout.fit(X, y, sample_weight=np.full(len(y), scale)).loss_curve_

    assert found == pytest.approx(expected, rel=1e-4)


def test_weights_on_tensors_go_with_features_on_numpy(activations):
    X, y = activations
    weights = np.linspace(0, 1, len(y))
    found = CentroidClassifier().fit(X, y, sample_weight=torch.as_tensor(weights))

    expected = CentroidClassifier().fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(found.prototypes_, expected.prototypes_)


def test_fit_can_go_from_numpy_to_tensors_and_back(activations, on_device):
    X, y = on_device(*activations)
    readout = GLVQClassifier(slope=4, solver="sgd", max_iter=2000, random_state=0)
    readout.fit(*activations)
    readout.set_params(solver="lbfgs").fit(X, y)

    assert not hasattr(readout, "learning_rate_")
    assert readout.predict(X).shape == y.shape
    assert isinstance(readout.fit(*activations).predict(activations[0]), np.ndarray)


def test_many_iterations_may_be_allowed(activations, on_device):
    X, y = on_device(*activations)

    assert GLVQClassifier(slope=4, max_iter=10**12, random_state=0).fit(X, y).n_iter_ < 1000


def test_features_whose_squares_overflow_are_named(iris, on_device):
    X, y = iris
    tensor, labels = on_device(X * 1e160, y)
    with pytest.raises(ValueError, match="the cost is not a finite number"):
        GLVQClassifier(random_state=0).fit(tensor, labels)
