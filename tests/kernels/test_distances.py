import numpy as np
import pytest

from hyperlvq.kernels import distances, plain, scores

DTYPES = pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.float64])


@DTYPES
def test_sums_agree_with_their_plain_twins_across_blocks(rng, dtype):
    n_samples = scores.PREDICTION_ROWS + 5
    X = rng.integers(-9, 9, size=(n_samples, 7)).astype(dtype)
    y, weights = rng.integers(3, size=n_samples), rng.uniform(size=n_samples)
    prototypes = rng.normal(size=(4, 7))
    for name, *arguments in (
        ("squared_norms",),
        ("class_sums", y, weights, 4),
        ("squared_distances", prototypes),
    ):
        found, expected = (getattr(kind, name)(X, *arguments) for kind in (distances, plain))
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_squared_distance_to_itself_is_never_negative(rng):
    X = rng.normal(size=(50, 9)) * 1e6

    assert distances.squared_distances(X, X).min() >= 0


def test_closest_per_class_is_infinite_for_a_class_without_prototypes():
    table = np.array([[3.0, 1.0, 2.0]])

    closest = scores.closest_per_class(table, np.array([0, 0, 2]), n_classes=3)
    assert closest.tolist() == [[1.0, np.inf, 2.0]]


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_row_blocks_cover_all_rows_in_the_type_asked_for(rng, dtype):
    X = rng.integers(-9, 9, size=(10, 3)).astype(dtype)

    blocks = [(rows, block.copy()) for rows, block in scores.row_blocks(X, np.float32, 4)]
    assert [len(block) for _, block in blocks] == [4, 4, 2]
    assert all(block.dtype == np.float32 for _, block in blocks)
    np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), X)
