"""What a worker does with one partition in one pass over the samples.

Activations are gone through in blocks of `BLOCK_ROWS`, whether they are kept or encoded anew: what
comes out is the same to the last bit, and no more than one block is encoded at a time.
"""

import operator
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from hyperlvq.distributed.partitions import Part, as_arrays
from hyperlvq.kernels import distances, rls, scores
from hyperlvq.kernels.glvq import cost_and_gradient
from hyperlvq.kernels.threads import single_blas_thread

#: A multiple of the kernels' own block; four megabytes of int8 at 1000 units.
BLOCK_ROWS = 8 * scores.BLOCK_ROWS


class Samples(NamedTuple):
    """The samples of one partition: their features or activations, and class indices."""

    X: np.ndarray
    y: np.ndarray
    is_encoded: bool


class ClassTotals(NamedTuple):
    """What class means, and the mean and constancy of columns, are made of."""

    sums: np.ndarray  # classes × columns
    counts: np.ndarray  # classes
    lows: np.ndarray  # columns
    highs: np.ndarray


def read_samples(part: Part, classes: np.ndarray) -> Samples:
    """Return the samples of a partition with their features."""
    X, y = as_arrays(part)
    return Samples(X, np.searchsorted(classes, y), is_encoded=False)


def encode_samples(part: Part, classes: np.ndarray, front: Any) -> Samples:
    """Return the samples of a partition with their activations; `front` scales and encodes."""
    samples = read_samples(part, classes)
    return Samples(np.asarray(front.transform(samples.X)), samples.y, is_encoded=True)


def blocks(samples: Samples, front: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield activations and class indices, block by block."""
    for rows in scores.row_slices(len(samples.X), BLOCK_ROWS):
        X = samples.X[rows]
        yield X if samples.is_encoded else np.asarray(front.transform(X)), samples.y[rows]


def class_totals(samples: Samples, front: Any, n_classes: int) -> ClassTotals:
    """Return the sums over one partition."""
    return merge_class_totals(
        [
            ClassTotals(
                distances.class_sums(activations, y, np.ones(len(y)), n_classes),
                np.bincount(y, minlength=n_classes),
                activations.min(axis=0),
                activations.max(axis=0),
            )
            for activations, y in blocks(samples, front)
        ]
    )


def merge_class_totals(totals: Sequence[ClassTotals]) -> ClassTotals:
    """Return the sums over several partitions."""
    sums, counts, lows, highs = zip(*totals, strict=True)
    return ClassTotals(
        reduce(np.add, sums),
        reduce(np.add, counts),
        reduce(np.minimum, lows),
        reduce(np.maximum, highs),
    )


def glvq_cost(
    samples: Samples,
    front: Any,
    prototypes: np.ndarray,
    prototype_classes: np.ndarray,
    slope: float,
    share: float,
) -> tuple[float, np.ndarray]:
    """Return one partition's part of the mean cost, each sample's being `share`, and gradient."""
    with single_blas_thread:
        return add_up(
            [
                cost_and_gradient(
                    prototypes, prototype_classes, activations, y, slope, np.full(len(y), share)
                )
                for activations, y in blocks(samples, front)
            ]
        )


def normal_equations(
    samples: Samples, front: Any, centre: np.ndarray, offset: np.ndarray, mean: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ZᵀZ, ZᵀT and the squared deviations of one partition; Z = H - centre."""
    with single_blas_thread:
        return add_up(
            [
                (*_block_equations(activations, y, centre, offset), _squares(activations, mean))
                for activations, y in blocks(samples, front)
            ]
        )


def _block_equations(activations, y, centre, offset):
    targets = np.eye(len(offset))[y] - offset
    ones = np.ones((len(y), 1))
    unscaled = np.ones(len(centre))
    return rls.normal_equations(
        rls.Problem(activations, targets, ones, centre, unscaled, offset, np.zeros(len(centre)))
    )


def _squares(activations, mean):
    return np.square(activations - mean).sum(axis=0)


def add_up(results: Sequence[tuple]) -> tuple:
    """Return the sums of the first, second, … members."""
    return tuple(reduce(operator.add, members) for members in zip(*results, strict=True))
