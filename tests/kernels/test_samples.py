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
    monkeypatch.setattr(samples, "row_hashes", lambda integers: np.zeros(len(integers), np.uint64))
    X = np.arange(6.0).reshape(3, 2)

    distinct, _, _ = samples.canonical_samples(X, np.zeros(3, int), np.ones(3))
    assert len(distinct) == 3


@pytest.mark.parametrize("weights", [[0.5, 1.0, 0.1], [3e9, 1e9, 2e9], [1e300, 2e300, 1e300]])
def test_other_weights_are_scaled_to_one_visit_on_average(weights):
    weights = np.array(weights)

    visits = samples.weights_as_visits(weights)
    assert visits.mean() == pytest.approx(1)
    np.testing.assert_allclose(visits / visits[0], weights / weights[0])


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        (np.ones(2**20 + 1), True),
        (np.full(3, 2.0**50), True),
        (np.full(3, 2.0**52), False),  # their sum is above 2**53
        (np.array([1.0, 0.5]), False),
    ],
)
def test_whole_weights_are_counts_as_long_as_sums_are_exact(weights, expected):
    assert samples.are_counts(weights) == expected


def test_a_pass_visits_rows_as_often_as_counted_up_to_its_limit():
    most, more = (np.array([3.0, samples.MOST_VISITS - 3 + extra]) for extra in (0, 1))

    assert samples.weights_as_visits(most) is most
    assert samples.weights_as_visits(more).mean() == pytest.approx(1)


@given(
    st.lists(st.floats(0.01, 5), min_size=1, max_size=30),
    st.floats(0, 1, exclude_max=True),
)
def test_a_row_is_visited_its_weight_rounded_up_or_down(weights, offset):
    visits, left_over = samples.visits_of_pass(np.array(weights), offset)

    counts = np.bincount(visits, minlength=len(weights))
    assert (np.abs(counts - weights) < 1 + 1e-9).all()
    assert abs(counts.sum() - sum(weights)) < 1 + 1e-9
    assert left_over == pytest.approx(sum(weights) + offset - counts.sum(), abs=1e-9)
    assert (np.diff(visits) >= 0).all()


def test_whole_weights_are_visited_exactly_whatever_the_offset():
    weights = np.array([2.0, 1.0, 3.0])

    assert samples.weights_as_visits(weights) is weights
    for offset in (0.0, 0.5, 0.999):
        visits, left_over = samples.visits_of_pass(weights, offset)
        assert visits.tolist() == [0, 0, 1, 2, 2, 2]
        assert left_over == pytest.approx(offset)


@pytest.mark.parametrize("share", [0.1, 1 / 3, 0.7])
def test_shares_of_a_visit_add_up_from_call_to_call(share):
    carried, n_visits = 0.0, 0
    for _ in range(300):
        visits, carried = samples.visits_of_pass(np.full(10, share), carried)
        n_visits += len(visits)
        assert carried >= 0  # where sums of shares are a rounding short

    assert n_visits == round(3000 * share)
