"""Units that compare a few features with thresholds of their own, and count what holds.

A comparison with key +1 holds where x ≥ t, one with key -1 where it does not: a missing value lies
below every threshold. The kind of a unit says which activation each count stands for.
"""

from typing import Any, NamedTuple

import numpy as np

from hyperlvq.kernels.compiled import compiled
from hyperlvq.kernels.scores import check_finite, exactly_summable
from hyperlvq.kernels.threads import share_rows
from hyperlvq.kernels.units import COUNTS, KINDS, N_COMPARISONS, Units, places_of

# Samples and units whose activations are computed before any of them is used.
LANES, UNITS_AT_ONCE = 64, 32
# Samples for which it pays to sort all thresholds.
RANKED_ROWS = 1024
# Comparisons that are made while a prediction makes one product.
COMPARISONS_PER_PRODUCT = 2
# Of units whose activations are wanted, not their scores.
NO_WEIGHTS = np.empty((0, 0))
# Random numbers that are drawn at once.
MOST_DRAWN = 2**22


class Cuts(NamedTuple):
    """Where thresholds of a feature can be: the values seen in training, and their ranks.

    Ranks are those of the middle of equal values, scaled to [0, 1]. Missing values come first, at
    the smallest value: a threshold there tells them from all others.
    """

    values: np.ndarray
    ranks: np.ndarray

    def between(self, shares: np.ndarray, by_rank: np.ndarray) -> np.ndarray:
        """Return the thresholds of shares in (0, 1] of the way from the first to the last."""
        first, last = self.values[0], self.values[-1]
        evenly = (1 - shares) * first + shares * last  # whose difference may be infinite
        return np.where(by_rank, np.interp(shares, self.ranks, self.values), evenly)


def cuts_of(column: np.ndarray, weights: np.ndarray) -> Cuts | None:
    """Return the cuts of a feature; None where one threshold cannot tell two samples apart."""
    column = column.astype(np.float64, copy=False)
    is_missing = np.isnan(column)
    values, index = np.unique(column[~is_missing], return_inverse=True)
    totals = np.bincount(index, weights[~is_missing], minlength=len(values))
    if len(values) and is_missing.any():
        values = np.concatenate([values[:1], values])
        totals = np.concatenate([[weights[is_missing].sum()], totals])
    if len(values) < 2:
        return None
    middles = np.cumsum(totals) - totals / 2
    return Cuts(values, (middles - middles[0]) / (middles[-1] - middles[0]))


def draw_units(
    kind: str,
    n_units: int,
    cuts: list[Any],
    rng: np.random.RandomState,
    relevances: np.ndarray | None = None,
) -> Units:
    """Return units of a kind that read features at random.

    `cuts` has the cuts of each feature, None for those that are never read unless all are.
    Features with larger `relevances` are read by more units. Half of the units have thresholds
    that are spread evenly over the values, half over the ranks.
    """
    n_inputs = N_COMPARISONS[KINDS.index(kind)]
    usable = np.array([i for i, each in enumerate(cuts) if each is not None], dtype=np.intp)
    shape = n_units, n_inputs
    if len(usable) == 0:
        features, thresholds = np.zeros(shape, np.int32), np.zeros(shape)
    else:
        chances = None if relevances is None else relevances[usable]
        features = usable[_draw_features(len(usable), shape, chances, rng)].astype(np.int32)
        thresholds = _draw_thresholds(features, cuts, rng)
    keys = rng.randint(2, size=shape, dtype=np.int8) * 2 - 1
    kinds = np.full(n_units, KINDS.index(kind), dtype=np.int32)
    return Units(features.ravel(), thresholds.ravel(), keys.ravel(), kinds)


def _draw_features(n_features, shape, chances, rng):
    """Return the features of each unit, all different unless there are too few."""
    n_units, n_inputs = shape
    n_different = min(n_inputs, n_features)
    drawn = np.empty((n_units, n_different), dtype=np.intp)
    step = max(1, MOST_DRAWN // n_features)
    for start in range(0, n_units, step):
        rows = slice(start, min(start + step, n_units))
        # The first to arrive, where each arrives after a time that is exponential.
        times = rng.standard_exponential((rows.stop - rows.start, n_features))
        if chances is not None:
            times /= chances
        drawn[rows] = np.argpartition(times, n_different - 1, axis=1)[:, :n_different]
    return drawn[:, np.arange(n_inputs) % n_different]


def _draw_thresholds(features, cuts, rng):
    shares = 1 - rng.random_sample(features.shape)
    by_rank = np.broadcast_to(np.arange(len(features))[:, None] % 2 == 1, features.shape)
    thresholds = np.empty(features.shape)
    for feature, places in places_of(features.ravel()):
        chosen = shares.ravel()[places], by_rank.ravel()[places]
        thresholds.ravel()[places] = cuts[feature].between(*chosen)
    return thresholds


def compare_rows(X: np.ndarray, units: Units, n_threads: int | None = None) -> np.ndarray:
    """Return the activation of every unit for every row of X (samples × units, int8).

    The threads are as many as BLAS has unless given.
    """
    activations = np.empty((len(X), len(units.kinds)), dtype=np.int8)
    _share_rows(X, units, NO_WEIGHTS, activations, n_threads)
    return activations


def score_rows(
    X: np.ndarray, units: Units, coefficients: np.ndarray, n_threads: int | None = None
) -> np.ndarray:
    """Return the linear scores of what `compare_rows` returns, without an array of that size."""
    weights = exactly_summable(coefficients, np.dtype(np.int8))
    padding = -weights.shape[1] % UNITS_AT_ONCE
    scores = np.empty((len(X), len(weights)))
    _share_rows(X, units, np.pad(weights, ((0, 0), (0, padding))), scores, n_threads)
    check_finite(scores, "scores")
    return scores


def _share_rows(X, units, weights, outputs, n_threads):
    comparisons = _comparisons(units, X)
    n_products = len(units.features) // COMPARISONS_PER_PRODUCT + weights.size
    share_rows(
        lambda rows: write_rows(X[rows], comparisons, weights, outputs[rows]),
        len(X),
        n_products,
        n_threads,
    )


class Comparisons(NamedTuple):
    """Units as compiled loops take them: every comparison is one of a column with a place, c ≥ p.

    Columns hold the features: of few samples their values, of many their ranks, which are small
    integers, so that more are compared at once. The rank of a value is the number of its feature's
    thresholds that it reaches; places are thresholds, or their positions among those of a feature.
    For comparisons with key -1 there is a second column per feature, and -p: of integers c < p is
    -1 - c ≥ -p, and of values -1 - c is the largest number below -c.
    """

    columns: np.ndarray
    places: np.ndarray
    kinds: np.ndarray
    thresholds: np.ndarray  # sorted, one feature after the other; none if there are no ranks
    starts: np.ndarray  # where those of each feature start, and the end of the last


def _comparisons(units: Units, X: np.ndarray) -> Comparisons:
    n_features = X.shape[1]
    columns = np.where(units.keys > 0, units.features, units.features + n_features)
    if len(X) < RANKED_ROWS:
        places = units.thresholds * units.keys
        return Comparisons(columns, places, units.kinds, np.empty(0), np.empty(0, np.intp))
    order = np.lexsort((units.thresholds, units.features))
    n_thresholds = np.bincount(units.features, minlength=n_features)
    starts = np.concatenate([[0], np.cumsum(n_thresholds)])
    fits = n_thresholds.max(initial=0) < np.iinfo(np.int16).max
    places = np.empty(len(order), np.int16 if fits else np.int32)
    places[order] = np.arange(len(order)) - np.repeat(starts[:-1], n_thresholds) + 1
    places *= units.keys
    return Comparisons(columns, places, units.kinds, units.thresholds[order], starts)


@compiled
def write_rows(
    X: np.ndarray, comparisons: Comparisons, weights: np.ndarray, outputs: np.ndarray
) -> None:
    """Write scores by weights that are padded by zeros, or activations where there are none."""
    columns, places, kinds, thresholds, starts = comparisons
    n_lanes = min(LANES, X.shape[0])
    values = np.empty((2 * X.shape[1], n_lanes), dtype=places.dtype)
    found = np.zeros((UNITS_AT_ONCE, n_lanes), dtype=outputs.dtype)
    sums = np.empty((len(weights), n_lanes))
    for start in range(0, X.shape[0], LANES):
        n_rows, position = min(LANES, X.shape[0] - start), 0
        _write_values(X[start : start + n_rows], thresholds, starts, values)
        sums[:] = 0
        for first in range(0, len(kinds), UNITS_AT_ONCE):
            block_kinds = kinds[first : first + UNITS_AT_ONCE]
            position = _compare_block(block_kinds, position, columns, places, values, found)
            for row in range(len(weights)):
                _add_products(weights[row, first : first + UNITS_AT_ONCE], found, sums[row])
            if len(weights) == 0:
                _copy_transposed(
                    found, outputs[start : start + n_rows, first : first + len(block_kinds)]
                )
        if len(weights) > 0:
            _copy_transposed(sums, outputs[start : start + n_rows])


@compiled
def _copy_transposed(columns, rows):
    for m in range(rows.shape[0]):
        row = rows[m]
        for n in range(rows.shape[1]):
            row[n] = columns[n, m]


@compiled
def _compare_block(kinds, start, columns, places, values, found):
    """Write the activations of some units, from a position on; return where the next one starts."""
    n_holding = np.empty(values.shape[1], dtype=values.dtype)  # as wide as what is compared
    position = start
    for unit in range(len(kinds)):
        n_comparisons = N_COMPARISONS[kinds[unit]]
        _count(values, columns, places, position, n_comparisons, n_holding)
        _activate(n_holding, COUNTS[kinds[unit]], found[unit])
        position += n_comparisons
    return position


@compiled
def _write_values(X, thresholds, starts, values):
    """Write values or ranks and their opposites; a missing value lies below all thresholds."""
    n_features = X.shape[1]
    for i in range(n_features):
        for lane in range(X.shape[0]):
            value = X[lane, i]
            if len(starts) == 0:
                values[i, lane] = value
                values[n_features + i, lane] = (
                    np.inf if np.isnan(value) else np.nextafter(np.float64(-value), -np.inf)
                )
            else:
                rank = _reached(value, thresholds[starts[i] : starts[i + 1]])
                values[i, lane] = rank
                values[n_features + i, lane] = -1 - rank


@compiled
def _reached(value, thresholds):
    """Return how many sorted thresholds a value reaches."""
    low, high = 0, len(thresholds)
    while low < high:
        middle = (low + high) // 2
        if value >= thresholds[middle]:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _count(values, columns, places, start, n_comparisons, n_holding):
    """Write how many comparisons of a unit hold: four in one loop, which is vectorised."""
    at = start
    if n_comparisons >= 4:
        a, b = values[columns[at]], values[columns[at + 1]]
        c, d = values[columns[at + 2]], values[columns[at + 3]]
        p, q, r, s = places[at], places[at + 1], places[at + 2], places[at + 3]
        for lane in range(len(n_holding)):
            n_holding[lane] = (
                int(a[lane] >= p) + int(b[lane] >= q) + int(c[lane] >= r) + int(d[lane] >= s)
            )
        at += 4
    else:
        n_holding[:] = 0
    while at < start + n_comparisons:
        a, p = values[columns[at]], places[at]
        for lane in range(len(n_holding)):
            n_holding[lane] += a[lane] >= p
        at += 1


@compiled
def _activate(n_holding, of_count, found):
    """Write the activation for each number of comparisons that hold, without a look-up."""
    a, b, c = of_count[0], of_count[1], of_count[2]
    d, e, f = of_count[3], of_count[4], of_count[5]
    for lane in range(len(found)):
        n = n_holding[lane]
        found[lane] = (
            a if n == 0 else b if n == 1 else c if n == 2 else d if n == 3 else e if n == 4 else f
        )


@compiled
def _add_products(weights, found, sums):
    """Add what units contribute to the scores of a class, four of them in one loop."""
    for i in range(0, UNITS_AT_ONCE, 4):
        a, b, c, d = found[i], found[i + 1], found[i + 2], found[i + 3]
        p, q, r, s = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for lane in range(len(sums)):
            sums[lane] += p * a[lane] + q * b[lane] + r * c[lane] + s * d[lane]
