"""Real prototypes as small integers that share one scale: w ≈ s·q."""

import numpy as np

#: Scales tried, as shares of the one that clips nothing.
SHARES = np.linspace(0.2, 1, 161)


def quantise(weights, bits):
    """Return q (int8 or int16) and the scale s that give the least Σ (w - s·q)².

    Scales below the largest that is needed clip a few outliers and round all other weights
    more finely.
    """
    limit = 2 ** (bits - 1) - 1
    largest = np.abs(weights).max()
    if largest == 0:
        return weights.astype(_dtype(bits)), 1.0
    scales = largest / limit * SHARES
    losses = [np.square(weights - s * round_to(weights, s, limit)).sum() for s in scales]
    scale = float(scales[np.argmin(losses)])
    return round_to(weights, scale, limit).astype(_dtype(bits)), scale


def round_to(weights, scale, limit):
    """Return the integers nearest to w/s within ±limit, as floats."""
    return np.clip(np.rint(weights / scale), -limit, limit)


def _dtype(bits):
    return np.int8 if bits == 8 else np.int16
