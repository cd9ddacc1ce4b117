"""Regularised least squares from sums over partitions."""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from hyperlvq.distributed import passes
from hyperlvq.distributed.passes import ClassTotals
from hyperlvq.distributed.samples import PartitionedSamples
from hyperlvq.kernels import rls
from hyperlvq.readouts import RLSClassifier
from hyperlvq.readouts.base import check_range, check_solution


class Columns(NamedTuple):
    """What `kernels.rls.standardise` would find out about the columns, but for the variance."""

    mean: np.ndarray
    centre: np.ndarray
    offset: np.ndarray  # of the targets
    free_column: np.ndarray


def learn_rls(readout: RLSClassifier, samples: PartitionedSamples) -> None:
    """Sum the normal equations, and let the in-memory solver solve them."""
    readout._check_parameters()
    totals = samples.class_totals()
    check_range(np.stack([totals.lows, totals.highs]))
    columns = describe_columns(totals, readout)
    gram, moment, squares = samples.total(
        passes.normal_equations, columns.centre, columns.offset, columns.mean
    )
    penalty = np.ones(len(squares))
    if readout.penalty == "variance":
        penalty = squares / totals.counts.sum()
    if readout.solver == "pinv":
        coefficients, n_iter = solve_pinv(gram, moment, readout.alpha * penalty), 1
    else:
        coefficients, n_iter = solve_exactly(readout, gram, moment, penalty, columns)
    readout.coef_, readout.n_iter_ = check_solution(coefficients), n_iter
    readout.classes_, readout.n_features_in_ = samples.classes, len(gram)


def describe_columns(totals: ClassTotals, readout: RLSClassifier) -> Columns:
    """Return how the columns are to be standardised."""
    n_samples = totals.counts.sum()
    is_constant = totals.lows == totals.highs
    mean = np.where(is_constant, totals.lows, totals.sums.sum(axis=0) / n_samples)
    centre, offset = np.zeros(len(mean)), np.zeros(len(totals.counts))
    is_free = is_constant if readout.penalty == "variance" else np.zeros(len(mean), dtype=bool)
    free_column = np.where(is_free, mean, 0)
    if free_column.any() and readout.solver != "pinv":
        centre, offset = mean, totals.counts / n_samples
    return Columns(mean, centre, offset, free_column)


def solve_pinv(gram: np.ndarray, moment: np.ndarray, penalties: np.ndarray) -> np.ndarray:
    """Return the readout matrix by the pseudo-inverse in single precision."""
    penalised = condense(gram + np.diag(penalties), moment)
    ones = np.ones(len(gram))
    return rls.solve_pinv(penalised.X, penalised.targets, ones, 0.0, "identity")


def solve_exactly(
    readout: RLSClassifier,
    gram: np.ndarray,
    moment: np.ndarray,
    penalty: np.ndarray,
    columns: Columns,
) -> tuple[np.ndarray, int]:
    """Return the readout matrix and the number of iterations."""
    scale = np.divide(1, np.sqrt(penalty), out=np.zeros(len(penalty)), where=penalty > 0)
    problem = condense(gram * np.outer(scale, scale), moment * scale[:, np.newaxis])
    solution, n_iter, has_converged = rls.solve(
        problem, readout.alpha, readout.solver, readout.max_iter, readout.tol
    )
    if not has_converged:
        readout._warn_of_limit()
    original = problem._replace(
        centre=columns.centre, scale=scale, offset=columns.offset, free_column=columns.free_column
    )
    return rls.original_coefficients(original, solution), n_iter


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
