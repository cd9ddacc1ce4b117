"""The readouts, learnt from sums over partitions."""

from collections.abc import Callable
from typing import Any

import numpy as np
from distributed import Client
from scipy import linalg
from sklearn.utils import check_random_state

from hyperlvq.checks import check_choice, check_integer, check_real
from hyperlvq.distributed import cluster, passes
from hyperlvq.kernels import rls
from hyperlvq.readouts import CentroidClassifier, GLVQClassifier, RLSClassifier
from hyperlvq.readouts.base import check_prototype_counts, starting_prototypes
from hyperlvq.readouts.lbfgs import minimise
from hyperlvq.readouts.rls import PENALTIES, SOLVERS


class PartitionedSamples:
    """The samples of a fit, on the workers, and what is summed over them."""

    def __init__(self, client: Client, parts: list, front: Any, classes: np.ndarray):
        self.classes = classes
        self._client = client
        self._parts = parts
        self._front = cluster.send(client, front)

    def total(self, function: Callable, *arguments: Any, merge: Callable = passes.add_up) -> Any:
        """Return the sum of function(samples, front, *arguments) over all partitions."""
        return cluster.total(
            self._client, function, self._parts, self._front, *arguments, merge=merge
        )

    def class_totals(self) -> passes.ClassTotals:
        """Return the sums and counts of each class."""
        n_classes = len(self.classes)
        return self.total(passes.class_totals, n_classes, merge=passes.merge_class_totals)


def learn_centroids(readout: CentroidClassifier, samples: PartitionedSamples) -> None:
    """Fit to the class means, each as heavy as its class."""
    totals = samples.class_totals()
    means = totals.sums / totals.counts[:, np.newaxis]
    readout.fit(means, samples.classes, sample_weight=totals.counts)


def learn_glvq(readout: GLVQClassifier, samples: PartitionedSamples) -> None:
    """Minimise the mean cost from the start, and with the minimiser, of the in-memory fit."""
    readout._check_parameters()
    counts = check_prototype_counts(readout.prototypes_per_class, samples.classes)
    totals = samples.class_totals()
    start, prototype_classes = start_of(readout, totals, counts)
    share = 1 / totals.counts.sum()

    def evaluate(flat_prototypes):
        cost, gradient = samples.total(
            passes.glvq_cost,
            flat_prototypes.reshape(start.shape),
            prototype_classes,
            float(readout.slope),
            share,
        )
        return cost, gradient.ravel()

    flat_prototypes, readout.n_iter_, readout.loss_curve_ = minimise(
        evaluate, start.ravel(), readout.max_iter, readout.tol
    )
    readout.prototypes_ = flat_prototypes.reshape(start.shape)
    readout.prototype_classes_, readout.classes_ = prototype_classes, samples.classes
    readout.n_features_in_ = start.shape[1]
    readout._carried_weight = 0.0  # what `partial_fit` goes on from


def start_of(
    readout: GLVQClassifier, totals: passes.ClassTotals, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the prototypes to start from, and their classes."""
    means = totals.sums / totals.counts[:, np.newaxis]
    weights = totals.counts.astype(float)
    rng = check_random_state(readout.random_state)
    return starting_prototypes(
        means, np.arange(len(means)), weights, counts, readout.init_noise, rng
    )


def learn_rls(readout: RLSClassifier, samples: PartitionedSamples) -> None:
    """Sum the normal equations, and let the in-memory solver solve them."""
    alpha = check_rls(readout)
    has_penalty_by_variance = readout.penalty == "variance"
    totals = samples.class_totals()
    n_samples = totals.counts.sum()
    is_constant = totals.lows == totals.highs
    mean = np.where(is_constant, totals.lows, totals.sums.sum(axis=0) / n_samples)
    free_column = np.where(is_constant & has_penalty_by_variance, mean, 0)
    is_centred = readout.solver != "pinv" and free_column.any()
    centre = mean if is_centred else np.zeros_like(mean)
    offset = totals.counts / n_samples if is_centred else np.zeros(len(totals.counts))
    gram, moment, squares = samples.total(passes.normal_equations, centre, offset, mean)
    variance = squares / n_samples if has_penalty_by_variance else np.ones_like(mean)
    if readout.solver == "pinv":
        gram[np.diag_indices_from(gram)] += alpha * variance
        condensed = condense(gram, moment)
        ones = np.ones(len(gram))
        coefficients = rls.solve_pinv(condensed.X, condensed.targets, ones, 0.0, "identity")
        readout.n_iter_ = 1
    else:
        varies = variance > 0
        scale = np.divide(1, np.sqrt(variance), out=np.zeros_like(mean), where=varies)
        condensed = condense(gram * np.outer(scale, scale), moment * scale[:, np.newaxis])
        solution, readout.n_iter_ = readout._solve(condensed, alpha)
        problem = condensed._replace(
            centre=centre, scale=scale, offset=offset, free_column=free_column
        )
        coefficients = rls.original_coefficients(problem, solution)
    readout.coef_, readout.classes_ = coefficients, samples.classes
    readout.n_features_in_ = len(mean)


def check_rls(readout: RLSClassifier) -> float:
    """Return alpha; raise if a parameter is wrong."""
    check_choice("solver", readout.solver, SOLVERS)
    check_integer("max_iter", readout.max_iter, minimum=1)
    check_real("tol", readout.tol)
    check_choice("penalty", readout.penalty, PENALTIES)
    return check_real("alpha", readout.alpha)


def condense(gram: np.ndarray, moment: np.ndarray) -> rls.Problem:
    """Return a problem of as many samples as columns that has these normal equations.

    With ZᵀZ = VΛVᵀ the samples are √Λ Vᵀ and their targets Λ^-½ Vᵀ (ZᵀT): every solver that needs
    no more than the normal equations finds what it would have found on all samples.
    """
    eigenvalues, vectors = linalg.eigh(gram, check_finite=False)
    roots = np.sqrt(np.maximum(eigenvalues, 0))
    inverse_roots = np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)
    size, n_targets = moment.shape
    return rls.Problem(
        X=roots[:, np.newaxis] * vectors.T,
        targets=inverse_roots[:, np.newaxis] * (vectors.T @ moment),
        root_weights=np.ones((size, 1)),
        centre=np.zeros(size),
        scale=np.ones(size),
        offset=np.zeros(n_targets),
        free_column=np.zeros(size),
    )
