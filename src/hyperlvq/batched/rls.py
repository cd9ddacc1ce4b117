"""Regularised least squares: minimise Σ_m w_m ‖W x_m - t_m‖² + α Σ_n r_n ‖W_n‖².

t is the one-hot label; r_n is 1 (the identity penalty) or the population variance of column n
(the variance penalty). A column without variance carries no penalty, so all of them together are
an intercept that is free of charge: centring removes it, and it comes back spread over them in
proportion to their values, the solution of least norm.

Solvers work on the standardised problem, ‖ZΓ - T‖² + α‖Γ‖² with Z = √w (X - centre)·scale and
T = √w (t - offset), in double precision, in numpy or torch. X may have leading axes, written
"...": hidden layers that share their labels.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from hyperlvq.batched.backend import Array, Backend
from hyperlvq.kernels import rls
from hyperlvq.kernels.rls import Method
from hyperlvq.kernels.scores import BLOCK_ROWS, row_slices

NUMPY = Backend(np)
#: The largest ratio of ‖Z‖² to α that leaves a solver some digits.
LARGEST_CONDITION = {"cholesky": 1e12, "qr": 1e24}
# Copies of the matrices to be factored, and arrays as large as a block of rows, alive at once.
MATRICES = 3
ROW_ARRAYS = 4
#: Numbers that numpy holds beside a block of rows.
MOST_NUMBERS = 2**21
#: The smallest 1 - h that is divided by, h being the leverage of a sample.
SMALLEST_REST = 1e-9


class LabelledRows(NamedTuple):
    """Samples where they are, with their labels and weights on the host."""

    X: Array  # ... × samples × columns
    y: np.ndarray  # class indices
    weights: np.ndarray
    n_classes: int
    backend: Backend = NUMPY
    map_blocks: Callable = map  # may use threads

    def slices(self) -> list[Any]:
        """Return slices of rows that are gone through one after the other."""
        return slices_of(self.X, self.backend, self.n_classes)

    def blocks(self) -> Any:
        """Yield (rows, X[rows] in double precision)."""
        return row_blocks(self.X, self.backend, self.n_classes)


class Columns(NamedTuple):
    """The means of the columns of X, and what is subtracted from X and from the targets."""

    mean: Array  # ... × columns; 0 if no penalty needs it
    centre: Array  # ... × columns: the mean, or 0 if no column is free of penalty
    offset: Array  # ... × classes: the mean target, or 0


class Moments(NamedTuple):
    """Sums over samples: those of blocks of rows, or of partitions, add up."""

    weight: float
    squares: Array  # of w (x - mean)², ... × columns
    gram: Array  # of w (x - centre)(x - centre)ᵀ, ... × columns × columns
    moment: Array  # of w (x - centre)(t - offset)ᵀ, ... × columns × classes


def slices_of(X: np.ndarray, backend: Backend, width: int = 0) -> list[Any]:
    """Return slices of rows; each row may need `width` more numbers than it has."""
    *layers, n_samples, n_columns = X.shape
    n_layers = int(np.prod(layers))
    if backend.is_torch:
        row_bytes = ROW_ARRAYS * 8 * n_layers * (n_columns + width)
        return backend.row_slices(n_samples, row_bytes)
    return row_slices(n_samples, max(1, min(BLOCK_ROWS // n_layers, MOST_NUMBERS // (width + 1))))


def row_blocks(X: np.ndarray, backend: Backend, width: int = 0) -> Any:
    """Yield (rows, X[rows] in double precision); each row may need `width` more numbers."""
    for rows in slices_of(X, backend, width):
        yield rows, backend.cast(X[..., rows, :], "float64")


def columns_of(samples: LabelledRows, method: Method) -> Columns:
    """Return the means of the columns, exact where constant."""
    X, y, weights, n_classes, backend, _ = samples
    if method.penalty == "identity":
        nothing = backend.zeros((*X.shape[:-2], X.shape[-1]), "float64")
        return Columns(nothing, nothing, backend.zeros((n_classes,), "float64"))
    xp, weights_there = backend.xp, backend.array(weights)
    is_constant = xp.amax(X, axis=-2) == xp.amin(X, axis=-2)
    sums = sum(weights_there[rows] @ block for rows, block in samples.blocks())
    mean = xp.where(is_constant, backend.cast(X[..., 0, :], "float64"), sums / weights.sum())
    shares = backend.array(np.bincount(y, weights, minlength=n_classes) / weights.sum())
    return centred_columns(mean, is_constant, shares, method, backend)


def centred_columns(
    mean: Any, is_constant: Any, shares: Any, method: Method, backend: Backend = NUMPY
) -> Columns:
    """Return columns that are centred where constant ones are free; the shares are of classes."""
    is_free = is_constant & (method.penalty == "variance") & (method.solver != "pinv")
    is_centred = backend.xp.any(is_free & (mean != 0), axis=-1)[..., None]
    centre, offset = (backend.xp.where(is_centred, values, 0.0) for values in (mean, shares))
    return Columns(mean, centre, offset)


def standardised(
    samples: LabelledRows, columns: Columns, rows: slice, scale: Any = 1.0
) -> tuple[Any, ...]:
    """Return Z and T of some rows."""
    backend, classes = samples.backend, samples.backend.range(samples.n_classes)
    y, roots = (
        backend.array(values[rows])[:, None] for values in (samples.y, np.sqrt(samples.weights))
    )
    offset = columns.offset[..., None, :]
    Z = backend.cast(samples.X[..., rows, :], "float64") - columns.centre[..., None, :]
    T = backend.xp.where(y == classes, 1 - offset, -offset)
    Z *= roots * scale
    T *= roots
    return Z, T


def squares_of(samples: LabelledRows, columns: Columns) -> Any:
    """Return the weighted sum of squared deviations from the mean."""
    square, mean = samples.backend.xp.square, columns.mean[..., None, :]
    weights = samples.backend.array(samples.weights)
    return sum(weights[rows] @ square(block - mean) for rows, block in samples.blocks())


def moments_of(samples: LabelledRows, columns: Columns) -> Moments:
    """Return the sums over all samples."""
    *layers, _, n_columns = samples.X.shape
    gram = samples.backend.zeros((*layers, n_columns, n_columns), "float64")
    moment = samples.backend.zeros((*layers, n_columns, samples.n_classes), "float64")

    def multiply(rows):
        Z, T = standardised(samples, columns, rows)
        return Z.mT @ Z, Z.mT @ T

    for products, block_moment in samples.map_blocks(multiply, samples.slices()):
        gram += products
        moment += block_moment
    return Moments(samples.weights.sum(), squares_of(samples, columns), gram, moment)


def penalties_of(squares: Any, weight: float, method: Method, backend: Backend) -> tuple[Any, ...]:
    """Return r of every column, and 1/√r, which is 0 where there is no penalty."""
    xp = backend.xp
    penalties = squares / weight if method.penalty == "variance" else xp.ones_like(squares)
    return penalties, 1 / xp.sqrt(xp.where(penalties > 0, penalties, np.inf))


def solve_least_squares(
    samples: LabelledRows, alphas: list[Any], method: Method
) -> tuple[Any, ...]:
    """Return W for every α, the number of iterations and whether they converged.

    W is ... × alphas × classes × columns. Solvers other than "auto", "cholesky" and "eigen" take
    neither tensors nor more than one alpha.
    """
    columns, backend, solver = columns_of(samples, method), samples.backend, method.solver
    n_samples, n_columns = samples.X.shape[-2:]
    is_wide = n_samples < n_columns and solver != "pinv"
    if not is_wide and solver not in ("qr", "lms"):
        return solve_moments(moments_of(samples, columns), columns, alphas, method, backend)
    squares, weight = squares_of(samples, columns), samples.weights.sum()
    _, scale = penalties_of(squares, weight, method, backend)

    def read_blocks():
        for rows in samples.slices():
            yield standardised(samples, columns, rows, scale[..., None, :])

    if solver == "lms":
        shape = samples.n_classes, n_columns
        found = rls.solve_lms(read_blocks, shape, n_samples, alphas[0], *method[2:])
    else:
        Z, T = (backend.xp.concat(blocks, axis=-2) for blocks in zip(*read_blocks(), strict=True))
        if solver == "qr":
            check_alpha(alphas[0], np.vdot(Z, Z), solver)
            found = rls.solve_qr(Z, T, alphas[0]), 1, True
        else:
            found = solve_equations(Z @ Z.mT, T, Z, alphas, method, backend)
    return original_coefficients(found, columns, scale, backend)


def solve_moments(
    moments: Moments, columns: Columns, alphas: list[Any], method: Method, backend: Backend = NUMPY
) -> tuple[Any, ...]:
    """Return W by a solver that needs no rows ("qr" takes eigenvalues); overwrite the moments."""
    weight, squares, gram, moment = moments
    penalties, scale = penalties_of(squares, weight, method, backend)
    if method.solver == "pinv":
        return rls.solve_pinv(gram, moment, alphas[0] * penalties).T[None], 1, True
    gram *= scale[..., None]
    gram *= scale[..., None, :]
    moment *= scale[..., None]
    found = solve_equations(gram, moment, None, alphas, method, backend)
    return original_coefficients(found, columns, scale, backend)


def solve_equations(
    gram: Any, right: Any, rows: Any, alphas: list[Any], method: Method, backend: Backend
) -> tuple[Any, ...]:
    """Return Γ = (ZᵀZ + αI)⁻¹ ZᵀT, or the same from `rows` Z as Zᵀ(ZZᵀ + αI)⁻¹ T.

    Γ is ... × alphas × columns × classes. "auto" factors matrices where no alpha is too small for
    that, as "cholesky" does or refuses to do; others but "fista" take eigenvalues.
    """
    if method.solver == "fista":
        factors, moment = ([gram], right) if rows is None else ([rows.T, rows], rows.T @ right)
        return rls.solve_fista(factors, moment, alphas[0], *method[2:])
    trace, smallest = float(backend.xp.einsum("...ii->...", gram).max()), min(alphas)
    check_alpha(smallest, trace, method.solver)
    is_safe = trace < LARGEST_CONDITION["cholesky"] * smallest
    is_factored = is_safe and method.solver in ("auto", "cholesky")
    solve = factor_and_solve if is_factored else solve_by_eigenvalues
    solutions = solve(gram, right, alphas, backend)
    return solutions if rows is None else rows.mT[..., None, :, :] @ solutions, 1, True


class Spectrum(NamedTuple):
    """The eigenvalues λ > 0 of ZᵀZ, their vectors V as columns, and VᵀZᵀT."""

    values: Array
    vectors: Array
    right: Array

    def solve(self, alpha: float) -> Any:
        """Return Γ = (ZᵀZ + αI)⁻¹ ZᵀT."""
        return self.vectors @ (self.right / (self.values + alpha)[:, None])


def spectrum_of(gram: Any, right: Any, backend: Backend, rows: Any = None) -> Spectrum:
    """Return the spectrum of ZᵀZ from itself and ZᵀT, or from ZZᵀ, T and the `rows` Z."""
    values, vectors = backend.xp.linalg.eigh(gram)
    is_kept = values > values[-1] * len(values) * np.finfo(np.float64).eps
    values, vectors = values[is_kept], vectors[:, is_kept]
    if rows is None:
        return Spectrum(values, vectors, vectors.mT @ right)
    roots = backend.xp.sqrt(values)
    return Spectrum(values, rows.mT @ (vectors / roots), roots[:, None] * (vectors.mT @ right))


def choose_penalty(samples: LabelledRows, alphas: Any, method: Method) -> tuple[Any, ...]:
    """Return W of the alpha whose leave-one-out predictions are the best, and that alpha."""
    columns, backend = columns_of(samples, method), samples.backend
    n_samples, n_columns = samples.X.shape
    if n_samples < n_columns:
        squares, weight = squares_of(samples, columns), samples.weights.sum()
        _, scale = penalties_of(squares, weight, method, backend)
        Z, T = standardised(samples, columns, slice(None), scale)
        spectrum = spectrum_of(Z @ Z.mT, T, backend, rows=Z)
    else:
        spectrum, scale = spectrum_of_moments(moments_of(samples, columns), method, backend)
    sums = left_out(samples, columns, scale, spectrum, alphas, samples.weights.sum())
    return best_penalty(sums, spectrum, columns, scale, alphas, backend)


def spectrum_of_moments(
    moments: Moments, method: Method, backend: Backend = NUMPY
) -> tuple[Any, ...]:
    """Return the spectrum of the standardised problem, and the scale of its columns."""
    weight, squares, gram, moment = moments
    _, scale = penalties_of(squares, weight, method, backend)
    return spectrum_of(gram * scale[:, None] * scale, scale[:, None] * moment, backend), scale


def left_out(
    samples: LabelledRows,
    columns: Columns,
    scale: Any,
    spectrum: Spectrum,
    alphas: Any,
    total_weight: float,
) -> np.ndarray:
    """Return for every alpha the weight of samples predicted right without them, and their error.

    A sample's prediction without it is t - (t - f)/(1 - h), with h its leverage: zᵀ(ZᵀZ + αI)⁻¹z,
    and its share of the total weight where an intercept is free. What standardises the columns is
    taken as it is with all samples. Returns 2 × alphas.
    """
    xp, backend, n_classes = samples.backend.xp, samples.backend, samples.n_classes
    inverses = 1 / (spectrum.values[:, None] + backend.array(np.array(alphas)))
    solutions = inverses[:, :, None] * spectrum.right[:, None]
    solutions = solutions.reshape(len(inverses), len(alphas) * n_classes)
    free_share = float(columns.offset.sum()) / total_weight  # 0 without an intercept

    def predict(rows):
        Z, T = standardised(samples, columns, rows, scale)
        rotated, weights = Z @ spectrum.vectors, backend.array(samples.weights[rows])
        fitted = (rotated @ solutions).reshape(len(T), len(alphas), n_classes)
        leverages = rotated**2 @ inverses + free_share * weights[:, None]
        left = (T[:, None] - fitted) / xp.clip(1 - leverages, SMALLEST_REST, None)[:, :, None]
        predicted = (T[:, None] - left) / xp.sqrt(weights)[:, None, None] + columns.offset
        is_right = xp.argmax(predicted, axis=2) == backend.array(samples.y[rows])[:, None]
        right = weights @ backend.cast(is_right, "float64")
        return backend.numpy(xp.stack([right, (left**2).sum(axis=(0, 2))]))

    slices = slices_of(samples.X, backend, solutions.shape[1])
    return sum(samples.map_blocks(predict, slices), start=np.zeros((2, len(alphas))))


def best_penalty(
    sums: np.ndarray,
    spectrum: Spectrum,
    columns: Columns,
    scale: Any,
    alphas: Any,
    backend: Backend = NUMPY,
) -> tuple[Any, ...]:
    """Return W of the best alpha by the sums of `left_out`, and that alpha."""
    right, errors = sums
    best = int(np.lexsort((errors, -right))[0])
    solution = spectrum.solve(alphas[best])[None]
    return original_coefficients((solution,), columns, scale, backend)[0][0], alphas[best]


def check_alpha(alpha: float, squared_norm: float, solver: str) -> None:
    """Raise if alpha is too small for the solver."""
    if squared_norm >= LARGEST_CONDITION.get(solver, np.inf) * alpha:
        raise ValueError(
            f"alpha={alpha!r} is too small for solver={solver!r} on these data; "
            "use solver='eigen' or 'auto'"
        )


def original_coefficients(
    found: tuple[Any, ...], columns: Columns, scale: Any, backend: Backend
) -> tuple[Any, ...]:
    """Return W from Γ: the intercept of centred columns goes to those that are constant."""
    xp, (solutions, *outcome) = backend.xp, found
    W = (scale[..., None, :, None] * solutions).mT
    constants = xp.where(scale > 0, 0.0, columns.mean)[..., None, :]
    has_constants = (constants != 0).any(axis=-1)[..., None]
    if has_constants.any():
        square = xp.where(has_constants, (constants**2).sum(axis=-1)[..., None], 1.0)
        intercepts = columns.offset[..., None, :, None] - W @ columns.centre[..., None, :, None]
        W = W + intercepts * (constants / square)[..., None, :]
    return W, *outcome


def factor_and_solve(gram: Any, right: Any, alphas: Any, backend: Backend) -> Any:
    """Return (G + αI)⁻¹ right by Cholesky's method, for as many α at once as memory holds."""
    xp, (*layers, size, n_classes) = backend.xp, right.shape
    bytes_of_alpha = 8 * int(np.prod(layers)) * size * (MATRICES * size + 3 * n_classes)
    solutions = []
    for part in row_slices(len(alphas), max(1, backend.batch_bytes // bytes_of_alpha)):
        shifts = backend.array(np.array(alphas[part], dtype=float))
        shifted = xp.stack([gram] * len(shifts), axis=-3)
        # Every (size + 1)th entry of a matrix is on its diagonal.
        shifted.reshape(*shifted.shape[:-2], -1)[..., :: size + 1] += shifts[:, None]
        repeated = xp.broadcast_to(right[..., None, :, :], (*shifted.shape[:-1], n_classes))
        solutions.append(solve_definite(shifted, repeated, backend))
    return xp.concat(solutions, axis=-3)


def solve_definite(matrices: np.ndarray, right: np.ndarray, backend: Backend) -> np.ndarray:
    """Return A⁻¹ right by Cholesky's method; A is overwritten."""
    if backend.is_torch:
        return backend.xp.cholesky_solve(right, backend.xp.linalg.cholesky(matrices))
    if matrices.ndim > 2:
        pairs = zip(matrices, right, strict=True)
        return np.stack([solve_definite(*pair, backend) for pair in pairs])
    factor = linalg.cho_factor(matrices.T, overwrite_a=True, check_finite=False)
    return linalg.cho_solve(factor, right, check_finite=False)


def solve_by_eigenvalues(gram: Any, right: Any, alphas: Any, backend: Backend) -> Any:
    """Return (G + αI)⁻¹ right = V (Λ + α)⁻¹ Vᵀ right: slower, but no α is too small for it.

    α = 0 gives the solution of least norm.
    """
    xp = backend.xp
    if backend.is_torch or gram.ndim > 2:
        values, vectors = xp.linalg.eigh(gram)
    else:  # in less memory
        values, vectors = linalg.eigh(gram, overwrite_a=True, check_finite=False)
    rotated = vectors.mT @ right
    rounding = xp.amax(values, axis=-1)[..., None] * values.shape[-1] * np.finfo(np.float64).eps
    is_zero = values <= rounding
    solutions = []
    for alpha in alphas:
        shifted = xp.where(is_zero, 0.0, values) + alpha
        shifted = xp.where(is_zero & (alpha <= rounding), np.inf, shifted)
        solutions.append(vectors @ (rotated / shifted[..., None]))
    return xp.stack(solutions, axis=-3)


def train_rls(activations: Any, y: np.ndarray, alphas: Any, backend: Backend) -> Any:
    """Return W of every hidden layer and alpha (layers × alphas × classes × columns)."""
    classes, index = np.unique(y, return_inverse=True)
    samples = LabelledRows(activations, index, np.ones(len(y)), len(classes), backend)
    return solve_least_squares(samples, alphas, Method())[0]


def rls_accuracies(
    coefficients: Any, classes: np.ndarray, test: Any, y_test: np.ndarray, backend: Backend
) -> np.ndarray:
    """Return the accuracy of every layer and alpha on test activations (layers × alphas).

    `classes` are those trained on; test samples of others are never right.
    """
    known = backend.array(np.searchsorted(classes, y_test))[:, None]
    is_known = backend.array(np.isin(y_test, classes))[:, None]
    n_layers, n_alphas, n_classes, n_columns = coefficients.shape
    of_all_alphas = coefficients.reshape(n_layers, n_alphas * n_classes, n_columns).mT
    n_right = backend.zeros((n_layers, n_alphas), "float64")
    for rows, block in row_blocks(test, backend, n_alphas * n_classes):
        scores = (block @ of_all_alphas).reshape(n_layers, -1, n_alphas, n_classes)
        is_right = (backend.xp.argmax(scores, axis=-1) == known[rows]) & is_known[rows]
        n_right += is_right.sum(axis=1)
    return backend.numpy(n_right / len(y_test))
