"""Features whose squares leave the range of numbers are refused, not learnt as nothing."""

import numpy as np
import pytest

from hyperlvq import CentroidClassifier, RLSClassifier, rls_path

READOUTS = [
    RLSClassifier(),
    RLSClassifier(penalty="identity"),
    RLSClassifier(solver="pinv"),
    CentroidClassifier(),
]


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e155, 1e300])
@pytest.mark.parametrize("readout", READOUTS, ids=repr)
def test_features_out_of_range_are_refused(iris, readout, scale):
    X, y = iris

    with pytest.raises(ValueError, match=r"the largest feature must be between .*: scale the"):
        readout.fit(X * scale, y)


@pytest.mark.parametrize("scale", [1e-130, 1e130])
@pytest.mark.parametrize(
    "readout", [RLSClassifier(), RLSClassifier(solver="pinv"), CentroidClassifier()], ids=repr
)
def test_features_within_the_range_are_classified_as_ever(iris, readout, scale):
    X, y = iris
    expected = readout.fit(X, y).predict(X)

    assert (readout.fit(X * scale, y).predict(X * scale) == expected).mean() > 0.99


def test_features_of_zero_are_fine():
    readout = RLSClassifier().fit(np.zeros((4, 2)), [0, 1, 1, 1])

    assert np.isfinite(readout.decision_function(np.zeros((1, 2)))).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of the overflow in a path
def test_a_column_out_of_range_is_refused(iris):
    X, y = iris
    X = X * [1, 1, 1, 1e-170]

    with pytest.raises(ValueError, match="the model is not finite: some features are too small"):
        RLSClassifier().fit(X, y)
    with pytest.raises(ValueError, match="the model is not finite"):
        rls_path(X, y, [1.0])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of the overflow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_samples_too_far_to_be_classified_are_refused(iris, n_classes):
    X, y = iris
    readout = CentroidClassifier().fit(X, y % n_classes)

    with pytest.raises(ValueError, match="squared distances are not finite: features are too"):
        readout.predict(X * 1e160)


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("readout", [RLSClassifier(), CentroidClassifier()], ids=repr)
def test_tensors_out_of_range_are_refused(iris, on_device, readout):
    tensor, labels = on_device(iris[0] * 1e-170, iris[1])

    with pytest.raises(ValueError, match="the largest feature must be between"):
        readout.fit(tensor, labels)
