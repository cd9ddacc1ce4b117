import numpy as np
import pytest

from hyperlvq.kernels import distances, plain, scores

DTYPES = pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.float64])


@DTYPES
def test_squared_norms_agree_with_their_plain_twin(rng, dtype):
    X = rng.integers(-9, 9, size=(20, 7)).astype(dtype)

    np.testing.assert_allclose(distances.squared_norms(X), plain.squared_norms(X))


@DTYPES
def test_class_sums_agree_with_their_plain_twin(rng, dtype):
    X = rng.integers(-9, 9, size=(20, 7)).astype(dtype)
    y, weights = rng.integers(3, size=20), rng.uniform(size=20)

    expected = plain.class_sums(X, y, weights, 4)
    np.testing.assert_allclose(distances.class_sums(X, y, weights, 4), expected, atol=1e-12)


@DTYPES
def test_squared_distances_agree_with_their_plain_twin_across_blocks(rng, dtype):
    X = rng.integers(-9, 9, size=(scores.PREDICTION_ROWS + 5, 7)).astype(dtype)
    prototypes = rng.normal(size=(4, 7))

    expected = plain.squared_distances(X, prototypes)
    np.testing.assert_allclose(distances.squared_distances(X, prototypes), expected)


def test_squared_distance_to_itself_is_never_negative(rng):
    X = rng.normal(size=(50, 9)) * 1e6

    assert distances.squared_distances(X, X).min() >= 0


def test_closest_per_class_is_infinite_for_a_class_without_prototypes():
    table = np.array([[3.0, 1.0, 2.0]])

    closest = scores.closest_per_class(table, np.array([0, 0, 2]), n_classes=3)
    assert closest.tolist() == [[1.0, np.inf, 2.0]]


def test_mean_of_a_class_without_samples_is_zero():
    X, y, weights = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 1]), np.array([3.0, 1.0])

    assert distances.class_means(X, y, weights, 2).tolist() == [[0, 0], [1.5, 2.5]]


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_row_blocks_cover_all_rows_in_the_type_asked_for(rng, dtype):
    X = rng.integers(-9, 9, size=(10, 3)).astype(dtype)

    blocks = [(rows, block.copy()) for rows, block in scores.row_blocks(X, np.float32, 4)]
    assert [len(block) for _, block in blocks] == [4, 4, 2]
    assert all(block.dtype == np.float32 for _, block in blocks)
    np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), X)
