import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from hyperlvq import RVFLLayer


def test_activations_are_sigmoids_of_random_projections(wine):
    X, _ = wine
    layer = RVFLLayer(n_units=20, random_state=0).fit(X)

    expected = 1 / (1 + np.exp(-(X @ layer.weights_.T + layer.biases_)))
    np.testing.assert_allclose(layer.transform(X), expected)


def test_weights_and_biases_fill_their_ranges():
    layer = RVFLLayer(n_units=5000, random_state=0).fit(np.zeros((1, 3)))

    assert np.abs(layer.weights_).max() == pytest.approx(1, abs=0.01)
    assert np.abs(layer.biases_).max() == pytest.approx(0.1, abs=0.001)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_output_keeps_the_type_of_the_input(wine, dtype):
    X = wine[0].astype(dtype)

    assert RVFLLayer(n_units=5).fit_transform(X).dtype == dtype


def test_same_seed_gives_the_same_layer(wine):
    X, _ = wine

    first, second = (RVFLLayer(n_units=5, random_state=3).fit_transform(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_feature_names_and_pandas_output(wine):
    layer = RVFLLayer(n_units=2, random_state=0).set_output(transform="pandas")

    frame = layer.fit_transform(wine[0])
    assert list(frame.columns) == ["rvfllayer0", "rvfllayer1"]


def test_transform_before_fit_is_refused(wine):
    with pytest.raises(NotFittedError):
        RVFLLayer().transform(wine[0])


@pytest.mark.parametrize(
    ("n_units", "error", "message"),
    [
        (0, ValueError, "n_units must be at least 1, got 0"),
        (2.5, TypeError, "n_units must be an integer, got 2.5"),
        (True, TypeError, "n_units must be an integer, got True"),
    ],
)
def test_bad_number_of_units_is_named(wine, n_units, error, message):
    with pytest.raises(error, match=message):
        RVFLLayer(n_units=n_units).fit(wine[0])


def test_weights_that_were_tampered_with_are_refused(wine):
    layer = RVFLLayer(n_units=20, random_state=0).fit(wine[0])
    layer.biases_ = np.zeros(21)

    with pytest.raises(ValueError, match="biases_ must be for 20 units, as the rest of the model"):
        layer.transform(wine[0])
