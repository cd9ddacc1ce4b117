"""The samples as a learner meets them: in which order, and how often.

`canonical_samples` depends on what the rows hold, not on where they stand, and counts equal
samples once with their total weight: shuffled data, or repetition written as weight, then
gives the same model to the last bit.
"""

import numpy as np

from hyperlvq.kernels.compiled import compiled

HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
HASH_SHIFT = np.uint64(32)
# Sums of counts are exact in float64 up to here.
LARGEST_TOTAL = 2**53
# Whole weights with a larger total would make a pass of an online rule too long.
MOST_VISITS = 2**20
# Sums of at most that many visits are exact to this.
ROUNDING = 1e-8


@compiled
def row_hashes(integers: np.ndarray) -> np.ndarray:
    """Return a 64-bit hash of every row of integers."""
    hashes = np.zeros(integers.shape[0], dtype=np.uint64)
    for m in range(integers.shape[0]):
        mixed = np.uint64(integers.shape[1])
        for n in range(integers.shape[1]):
            mixed = (mixed ^ np.uint64(integers[m, n])) * HASH_MULTIPLIER
            mixed ^= mixed >> HASH_SHIFT  # products only carry upwards
        hashes[m] = mixed
    return hashes


@compiled
def starts_of_runs(integers: np.ndarray, y: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return whether each sample, in the order given, differs from the one before."""
    is_start = np.ones(order.shape[0], dtype=np.bool_)
    for position in range(1, order.shape[0]):
        this, last = order[position], order[position - 1]
        if y[this] == y[last]:
            n = 0
            while n < integers.shape[1] and integers[this, n] == integers[last, n]:
                n += 1
            is_start[position] = n < integers.shape[1]
    return is_start


def canonical_samples(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct samples ordered by class and content, and their total weights."""
    order, is_start = _runs(X, y)
    distinct = order[is_start]
    total_weights = np.add.reduceat(weights[order], np.flatnonzero(is_start))
    return X[distinct], y[distinct], total_weights


def _runs(X, y):
    """Return an order in which equal samples are neighbours, and where runs of them start."""
    integers = X.view(f"u{X.itemsize}")
    with np.errstate(over="ignore"):  # hashes wrap on purpose; interpreted code would warn
        hashes = row_hashes(integers)
    order = np.lexsort((hashes, y))
    return order, starts_of_runs(integers, y, order)


def have_twins(X: np.ndarray) -> np.ndarray:
    """Return which of distinct samples share all features with another, which has another class."""
    order, is_start = _runs(X, np.zeros(len(X), dtype=np.int64))
    groups = np.cumsum(is_start) - 1
    found = np.empty(len(X), dtype=bool)
    found[order] = np.bincount(groups)[groups] > 1
    return found


def are_counts(weights: np.ndarray) -> bool:
    """Check that weights are whole numbers, which count copies of samples."""
    return weights.sum() <= LARGEST_TOTAL and np.array_equal(weights, np.rint(weights))


def weights_as_visits(weights: np.ndarray) -> np.ndarray:
    """Return how often a pass should visit each sample, on average.

    Weights that are not counts, or too many visits, are scaled to a mean of 1.
    """
    total = weights.sum()
    is_visits = total <= MOST_VISITS and are_counts(weights)
    return weights if is_visits else weights * (len(weights) / total)


def visits_of_pass(visit_weights: np.ndarray, carried: float) -> tuple[np.ndarray, float]:
    """Return the rows to visit, in their order, and the share of a visit that is left over.

    A row of weight w comes ⌊w⌋ or ⌈w⌉ times; `carried` is what earlier rows have left over. Ten
    tenths make a visit, though their sum is a rounding short of it.
    """
    totals = np.cumsum(visit_weights) + carried
    ends = np.floor(totals + ROUNDING).astype(np.intp)
    visits = np.repeat(np.arange(len(visit_weights)), np.diff(ends, prepend=0))
    return visits, max(0.0, float(totals[-1] - ends[-1]))
