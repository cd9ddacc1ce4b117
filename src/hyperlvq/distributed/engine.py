"""The engine of activations on the workers of a Dask cluster: what readouts learn from sums."""

from typing import Any

import numpy as np

from hyperlvq.batched import rls
from hyperlvq.engines import NumpyEngine
from hyperlvq.kernels.distances import prototype_scores
from hyperlvq.kernels.glvq import cost_and_gradient
from hyperlvq.kernels.lbfgs import minimise
from hyperlvq.kernels.scores import mean_distance_sum


class PartitionsEngine(NumpyEngine):
    """Learns numpy arrays from sums over partitions.

    X of its samples are `PartitionedRows`; labels are on the workers with them, and all count the
    same.
    """

    def canonical_samples(self, samples: Any) -> Any:
        return samples

    def total_weight(self, samples: Any) -> Any:
        return float(samples[0].shape[0])

    def class_totals(self, samples: Any, n_classes: Any) -> Any:
        totals = samples[0].class_totals
        return totals.sums, totals.counts.astype(float)

    def distance_scale(self, samples: Any, *prototypes: Any) -> Any:
        rows = samples[0]
        (total,) = rows.total(distance_sum, *prototypes)
        return float(total / rows.shape[0])

    def minimise_glvq(
        self, start: Any, samples: Any, slope: Any, max_iter: Any, tol: Any, report: Any = None
    ) -> Any:
        (prototypes, prototype_classes), (rows, _, _) = start, samples
        shape, share = prototypes.shape, 1 / rows.shape[0]

        def evaluate(position):
            given = position.reshape(shape), prototype_classes, slope, share
            cost, gradient = rows.total(glvq_cost, *given)
            return cost, gradient.ravel()

        minimum = minimise(evaluate, prototypes.ravel(), max_iter, tol, report)
        return minimum._replace(position=minimum.position.reshape(shape))

    def solve_least_squares(self, samples: Any, n_classes: Any, alphas: Any, method: Any) -> Any:
        return rls.solve_equations(self._equations(samples[0], n_classes, method), alphas, method)

    def choose_penalty(self, samples: Any, n_classes: Any, alphas: Any, method: Any) -> Any:
        equations = self._equations(samples[0], n_classes, method)
        spectrum, columns = rls.spectrum_of(equations), equations.columns
        sums = samples[0].total(left_out_of_block, n_classes, columns, spectrum, alphas)
        return rls.best_penalty(sums, spectrum, columns, alphas)

    def _equations(self, rows, n_classes, method):
        sums, counts, lows, highs = rows.class_totals
        weight, is_constant = counts.sum(), (lows == highs)[None]
        mean = np.where(is_constant, lows, sums.sum(axis=0) / weight)
        columns = rls.centred_columns(weight, mean, is_constant, counts / weight, method)
        moments = rls.Moments(*rows.total(moments_of_block, n_classes, columns))
        return rls.equations_of_moments(moments, columns, method)


def glvq_cost(
    X: Any, y: Any, prototypes: Any, prototype_classes: Any, slope: Any, share: Any
) -> Any:
    """Return a block's part of the mean cost, each sample's being `share`, and its gradient."""
    shares = np.full(len(y), share)
    return cost_and_gradient(prototypes, prototype_classes, X, y, slope, shares)


def distance_sum(X: Any, y: Any, *prototypes: Any) -> Any:
    """Return the sum of d⁺ + d⁻ over a block."""
    mean = mean_distance_sum(-prototype_scores(X, *prototypes), y, np.ones(len(y)))
    return (len(y) * mean,)


def moments_of_block(X: Any, y: Any, n_classes: Any, columns: Any) -> Any:
    """Return the moments of least squares of a block."""
    return rls.moments_of(rls.LabelledRows(X, y, np.ones(len(y)), n_classes), columns)


def left_out_of_block(X: Any, y: Any, n_classes: Any, *given: Any) -> Any:
    """Return how well a block's samples are predicted without them."""
    return rls.left_out(rls.LabelledRows(X, y, np.ones(len(y)), n_classes), *given)
