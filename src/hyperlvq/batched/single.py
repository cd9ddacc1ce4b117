"""What readouts do with torch tensors: samples, scores and training on the device they are on.

Labels and weights, one number a sample, are looked at on the host; X never leaves its device.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length

from hyperlvq.batched.backend import Array, Backend, backend_of, name_of
from hyperlvq.batched.glvq import Samples, class_means, squares, train_one
from hyperlvq.batched.rls import rls_coefficients
from hyperlvq.tensors import on_host

#: Solvers of least squares that factor a matrix or take its eigenvalues.
RLS_SOLVERS = ("auto", "cholesky", "eigen")


class TensorSamples(NamedTuple):
    """Samples without those of weight zero, and where they are."""

    X: Array
    y: np.ndarray  # class indices
    weights: np.ndarray
    backend: Backend

    @property
    def holds_integers(self) -> bool:
        """Say whether the features are integers."""
        return "int" in name_of(self.X)

    def batched(self, n_classes: int) -> Samples:
        """Return the samples as a group of one hidden layer, in the dtype to compute in."""
        activations = self.backend.cast(self.X, computing_dtype(self.X))[None]
        y, weights = (self.backend.array(values) for values in (self.y, self.weights))
        return Samples(activations, y, n_classes, self.holds_integers, weights)


def computing_dtype(X: Array) -> str:
    """Return float64 for X of that type, else float32, which holds small integers exactly."""
    return "float64" if name_of(X) == "float64" else "float32"


def labels_on_host(X: Array, y: Any) -> np.ndarray:
    """Return labels of any kind as a numpy array, one for each sample."""
    y = check_array(on_host(y), ensure_2d=False, dtype=None, input_name="y")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y must have one dimension, got shape {y.shape}")
    check_consistent_length(X, y)
    return y


def classes_beside(classes: np.ndarray, backend: Backend) -> Array:
    """Return the classes on the device, on the host where torch has no such labels."""
    return backend.array(classes) if classes.dtype.kind in "biuf" else classes


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
        distances = norms - 2 * (block @ vectors.T) + squares(block[None], xp)[0][:, None]
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


def row_slices(X: Array, width: int, backend: Backend) -> list[slice]:
    """Return slices of rows whose wide copies fit in a block of memory."""
    at_once = max(1, backend.block_bytes // (8 * (X.shape[1] + 3 * width)))
    return [slice(start, start + at_once) for start in range(0, len(X), at_once)]


def starting_prototypes(
    samples: TensorSamples, counts: np.ndarray, noise: float, rng: np.random.RandomState
) -> tuple[Array, np.ndarray]:
    """Return class means plus U(-noise, noise), and their classes, as `base` does on numpy."""
    prototype_classes = np.repeat(np.arange(len(counts)), counts)
    means = class_means(samples.batched(len(counts)), samples.backend)[0]
    prototypes = means[samples.backend.array(prototype_classes)]
    if noise > 0:
        shift = rng.uniform(-noise, noise, size=tuple(prototypes.shape))
        prototypes = prototypes + samples.backend.array(shift, name_of(prototypes))
    return prototypes, prototype_classes


def minimise_glvq(
    samples: TensorSamples,
    start: Array,
    counts: np.ndarray,
    slope: float,
    max_iter: int,
    tol: float,
) -> tuple[Array, int, list[float]]:
    """Return prototypes, the number of iterations and the cost after each one."""
    batched = samples.batched(len(counts))
    one = train_one(batched, start, counts, slope, samples.backend, max_iter, tol)
    if one.n_iter >= max_iter:
        warnings.warn(
            f"L-BFGS stopped at the limit of {max_iter} iterations (max_iter); "
            "the cost may fall further",
            ConvergenceWarning,
            stacklevel=5,
        )
    prototypes = samples.backend.cast(one.prototypes, "float64")
    return prototypes, max(one.n_iter, 1), one.curve.tolist()


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
