import numpy as np
import pytest

from hyperlvq.kernels import comparisons, scores, units
from hyperlvq.kernels.comparisons import cuts_of, draw_units
from hyperlvq.kernels.units import CONSTANT_UNIT, KINDS, Units

TWINS = pytest.mark.parametrize(
    "compare_rows", [comparisons.compare_rows, units.compare_rows], ids=["compiled", "plain"]
)
KIND = pytest.mark.parametrize("kind", KINDS[:3])


def units_of(kind, features, thresholds, keys):
    return Units(
        np.array(features, np.int32),
        np.array(thresholds, float),
        np.array(keys, np.int8),
        np.array([KINDS.index(kind)], np.int32),
    )


def drawn(rng, kind, n_units=20, n_features=6):
    X = rng.uniform(size=(50, n_features))
    cuts = [cuts_of(column, np.ones(50)) for column in X.T]
    return draw_units(kind, n_units, cuts, np.random.RandomState(0))


@TWINS
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("conjunction", [0, 0, 0, 1, 2]),
        ("majority", [-1, -1, -1, 1, 1, 1]),
        ("parity", [1, -1, 1, -1, 1]),
    ],
)
def test_activation_depends_on_how_many_comparisons_hold(compare_rows, kind, expected):
    n_inputs = len(expected) - 1
    unit = units_of(kind, range(n_inputs), np.ones(n_inputs), np.ones(n_inputs))
    X = np.tri(n_inputs + 1, n_inputs, -1)  # 0, 1, 2, … features reach their thresholds

    assert compare_rows(X, unit)[:, 0].tolist() == expected


@TWINS
def test_key_says_on_which_side_of_its_threshold_a_comparison_holds(compare_rows):
    unit = units_of("parity", [0, 1, 2, 3], [5, 0, 0, 0], [-1, 1, 1, 1])
    X = np.array([[4.9, -1, -1, -1], [5.0, -1, -1, -1], [np.nan, -1, -1, -1]])

    assert compare_rows(X, unit)[:, 0].tolist() == [-1, 1, -1]


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 200, 1023, 1024, 1100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_and_plain_comparisons_agree(rng, n_rows, dtype):
    mixed = Units.joined([drawn(rng, kind) for kind in KINDS[:3]] + [CONSTANT_UNIT])
    # Values that are equal to thresholds, which are of both keys.
    X = rng.choice(mixed.thresholds, (n_rows, 6)).astype(dtype)
    mixed = mixed._replace(thresholds=mixed.thresholds.astype(dtype).astype(float))
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    expected, coefficients = units.compare_rows(X, mixed), rng.normal(size=(3, 61))

    np.testing.assert_array_equal(comparisons.compare_rows(X, mixed), expected)
    found = comparisons.score_rows(X, mixed, coefficients)
    np.testing.assert_array_equal(found, scores.linear_scores(expected, coefficients))


def test_more_thresholds_of_a_feature_than_two_bytes_count(rng, monkeypatch):
    monkeypatch.setattr(comparisons, "RANKED_ROWS", 1)
    many = drawn(rng, "parity", n_units=8200, n_features=1)
    X = rng.uniform(size=(5, 1))

    assert np.bincount(many.features).max() > np.iinfo(np.int16).max
    found = comparisons.compare_rows(X, many)
    np.testing.assert_array_equal(found, units.compare_rows(X, many))


def test_scores_are_the_same_on_any_number_of_threads_and_beside_any_rows(rng):
    mixed = Units.joined([drawn(rng, kind, 400) for kind in KINDS[:3]])
    X, coefficients = rng.uniform(size=(1100, 6)), rng.normal(size=(4, 1200))
    expected = comparisons.score_rows(X, mixed, coefficients, n_threads=1)

    np.testing.assert_array_equal(
        comparisons.score_rows(X, mixed, coefficients, n_threads=3), expected
    )
    alone = [comparisons.score_rows(X[[row]], mixed, coefficients)[0] for row in range(10)]
    np.testing.assert_array_equal(alone, expected[:10])


def test_some_units_taken_are_those_units(rng):
    mixed = Units.joined([drawn(rng, kind) for kind in KINDS[:3]] + [CONSTANT_UNIT])
    chosen, X = np.array([0, 59, 60, 21, 20]), rng.uniform(size=(9, 6))

    found = units.compare_rows(X, mixed.take(chosen))
    np.testing.assert_array_equal(found, units.compare_rows(X, mixed)[:, chosen])


def test_cuts_are_values_and_scaled_ranks_of_their_middles():
    cuts = cuts_of(np.array([3.0, 1.0, 1.0, 7.0]), np.ones(4))

    assert cuts.values.tolist() == [1, 3, 7]
    np.testing.assert_allclose(cuts.ranks, [0, 1.5 / 2.5, 1])
    halfway = cuts.between(np.array([0.5, 0.6]), by_rank=np.array([False, True]))
    np.testing.assert_allclose(halfway, [4, 3])


def test_weights_act_as_repetition_of_values():
    weighted = cuts_of(np.array([3.0, 1.0, 7.0]), np.array([1.0, 2.0, 3.0]))
    repeated = cuts_of(np.array([3.0, 1.0, 1.0, 7.0, 7.0, 7.0]), np.ones(6))

    np.testing.assert_allclose(weighted.ranks, repeated.ranks)


@pytest.mark.parametrize("column", [[2.0, 2.0], [np.nan, np.nan]])
def test_feature_that_does_not_vary_has_no_cuts(column):
    assert cuts_of(np.array(column), np.ones(2)) is None


def test_missing_values_are_cut_off_before_the_smallest():
    cuts = cuts_of(np.array([np.nan, 5.0, 3.0]), np.ones(3))

    assert cuts.values.tolist() == [3, 3, 5]
    assert cuts.ranks.tolist() == [0, 0.5, 1]


def test_threshold_at_the_smallest_value_tells_missing_values_from_it():
    cuts = cuts_of(np.array([np.nan, 2.0, np.nan]), np.ones(3))

    assert (cuts.between(np.linspace(0.1, 1, 5), by_rank=np.arange(5) % 2) == 2).all()


@KIND
def test_thresholds_lie_above_the_smallest_value_and_up_to_the_largest(kind):
    cuts = [cuts_of(np.array([0.0, 1.0]), np.ones(2))] * 3
    found = draw_units(kind, 500, cuts, np.random.RandomState(0))

    assert (found.thresholds > 0).all()
    assert (found.thresholds <= 1).all()


@KIND
def test_units_read_different_features_unless_there_are_too_few(rng, kind):
    of_many = drawn(rng, kind, n_features=6)
    of_two = drawn(rng, kind, n_features=2)

    assert all(len(set(row)) == len(row) for row in of_many.features.reshape(20, -1))
    assert all(set(row) == {0, 1} for row in of_two.features.reshape(20, -1))


def test_relevant_features_are_read_more_often_and_constant_ones_never():
    values = np.array([[0.0, 1.0], [0.0, 0.0]] + [[0.0, 1.0]] * 8)
    cuts = [cuts_of(column, np.ones(2)) for column in values]
    relevances = np.full(10, 0.05)
    relevances[5] = 0.6
    found = draw_units("conjunction", 1000, cuts, np.random.RandomState(0), relevances)

    counts = np.bincount(found.features, minlength=10)
    assert counts[1] == 0
    assert counts[5] > 1.8 * np.delete(counts, 5).max()


def test_units_of_constant_features_can_be_drawn():
    found = draw_units("majority", 3, [None, None], np.random.RandomState(0))

    assert comparisons.compare_rows(np.zeros((2, 2)), found).shape == (2, 3)
