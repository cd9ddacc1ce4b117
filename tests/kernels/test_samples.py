import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperlvq.kernels import samples


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.float64])
def test_canonical_samples_do_not_depend_on_order_or_repetition(rng, dtype):
    X = rng.integers(-1, 2, size=(40, 3)).astype(dtype)
    y = rng.integers(2, size=40)
    counts = rng.integers(1, 4, size=40)
    rows = rng.permutation(np.repeat(np.arange(40), counts))

    weighted = samples.canonical_samples(X, y, counts.astype(float))
    repeated = samples.canonical_samples(X[rows], y[rows], np.ones(len(rows)))
    for one, other in zip(weighted, repeated, strict=True):
        np.testing.assert_array_equal(one, other)


def test_canonical_samples_keep_every_sample_and_its_weight(rng):
    X = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [1.0, 2.0]])
    y = np.array([0, 0, 1, 0])

    distinct, classes, weights = samples.canonical_samples(X, y, np.array([1.0, 2.0, 4.0, 8.0]))
    found = {(*x, c): w for x, c, w in zip(distinct.tolist(), classes, weights, strict=True)}
    assert found == {(1.0, 2.0, 0): 9.0, (0.0, 1.0, 0): 2.0, (1.0, 2.0, 1): 4.0}
    assert classes.tolist() == [0, 0, 1]


def test_rows_of_one_hash_are_not_taken_for_equal(monkeypatch, rng):
    monkeypatch.setattr(samples, "row_hashes", lambda words: np.zeros(len(words), np.uint64))
    X = np.arange(6.0).reshape(3, 2)

    distinct, _, _ = samples.canonical_samples(X, np.zeros(3, int), np.ones(3))
    assert len(distinct) == 3


def test_whole_weights_count_visits(rng):
    assert samples.visit_counts(np.array([3.0, 1.0, 2.0]), rng).tolist() == [3, 1, 2]


@given(
    st.lists(st.floats(0.01, 50), min_size=1, max_size=30),
    st.integers(0, 2**32 - 1),
)
def test_other_weights_are_scaled_to_one_visit_on_average(weights, seed):
    weights = np.array([*weights, 0.5])

    counts = samples.visit_counts(weights, np.random.default_rng(seed))
    shares = weights * len(weights) / weights.sum()
    assert counts.sum() in (len(weights) - 1, len(weights))
    assert (np.abs(counts - shares) <= 1 + 1e-6).all()


def test_a_pass_visits_rows_as_often_as_they_weigh(rng):
    weights = np.array([2.0, 1.0, 3.0])

    ordered = samples.visits_of_pass(weights, rng, shuffle=False)
    shuffled = samples.visits_of_pass(weights, rng, shuffle=True)
    assert ordered.tolist() == [0, 0, 1, 2, 2, 2]
    assert sorted(shuffled) == ordered.tolist()
