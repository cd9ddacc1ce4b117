"""Units that compare a few features with thresholds of their own, and count what holds.

A comparison with key +1 holds where x ≥ t, one with key -1 where it does not: a missing value lies
below every threshold. The kind of a unit says which activation each count stands for.
"""

from typing import Any, NamedTuple

import numpy as np

from hyperlvq.kernels.compiled import compiled
from hyperlvq.kernels.threads import share_rows
from hyperlvq.kernels.units import COUNTS, KINDS, N_COMPARISONS, Units, places_of

# Samples that are compared with a threshold at once.
LANES = 64
# Comparisons that are made while a prediction makes one product.
COMPARISONS_PER_PRODUCT = 2
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
    arrays = units.features, units.thresholds, units.keys, units.kinds
    share_rows(
        lambda rows: compare(X[rows], *arrays, N_COMPARISONS, COUNTS, activations[rows]),
        len(X),
        len(units.features) // COMPARISONS_PER_PRODUCT,
        n_threads,
    )
    return activations


@compiled
def compare(X, features, thresholds, keys, kinds, n_comparisons, counts, activations):
    """Write the activations of `compare_rows`."""
    columns = np.empty((X.shape[1], LANES), dtype=np.float64)
    n_holding = np.empty(LANES, dtype=np.float64)  # as wide as what is compared
    for start in range(0, X.shape[0], LANES):
        n_rows = min(LANES, X.shape[0] - start)
        for i in range(X.shape[1]):
            for lane in range(n_rows):
                columns[i, lane] = X[start + lane, i]
        position = 0
        for unit in range(kinds.shape[0]):
            n_holding[:] = 0
            for _ in range(n_comparisons[kinds[unit]]):
                values, threshold = columns[features[position]], thresholds[position]
                reached, missed = (1.0, 0.0) if keys[position] > 0 else (0.0, 1.0)
                for lane in range(LANES):
                    n_holding[lane] += reached if values[lane] >= threshold else missed
                position += 1
            of_kind = counts[kinds[unit]]
            for lane in range(n_rows):
                activations[start + lane, unit] = of_kind[int(n_holding[lane])]
