import numpy as np
import plain
import pytest
from threadpoolctl import threadpool_limits

from hyperlvq.kernels import distances, scores, threads

DTYPES = pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.float32, np.float64])
INTEGERS = pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])


@DTYPES
def test_sums_and_distances_are_those_of_numpy(rng, dtype):
    X, prototypes = rng.integers(0, 9, size=(50, 7)).astype(dtype), rng.normal(size=(4, 7))
    y, weights, wide = rng.integers(3, size=50), rng.uniform(size=50), X.astype(float)

    np.testing.assert_allclose(distances.squared_norms(X), (wide**2).sum(axis=1))
    one_hot = np.eye(4)[y]
    np.testing.assert_allclose(distances.class_sums(X, y, weights, 4), one_hot.T * weights @ wide)
    found = scores.squared_distances(X, prototypes)
    np.testing.assert_allclose(found, plain.squared_distances(X, prototypes), atol=1e-7)


def random_problem(rng, dtype, n_samples=2 * distances.CACHED_ROWS + 5, n_prototypes=7):
    """Return samples, prototypes and their classes, of which there are four."""
    X = rng.integers(0, 100, size=(n_samples, 33)).astype(dtype)
    return X, 20 * rng.normal(size=(n_prototypes, 33)), np.arange(n_prototypes) % 3


@DTYPES
def test_scores_are_minus_the_smallest_distances(rng, dtype):
    X, prototypes, classes = random_problem(rng, dtype)

    found = distances.prototype_scores(X, prototypes, classes, 4)

    expected = scores.closest_per_class(plain.squared_distances(X, prototypes), classes, 4)
    np.testing.assert_allclose(found, -expected, rtol=1e-9)
    expected = X.astype(np.float64) @ prototypes.T
    found = distances.linear_scores(X, prototypes)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-5)


@INTEGERS
def test_compiled_scores_of_integers_are_those_of_numpy_to_the_last_bit(rng, dtype):
    X, prototypes, classes = random_problem(rng, dtype)

    for name, *arguments in (("prototype_scores", classes, 4), ("linear_scores",)):
        found, expected = (
            getattr(module, name)(X, prototypes, *arguments) for module in (distances, scores)
        )
        np.testing.assert_array_equal(found, expected)


@DTYPES
def test_a_sample_has_the_same_scores_alone_and_beside_any_others(rng, dtype):
    X, prototypes, classes = random_problem(rng, dtype, n_samples=7)
    X = (X * rng.uniform(size=X.shape)).astype(dtype)

    together = distances.prototype_scores(X, prototypes, classes, 4)

    for m, expected in enumerate(together):
        for rows in ([m], [m, 0], [3, m], [0, 1, m]):
            found = distances.prototype_scores(X[rows], prototypes, classes, 4)
            np.testing.assert_array_equal(found[rows.index(m)], expected)


@DTYPES
def test_scores_do_not_depend_on_the_number_of_threads(rng, dtype, monkeypatch):
    X, prototypes, classes = random_problem(rng, dtype)
    monkeypatch.setattr(threads, "PRODUCTS_WORTH_A_THREAD", 1)
    found = []
    for n_threads in (1, 2, 4):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(distances.prototype_scores(X, prototypes, classes, 4))

    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@INTEGERS
def test_weights_for_integers_are_rounded_so_that_no_sum_of_products_is(rng, dtype):
    weights = rng.normal(size=(5, 1000)) * 10.0 ** rng.integers(-9, 9, size=(5, 1))
    X = np.full((1, 1000), float(np.iinfo(dtype).max))

    exact = scores.exactly_summable(weights, np.dtype(dtype))

    largest_sum = 2 * X[0, 0] * np.abs(weights).sum(axis=1).max()
    np.testing.assert_allclose(exact, weights, rtol=0, atol=2.0**-52 * largest_sum)
    products = X * exact
    backwards = products[:, ::-1].cumsum(axis=1)[:, -1]
    np.testing.assert_array_equal(products.cumsum(axis=1)[:, -1], backwards)


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-300, 1e300])
def test_weights_of_any_size_stay_finite_when_rounded(size):
    exact = scores.exactly_summable(np.full((2, 3), size), np.dtype(np.int8))

    np.testing.assert_allclose(exact, size, rtol=1e-12)


def test_squared_distance_to_itself_is_never_negative(rng):
    X = rng.normal(size=(50, 9)) * 1e6

    assert scores.squared_distances(X, X).min() >= 0
    assert distances.prototype_scores(X, X, np.zeros(50, int), 1).max() <= 0


@pytest.mark.parametrize("module", [distances, scores])
@pytest.mark.parametrize("size", [1e160, np.nan])
def test_scores_that_are_not_finite_are_refused(module, size):
    X = np.array([[1.0, 0.0], [size, 0.0], [1.0, 0.0]])

    with np.errstate(all="ignore"):
        with pytest.raises(ValueError, match="squared distances are not finite: features are too"):
            module.prototype_scores(X, np.eye(2), np.arange(2), 2)
        with pytest.raises(ValueError, match="scores are not finite: features are too large"):
            module.linear_scores(X, 1e200 * np.eye(2))


def test_a_distance_that_is_no_number_is_not_forgotten():
    prototypes = np.array([[np.nan, 0], [1.0, 2.0], [5.0, 5.0]])

    with pytest.raises(ValueError, match="squared distances are not finite"):
        distances.prototype_scores(np.ones((1, 2)), prototypes, np.arange(3), 3)


def test_closest_per_class_is_infinite_for_a_class_without_prototypes():
    table = np.array([[3.0, 1.0, 2.0]])

    closest = scores.closest_per_class(table, np.array([0, 0, 2]), n_classes=3)
    assert closest.tolist() == [[1.0, np.inf, 2.0]]
