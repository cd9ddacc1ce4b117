"""Solvers of regularised least squares by pseudo-inverse, QR, FISTA and LMS.

Γ (columns × targets) minimises ‖ZΓ - T‖² + α‖Γ‖², except in `solve_pinv`.
"""

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from hyperlvq.kernels.compiled import compiled

POWER_ITERATIONS = 100
POWER_STEPS = 5
ROUNDING = 1e-9


class Method(NamedTuple):
    """The parameters of `RLSClassifier`, but for alpha."""

    penalty: str = "variance"
    solver: str = "auto"
    max_iter: int = 1000
    tol: float = 1e-6


def solve_pinv(gram: np.ndarray, moment: np.ndarray, penalties: np.ndarray) -> np.ndarray:
    """Return (G + diag(p))⁺ moment; eigenvalues below columns · 2⁻²³ of the largest count as 0.

    That is where a pseudo-inverse in single precision cuts off. The matrix is overwritten.
    Eigenvectors take most of the time, so only those that can count are computed, and none where
    all of them do: then the pseudo-inverse is the inverse.
    """
    diagonal, share = np.diag_indices_from(gram), len(gram) * np.finfo(np.float32).eps
    gram[diagonal] += penalties
    scale = np.exp2(np.frexp(gram.diagonal().max())[1])  # against overflow, without rounding
    gram /= scale
    shifted = gram.copy()
    shifted[diagonal] -= share * np.linalg.norm(gram)  # at least the cutoff
    try:
        linalg.cholesky(shifted, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        smallest = share * least_largest_eigenvalue(gram)
        values, vectors = linalg.eigh(
            gram, subset_by_value=(smallest, np.inf), overwrite_a=True, check_finite=False
        )
        kept = values > share * values.max(initial=0)
        basis = vectors[:, kept]
        return (basis / values[kept]) @ (basis.T @ moment) / scale
    factor = linalg.cho_factor(gram, overwrite_a=True, check_finite=False)
    return linalg.cho_solve(factor, moment, check_finite=False) / scale


def least_largest_eigenvalue(matrix: np.ndarray) -> float:
    """Bound a positive matrix's largest eigenvalue from below, by power iteration."""
    largest = matrix.diagonal().argmax()
    bound, vector = matrix[largest, largest], matrix[largest]
    for _ in range(POWER_STEPS):
        vector = vector / (np.linalg.norm(vector) or 1.0)
        image = matrix @ vector
        bound, vector = np.fmax(bound, vector @ image), image
    return float(bound) * (1 - ROUNDING)


def solve_qr(Z: np.ndarray, T: np.ndarray, alpha: float) -> np.ndarray:
    """Return Γ by QR of [Z; √α I], which never squares the condition of Z."""
    Q, R = np.linalg.qr(np.vstack([Z, np.sqrt(alpha) * np.eye(Z.shape[1])]))
    return linalg.solve_triangular(R, Q[: len(Z)].T @ T, check_finite=False)


def solve_fista(
    factors: list[Any], moment: np.ndarray, alpha: float, max_iter: int, tol: float
) -> tuple[np.ndarray, int, bool]:
    """Return (Γ, iterations, whether converged) by accelerated gradient descent.

    The product of the factors is ZᵀZ; `moment` is ZᵀT. Momentum starts anew whenever it points
    uphill. Converged is a gradient below `tol` times the gradient at 0.
    """

    def apply_gram(V):
        return reduce(lambda product, factor: factor @ product, reversed(factors), V)

    curvature = largest_eigenvalue(apply_gram, len(moment)) + alpha
    position = ahead = np.zeros_like(moment)
    momentum = 1.0
    target = tol * np.abs(moment).max()
    for n_iter in range(1, max_iter + 1):
        gradient = apply_gram(ahead) + alpha * ahead - moment
        if np.abs(gradient).max() <= target:
            return ahead, n_iter, True
        previous, position = position, ahead - gradient / curvature
        if np.vdot(gradient, position - previous) > 0:
            momentum = 1.0
        next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = position + (momentum - 1) / next_momentum * (position - previous)
        momentum = next_momentum
    return position, max_iter, False


def largest_eigenvalue(apply: Any, size: int) -> float:
    """Return a generous estimate of a positive matrix's largest eigenvalue, by power iteration."""
    vector = np.random.default_rng(0).normal(size=(size, 1))
    norm = 0.0
    for _ in range(POWER_ITERATIONS):
        vector = apply(vector)
        norm = float(np.linalg.norm(vector))
        if norm == 0:
            return 0.0
        vector /= norm
    return 1.1 * norm


def solve_lms(
    read_blocks: Any, alpha: float, max_iter: int, tol: float
) -> tuple[np.ndarray, int, bool]:
    """Return (Γ, passes, whether converged) by the least-mean-squares rule.

    `read_blocks` yields (Z, T) of blocks of rows, so that never all of Z is there. Sample after
    sample, Γᵀ += η_e ((t - Γᵀz) z - (α/M) Γᵀ); pass e = 1, 2, … takes η_e = η/√e, so
    it nears the closed form only as fast as η_e falls. Converged is a pass that changes Γ by less
    than `tol` of its norm.
    """
    facts = [
        (len(Z), np.einsum("ij,ij->i", Z, Z).max(), (T.shape[1], Z.shape[1]))
        for Z, T in read_blocks()
    ]
    counts, maxima, shapes = zip(*facts, strict=True)
    largest, shrinkage, coefficients = max(maxima), alpha / sum(counts), np.zeros(shapes[0])
    if largest + shrinkage == 0:
        return coefficients.T, 1, True
    for n_iter in range(1, max_iter + 1):
        rate = 1 / (np.sqrt(n_iter) * (largest + shrinkage))
        before = coefficients.copy()
        for Z, T in read_blocks():
            lms_pass(Z, T, coefficients, rate, shrinkage)
        if np.linalg.norm(coefficients - before) <= tol * np.linalg.norm(coefficients):
            return coefficients.T, n_iter, True
    return coefficients.T, max_iter, False


@compiled
def lms_pass(
    Z: np.ndarray, targets: np.ndarray, coefficients: np.ndarray, rate: float, shrinkage: float
) -> None:
    """Let every row z of Z move Γᵀ (targets × columns, in place) by η ((t - Γᵀz) z - ε Γᵀ)."""
    n_targets, n_columns = coefficients.shape
    for m in range(Z.shape[0]):
        for k in range(n_targets):
            predicted = 0.0
            for n in range(n_columns):
                predicted += coefficients[k, n] * Z[m, n]
            error = targets[m, k] - predicted
            for n in range(n_columns):
                coefficients[k, n] += rate * (error * Z[m, n] - shrinkage * coefficients[k, n])
