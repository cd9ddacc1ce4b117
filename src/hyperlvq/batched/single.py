"""What readouts do with torch tensors: samples, scores and training on the device they are on.

Labels and weights, one number a sample, are looked at on the host; X never leaves its device.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from hyperlvq.batched.backend import Array, Backend, backend_of, name_of
from hyperlvq.batched.glvq import OneGLVQ, Samples, class_means, squares, train_one
from hyperlvq.batched.rls import rls_coefficients
from hyperlvq.checks import check_cost
from hyperlvq.tensors import on_host

#: Solvers of least squares that factor a matrix or take its eigenvalues.
RLS_SOLVERS = ("auto", "cholesky", "eigen")
#: Labels that torch has; others, names above all, stay on the host.
TORCH_LABELS = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


class TensorSamples(NamedTuple):
    """Samples without those of weight zero, and where they are."""

    X: Array
    y: np.ndarray  # class indices
    weights: np.ndarray
    backend: Backend

    def batched(self, n_classes: int) -> Samples:
        """Return the samples as a group of one hidden layer, in the dtype to compute in."""
        activations = self.backend.cast(self.X, computing_dtype(self.X))[None]
        y, weights = (self.backend.array(values) for values in (self.y, self.weights))
        return Samples(activations, y, n_classes, holds_small_integers(self.X), weights)


def holds_small_integers(X: Array) -> bool:
    """Say whether all are integers of one byte."""
    return name_of(X) in ("int8", "uint8")


def computing_dtype(X: Array) -> str:
    """Return float32 for small integers, which it holds exactly, and float64 for features.

    Features may lie far from 0, where differences of float32 squares are rounding.
    """
    return "float32" if holds_small_integers(X) else "float64"


def labels_on_host(X: Array, y: Any) -> np.ndarray:
    """Return labels of any kind as a numpy array, one for each sample."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    y = check_array(on_host(y), ensure_2d=False, dtype=None, input_name="y")
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    return y


def classes_beside(classes: np.ndarray, backend: Backend) -> Array:
    """Return the classes on the device, on the host where torch has no such labels."""
    is_torch = classes.dtype.isnative and classes.dtype.name in TORCH_LABELS
    return backend.array(classes) if is_torch else classes


def labels_of(winners: Array, classes: Array) -> Array:
    """Return the classes of indices: a tensor where the classes are one."""
    return classes[on_host(winners) if isinstance(classes, np.ndarray) else winners]


def closest_scores(X: Array, prototypes: Array, prototype_classes: Array, n_classes: int) -> Array:
    """Return minus the squared distance to each class's closest prototype (samples × classes)."""
    backend, dtype = backend_of(X), computing_dtype(X)
    xp = backend.xp
    vectors = backend.cast(prototypes, dtype)
    norms = squares(vectors[None], xp)[0]
    index = backend.cast(prototype_classes, "int64")
    scores = backend.full((len(X), n_classes), -np.inf, "float64")
    for rows in row_slices(X, len(vectors), backend):
        block = backend.cast(X[rows], dtype)
        products = backend.multiply(block, vectors.T, right_is_exact=False)
        distances = norms - 2 * products + squares(block[None], xp)[0][:, None]
        closeness = -backend.cast(xp.clip(distances, 0, None), "float64")
        scores[rows].scatter_reduce_(1, index.expand(len(block), -1), closeness, "amax")
    return scores


def linear_scores(X: Array, coefficients: Array) -> Array:
    """Return X Wᵀ in float64."""
    backend = backend_of(X)
    scores = backend.zeros((len(X), len(coefficients)), "float64")
    for rows in row_slices(X, X.shape[1], backend):
        scores[rows] = backend.cast(X[rows], "float64") @ coefficients.T
    return scores


def class_totals(samples: TensorSamples, n_classes: int) -> tuple[Array, Array]:
    """Return the weighted sum of each class's samples (classes × features), and its weight."""
    backend = samples.backend
    is_own = backend.range(n_classes)[:, None] == backend.array(samples.y)
    weights = backend.array(samples.weights)
    sums = backend.zeros((n_classes, samples.X.shape[1]), "float64")
    totals = backend.zeros((n_classes,), "float64")
    for rows in row_slices(samples.X, n_classes, backend):
        shares = is_own[:, rows] * weights[rows]
        sums += shares @ backend.cast(samples.X[rows], "float64")
        totals += shares.sum(axis=1)
    return sums, totals


def row_slices(X: Array, width: int, backend: Backend) -> list[slice]:
    """Return slices of rows whose wide copies fit in a block of memory."""
    at_once = max(1, backend.block_bytes // (8 * (X.shape[1] + 3 * width)))
    return [slice(start, start + at_once) for start in range(0, len(X), at_once)]


def minimise_glvq(
    samples: TensorSamples,
    start: Array | None,
    counts: np.ndarray,
    slope: float,
    noise: np.ndarray,
    max_iter: int,
    tol: float,
) -> OneGLVQ:
    """Train from given prototypes, or from class means plus noise (prototypes × features)."""
    backend, batched = samples.backend, samples.batched(len(counts))
    if start is None:
        means = class_means(batched, backend)[0]
        of_prototypes = backend.array(np.repeat(np.arange(len(counts)), counts))
        start = means[of_prototypes] + backend.array(noise, name_of(means))
    one = train_one(batched, start, counts, slope, backend, max_iter, tol)
    check_cost(one.curve[-1])
    return one._replace(prototypes=backend.cast(one.prototypes, "float64"))


def solve_rls(
    samples: TensorSamples, n_classes: int, alpha: float, penalty: str, solver: str
) -> Array:
    """Return the readout matrix W (classes × features)."""
    if solver not in RLS_SOLVERS:
        listed = ", ".join(map(repr, RLS_SOLVERS))
        raise ValueError(f"solver={solver!r} takes no torch tensors; those that do are {listed}")
    backend = samples.backend
    targets = backend.array(np.eye(n_classes)[samples.y])
    coefficients = rls_coefficients(
        samples.X[None],
        targets,
        [alpha],
        backend,
        weights=backend.array(samples.weights),
        penalty=penalty,
        solver=solver,
    )
    return backend.xp.swapaxes(coefficients[0, 0], 0, 1)
