"""Generalized learning vector quantization in the feature space of a kernel."""

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state

from hyperlvq.kernels.kglvq import cost_and_gradient, multiply_own, squared_norms
from hyperlvq.kernels.lbfgs import minimise
from hyperlvq.kernels.scores import check_finite, closest_per_class, mean_distance_sum, row_slices
from hyperlvq.kernels.threads import block_threads
from hyperlvq.readouts.base import MinimisedReadout, check_prototype_counts
from hyperlvq.registry import PARTS, USUAL_SLOPE

#: Kernels with values in [0, 1], kept in float32.
UNIT_KERNELS = ("rbf", "laplacian")


class KGLVQClassifier(MinimisedReadout):
    """Kernel GLVQ, learning vector quantization in a kernel's feature space.

    A prototype is a combination Σ_m γ_m φ(x_m) of the training samples of its own class. L-BFGS
    finds the coefficients γ that minimise the cost of `GLVQClassifier`. Memory and time grow with
    the square of the number of samples.

    Parameters
    ----------
    prototypes_per_class : int, dict or sequence, default=1
        Number of prototypes P of each class. One number for all classes, a dict of labels, or a
        sequence in the order of `classes_`.
    slope : float or "auto", default=10.0
        Slope β of the sigmoid. "auto" is computed as in `GLVQClassifier`.
    kernel : str or callable, default="rbf"
        Kernel as in `sklearn.metrics.pairwise.pairwise_kernels`.
    gamma : float or "scale", default="scale"
        Kernel coefficient σ in exp(-σ‖x - y‖²). "scale" uses 1/(n_features · X.var()). Kernels
        without this parameter ignore it.
    max_iter : int, default=2500
        Maximum number of iterations.
    tol : float or "auto", default="auto"
        Tolerance for stopping. Training stops when no component of the gradient exceeds `tol`, or
        with "auto" when ten iterations lower the cost by less than 0.1 %.
    init : {"means", "published"}, default="means"
        Start of the coefficients. "means" starts at the class means plus noise. "published"
        repeats the published computation: coefficients start at the sample weight divided by the
        total weight of all samples, without noise, and the cost is a sum over samples instead of a
        mean. All prototypes of a class then start in the same place.
    init_noise : float, default=1.0
        Size of the noise for `init="means"`. Coefficients start at the sample weight divided by the
        total weight of the class, times 1 + u, with u uniform in [-init_noise, init_noise].
    max_kernel_bytes : int, default=2**31
        Maximum size of the kernel matrix in bytes.
    class_weight : dict, "balanced" or None, default=None
        Class weights, multiplied with the sample weights. Classes missing from the dict have
        weight 1. "balanced" gives every class the same total weight.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing the initial noise.
    verbose : int, default=0
        If positive, print the loss and the time every ten iterations.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    X_fit_ : ndarray of shape (n_fitted, `n_features_in_`)
        Distinct training samples.
    dual_coef_ : ndarray of shape (n_prototypes, n_fitted)
        Coefficients γ, zero for samples of other classes.
    prototype_classes_ : ndarray of shape (n_prototypes,)
        Class of each prototype, as an index into `classes_`.
    prototype_norms_ : ndarray of shape (n_prototypes,)
        Squared norm of each prototype in feature space.
    kernel_ : str or callable
        Kernel used in training.
    gamma_ : float
        Kernel coefficient used in training.
    slope_ : float
        Slope β used in training.
    loss_curve_ : list of float
        Cost after each iteration.
    n_iter_ : int
        Number of iterations.
    distance_scale_ : float
        Mean of d⁺ + d⁻ over the training samples. Here d⁺ is the squared distance to the closest
        prototype of the same class, and d⁻ to the closest prototype of another class.
        `predict_proba` divides distances by it.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen in `fit`, defined if all of them are strings.

    See Also
    --------
    GLVQClassifier : GLVQ without a kernel.

    Notes
    -----
    `decision_function` omits k(x, x), which is the same for all classes. `prototype_distances`
    includes it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import KGLVQClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> readout = KGLVQClassifier(gamma=0.5, random_state=0).fit(X, y)
    >>> round(readout.score(X, y), 2)
    0.98
    """

    _record = PARTS["KGLVQClassifier"]
    X_fit_: np.ndarray
    kernel_: Any
    gamma_: float
    slope_: float
    n_iter_: int
    loss_curve_: list[float]
    dual_coef_: np.ndarray
    prototype_norms_: np.ndarray

    def __init__(
        self,
        prototypes_per_class: Any = 1,
        slope: float | str = USUAL_SLOPE,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        max_iter: int = 2500,
        tol: float | str = "auto",
        init: str = "means",
        init_noise: float = 1.0,
        max_kernel_bytes: int = 2**31,
        class_weight: dict[Any, float] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.slope = slope
        self.kernel = kernel
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.init_noise = init_noise
        self.max_kernel_bytes = max_kernel_bytes
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def _fit_samples(self, engine, samples, classes):
        counts = check_prototype_counts(self.prototypes_per_class, classes)
        X, y, weights = engine.canonical_samples(samples)
        self._check_kernel_size(len(X))
        gamma = scale_width(X, weights) if self.gamma == "scale" else float(self.gamma)
        prototype_classes = np.repeat(np.arange(len(counts)), counts)
        with block_threads() as map_blocks:
            kernel = np.empty((len(X), len(X)), self._kernel_dtype)
            self._fill(kernel, lambda rows: self._kernel_matrix(X[rows], X, gamma), map_blocks)
            slope = self._slope_for(engine, samples, classes)
            self._learn_coefficients(kernel, y, weights, prototype_classes, slope, map_blocks)
        self.classes_, self.X_fit_, self.gamma_, self.slope_ = classes, X, gamma, slope
        scores = np.concatenate([self._scores_of(kernel[rows]) for rows in row_slices(len(X))])
        distances = np.maximum(kernel.diagonal()[:, np.newaxis] - scores, 0)
        self.distance_scale_ = mean_distance_sum(distances, y, weights)

    def _check_kernel_size(self, n_samples):
        needed = self._kernel_dtype.itemsize * n_samples**2
        if needed > self.max_kernel_bytes:
            raise MemoryError(
                f"the kernel matrix of {n_samples} samples needs {needed} bytes, "
                f"more than max_kernel_bytes={self.max_kernel_bytes}"
            )

    @property
    def _kernel_dtype(self):
        return np.dtype(np.float32 if self.kernel_ in UNIT_KERNELS else np.float64)

    def _kernel_matrix(self, X, X_fit, gamma):
        parameters = {} if callable(self.kernel_) else {"gamma": gamma}
        matrix = pairwise_kernels(X, X_fit, metric=self.kernel_, filter_params=True, **parameters)
        return matrix.astype(self._kernel_dtype, copy=False)

    def _fill(self, array, function, map_blocks):
        """Write what a function returns for blocks of rows."""

        def write(rows):
            array[rows] = function(rows)

        # A kernel of the user's may not be ready for threads.
        list((map if callable(self.kernel_) else map_blocks)(write, row_slices(len(array))))

    def _learn_coefficients(self, kernel, y, weights, prototype_classes, slope, map_blocks):
        """Set the coefficients that minimise the cost; samples stand in the order of classes."""
        shares = weights if self.init == "published" else weights / weights.sum()
        is_own = prototype_classes[:, np.newaxis] == y
        coefficients = np.zeros(is_own.shape)

        def evaluate(free):
            coefficients[is_own] = free
            given = coefficients, kernel, y, prototype_classes, slope, shares
            cost, gradient = cost_and_gradient(*given, map_blocks)
            return cost, gradient[is_own]

        start = self._starting_coefficients(weights, is_own)[is_own]
        coefficients[is_own] = self._minimise(minimise, evaluate, start)
        own_products = multiply_own(coefficients, kernel, y, prototype_classes, map_blocks)
        self.dual_coef_, self.prototype_classes_ = coefficients, prototype_classes
        self.prototype_norms_ = squared_norms(coefficients, own_products)

    def _starting_coefficients(self, weights, is_own):
        """Compute the coefficients that training starts from (prototypes × samples)."""
        if self.init == "published":
            return is_own * weights / weights.sum()
        rng = check_random_state(self.random_state)
        means = is_own * weights / (is_own @ weights)[:, np.newaxis]
        return means * (1 + rng.uniform(-1, 1, size=is_own.shape) * self.init_noise)

    def _scores(self, engine, X):
        def score(rows):
            return self._scores_of(self._kernel_matrix(X[rows], self.X_fit_, self.gamma_))

        scores = np.empty((len(X), len(self.classes_)))
        with block_threads() as map_blocks:
            self._fill(scores, score, map_blocks)
        return scores

    def _distances(self, engine, X):
        def measure(rows):
            own = self._kernel_matrix(X[rows], None, self.gamma_).diagonal()[:, np.newaxis]
            kernel = self._kernel_matrix(X[rows], self.X_fit_, self.gamma_)
            return np.maximum(own + self.prototype_norms_ - 2 * kernel @ self.dual_coef_.T, 0)

        distances = np.empty((len(X), len(self.prototype_norms_)))
        with block_threads() as map_blocks:
            self._fill(distances, measure, map_blocks)
        check_finite(distances, "distances")
        return distances

    def _scores_of(self, kernel):
        """Return scores from the kernel's values of samples × fitted samples."""
        distances = self.prototype_norms_ - 2 * kernel @ self.dual_coef_.T
        check_finite(distances, "distances")
        return -closest_per_class(distances, self.prototype_classes_, len(self.classes_))

    def _measure(self, engine, samples):
        """Leave it to `_fit_samples`, which has the kernel matrix."""


def scale_width(X: np.ndarray, weights: np.ndarray) -> float:
    """Return 1/(n_features · X.var()), or 1 where nothing varies."""
    mean = np.average(X, axis=0, weights=weights).mean()
    variance = np.average((X - mean) ** 2, axis=0, weights=weights).mean()
    return float(1 / (X.shape[1] * variance)) if variance > 0 else 1.0
