"""One door to what computes: numpy with compiled loops, or torch on the device where X is.

An estimator asks `engine_of` which engine its X belongs to and calls that engine's methods, the
same for both. With scikit-learn's `array_api_dispatch` a model is fitted on tensors where they
are, and what it learns are tensors there; without it scikit-learn makes arrays of them.
"""

import sys
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from hyperlvq.batched import glvq, rls
from hyperlvq.batched.backend import DEVICES, Backend, backend_of, name_of
from hyperlvq.batched.encoding import compare_on_device, encode_integers
from hyperlvq.checks import check_cost, warn_caller
from hyperlvq.inputs import check_no_dates, warn_of_lost_integers
from hyperlvq.kernels import scores
from hyperlvq.kernels.comparisons import compare_rows, score_rows
from hyperlvq.kernels.distances import class_sums, linear_scores, prototype_scores, squared_norms
from hyperlvq.kernels.encoding import encode_rows
from hyperlvq.kernels.glvq import cost_and_gradient
from hyperlvq.kernels.lbfgs import Minimum, minimise
from hyperlvq.kernels.missing import fill_missing
from hyperlvq.kernels.samples import canonical_samples
from hyperlvq.kernels.threads import block_threads

#: Labels that torch has; others, names above all, stay on the host.
TORCH_LABELS = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")

#: Columns that a warning names.
MOST_LISTED = 5

Estimator = TypeVar("Estimator", bound=BaseEstimator)
#: X, class indices and weights, the last two on the host.
LabelledSamples = tuple[Any, np.ndarray, np.ndarray]


class NumpyEngine:
    """Computes with numpy and compiled loops; `start` are prototypes and the class of each."""

    linear_scores: Any = staticmethod(linear_scores)
    prototype_scores: Any = staticmethod(prototype_scores)
    xp: Any = np

    def check_can_fit(self, estimator: Any) -> None:
        """Raise if the estimator has no `fit` for arrays of this engine."""

    def validate(self, estimator: Any, X: Any, dtypes: tuple[Any, ...], **options: Any) -> Any:
        """Return X, validated, in one of the dtypes, else in the first."""
        check_no_dates(X)
        if "y" in options or options.get("reset", True):  # in fit
            warn_of_lost_integers(X)
        return validate_data(estimator, X, dtype=[np.dtype(name) for name in dtypes], **options)

    def validate_samples(
        self, estimator: Any, X: Any, y: Any, dtypes: tuple[str, ...], **options: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return X as `validate` does, and labels as a numpy array."""
        return self.validate(estimator, X, dtypes, y=y, order="C", **options)

    def array(self, values: np.ndarray) -> np.ndarray:
        """Return an array of this engine."""
        return values

    def labels(self, classes: np.ndarray) -> np.ndarray:
        """Return labels as an array of this engine, where it has such labels."""
        return classes

    def fill_missing(self, estimator: Any, X: Any) -> Any:
        """Replace missing values by the medians of an estimator, with a warning."""
        X, is_filled = fill_missing(X, getattr(estimator, "medians_", None), self.xp)
        if is_filled is not None:
            columns = np.flatnonzero(on_host(is_filled).any(axis=0))
            names = getattr(estimator, "feature_names_in_", None)
            message = (
                f"{type(estimator).__name__} replaced missing values in "
                f"{_listed(columns, names)} by the training median, because there were none in fit"
            )
            warn_caller(message, UserWarning)
        return X

    def encode(self, X: Any, keys: np.ndarray, clip: int, n_jobs: int | None) -> np.ndarray:
        """Return the activations of `IntRVFLLayer`."""
        return encode_rows(X, keys, clip, n_threads=_threads_of(n_jobs))

    def compare(self, X: Any, units: Any, n_jobs: int | None) -> np.ndarray:
        """Return the activations of `ComparisonLayer`."""
        return compare_rows(X, units, _threads_of(n_jobs))

    def comparison_scores(self, X: Any, units: Any, coefficients: Any, n_jobs: Any) -> Any:
        """Return the linear scores of what `compare` returns, without keeping that."""
        return score_rows(X, units, coefficients, _threads_of(n_jobs))

    def project(self, X: Any, weights: Any, biases: Any) -> Any:
        """Return the activations of `RVFLLayer`, in the precision of X."""
        with block_threads() as map_blocks:
            return scores.project(X, weights, biases, map_blocks)

    def canonical_samples(self, samples: LabelledSamples) -> LabelledSamples:
        """Return samples in an order of their own, equal ones as one, where that is quick."""
        return canonical_samples(*samples)

    def total_weight(self, samples: LabelledSamples) -> float:
        """Return the sum of all weights."""
        return float(samples[2].sum())

    def class_totals(self, samples: LabelledSamples, n_classes: int) -> tuple[Any, Any]:
        """Return the weighted sum of each class's samples (classes × features), and its weight."""
        X, y, weights = samples
        totals = np.bincount(y, weights, minlength=n_classes)
        return class_sums(X, y, weights, n_classes), totals

    def distance_scale(self, samples: LabelledSamples, *prototypes: Any) -> float:
        """Return the mean of d⁺ + d⁻ from what `prototype_scores` takes behind X."""
        X, y, weights = samples
        distances = -on_host(self.prototype_scores(X, *prototypes))
        return scores.mean_distance_sum(distances, y, weights)

    def winning_labels(self, compared_scores: Any, classes: Any) -> Any:
        """Return the label of each sample from what `decision_function` returns."""
        winners = scores.winners_of(compared_scores)
        return classes[on_host(winners) if isinstance(classes, np.ndarray) else winners]

    def minimise_glvq(
        self, start: Any, samples: Any, slope: Any, max_iter: Any, tol: Any, report: Any = None
    ) -> Minimum:
        """Return the prototypes that minimise the weighted mean of g(μ).

        `report` is called with all costs so far after each iteration, but for those on a device.
        """
        (prototypes, prototype_classes), (X, y, weights) = start, samples
        fixed = {"prototype_classes": prototype_classes, "X": X, "y": y, "slope": slope}
        fixed |= {"weights": weights / weights.sum(), "sample_norms": squared_norms(X)}
        with block_threads() as map_blocks:
            evaluate = partial(cost_and_gradient, **fixed, map_blocks=map_blocks)
            return minimise(evaluate, prototypes, max_iter, tol, report)

    def solve_least_squares(
        self, samples: LabelledSamples, n_classes: int, alphas: list[Any], method: Any
    ) -> tuple[Any, int, float]:
        """Return W for every alpha (alphas × classes × features), iterations, gradient left."""
        with self._labelled_rows(samples, n_classes) as rows:
            return rls.solve_least_squares(rows, alphas, method)

    def choose_penalty(
        self, samples: LabelledSamples, n_classes: int, alphas: tuple[Any, ...], method: Any
    ) -> tuple[Any, float]:
        """Return W (classes × features) of the alpha that leave-one-out finds best, and it."""
        with self._labelled_rows(samples, n_classes) as rows:
            return rls.choose_penalty(rows, alphas, method)

    @contextmanager
    def _labelled_rows(self, samples, n_classes):
        X, y, weights = samples
        with block_threads(blocks_per_thread=1) as map_blocks:  # each holds a Gram matrix
            yield rls.LabelledRows(X, y, weights, n_classes, map_blocks=map_blocks)


class TorchEngine(NumpyEngine):
    """Computes with torch where a tensor is.

    Labels and weights, one number per sample, are looked at on the host; X stays on its device.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend, self.xp = backend, backend.xp

    def check_can_fit(self, estimator):
        name, solver = type(estimator).__name__, getattr(estimator, "solver", None)
        if "tensors" not in estimator._record.runs_on:
            raise TypeError(f"{name} supports numpy arrays only, got a torch tensor")
        if solver is not None and solver not in estimator._tensor_solvers:
            listed = ", ".join(map(repr, estimator._tensor_solvers))
            raise ValueError(
                f"solver={solver!r} does not support torch tensors, use {listed} for {name}"
            )

    def validate(self, estimator, X, dtypes, **options):
        wanted = [getattr(self.backend.xp, name) for name in dtypes]
        return validate_data(estimator, X.detach(), dtype=wanted, **options)

    def validate_samples(self, estimator, X, y, dtypes, **options):
        X = self.validate(estimator, X, dtypes, **options)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = check_array(on_host(y), ensure_2d=False, dtype=None, input_name="y")
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return X, y

    def array(self, values):
        return self.backend.array(values)

    def labels(self, classes):
        is_torch = classes.dtype.isnative and classes.dtype.name in TORCH_LABELS
        return self.backend.array(classes) if is_torch else classes

    def encode(self, X, keys, clip, n_jobs):
        dtype = np.dtype(scores.activation_dtype(clip)).name
        return encode_integers(X, [keys], [clip], dtype, self.backend)[0]

    def compare(self, X, units, n_jobs):
        return compare_on_device(X, units, self.backend)

    def project(self, X, weights, biases):
        return (X @ weights.T.to(X.dtype) + biases.to(X.dtype)).sigmoid_()

    def canonical_samples(self, samples):
        return samples

    def class_totals(self, samples, n_classes):
        backend, (X, y, weights) = self.backend, samples
        y, weights, classes = backend.array(y), backend.array(weights), backend.range(n_classes)
        sums = backend.zeros((n_classes, X.shape[1]), "float64")
        totals = backend.zeros((n_classes,), "float64")
        for rows in self._row_slices(X, n_classes):
            shares = (classes[:, None] == y[rows]) * weights[rows]
            sums += shares @ backend.cast(X[rows], "float64")
            totals += shares.sum(axis=1)
        return sums, totals

    def prototype_scores(self, X, prototypes, prototype_classes, n_classes):
        backend, dtype = self.backend, computing_dtype(X)
        vectors = backend.cast(prototypes, dtype)
        norms = glvq.squares(vectors, backend.xp)
        index = backend.cast(prototype_classes, "int64")
        found = backend.full((len(X), n_classes), -np.inf, "float64")
        for rows in self._row_slices(X, len(vectors)):
            block = backend.cast(X[rows], dtype)
            products = backend.multiply(block, vectors.T)
            distances = norms - 2 * products + glvq.squares(block, backend.xp)[:, None]
            closeness = -backend.cast(distances.clip(0, None), "float64")
            found[rows].scatter_reduce_(1, index.expand(len(block), -1), closeness, "amax")
        return found

    def linear_scores(self, X, coefficients):
        found = self.backend.zeros((len(X), len(coefficients)), "float64")
        for rows in self._row_slices(X, X.shape[1]):
            found[rows] = self.backend.cast(X[rows], "float64") @ coefficients.T
        return found

    def minimise_glvq(self, start, samples, slope, max_iter, tol, report=None):
        (prototypes, prototype_classes), (X, y, weights) = start, samples
        backend, counts = self.backend, np.bincount(on_host(prototype_classes))
        activations = backend.cast(X, computing_dtype(X))[None]
        labels, shares = backend.array(y), backend.array(weights)
        group = glvq.Samples(activations, labels, len(counts), shares)
        minimum = glvq.train_one(group, prototypes, counts, slope, backend, max_iter, tol)
        check_cost(minimum.costs[-1])
        return minimum._replace(position=backend.cast(minimum.position, "float64"))

    @contextmanager
    def _labelled_rows(self, samples, n_classes):
        X, y, weights = samples
        yield rls.LabelledRows(X, y, weights, n_classes, self.backend)

    def _row_slices(self, X, width):
        """Return slices of rows whose wide copies fit in a block of memory."""
        return self.backend.row_slices(len(X), 8 * (X.shape[1] + 3 * width))


def _listed(columns, names):
    """Name a few columns, and count the others."""
    shown = [repr(str(names[i])) if names is not None else str(i) for i in columns[:MOST_LISTED]]
    n_more = len(columns) - len(shown)
    shown += [f"{n_more} more"] if n_more else []
    *first, last = shown
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"{'feature' if len(columns) == 1 else 'features'} {listed}"


def _threads_of(n_jobs):
    return None if n_jobs is None else effective_n_jobs(n_jobs)


def computing_dtype(X: Any) -> str:
    """Return float32 for integers of one byte, which it holds exactly, and float64 for features.

    Features may lie far from 0, where differences of float32 squares are rounding.
    """
    return "float32" if name_of(X) in ("int8", "uint8") else "float64"


NUMPY_ENGINE = NumpyEngine()


def engine_of(X: Any) -> NumpyEngine:
    """Return the engine that computes on X; raise if there is none."""
    if not _stays_tensor(X):
        return NUMPY_ENGINE
    if X.device.type not in DEVICES:
        raise ValueError(f"tensors must be on the device cpu or cuda, got {X.device.type}")
    return TorchEngine(backend_of(X))


def engine_of_fitted(estimator: BaseEstimator, X: Any) -> NumpyEngine:
    """Return the engine of X; raise if X is not where the estimator was fitted."""
    learnt = _place_of(getattr(estimator, next(iter(estimator._record.learnt))))
    given = _place_of(X)
    if given != "numpy" and not _stays_tensor(X):
        # scikit-learn would make an array of it
        given = "numpy" if learnt == "numpy" else f"{given} without array_api_dispatch"
    if learnt != given:
        advice = "" if learnt == "numpy" else "; hyperlvq.to_numpy brings a model to numpy"
        raise ValueError(
            f"{type(estimator).__name__} was fitted on {learnt} and got {given}: inputs must use "
            f"the same namespace and device as those of fit{advice}"
        )
    return engine_of(X)


def refuse_tensor(name: str, X: Any) -> None:
    """Raise if X is a tensor that would have to stay one."""
    if _stays_tensor(X):
        raise TypeError(f"{name} supports numpy arrays only, got a torch tensor")


def on_host(values: Any) -> Any:
    """Return a tensor as a numpy array, anything else as it is."""
    return values.detach().cpu().numpy() if _is_tensor(values) else values


def to_numpy(model: Estimator) -> Estimator:
    """Copy a fitted model with numpy arrays instead of tensors.

    Parameters
    ----------
    model : estimator
        A model of hyperlvq, or any scikit-learn estimator, fitted on torch tensors.

    Returns
    -------
    model : estimator
        Copy of the model that works without torch.

    Examples
    --------
    >>> import hyperlvq
    >>> model = hyperlvq.CentroidClassifier().fit([[0.0], [1.0]], [0, 1])
    >>> hyperlvq.to_numpy(model).prototypes_
    array([[0.],
           [1.]])
    """
    return _copied_to_host(model)


def _copied_to_host(value: Any) -> Any:
    """Return a copy of a value whose estimators and containers hold no tensors."""
    if isinstance(value, np.ndarray) or _is_tensor(value):
        return np.array(on_host(value))
    if type(value) in (list, tuple):
        return type(value)(map(_copied_to_host, value))
    moved = value
    if isinstance(value, dict):
        moved = copy(value)
        moved.update({name: _copied_to_host(part) for name, part in value.items()})
    elif isinstance(value, BaseEstimator):
        moved = copy(value)
        moved.__dict__.update(_copied_to_host(vars(value)))
    return moved


def _stays_tensor(X: Any) -> bool:
    """Return whether X is a tensor that must stay one; raise if it is of another namespace."""
    if not get_config()["array_api_dispatch"] or isinstance(X, np.ndarray | np.generic):
        return False
    if hasattr(X, "__array_namespace__") and not _is_tensor(X):
        raise TypeError(
            f"hyperlvq computes on numpy arrays and torch tensors, got {type(X).__module__} "
            "with array_api_dispatch"
        )
    return _is_tensor(X)


def _is_tensor(X: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def _place_of(array: Any) -> str:
    """Return where an array lives, in words."""
    return f"torch on {array.device}" if _is_tensor(array) else "numpy"
