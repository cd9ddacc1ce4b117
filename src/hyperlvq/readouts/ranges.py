"""Features whose squares are numbers that a float64 can hold."""

import numpy as np

#: Of the largest feature, so that sums of squares over all samples, and their inverse, are such.
FEATURES_BETWEEN = 1e-140, 1e140


def check_range(X):
    """Raise if squares of the features, on whatever device, would become 0 or infinite."""
    largest = max(float(X.max()), -float(X.min()))
    smallest_allowed, largest_allowed = FEATURES_BETWEEN
    if largest and not smallest_allowed <= largest <= largest_allowed:
        raise ValueError(
            f"the largest feature must be between {smallest_allowed} and {largest_allowed} in "
            f"size, got {largest:g}: scale the features"
        )


def check_solution(numbers):
    """Return what was learnt; raise if it is not finite, as where one column is out of range."""
    if not np.isfinite(numbers).all():
        raise ValueError(
            "the model is not finite: some features are too small or too large beside others"
        )
    return numbers
