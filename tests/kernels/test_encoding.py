import time

import numpy as np
import pytest

from hyperlvq.kernels import encoding, scores
from hyperlvq.kernels.scores import activation_dtype

TWINS = pytest.mark.parametrize(
    "encode", [encoding.encode_rows, scores.encode_rows], ids=["compiled", "plain"]
)


def encoded(encode, X, keys, clip):
    activations = np.empty((len(X), keys.shape[1]), dtype=activation_dtype(clip))
    encode(X, keys, clip, activations)
    return activations


def random_keys(rng, n_features, n_units):
    return rng.choice(np.array([-1, 1], dtype=np.int8), size=(n_features, n_units))


@TWINS
def test_encoding_of_a_case_worked_by_hand(encode):
    keys = np.array([[1, 1, -1, -1], [1, -1, 1, -1]], dtype=np.int8)
    X = np.array([[0.5, 0.25]])  # codes [-1, -1, 1, 1] and [-1, 1, 1, 1]

    assert encoded(encode, X, keys, clip=1).tolist() == [[-1, -1, 0, -1]]
    assert encoded(encode, X, keys, clip=3).tolist() == [[-2, -2, 0, -2]]


@TWINS
def test_encoding_is_the_clipped_sum_of_bound_thermometer_codes(encode, rng):
    X, keys = rng.uniform(size=(7, 5)), random_keys(rng, 5, 33)
    levels = np.rint(X * 33)[:, :, np.newaxis]
    codes = np.where(np.arange(33) < levels, -1, 1)

    expected = np.clip((codes * keys).sum(axis=1), -2, 2)
    np.testing.assert_array_equal(encoded(encode, X, keys, clip=2), expected)


@pytest.mark.parametrize(
    ("n_features", "n_units"),
    [(1, 20), (127, 20), (128, 20), (300, 20), (3, 63), (3, 64), (3, 65), (2, 130)],
)
@pytest.mark.parametrize("clip", [1, 7, 127, 128, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_and_plain_encoding_agree(rng, n_features, n_units, clip, dtype):
    X = rng.uniform(-0.2, 1.2, size=(11, n_features)).astype(dtype)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    halves = np.linspace(0, 1, 2 * n_units + 1).astype(dtype)  # every level, and between them
    X = np.concatenate([X, np.tile(halves, (n_features, 1)).T])
    keys = random_keys(rng, n_features, n_units)

    compiled = encoding.encode_rows(X, keys, clip)
    np.testing.assert_array_equal(compiled, encoded(scores.encode_rows, X, keys, clip))


@TWINS
@pytest.mark.parametrize("n_features", [300, 2**15])
def test_sums_reach_the_number_of_features_without_overflow(encode, n_features):
    keys = np.ones((n_features, 4), dtype=np.int8)
    X = np.repeat([[0.0], [1.0]], n_features, axis=1)

    highest = min(n_features, 2**15 - 1)
    sums = encoded(encode, X, keys, clip=2**15 - 1)
    assert sums.tolist() == [[highest] * 4, [-highest] * 4]


@TWINS
def test_halves_round_to_even_levels(encode):
    keys = np.ones((1, 4), dtype=np.int8)

    levels = [(row < 0).sum() for row in encoded(encode, np.array([[0.125], [0.375]]), keys, 1)]
    assert levels == [0, 2]  # 0.5 and 1.5


def test_sum_type_is_the_narrowest_that_cannot_overflow():
    assert encoding.sum_dtype(127) == np.int8
    assert encoding.sum_dtype(128) == np.int16
    assert encoding.sum_dtype(32767) == np.int16
    assert encoding.sum_dtype(32768) == np.int32


@pytest.mark.compiled
def test_compiled_encoding_is_twenty_times_as_fast_as_plain(rng):
    X, keys = rng.uniform(size=(5000, 20)), random_keys(rng, 20, 1000)

    def seconds(encode):
        start = time.perf_counter()
        encoded(encode, X, keys, clip=3)
        return time.perf_counter() - start

    seconds(encoding.encode_rows)
    compiled = np.median([seconds(encoding.encode_rows) for _ in range(9)])
    assert np.median([seconds(scores.encode_rows) for _ in range(3)]) > 20 * compiled
