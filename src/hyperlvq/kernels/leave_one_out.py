"""Least squares of one-hot labels with left-out scores, for one penalty after the other.

W and b minimise Σ_m w_m ‖W h_m + b - t_m‖² + α v ‖W‖², with v the sum of the variances of all
columns of h, so that α does not depend on their number or scale. The left-out score of a sample is
what it would get had it not been there: t - (t - f)/(1 - l), with f its score and l its leverage.
Of a sample that stands for several a portion of its weight is left out.

Activations h are integers from -1 to 2. Targets t and scores are less the mean target, which is
what an intercept is for.

What is solved for each penalty calls scipy's BLAS alone: numpy's has threads of its own, and those
of either one keep the cores busy for a while after every call.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import logsumexp

from hyperlvq.kernels.bits import add_products, packed_digits
from hyperlvq.kernels.distances import class_sums
from hyperlvq.kernels.scores import row_slices

#: Rows that are encoded and multiplied at once.
ENCODED_ROWS = 4096
#: Rows of a Gram matrix that a cache holds.
CACHED_ROWS = 64
#: Where samples stand for so many or fewer in the mean, each is multiplied as often as it counts.
MOST_REPEATED = 4
#: The smallest 1 - l that is divided by.
SMALLEST_REST = 1e-9
#: A smaller sum of variances is rounding: all columns are constant.
SMALLEST_VARIANCE = 1e-12
#: A solution is corrected until a change is no larger than this share of it, a few times at most.
SMALL_CHANGE, MOST_CHANGES = 1e-8, 4
#: Left-out scores beyond this say no more.
LARGEST_SCORE = 10.0
ALPHAS = 4.0 ** np.arange(-6, 5)
TEMPERATURES = 2.0 ** np.arange(0, 6.6, 0.5)
#: The share of the log loss in what penalties are chosen by, and what samples add to it.
LOG_LOSS_SHARE, LOG_LOSS_SAMPLES = 0.1, 30
#: Of the errors at a penalty and its two neighbours, where all are tried: few samples make jumps.
SMOOTHING = np.array([0.25, 0.5, 0.25])


class WeightedSamples(NamedTuple):
    """Samples, each with a weight above 0."""

    X: np.ndarray
    y: np.ndarray  # class indices
    weights: np.ndarray
    portions: np.ndarray  # the part of each weight that is left out at once
    n_classes: int

    def take(self, rows: np.ndarray) -> "WeightedSamples":
        """Return the samples of these rows."""
        X, y, weights, portions, n_classes = self
        return WeightedSamples(X[rows], y[rows], weights[rows], portions[rows], n_classes)

    def targets(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the one-hot labels less their mean, and the mean."""
        shares = np.bincount(self.y, self.weights, self.n_classes) / self.weights.sum()
        return np.eye(self.n_classes)[self.y] - shares, shares


class TallProblem:
    """More samples than units: as many equations as there are units.

    Only samples of the rows `checked` get left-out scores.
    """

    #: The smallest penalty, as a share of the total weight: less would leave only rounding.
    smallest_share = 2.0**-32

    def __init__(
        self, samples: WeightedSamples, encode: Any, checked: np.ndarray, map_blocks: Any
    ) -> None:
        X, y, weights, portions, _ = samples
        self.total = weights.sum()
        targets, self.offset = samples.targets()
        of_classes, gram = _sums_and_products(samples, encode, map_blocks)
        sums = of_classes.sum(axis=0)
        self.mean = sums / self.total
        for rows in row_slices(len(gram), CACHED_ROWS):
            gram[rows] -= np.outer(self.mean[rows] + 1, sums + self.total)
        self.variance = _divisor(gram.trace() / self.total)
        gram /= self.variance
        self.gram = gram
        self.moment = (of_classes.T - np.outer(sums, self.offset)) / self.variance
        self.y, self.weights, self.targets = y[checked], weights[checked], targets[checked]
        self.portions = portions[checked]
        self.rows = encode(X[checked]) - self.mean.astype(np.float32)

    def solve(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return what `coefficients` takes, and left-out scores."""
        solution, factor = _solve_ridge(self.gram, alpha, self.moment)
        solved = linalg.blas.strsm(1.0, factor, self.rows.T, trans_a=True)
        leverages = np.square(solved, out=solved).sum(axis=0, dtype=np.float64) / self.variance
        leverages += 1 / self.total  # of the intercept
        scores = linalg.blas.sgemm(1.0, self.rows.T, solution, trans_a=True)
        return solution, _left_out(self, self.targets - scores, leverages)

    def coefficients(self, solution: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return W (classes × units) and b."""
        return solution.T, self.offset - self.mean @ solution


class WideProblem:
    """No more samples than units: as many equations as there are samples; see `TallProblem`."""

    #: Repeated samples of several classes have huge multipliers, which cancel each other.
    smallest_share = 2.0**-26

    def __init__(self, samples: WeightedSamples, encode: Any, map_blocks: Any) -> None:
        X, self.y, self.weights, self.portions, _ = samples
        self.targets, self.offset = samples.targets()
        self.total, self.roots = self.weights.sum(), np.sqrt(self.weights)
        self.activations = encode(X)
        shares = self.weights / self.total
        of_classes = class_sums(self.activations, self.y, self.weights, samples.n_classes)
        self.mean = of_classes.sum(axis=0) / self.total
        products = np.zeros((len(X), len(X)))
        add_products(packed_digits(self.activations), products, map_blocks)
        products = np.tril(products) + np.tril(products, -1).T
        with_mean = products @ shares
        products -= with_mean
        products -= (with_mean - shares @ with_mean)[:, None]
        self.variance = _divisor(shares @ products.diagonal())
        # The centred products do not see a constant. With 0 for it the inverse has 1/α there, next
        # to which 1 - l is lost where α is small; with 1 `solve` can take it out again.
        self.constant = self.roots / np.sqrt(self.total)
        self.gram = products * self.roots * (self.roots[:, None] / self.variance)
        self.gram += np.outer(self.constant, self.constant)

    def solve(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return what `coefficients` takes, and left-out scores."""
        solution, factor = _solve_ridge(self.gram, alpha, self.roots[:, None] * self.targets)
        solution *= self.roots[:, None]
        inverse, _ = linalg.lapack.strtri(factor, overwrite_c=True)
        diagonal = np.square(inverse, out=inverse).sum(axis=1, dtype=np.float64)
        diagonal -= np.square(self.constant) / (1 + alpha)
        leverages = (1 - alpha * diagonal) / self.weights
        residuals = alpha * solution / self.weights[:, None]
        return solution, _left_out(self, residuals, leverages)

    def coefficients(self, solution: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return W (classes × units) and b."""
        W = solution.T @ self.activations / self.variance
        return W, self.offset - W @ self.mean


def _sums_and_products(samples, encode, map_blocks):
    """Return Σ w h of every class, and the lower triangle of Σ w (h + 1)(h + 1)ᵀ."""
    X, y, weights, _, n_classes = samples
    n_units = encode(X[:1]).shape[1]
    sums, products = np.zeros((n_classes, n_units)), np.zeros((n_units, n_units))
    are_counts = (weights == np.rint(weights)).all()

    def multiply(rows):
        activations = encode(X[rows])
        block_sums = class_sums(activations, y[rows], weights[rows], n_classes)
        if are_counts and weights[rows].mean() <= MOST_REPEATED:
            repeated = np.repeat(activations, weights[rows].astype(np.intp), axis=0)
            return block_sums, packed_digits(np.ascontiguousarray(repeated.T))
        block = (activations + 1) * np.sqrt(weights[rows, None])
        return block_sums, block.T @ block

    for block_sums, found in map_blocks(multiply, row_slices(len(X), ENCODED_ROWS)):
        sums += block_sums
        if found.dtype == np.uint64:  # packed digits
            add_products(found, products, map_blocks)
        else:
            products += found
    return sums, products


def _divisor(variance):
    return variance if variance > SMALLEST_VARIANCE else 1.0


def _solve_ridge(gram, alpha, right):
    """Return x of (G + αI) x = right, and an upper triangle U in single precision, UᵀU ≈ G + αI.

    Only the lower triangle of G is read. Factoring in single precision takes less than half the
    time; what is left of the right side then brings x to double precision. Where α is too small
    for that, the factor is one of double precision.
    """
    factor, failure = _factor(gram, alpha, np.float32)
    solution, rest = np.zeros_like(right), right
    for _ in range(0 if failure else MOST_CHANGES):
        change = linalg.lapack.spotrs(factor, rest)[0]
        solution += change
        if np.abs(change).max() <= SMALL_CHANGE * np.abs(solution).max():
            return solution, factor
        rest = right - alpha * solution - linalg.blas.dsymm(1.0, gram.T, solution)
    factor, failure = _factor(gram, alpha, np.float64)
    if failure:
        raise linalg.LinAlgError("the penalty is too small for these activations")
    return linalg.lapack.dpotrs(factor, right)[0], factor.astype(np.float32)


def _factor(gram, alpha, dtype):
    """Return U of UᵀU = G + αI, and a number that is 0 if there is one."""
    (factorise,) = linalg.get_lapack_funcs(("potrf",), dtype=dtype)
    matrix = gram.astype(dtype)
    matrix[np.diag_indices_from(matrix)] += alpha
    return factorise(matrix.T, overwrite_a=True)


def _left_out(problem, residuals, leverages):
    rests = 1 - problem.portions * leverages
    scores = problem.targets - residuals / np.maximum(rests, SMALLEST_REST)[:, None]
    return np.clip(scores, -LARGEST_SCORE, LARGEST_SCORE)


class Tried(NamedTuple):
    """What came of a penalty."""

    alpha: float
    temperature: float
    log_loss: float
    error: float
    scores: np.ndarray  # left-out ones, of the checked samples
    solution: np.ndarray | None


class PenaltyPath:
    """Penalties for a problem, each tried when it is asked for."""

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        self.tried: dict[int, Tried] = {}

    def best(self) -> Any:
        """Return the step of the best of all penalties."""
        tried = [self._try(step) for step in range(len(ALPHAS))]
        errors = np.pad([each.error for each in tried], 1, mode="edge")
        losses = np.array([each.log_loss for each in tried])
        return int(np.argmin(np.convolve(errors, SMOOTHING, "valid") + self._share * losses))

    def best_near(self, step: Any) -> Any:
        """Return the step of a penalty that is better than both its neighbours, from a start."""
        while True:
            near = range(max(step - 1, 0), min(step + 2, len(ALPHAS)))
            best = min(near, key=self._criterion)
            if best == step:
                return best
            step = best

    @property
    def _share(self):
        return LOG_LOSS_SHARE + LOG_LOSS_SAMPLES / self.problem.total

    def _criterion(self, step):
        return self._try(step).error + self._share * self._try(step).log_loss

    def _try(self, step):
        if step not in self.tried:
            self.tried[step] = self._solved(step)
        return self.tried[step]

    def _solved(self, step):
        problem = self.problem
        alpha = max(ALPHAS[step], problem.smallest_share * problem.total)
        solution, left_out = problem.solve(alpha)
        scores = left_out + problem.offset
        losses = [log_loss(t * scores, problem.y, problem.weights) for t in TEMPERATURES]
        best = int(np.argmin(losses))
        error = np.average(scores.argmax(axis=1) != problem.y, weights=problem.weights)
        return Tried(alpha, TEMPERATURES[best], losses[best], error, scores, solution)


def log_loss(logits: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted mean of -log p of each sample's class, p being softmax(logits)."""
    own = np.take_along_axis(logits, y[:, None], axis=1)[:, 0]
    return np.average(logsumexp(logits, axis=1) - own, weights=weights)
