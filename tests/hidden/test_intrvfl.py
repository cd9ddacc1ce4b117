import tracemalloc

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from hyperlvq import IntRVFLLayer


def test_keys_are_signs_of_either_kind_about_equally_often():
    keys = IntRVFLLayer(n_units=2000, random_state=0).fit(np.zeros((1, 5))).keys_

    assert keys.dtype == np.int8
    assert set(np.unique(keys)) == {-1, 1}
    assert abs(keys.mean()) < 0.05


@pytest.mark.parametrize(
    ("clip", "dtype"), [(1, np.int8), (127, np.int8), (128, np.int16), (32767, np.int16)]
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


def test_sample_with_all_values_missing_has_no_activation():
    layer = IntRVFLLayer(n_units=30, random_state=0).fit(np.zeros((1, 4)))

    assert (layer.transform(np.full((1, 4), np.nan)) == 0).all()


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_do_not_change_the_result(rng, n_jobs):
    X = rng.uniform(size=(101, 7))
    layer = IntRVFLLayer(n_units=64, random_state=0).fit(X)

    expected = layer.transform(X)
    np.testing.assert_array_equal(layer.set_params(n_jobs=n_jobs).transform(X), expected)


@pytest.mark.compiled
def test_encoding_needs_little_memory_beyond_input_and_output(rng):
    X = rng.uniform(size=(5000, 20))
    layer = IntRVFLLayer(n_units=1000, random_state=0).fit(X)
    layer.transform(X[:2])

    tracemalloc.start()
    output = layer.transform(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak - output.nbytes < 10e6


def test_feature_names_and_pandas_output(rng):
    layer = IntRVFLLayer(n_units=2, random_state=0).set_output(transform="pandas")

    frame = layer.fit_transform(rng.uniform(size=(3, 4)))
    assert list(frame.columns) == ["intrvfllayer0", "intrvfllayer1"]
    assert (frame.dtypes == np.int8).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_units": 0}, "n_units must be at least 1, got 0"),
        ({"clip": 0}, "clip must be at least 1, got 0"),
        ({"clip": 40000}, "clip must be at most 32767, got 40000"),
    ],
)
def test_bad_parameter_is_named_with_its_value(parameters, message):
    with pytest.raises(ValueError, match=message):
        IntRVFLLayer(**parameters).fit(np.zeros((1, 2)))


@pytest.mark.parametrize("clip", [np.uint8(3), np.int64(3)])
def test_numpy_integers_are_taken_as_clip(wine, clip):
    X, _ = wine

    expected = IntRVFLLayer(n_units=20, clip=3, random_state=0).fit_transform(X)
    activations = IntRVFLLayer(n_units=20, clip=clip, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(activations, expected)


def test_clip_changed_after_fit_is_checked(wine):
    layer = IntRVFLLayer(n_units=20, random_state=0).fit(wine[0])

    with pytest.raises(ValueError, match="clip must be at least 1, got 0"):
        layer.set_params(clip=0).transform(wine[0])


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (np.ones((0, 10**8), dtype=np.int8), "keys_ must have at least one of its features"),
        (np.ones((2, 20), dtype=np.int8), "n_features_in_ must be for 2 features"),
        (np.ones((13, 20)), "keys_ must be of type int8, got float64"),
        (np.ones(20, dtype=np.int8), "keys_ must have 2 dimensions, got 1"),
        ([[1] * 20] * 13, "keys_ must be an array"),
    ],
)
def test_keys_that_were_tampered_with_are_refused(keys, message, wine):
    layer = IntRVFLLayer(n_units=20, random_state=0).fit(wine[0])
    layer.keys_ = keys

    with pytest.raises(ValueError, match=message):
        layer.transform(wine[0])


def test_transform_before_fit_is_refused(wine):
    with pytest.raises(NotFittedError):
        IntRVFLLayer().transform(wine[0])


def test_infinity_is_refused():
    with pytest.raises(ValueError, match="infinity"):
        IntRVFLLayer(n_units=5).fit([[np.inf]])
