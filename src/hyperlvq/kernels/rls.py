"""Regularised least squares: minimise Σ_m w_m ‖x_m·B - t_m‖² + α Σ_n r_n ‖B_n‖².

r_n is 1 (the identity penalty) or the population variance of column n (the variance penalty).
Every solver works on a standardised problem, Z = √w (X - centre)·scale with T = √w (t - offset)
and the penalty α‖Γ‖²; `original_coefficients` leads back. A column without variance carries no
penalty, so all of them together are an intercept that is free of charge: centring removes it,
and it comes back spread over them in proportion to their values, the solution of least norm.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from hyperlvq.kernels.compiled import compiled
from hyperlvq.kernels.scores import row_blocks, row_slices

POWER_ITERATIONS = 100
#: The largest ratio of ‖Z‖² to α that leaves a solver some digits.
LARGEST_CONDITION = {"cholesky": 1e12, "qr": 1e24}


def too_small(alpha, solver):
    """Return the error of a penalty that rounding would eat."""
    return ValueError(
        f"alpha={alpha!r} is too small for solver={solver!r} on these data; "
        "use solver='eigen' or 'auto'"
    )


class OneHot:
    """One-hot labels, samples × classes; only rows that are asked for are made."""

    def __init__(self, y, n_classes):
        self.y, self.shape = y, (len(y), n_classes)

    def __getitem__(self, rows):
        y = self.y[rows]
        labels = np.zeros((len(y), self.shape[1]))
        labels[np.arange(len(y)), y] = 1
        return labels


class Problem(NamedTuple):
    """A standardised problem; Z and T themselves are only made block by block, or on demand."""

    X: np.ndarray  # samples × columns
    targets: np.ndarray | OneHot  # t, samples × targets
    root_weights: np.ndarray  # samples × 1
    centre: np.ndarray  # columns
    scale: np.ndarray  # columns, 0 where there is no variance
    offset: np.ndarray  # targets
    free_column: np.ndarray  # the values of the columns without penalty, 0 elsewhere


def standardise(X, targets, weights, penalty):
    """Return the standardised problem of a penalty, "identity" or "variance"."""
    n_columns = X.shape[1]
    centre, scale, free_column = np.zeros(n_columns), np.ones(n_columns), np.zeros(n_columns)
    offset = np.zeros(targets.shape[1])
    if penalty == "variance":
        mean, variance = moments(X, weights)
        varies = variance > 0
        scale = np.divide(1, np.sqrt(variance), out=np.zeros(n_columns), where=varies)
        free_column = np.where(varies, 0, mean)
        if free_column.any():
            centre, offset = mean, mean_target(targets, weights)
    root_weights = np.sqrt(weights)[:, np.newaxis]
    return Problem(X, targets, root_weights, centre, scale, offset, free_column)


def mean_target(targets, weights):
    """Return the weighted mean of each target."""
    sums = np.zeros(targets.shape[1])
    for rows in row_slices(len(weights)):
        sums += weights[rows] @ targets[rows]
    return sums / weights.sum()


def moments(X, weights):
    """Return the weighted mean and population variance of the columns, exact where constant."""
    sums, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for rows, block in row_blocks(X, np.float64):
        sums += weights[rows] @ block
    mean = np.where(X.max(axis=0) == X.min(axis=0), X[0], sums / weights.sum())
    for rows, block in row_blocks(X, np.float64):
        squares += weights[rows] @ np.square(block - mean)
    return mean, squares / weights.sum()


def original_coefficients(problem, coefficients):
    """Return B (targets × columns) from the standardised Γ (targets × columns)."""
    original = coefficients * problem.scale
    column = problem.free_column
    if column.any():
        intercepts = problem.offset - original @ problem.centre
        original += np.outer(intercepts, column / (column @ column))
    return original


def standardised_blocks(problem):
    """Yield (rows, Z[rows]) in float64."""
    for rows, block in row_blocks(problem.X, np.float64):
        yield rows, (block - problem.centre) * problem.scale * problem.root_weights[rows]


def standardised_matrix(problem):
    """Return Z."""
    return np.concatenate([block for _, block in standardised_blocks(problem)])


def standardised_targets(problem, rows=slice(None)):
    """Return T, or some rows of it."""
    targets = problem.targets[rows] - problem.offset
    targets *= problem.root_weights[rows]
    return targets


def squared_norm(problem):
    """Return the sum of squares of Z: the trace of ZᵀZ and of ZZᵀ."""
    return sum(np.vdot(block, block) for _, block in standardised_blocks(problem))


def normal_equations(problem):
    """Return ZᵀZ and ZᵀT, summed over row blocks."""
    n_columns = problem.X.shape[1]
    gram = np.zeros((n_columns, n_columns))
    moment = np.zeros((n_columns, problem.targets.shape[1]))
    for rows, block in standardised_blocks(problem):
        gram += block.T @ block
        moment += block.T @ standardised_targets(problem, rows)
    return gram, moment


def is_wide(problem):
    """Say whether the dual form, a matrix of samples × samples, is the smaller one."""
    return problem.X.shape[0] < problem.X.shape[1]


def solve_cholesky(problem, alpha):
    """Return Γ = Tᵀ Z (ZᵀZ + αI)⁻¹, or for wide problems its dual Tᵀ (ZZᵀ + αI)⁻¹ Z."""
    if is_wide(problem):
        Z = standardised_matrix(problem)
        return (Z.T @ solve_shifted(Z @ Z.T, standardised_targets(problem), alpha)).T
    gram, moment = normal_equations(problem)
    return solve_shifted(gram, moment, alpha).T


def solve_shifted(matrix, right_hand_side, alpha):
    """Return (matrix + αI)⁻¹ right_hand_side; `matrix` is overwritten."""
    matrix[np.diag_indices_from(matrix)] += alpha
    factor = linalg.cho_factor(matrix, overwrite_a=True, check_finite=False)
    return linalg.cho_solve(factor, right_hand_side, check_finite=False)


def solve_qr(problem, alpha):
    """Return Γ by QR of [Z; √α I], which never squares the condition of Z."""
    Z = standardised_matrix(problem)
    Q, R = np.linalg.qr(np.vstack([Z, np.sqrt(alpha) * np.eye(Z.shape[1])]))
    moment = Q[: len(Z)].T @ standardised_targets(problem)
    return linalg.solve_triangular(R, moment, check_finite=False).T


def solve_eigen_path(problem, alphas):
    """Return Γ for every α from one eigendecomposition of ZᵀZ, or of ZZᵀ if that is smaller.

    α = 0 gives the solution of least norm.
    """
    if is_wide(problem):
        Z = standardised_matrix(problem)
        eigenvalues, vectors = linalg.eigh(Z @ Z.T, overwrite_a=True, check_finite=False)
        rotated, basis = vectors.T @ standardised_targets(problem), Z.T @ vectors
    else:
        gram, moment = normal_equations(problem)
        eigenvalues, basis = linalg.eigh(gram, overwrite_a=True, check_finite=False)
        rotated = basis.T @ moment
    rounding = eigenvalues.max() * len(eigenvalues) * np.finfo(np.float64).eps
    is_zero = eigenvalues <= rounding
    solutions = []
    for alpha in alphas:
        shifted = np.where(is_zero, 0, eigenvalues) + alpha
        shifted[is_zero & (alpha <= rounding)] = np.inf
        solutions.append((basis @ (rotated / shifted[:, np.newaxis])).T)
    return np.stack(solutions)


def solve_pinv(X, targets, weights, alpha, penalty):
    """Return B = TᵀX (XᵀX + αR)⁺; eigenvalues below columns · 2⁻²³ of the largest count as 0.

    That is where a pseudo-inverse in single precision cuts off.
    """
    raw = standardise(X, targets, weights, "identity")
    gram, moment = normal_equations(raw)
    gram[np.diag_indices_from(gram)] += alpha * (
        moments(X, weights)[1] if penalty == "variance" else 1
    )
    values, vectors = linalg.eigh(gram, overwrite_a=True, check_finite=False)
    kept = values > len(values) * np.finfo(np.float32).eps * values[-1]
    basis = vectors[:, kept]
    return ((basis / values[kept]) @ (basis.T @ moment)).T


def solve_fista(problem, alpha, max_iter, tol):
    """Return (Γ, iterations, whether converged) by accelerated gradient descent.

    Momentum starts anew whenever it points uphill. Converged is a gradient below `tol` times
    the gradient at 0.
    """
    if is_wide(problem):
        Z = standardised_matrix(problem)
        moment = Z.T @ standardised_targets(problem)

        def apply_gram(V):
            return Z.T @ (Z @ V)
    else:
        gram, moment = normal_equations(problem)
        apply_gram = gram.__matmul__
    curvature = largest_eigenvalue(apply_gram, len(moment)) + alpha
    position = ahead = np.zeros_like(moment)
    momentum = 1.0
    target = tol * np.abs(moment).max()
    for n_iter in range(1, max_iter + 1):
        gradient = apply_gram(ahead) + alpha * ahead - moment
        if np.abs(gradient).max() <= target:
            return ahead.T, n_iter, True
        previous, position = position, ahead - gradient / curvature
        if np.vdot(gradient, position - previous) > 0:
            momentum = 1.0
        next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = position + (momentum - 1) / next_momentum * (position - previous)
        momentum = next_momentum
    return position.T, max_iter, False


def largest_eigenvalue(apply, size):
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


def solve_lms(problem, alpha, max_iter, tol):
    """Return (Γ, passes, whether converged) by the least-mean-squares rule.

    Sample after sample, Γ += η_e ((t - Γz) z - (α/M) Γ); pass e = 1, 2, … takes η_e = η/√e, so it
    nears the closed form only as fast as η_e falls. Converged is a pass that changes Γ by less
    than `tol` of its norm.
    """
    coefficients = np.zeros((problem.targets.shape[1], problem.X.shape[1]))
    largest = max(
        np.einsum("ij,ij->i", block, block).max() for _, block in standardised_blocks(problem)
    )
    shrinkage = alpha / len(problem.X)
    if largest + shrinkage == 0:
        return coefficients, 1, True
    for n_iter in range(1, max_iter + 1):
        rate = 1 / (np.sqrt(n_iter) * (largest + shrinkage))
        before = coefficients.copy()
        for rows, block in standardised_blocks(problem):
            targets = standardised_targets(problem, rows)
            lms_pass(block, targets, coefficients, rate, shrinkage)
        if np.linalg.norm(coefficients - before) <= tol * np.linalg.norm(coefficients):
            return coefficients, n_iter, True
    return coefficients, max_iter, False


@compiled
def lms_pass(Z, targets, coefficients, rate, shrinkage):
    """Let every row z of Z move Γ (targets × columns, in place) by η ((t - Γz) z - ε Γ)."""
    n_targets, n_columns = coefficients.shape
    for m in range(Z.shape[0]):
        for k in range(n_targets):
            predicted = 0.0
            for n in range(n_columns):
                predicted += coefficients[k, n] * Z[m, n]
            error = targets[m, k] - predicted
            for n in range(n_columns):
                coefficients[k, n] += rate * (error * Z[m, n] - shrinkage * coefficients[k, n])


def solve(problem, alpha, solver, max_iter, tol):
    """Return (Γ, iterations, whether converged) by a solver of its name, or by "auto"."""
    solver = choose_solver(solver, problem, alpha)
    if solver == "cholesky":
        return solve_cholesky(problem, alpha), 1, True
    if solver == "qr":
        return solve_qr(problem, alpha), 1, True
    if solver == "eigen":
        return solve_eigen_path(problem, [alpha])[0], 1, True
    iterate = solve_fista if solver == "fista" else solve_lms
    return iterate(problem, alpha, max_iter, tol)


def choose_solver(solver, problem, alpha):
    """Return the solver to use; raise if the one asked for would return rounding errors."""
    if solver not in ("auto", *LARGEST_CONDITION):
        return solver
    size = squared_norm(problem)
    if solver == "auto":
        return "cholesky" if size < LARGEST_CONDITION["cholesky"] * alpha else "eigen"
    if size >= LARGEST_CONDITION[solver] * alpha:
        raise too_small(alpha, solver)
    return solver
