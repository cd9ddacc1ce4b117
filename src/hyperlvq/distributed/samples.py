"""Dask collections as partitions: checked, described, encoded, summed over and learnt from."""

import operator
from collections.abc import Callable
from functools import cached_property, partial, reduce
from typing import Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
import numpy as np
from distributed import Client
from sklearn.utils import check_array

from hyperlvq.batched import rls
from hyperlvq.checks import InputError
from hyperlvq.distributed import cluster
from hyperlvq.engines import NumpyEngine
from hyperlvq.inputs import check_no_dates
from hyperlvq.kernels import scores
from hyperlvq.kernels.distances import class_sums, prototype_scores
from hyperlvq.kernels.glvq import cost_and_gradient
from hyperlvq.kernels.lbfgs import minimise
from hyperlvq.kernels.threads import single_blas_thread

FLOAT_TYPES: list[Any] = [np.float64, np.float32, np.float16]
#: A multiple of the kernels' own block; four megabytes of int8 at 1000 units.
BLOCK_ROWS = 8 * scores.BLOCK_ROWS

#: Number, X and y of a partition as the collections have it: delayed here, concrete on the worker.
Partition = tuple[int, Any, Any]


class Description(NamedTuple):
    """What must be known of all rows before the first of them can be encoded."""

    n_rows: list[int]  # of each partition
    lows: np.ndarray  # the smallest value of each column, infinite where all are missing
    highs: np.ndarray
    labels: np.ndarray  # sorted, each once
    has_missing: bool


class ClassTotals(NamedTuple):
    """What class means, and the mean and constancy of columns, are made of."""

    sums: np.ndarray  # classes × columns
    counts: np.ndarray  # classes
    lows: np.ndarray  # columns
    highs: np.ndarray


def merge_members(merges: Any, first: tuple, second: tuple) -> tuple:
    """Return the members of two lots of rows, each merged in its own way."""
    return tuple(merge(*pair) for merge, *pair in zip(merges, first, second, strict=True))


def _merge_labels(first, second):
    # those of empty partitions may be of another type
    return np.unique(np.concatenate([each for each in (first, second) if len(each)] or [first]))


def add_members(first: tuple, second: tuple) -> tuple:
    """Return the sums of the first, second, … members."""
    return tuple(map(operator.add, first, second))


merge_totals = partial(merge_members, (np.add, np.add, np.minimum, np.maximum))
merge_descriptions = partial(
    merge_members, (operator.add, np.fmin, np.fmax, _merge_labels, operator.or_)
)


class PartitionedRows:
    """Activations on the workers: what readouts ask of an array, and sums over all rows.

    The parts are activations with class indices; features if there is a `front`, scaling and
    hidden layer, to encode them in every pass.
    """

    def __init__(self, client: Client, parts: list, front: Any, n_classes: int) -> None:
        self._client = client
        self._parts = parts
        self._front = cluster.send(client, front)
        self._n_classes = n_classes

    def total(self, function: Callable, *arguments: Any, merge: Callable = add_members) -> Any:
        """Return function(activations, y, *arguments) of blocks of rows, merged two by two."""
        given = self._front, function, merge, *arguments
        return cluster.total(self._client, _merged_blocks, self._parts, *given, merge=merge)

    @cached_property
    def class_totals(self) -> ClassTotals:
        """Return the sums and counts of each class, and the extremes of each column."""
        return ClassTotals(*self.total(block_totals, self._n_classes, merge=merge_totals))

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns."""
        return int(self.class_totals.counts.sum()), self.class_totals.sums.shape[1]

    def min(self) -> Any:
        """Return the smallest activation."""
        return self.class_totals.lows.min()

    def max(self) -> Any:
        """Return the largest activation."""
        return self.class_totals.highs.max()


def check_features(X: Any) -> Any:
    """Return X with each partition one block of whole rows; raise if it is no table of Dask's."""
    if isinstance(X, dd.DataFrame):
        return X
    if not isinstance(X, da.Array):
        raise InputError(f"X must be a Dask array or dataframe, got {type(X).__name__}")
    if X.ndim != 2:
        raise InputError(f"X must have two dimensions, got {X.ndim}")
    return X.rechunk({1: -1})


def paired_partitions(X: Any, y: Any) -> list[Partition]:
    """Return the partitions of X with those of y."""
    X = check_features(X)
    if not isinstance(y, da.Array | dd.Series):
        raise InputError(f"y must be a Dask array or series, got {type(y).__name__}")
    if y.ndim != 1:
        raise InputError(f"y must have one dimension, got {y.ndim}")
    X_parts, y_parts = (np.ravel(np.array(data.to_delayed())) for data in (X, y))
    if len(X_parts) != len(y_parts):
        raise InputError(
            f"X has {len(X_parts)} partitions and y has {len(y_parts)}: they must be cut alike"
        )
    return list(zip(range(len(X_parts)), X_parts, y_parts, strict=True))


def as_arrays(part: Partition) -> tuple[np.ndarray, np.ndarray]:
    """Return a partition's features and labels; raise if scikit-learn would not take them."""
    number, X, y = part
    try:
        check_no_dates(X)
        X = check_array(
            X,
            dtype=FLOAT_TYPES,
            ensure_all_finite="allow-nan",
            ensure_min_samples=0,
            input_name="X",
        )
        y = check_array(
            np.asarray(y), ensure_2d=False, dtype=None, ensure_min_samples=0, input_name="y"
        )
    except (TypeError, ValueError) as error:
        sentence = str(error).strip().split("\n")[0].rstrip(".")
        raise InputError(f"partition {number}: {sentence}") from None
    if len(X) != len(y):
        raise InputError(
            f"partition {number} has {len(X)} rows of X and {len(y)} of y: they must be cut alike"
        )
    return X, y


def describe(part: Partition) -> tuple[Any, ...]:
    """Return what one partition is like, as in `Description`."""
    X, y = as_arrays(part)
    lows = np.fmin.reduce(X, axis=0, initial=np.inf)
    highs = np.fmax.reduce(X, axis=0, initial=-np.inf)
    return [len(X)], lows, highs, np.unique(y), bool(np.isnan(X).any())


def read_rows(part: Partition, classes: np.ndarray, front: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a partition, encoded if there is a `front`, and class indices."""
    X, y = as_arrays(part)
    return encoded(X, front), np.searchsorted(classes, y)


def encoded(X: np.ndarray, front: Any) -> np.ndarray:
    """Return the activations of rows, or the rows as they are."""
    return X if front is None else np.asarray(front.transform(X))


def _merged_blocks(rows, front, function, merge, *arguments):
    """Return function(activations, y, *arguments) of all blocks of a partition, merged.

    Blocks are the same whether activations are kept or encoded anew, so that what comes out is
    the same to the last bit.
    """
    X, y = rows
    with single_blas_thread:
        results = (
            function(encoded(X[block], front), y[block], *arguments)
            for block in scores.row_slices(len(X), BLOCK_ROWS)
        )
        return reduce(merge, results)


def block_totals(X: np.ndarray, y: np.ndarray, n_classes: int) -> tuple[np.ndarray, ...]:
    """Return what one block adds to `ClassTotals`."""
    sums = class_sums(X, y, np.ones(len(y)), n_classes)
    return sums, np.bincount(y, minlength=n_classes), X.min(axis=0), X.max(axis=0)


class PartitionsEngine(NumpyEngine):
    """Learns numpy arrays from sums over partitions.

    X of its samples are `PartitionedRows`; labels are on the workers with them, and all count the
    same.
    """

    def canonical_samples(self, samples):
        return samples

    def total_weight(self, samples):
        return float(samples[0].shape[0])

    def class_totals(self, samples, n_classes):
        totals = samples[0].class_totals
        return totals.sums, totals.counts.astype(float)

    def distance_scale(self, samples, *prototypes):
        rows = samples[0]
        (total,) = rows.total(_distance_sum, *prototypes)
        return float(total / rows.shape[0])

    def minimise_glvq(self, start, samples, slope, max_iter, tol, report=None):
        (prototypes, prototype_classes), (rows, _, _) = start, samples
        fixed = prototype_classes, slope, 1 / rows.shape[0]

        def evaluate(position):
            return rows.total(_glvq_cost, position, *fixed)

        return minimise(evaluate, prototypes, max_iter, tol, report)

    def solve_least_squares(self, samples, n_classes, alphas, method):
        return rls.solve_equations(self._equations(samples[0], n_classes, method), alphas, method)

    def choose_penalty(self, samples, n_classes, alphas, method):
        equations = self._equations(samples[0], n_classes, method)
        spectrum = rls.spectrum_of(equations)
        given = n_classes, equations.columns, spectrum, alphas
        sums = samples[0].total(_of_rows, rls.left_out, *given)
        return rls.best_penalty(sums, spectrum, equations, alphas)

    def _equations(self, rows, n_classes, method):
        sums, counts, lows, highs = rows.class_totals
        weight, is_constant = counts.sum(), (lows == highs)[None]
        mean = np.where(is_constant, lows, sums.sum(axis=0) / weight)
        columns = rls.centred_columns(weight, mean, is_constant, counts / weight, method)
        moments = rls.Moments(*rows.total(_of_rows, rls.moments_of, n_classes, columns))
        return rls.equations_of_moments(moments, columns, method)


def _glvq_cost(X, y, prototypes, prototype_classes, slope, share):
    """Return a block's part of the mean cost, each sample's being `share`, and its gradient."""
    shares = np.full(len(y), share)
    return cost_and_gradient(prototypes, prototype_classes, X, y, slope, shares)


def _distance_sum(X, y, *prototypes):
    """Return the sum of d⁺ + d⁻ over a block."""
    mean = scores.mean_distance_sum(-prototype_scores(X, *prototypes), y, np.ones(len(y)))
    return (len(y) * mean,)


def _of_rows(X, y, function, n_classes, *given):
    """Return what a function of least squares makes of a block."""
    return function(rls.LabelledRows(X, y, np.ones(len(y)), n_classes), *given)
