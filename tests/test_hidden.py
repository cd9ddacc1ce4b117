"""All hidden layers, on arrays and on tensors."""

import numpy as np
import pytest
from sklearn.base import clone

from hyperlvq import ComparisonLayer, IntRVFLLayer, RVFLLayer
from hyperlvq.engines import on_host

ALL_KINDS = ("conjunction", "majority", "parity")
DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64"])
every_layer = pytest.mark.parametrize("kind", [IntRVFLLayer, ComparisonLayer, RVFLLayer])


@every_layer
def test_feature_names_and_pandas_output(kind, wine):
    frame = kind(n_units=2).set_output(transform="pandas").fit_transform(wine[0])

    assert list(frame.columns) == [f"{kind.__name__.lower()}0", f"{kind.__name__.lower()}1"]
    assert (frame.dtypes == (np.float64 if kind is RVFLLayer else np.int8)).all()


def test_activations_are_sigmoids_of_random_projections(wine):
    X, _ = wine
    layer = RVFLLayer(n_units=20, random_state=0).fit(X)

    expected = 1 / (1 + np.exp(-(X @ layer.weights_.T + layer.biases_)))
    np.testing.assert_allclose(layer.transform(X), expected)


def test_weights_and_biases_fill_their_ranges():
    layer = RVFLLayer(n_units=5000, random_state=0).fit(np.zeros((1, 3)))

    assert np.abs(layer.weights_).max() == pytest.approx(1, abs=0.01)
    assert np.abs(layer.biases_).max() == pytest.approx(0.1, abs=0.001)


@pytest.mark.usefixtures("dispatch")
@DTYPES
def test_sigmoids_keep_the_type_of_the_input_and_are_the_same_on_tensors(rng, on_device, dtype):
    X = rng.uniform(size=(30, 5)).astype(dtype)
    (tensor,) = on_device(X)
    layer = RVFLLayer(20, random_state=0)
    found, expected = (layer.fit(each).transform(each) for each in (tensor, X))

    assert str(found.dtype) == f"torch.{dtype}"
    assert expected.dtype == dtype
    np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=1e-5)


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize(
    "layer", [*(IntRVFLLayer(40, clip) for clip in (1, 3, 200)), ComparisonLayer(40, ALL_KINDS)]
)
@DTYPES
def test_integer_activations_on_tensors_equal_those_on_numpy(rng, on_device, layer, dtype):
    X = np.concatenate([rng.uniform(-0.1, 1.1, size=(50, 7)), np.arange(28).reshape(4, 7) / 40])
    X = X.astype(dtype)  # 40 units: the last rows have levels, and float32 has them inexactly
    X[3, 2] = X[10] = np.nan
    (tensor,) = on_device(X)
    layer = clone(layer).set_params(random_state=0)
    found, expected = (layer.fit(each).transform(each) for each in (tensor, X))

    assert found.device == tensor.device
    assert str(found.dtype) == f"torch.{expected.dtype}"
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


@pytest.mark.usefixtures("dispatch")
@DTYPES
def test_values_missing_only_after_fit_are_medians_on_tensors_too(rng, on_device, dtype):
    X = rng.normal(size=(50, 4)).astype(dtype)
    X[3, 2] = np.nan
    holed = np.where(rng.random(X.shape) < 0.3, np.nan, X).astype(dtype)
    medians = [*np.median(X[:, :2].astype(float), axis=0), np.nan, np.median(X[:, 3].astype(float))]
    by_hand = np.where(np.isnan(holed), medians, holed)
    layer = ComparisonLayer(60, ALL_KINDS, random_state=0)
    expected = layer.fit(X).transform(by_hand)

    np.testing.assert_array_equal(layer.medians_, medians)
    for each, training in ((holed, X), (*on_device(holed), *on_device(X))):
        with pytest.warns(UserWarning, match="replaced missing values in features 0, 1 and 3 by"):
            found = clone(layer).fit(training).transform(each)
        np.testing.assert_array_equal(on_host(found), expected)


def test_keys_are_signs_of_either_kind_about_equally_often():
    keys = IntRVFLLayer(n_units=2000, random_state=0).fit(np.zeros((1, 5))).keys_

    assert keys.dtype == np.int8
    assert set(np.unique(keys)) == {-1, 1}
    assert abs(keys.mean()) < 0.05


@pytest.mark.parametrize(
    ("clip", "dtype"),
    [(1, np.int8), (127, np.int8), (128, np.int16), (32767, np.int16), (np.uint8(3), np.int8)],
)
def test_output_is_int8_while_the_clip_fits(wine, clip, dtype):
    X, _ = wine

    activations = IntRVFLLayer(n_units=50, clip=clip, random_state=0).fit_transform(X)
    assert activations.dtype == dtype
    assert np.abs(activations).max() <= min(clip, X.shape[1])


def test_values_outside_zero_to_one_saturate(wine):
    layer = IntRVFLLayer(n_units=50, random_state=0).fit(wine[0])
    outside = np.array([[-5.0] * 13, [7.0] * 13])
    edges = np.array([[0.0] * 13, [1.0] * 13])

    np.testing.assert_array_equal(layer.transform(outside), layer.transform(edges))
    np.testing.assert_array_equal(layer.transform(edges)[0], -layer.transform(edges)[1])


def test_missing_value_leaves_its_feature_out_of_the_sum(rng):
    X = rng.uniform(size=(6, 4))
    layer = IntRVFLLayer(n_units=30, clip=100, random_state=0).fit(X)
    without = IntRVFLLayer(n_units=30, clip=100)
    without.fit(X[:, 1:]).keys_ = layer.keys_[1:]
    missing = X.copy()
    missing[:, 0] = np.nan

    np.testing.assert_array_equal(layer.transform(missing), without.transform(X[:, 1:]))
    assert (layer.transform(np.full((1, 4), np.nan)) == 0).all()


def test_infinity_is_refused():
    with pytest.raises(ValueError, match="infinity"):
        IntRVFLLayer(n_units=5).fit([[np.inf]])


@pytest.mark.compiled
def test_encoding_needs_little_memory_beyond_input_and_output(rng, peak_memory):
    X = rng.uniform(size=(5000, 20))
    layer = IntRVFLLayer(n_units=1000, random_state=0).fit(X)
    n_bytes = layer.transform(X).nbytes

    assert peak_memory(lambda: layer.transform(X)) - n_bytes < 10e6


def test_scaling_of_features_does_not_change_comparisons(wine):
    X, _ = wine
    scaled = X * 2.0 ** np.arange(-6, 7)
    expected, found = (
        ComparisonLayer(n_units=99, random_state=0).fit_transform(each) for each in (X, scaled)
    )

    np.testing.assert_array_equal(found, expected)


def test_kinds_share_the_units_and_the_last_one_is_constant(wine):
    layer = ComparisonLayer(8, ALL_KINDS, random_state=0).fit(wine[0])

    assert layer.kinds_.tolist() == [0, 0, 1, 1, 2, 2, 2, 3]
    assert (layer.transform(wine[0])[:, -1] == 1).all()
    assert ComparisonLayer(1).fit(wine[0]).kinds_.tolist() == [3]
