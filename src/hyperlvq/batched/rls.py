"""Regularised least squares of many hidden layers and penalties at once.

The problem is that of `kernels.rls`, in double precision throughout. For each layer one matrix,
ZᵀZ or, where samples are fewer than units, ZZᵀ, serves all penalties: each adds its α to the
diagonal, and all of them are factored together. Block by block the factoring is products of
matrices, which a GPU does far faster than the eigenvalues that serve one layer well.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from hyperlvq.batched.backend import Array, Backend
from hyperlvq.kernels.rls import LARGEST_CONDITION, too_small

FACTOR_BLOCK = 128
# Copies of the matrices to be factored that are alive at once.
MATRICES = 3
# Arrays of the size of a block of rows that are alive at once.
ROW_ARRAYS = 4


class Moments(NamedTuple):
    """What standardises every layer: Z = √w (X - centre)·scale, T = √w (t - offset)."""

    root_weights: Array  # samples × 1
    centre: Array  # layers × 1 × columns
    scale: Array
    offset: Array  # layers × 1 × targets
    free_column: Array  # layers × 1 × columns: the columns without variance, 0 elsewhere


def rls_coefficients(
    activations: Array,
    targets: Array,
    alphas: Sequence[float],
    backend: Backend,
    *,
    weights: Array | None = None,
    penalty: str = "variance",
    solver: str = "auto",
) -> Array:
    """Return B of every layer and penalty (layers × penalties × columns × targets).

    `activations` are layers × samples × columns, `targets` samples × targets, `weights` samples.
    The solver "auto" factors matrices where no alpha is too small for it; "cholesky" insists on
    that, "eigen" on eigenvalues.
    """
    moments = moments_of(activations, targets, weights, penalty, backend)
    penalties = backend.array(np.asarray(alphas), "float64")
    n_samples, n_columns = activations.shape[1:]
    solve = solve_dual if n_samples < n_columns else solve_primal
    solutions = solve(activations, targets, moments, penalties, solver, backend)
    return original_coefficients(moments, solutions, backend)


def solve_dual(activations, targets, moments, penalties, solver, backend):
    """Return Γ = Zᵀ (ZZᵀ + αI)⁻¹ T (layers × penalties × columns × targets)."""
    block = backend.cast(activations, "float64")
    Z = standardised(block, moments, slice(None))
    transposed = backend.xp.swapaxes(Z, 1, 2)
    right = moments.root_weights * (targets - moments.offset)
    return transposed[:, None] @ solve_shifted(Z @ transposed, right, penalties, backend, solver)


def solve_primal(activations, targets, moments, penalties, solver, backend):
    """Return Γ = (ZᵀZ + αI)⁻¹ ZᵀT; Z is made a block of rows at a time."""
    gram = right = 0.0
    for rows, block in row_blocks(activations, backend):
        Z = standardised(block, moments, rows)
        transposed = backend.xp.swapaxes(Z, 1, 2)
        gram = gram + transposed @ Z
        right = right + transposed @ (moments.root_weights[rows] * (targets[rows] - moments.offset))
    return solve_shifted(gram, right, penalties, backend, solver)


def standardised(block: Array, moments: Moments, rows: slice) -> Array:
    """Return Z of a block of rows."""
    return moments.root_weights[rows] * ((block - moments.centre) * moments.scale)


def row_blocks(activations: Array, backend: Backend) -> Iterator[tuple[slice, Array]]:
    """Yield (rows, the activations of all layers in these rows) in double precision."""
    n_layers, n_samples, n_columns = activations.shape
    at_once = max(1, backend.block_bytes // (ROW_ARRAYS * 8 * n_layers * n_columns))
    for start in range(0, n_samples, at_once):
        rows = slice(start, start + at_once)
        yield rows, backend.cast(activations[:, rows], "float64")


def moments_of(
    activations: Array, targets: Array, weights: Array | None, penalty: str, backend: Backend
) -> Moments:
    """Return what standardises; only layers that have columns without variance are centred."""
    xp = backend.xp
    n_layers, n_samples, n_columns = activations.shape
    if weights is None:
        weights = backend.full((n_samples,), 1, "float64")
    root_weights = xp.sqrt(weights)[:, None]
    if penalty == "identity":
        nothing = backend.zeros((n_layers, 1, n_columns), "float64")
        offset = backend.zeros((n_layers, 1, targets.shape[1]), "float64")
        return Moments(root_weights, nothing, nothing + 1, offset, nothing)
    mean, variance = column_moments(activations, weights, backend)
    varies = variance > 0
    scale = xp.where(varies, 1 / xp.sqrt(xp.where(varies, variance, 1.0)), 0.0)
    free_column = xp.where(varies, 0.0, mean)
    is_centred = xp.any(free_column != 0, axis=2)[:, :, None]
    offset = xp.where(is_centred, weights @ targets / weights.sum(), 0.0)
    return Moments(root_weights, xp.where(is_centred, mean, 0.0), scale, offset, free_column)


def column_moments(activations: Array, weights: Array, backend: Backend) -> tuple[Array, Array]:
    """Return the mean and variance of the columns (layers × 1 × columns), exact where constant."""
    xp, total = backend.xp, weights.sum()
    is_constant = xp.amax(activations, axis=1) == xp.amin(activations, axis=1)
    first = backend.cast(activations[:, 0], "float64")
    sums = sum(weights[rows] @ block for rows, block in row_blocks(activations, backend))
    mean = xp.where(is_constant, first, sums / total)[:, None]
    squares = sum(
        weights[rows] @ (block - mean) ** 2 for rows, block in row_blocks(activations, backend)
    )
    return mean, (squares / total)[:, None]


def original_coefficients(moments: Moments, solutions: Array, backend: Backend) -> Array:
    """Return B from the standardised Γ (layers × penalties × columns × targets).

    The intercept of centred layers comes back spread over the free columns.
    """
    xp = backend.xp
    original = xp.swapaxes(moments.scale, 1, 2)[:, None] * solutions
    intercepts = moments.offset[:, None] - moments.centre[:, None] @ original
    column = xp.swapaxes(moments.free_column, 1, 2)[:, None]
    square = (column**2).sum(axis=2)[:, :, None]
    return original + column / xp.where(square > 0, square, 1.0) * intercepts


def solve_shifted(
    matrices: Array, right: Array, alphas: Array, backend: Backend, solver: str = "auto"
) -> Array:
    """Return (A + αI)⁻¹ right for every matrix and α (matrices × alphas × size × columns)."""
    if solver == "eigen":
        return solve_by_eigenvalues(matrices, right, alphas, backend)
    largest_trace = float(backend.xp.einsum("mii->m", matrices).max())
    if largest_trace < LARGEST_CONDITION["cholesky"] * float(alphas.min()):
        return factor_and_solve(matrices, right, alphas, backend)
    if solver == "cholesky":
        raise too_small(float(alphas.min()), solver)
    return solve_by_eigenvalues(matrices, right, alphas, backend)


def factor_and_solve(matrices: Array, right: Array, alphas: Array, backend: Backend) -> Array:
    """Return (A + αI)⁻¹ right by Cholesky's method, as many at once as memory holds."""
    xp = backend.xp
    n_matrices, size = matrices.shape[:2]
    identity = backend.array(np.eye(size), "float64")
    bytes_of_matrix = 8 * size * (MATRICES * size + 3 * right.shape[2]) * len(alphas)
    at_once = max(1, backend.batch_bytes // bytes_of_matrix)
    solutions = []
    for start in range(0, n_matrices, at_once):
        part = slice(start, start + at_once)
        shifted = matrices[part, None] + alphas[:, None, None] * identity
        wide = xp.broadcast_to(right[part, None], (*shifted.shape[:3], right.shape[2]))
        solved = solve_definite(
            shifted.reshape(-1, size, size), wide.reshape(-1, size, right.shape[2]), backend
        )
        solutions.append(solved.reshape(wide.shape))
    return xp.concat(solutions, axis=0)


def solve_by_eigenvalues(matrices: Array, right: Array, alphas: Array, backend: Backend) -> Array:
    """Return (A + αI)⁻¹ right = V (Λ + α)⁻¹ Vᵀ right: slower, but no α is too small for it.

    α = 0 gives the solution of least norm.
    """
    xp = backend.xp
    values, vectors = xp.linalg.eigh(matrices)
    turned = (xp.swapaxes(vectors, 1, 2) @ right)[:, None]
    rounding = xp.amax(values, axis=1)[:, None] * values.shape[1] * np.finfo(np.float64).eps
    is_zero = (values <= rounding)[:, None]
    shifted = xp.where(is_zero, 0.0, values[:, None]) + alphas[:, None]
    is_lost = is_zero & (alphas[:, None] <= rounding[:, None])
    shifted = xp.where(is_lost, np.inf, shifted)
    return vectors[:, None] @ (turned / shifted[:, :, :, None])


def solve_definite(matrices: Array, right: Array, backend: Backend) -> Array:
    """Return A⁻¹ right by Cholesky's method, a block of columns at a time; A is overwritten.

    With L₁₁L₁₁ᵀ = A₁₁ and L₂₁ = A₂₁L₁₁⁻ᵀ, what is left to factor is A₂₂ - L₂₁L₂₁ᵀ; the right-hand
    side is eliminated along with it.
    """
    xp, size = backend.xp, matrices.shape[1]
    steps = []
    right = 1 * right
    for start in range(0, size, FACTOR_BLOCK):
        here, below = slice(start, start + FACTOR_BLOCK), slice(start + FACTOR_BLOCK, size)
        inverse = xp.linalg.inv(xp.linalg.cholesky(matrices[:, here, here]))
        factor = matrices[:, below, here] @ xp.swapaxes(inverse, 1, 2)
        right[:, here] = inverse @ right[:, here]
        if factor.shape[1]:
            right[:, below] -= factor @ right[:, here]
            matrices[:, below, below] -= factor @ xp.swapaxes(factor, 1, 2)
        steps.append((here, below, inverse, factor))
    for here, below, inverse, factor in reversed(steps):
        known = right[:, here]
        if factor.shape[1]:
            known = known - xp.swapaxes(factor, 1, 2) @ right[:, below]
        right[:, here] = xp.swapaxes(inverse, 1, 2) @ known
    return right


def train_rls(
    activations: Array, y: np.ndarray, alphas: Sequence[float], backend: Backend
) -> Array:
    """Return B for the one-hot labels (layers × penalties × columns × classes)."""
    classes, index = np.unique(y, return_inverse=True)
    targets = backend.array(np.eye(len(classes))[index], "float64")
    return rls_coefficients(activations, targets, alphas, backend)


def rls_accuracies(
    coefficients: Array, classes: np.ndarray, test: Array, y_test: np.ndarray, backend: Backend
) -> np.ndarray:
    """Return the accuracy of every layer and penalty on test activations (layers × penalties).

    `classes` are those trained on; test samples of others are never right.
    """
    known = backend.array(np.searchsorted(classes, y_test))
    is_known = backend.array(np.isin(y_test, classes))
    n_right = 0.0
    for rows, block in row_blocks(test, backend):
        hits = [
            backend.xp.argmax(block @ coefficients[:, penalty], axis=2) == known[rows]
            for penalty in range(coefficients.shape[1])
        ]
        is_right = backend.xp.stack(hits, axis=1) & is_known[rows]
        n_right = n_right + backend.cast(is_right, "float64").sum(axis=2)
    return backend.numpy(n_right / len(y_test))
