"""Solvers of regularised least squares by pseudo-inverse, QR, FISTA and LMS.

Γ (columns × targets) minimises ‖ZΓ - T‖² + α‖Γ‖², except in `solve_pinv`.
"""

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from hyperlvq.kernels.compiled import compiled

POWER_ITERATIONS, BLOCK_ITERATIONS = 50, 4
#: Directions that `preconditioner` scales: at most a quarter of all, and none whose eigenvalue is a
#: smaller share of the largest, as its vector may be rounding.
MOST_DIRECTIONS, SMALLEST_DOMINANT = 20, 1e-8


class Method(NamedTuple):
    """The parameters of `RLSClassifier`, but for alpha."""

    penalty: str = "variance"
    solver: str = "auto"
    max_iter: int = 1000
    tol: float = 1e-6


def solve_pinv(gram: np.ndarray, moment: np.ndarray, penalties: np.ndarray) -> np.ndarray:
    """Return (G + diag(p))⁺ moment; eigenvalues below columns · 2⁻²³ of the largest count as 0.

    That is where a pseudo-inverse in single precision cuts off. The matrix is overwritten.
    """
    gram[np.diag_indices_from(gram)] += penalties
    values, vectors = linalg.eigh(gram, overwrite_a=True, check_finite=False)
    kept = values > len(values) * np.finfo(np.float32).eps * values[-1]
    basis = vectors[:, kept]
    return (basis / values[kept]) @ (basis.T @ moment)


def solve_qr(Z: np.ndarray, T: np.ndarray, alpha: float) -> np.ndarray:
    """Return Γ by QR of [Z; √α I], which never squares the condition of Z."""
    Q, R = np.linalg.qr(np.vstack([Z, np.sqrt(alpha) * np.eye(Z.shape[1])]))
    return linalg.solve_triangular(R, Q[: len(Z)].T @ T, check_finite=False)


def solve_fista(
    factors: list[Any], moment: np.ndarray, alpha: float, max_iter: int, tol: float
) -> tuple[np.ndarray, int, float]:
    """Solve by accelerated gradient descent.

    The product of the factors is G = ZᵀZ, and `moment` is ZᵀT. Returns like `descend`.
    """

    def apply_gram(V):
        return reduce(lambda product, factor: factor @ product, reversed(factors), V)

    def step(gradient, rate, _):
        return rate * gradient

    return descend(apply_gram, moment, alpha, min(map(len, factors)), step, max_iter, tol)


def solve_lms(
    read_blocks: Any, alpha: float, max_iter: int, tol: float
) -> tuple[np.ndarray, int, float]:
    """Solve by the least-mean-squares rule with reduced variance, one sample at a time.

    `read_blocks` yields (Z, T) of blocks of rows, so that Z is never held as a whole. With the
    errors e = t - Γᵀz, and e₀ and gradient g (of half the cost) where a pass begins, each of the
    M samples makes the step

        Γᵀ += η ((e - e₀)(Pz)ᵀ - (α/M) (Γ - Γ₀)ᵀ - (Pg)ᵀ/M).

    Steps vanish at the solution, at which plain LMS cannot rest with a constant rate η: samples
    disagree there. The last term is what all samples agree on. Returns like `descend`.
    """
    facts = [(len(Z), Z.T @ T) for Z, T in read_blocks()]
    n_samples, moment = sum(count for count, _ in facts), sum(part for _, part in facts)

    def apply_gram(V):
        return sum(Z.T @ (Z @ V) for Z, _ in read_blocks())

    def step(gradient, rate, precondition):
        change, drive = np.zeros(gradient.T.shape), np.ascontiguousarray(gradient.T) / n_samples
        for Z, _ in read_blocks():
            directions = np.ascontiguousarray(precondition(Z.T).T)
            lms_pass(Z, directions, change, drive, rate, alpha / n_samples)
        return change.T

    n_directions = min(n_samples, len(moment))
    return descend(apply_gram, moment, alpha, n_directions, step, max_iter, tol)


def descend(
    apply_gram: Any,
    moment: np.ndarray,
    alpha: float,
    rank: int,
    step: Any,
    max_iter: int,
    tol: float,
) -> tuple[np.ndarray, int, float]:
    """Solve (G + αI) Γ = moment by steps with Nesterov's momentum.

    Gradients are multiplied by P of `preconditioner`; G has at most the given rank. A step is taken
    from where momentum leads to, and momentum starts anew whenever it points uphill. Stops where
    the gradient is at most `tol` times that of Γ = 0, in its largest component. Returns Γ, the
    number of iterations, and that ratio.
    """

    def gradient_at(position):
        gradient = apply_gram(position) + alpha * position - moment
        return gradient, precondition(gradient)

    precondition = preconditioner(apply_gram, len(moment), rank, alpha)
    curvature = largest_eigenvalue(lambda V: precondition(apply_gram(V) + alpha * V), len(moment))
    position = ahead = np.zeros_like(moment)
    momentum, first = 1.0, np.abs(precondition(moment)).max()
    for n_iter in range(1, max_iter + 1):
        gradient, direction = gradient_at(ahead)
        size = np.abs(direction).max()
        if size <= tol * first:
            return ahead, n_iter, float(size / first) if first else 0.0
        previous, position = position, ahead - step(direction, 1 / curvature, precondition)
        if np.vdot(gradient, position - previous) > 0:
            momentum = 1.0
        next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = position + (momentum - 1) / next_momentum * (position - previous)
        momentum = next_momentum
    return position, max_iter, float(np.abs(gradient_at(position)[1]).max() / first)


def preconditioner(apply_gram: Any, size: int, rank: int, alpha: float) -> Any:
    """Return multiplication by P, which makes the largest eigenvalues of G + αI equal.

    P = I - U diag(1 - (λ_k + α)/(λ_i + α)) Uᵀ, where λ₁ ≥ … ≥ λ_k and U are the k largest
    eigenvalues of G and their vectors, by block power iteration. Activations have few dominant
    directions, above all that of their mean, and eigenvalues that fall like a power: a step that is
    small enough for the first directions gets nowhere along the others.
    """
    n_directions = min(MOST_DIRECTIONS, rank // 4)
    vectors = np.random.default_rng(0).normal(size=(size, n_directions))
    for _ in range(BLOCK_ITERATIONS):
        vectors, _ = np.linalg.qr(apply_gram(vectors))
    values, rotation = np.linalg.eigh(vectors.T @ apply_gram(vectors))  # of few × few
    is_dominant = values > SMALLEST_DOMINANT * values.max(initial=0.0)
    values, vectors = values[is_dominant] + alpha, vectors @ rotation[:, is_dominant]
    shares = 1 - values.min(initial=np.inf) / values

    def precondition(V):
        return V - vectors @ (shares[:, None] * (vectors.T @ V))

    return precondition


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


@compiled
def lms_pass(
    Z: np.ndarray,
    directions: np.ndarray,
    change: np.ndarray,
    drive: np.ndarray,
    rate: float,
    shrinkage: float,
) -> None:
    """Update the change Δ by each row in turn, in place.

    A row z of Z adds η (b - (Δz) dᵀ - εΔ) to Δ (targets × columns). d is its direction Pz, b the
    drive.
    """
    n_targets, n_columns = change.shape
    for m in range(Z.shape[0]):
        for k in range(n_targets):
            moved = 0.0
            for n in range(n_columns):
                moved += change[k, n] * Z[m, n]
            for n in range(n_columns):
                shrunk = drive[k, n] - moved * directions[m, n] - shrinkage * change[k, n]
                change[k, n] += rate * shrunk
