"""In which order, and how often, the online rules visit the samples.

The order depends on the random numbers and on what the rows hold, not on where they stand, and
a sample of weight 3 is visited as often as three equal samples: shuffled data, or repetition
written as weight, gives the same model.
"""

import numpy as np

from hyperlvq.kernels.compiled import compiled

HASH_SEED = 0x9E3779B97F4A7C15


@compiled
def row_hashes(words, multipliers):
    """Return Σ_n word_n·multiplier_n modulo 2⁶⁴ of every row of integers."""
    hashes = np.zeros(words.shape[0], dtype=np.uint64)
    for m in range(words.shape[0]):
        for n in range(words.shape[1]):
            hashes[m] += np.uint64(words[m, n]) * multipliers[n]
    return hashes


def canonical_order(X, y):
    """Return the order of the samples that any permutation of them has in common."""
    multipliers = np.random.default_rng(HASH_SEED).integers(
        2**64, size=X.shape[1], dtype=np.uint64
    )
    words = X.view(f"i{X.itemsize}")
    return np.lexsort((y, row_hashes(words, multipliers)))


def visit_counts(weights, rng):
    """Return how often to visit each sample in one pass.

    Whole weights are counts. Others are scaled to a mean of 1, and a sample of weight w is
    visited ⌊w⌋ or ⌈w⌉ times, w on average.
    """
    if np.array_equal(weights, np.rint(weights)):
        return weights.astype(np.intp)
    scaled = weights * (len(weights) / weights.sum())
    ends = np.floor(np.cumsum(scaled) + rng.uniform()).astype(np.intp)
    return np.diff(ends, prepend=0)


def ordered_visits(weights, rng):
    """Return the rows in their own order, each as often as its weight says."""
    return np.repeat(np.arange(len(weights)), visit_counts(weights, rng))


def shuffled_visits(order, weights, rng):
    """Return the rows of a canonical order shuffled, each as often as its weight says."""
    visits = np.repeat(order, visit_counts(weights[order], rng))
    return visits[rng.permutation(len(visits))]
