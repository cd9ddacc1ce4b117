"""GLVQ for many slopes, numbers of prototypes and starts at once.

The formulas are those of `kernels.glvq`. Problems come in groups that share their activations, one
group per random hidden layer; within a group all prototypes stand in one matrix, and the products
of all samples with all of them are one product of matrices. Samples are the last axis, so that what
goes over the prototypes of a sample runs along contiguous memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from hyperlvq.batched.backend import Array, Backend, name_of
from hyperlvq.batched.lbfgs import minimise
from hyperlvq.kernels.glvq import SMALLEST_SUM
from hyperlvq.kernels.lbfgs import MEMORY, Minimum
from hyperlvq.kernels.scores import row_slices

# How many arrays of samples × prototypes, and of the size of all prototypes, are alive at once.
SAMPLE_ARRAYS = 6
VECTORS = 2 * (2 * MEMORY + 8)


class Samples(NamedTuple):
    """Activations of every group (groups × samples × units) and class indices (samples).

    `weights` (samples, float64) says how much each sample counts; all count alike without it.
    """

    activations: Array
    y: Array
    n_classes: int
    weights: Array | None = None


@dataclass(frozen=True)
class GLVQBatch:
    """The settings of every problem, each groups × problems.

    `counts` are prototypes per class, `seeds` the random states of the starts, whose noise is
    uniform up to `init_noise`.
    """

    slopes: np.ndarray
    counts: np.ndarray
    seeds: np.ndarray
    init_noise: float = 1.0


class TrainedGLVQ(NamedTuple):
    """Prototypes of every problem, and how training ended."""

    prototypes: Array  # groups × problems × classes × most × units
    absent: Array  # groups × problems × classes × most: infinity for padding, else 0
    costs: Array  # groups × problems
    n_iter: Array


@dataclass(frozen=True)
class GLVQObjective:
    """The mean of g(μ) over the samples and its gradient, for every problem of a batch."""

    samples: Samples
    shares: Array  # samples: their weights, adding up to 1
    square_norms: Array  # groups × 1 × samples, ‖x‖²
    is_own: Array  # classes × samples
    slopes: Array  # groups × problems × 1
    absent: Array  # groups × problems × classes × most
    backend: Backend

    @property
    def shape(self) -> tuple[int, int]:
        """Return the number of groups and of problems of each."""
        return self.absent.shape[0], self.absent.shape[1]

    def select(self, members: np.ndarray) -> "GLVQObjective":
        """Return the objective of some problems of each group (groups × members)."""
        groups = self.backend.range(len(members))[:, None]
        chosen = groups, self.backend.array(members)
        return replace(self, slopes=self.slopes[chosen], absent=self.absent[chosen])

    def __call__(self, positions: Array) -> tuple[Array, Array]:
        """Return costs (problems) and gradients (problems × unknowns)."""
        activations = self.samples.activations
        totals: Any = 0.0, 0.0, 0.0
        prototypes = positions.reshape(len(activations), -1, activations.shape[-1])
        blocks = _shifted_distances(prototypes, self.absent, activations, self.backend)
        for rows, distances in blocks:
            block_costs, pulls = self._pulls(distances, rows)
            pulled = self.backend.multiply(pulls, activations[:, rows])
            parts = block_costs, pulls.sum(axis=2), pulled
            totals = [total + part for total, part in zip(totals, parts, strict=True)]
        costs, pull_sums, pulled = totals
        gradients = 2 * (pull_sums[:, :, None] * prototypes - pulled)
        return costs.reshape(-1), gradients.reshape(positions.shape)

    def _pulls(self, distances, rows):
        """Return Σ g (groups × problems) and ∂g/∂d (groups × prototypes × samples of the block).

        Each sample's g counts by its share.
        """
        backend, xp, take_along = self.backend, self.backend.xp, self.backend.take_along
        shape, dtype = distances.shape, name_of(distances)
        closest, places = _closest_of_class(distances, backend)
        others = xp.where(self.is_own[:, rows], np.inf, closest)
        rival = xp.argmin(others, axis=2)[:, :, None]
        own = xp.broadcast_to(self.samples.y[rows], rival.shape)
        winners = xp.concat([take_along(closest, own, 2), take_along(others, rival, 2)], axis=2)
        costs, slopes_of_winners = self._costs(winners, rows)
        index = xp.concat([own, rival], axis=2)
        if places is not None:
            index = shape[3] * index + take_along(places, index, 2)
        pulls = backend.zeros((*shape[:2], shape[2] * shape[3], shape[4]), dtype)
        backend.put_along(pulls, index, backend.cast(slopes_of_winners, dtype), 2)
        return costs, pulls.reshape(len(pulls), -1, shape[4])

    def _costs(self, winners, rows):
        """Return Σ g and every sample's (∂g/∂d⁺, ∂g/∂d⁻), by shares, from d⁺ and d⁻ less ‖x‖²."""
        xp = self.backend.xp
        winners = self.backend.cast(winners, "float64") + self.square_norms[:, :, None, rows]
        winners = xp.clip(winners, 0, None)
        own, other = winners[:, :, 0], winners[:, :, 1]
        total = own + other
        has_direction = total >= SMALLEST_SUM
        total = xp.where(has_direction, total, 1.0)
        costs = 1 / (1 + xp.exp(self.slopes * (other - own) / total))
        shared = self.shares[rows] * costs
        steepness = 2 * self.slopes * shared * (1 - costs) / total**2
        return shared.sum(axis=2), xp.stack([steepness * other, -steepness * own], axis=2)


def _shifted_distances(prototypes, absent, activations, backend):
    """Yield slices of samples with ‖w‖² - 2 w·x, distances to all prototypes less ‖x‖².

    They are groups × problems × classes × most × samples, and fit in a block of memory.
    """
    groups, n_prototypes, _ = prototypes.shape
    offsets = squares(prototypes, backend.xp) + absent.reshape(groups, -1)
    bytes_of_sample = SAMPLE_ARRAYS * groups * n_prototypes * 8
    for rows in backend.row_slices(activations.shape[1], bytes_of_sample):
        products = backend.multiply(prototypes, activations[:, rows].mT)
        products *= -2
        products += offsets[:, :, None]
        yield rows, products.reshape(*absent.shape, -1)


def squares(vectors: Array, xp: Any) -> Array:
    """Return ‖v‖² along the last axis."""
    return xp.einsum("...n,...n->...", vectors, vectors)


def _closest_of_class(distances, backend):
    """Return each class's smallest distance to a sample, and the place it is at if there are some.

    `distances` is groups × problems × classes × most × samples.
    """
    if distances.shape[3] == 1:
        return distances[:, :, :, 0], None
    places = backend.xp.argmin(distances, axis=3)
    return backend.take_along(distances, places[:, :, :, None], 3)[:, :, :, 0], places


def train_glvq(
    samples: Samples, batch: GLVQBatch, backend: Backend, max_iter: Any = 2500, tol: Any = 1e-5
) -> TrainedGLVQ:
    """Train every problem of a batch as `GLVQClassifier` does one."""
    objective = objective_of(samples, batch.slopes, batch.counts[:, :, np.newaxis], backend)
    start = starting_prototypes(samples, batch, backend)
    positions = start.reshape(batch.slopes.size, -1)
    solution = minimise(objective, positions, max_iter, tol, backend)
    return TrainedGLVQ(
        solution.positions.reshape(start.shape),
        objective.absent,
        solution.costs.reshape(batch.slopes.shape),
        solution.n_iter.reshape(batch.slopes.shape),
    )


def train_one(samples: Samples, start, counts, slope, backend: Backend, max_iter, tol) -> Minimum:
    """Train one problem from prototypes in the order of their classes, `counts` of each."""
    objective = objective_of(samples, np.array([[slope]]), counts[np.newaxis, np.newaxis], backend)
    is_there = np.arange(counts.max()) < counts[:, np.newaxis]
    dtype = name_of(samples.activations)
    places = backend.array(np.flatnonzero(is_there))
    padded = backend.zeros((is_there.size, start.shape[1]), dtype)
    padded[places] = backend.cast(start, dtype)
    solution = minimise(objective, padded.reshape(1, -1), max_iter, tol, backend)
    n_iter, (curve,) = int(solution.n_iter[0]), backend.numpy(solution.curves)
    costs = curve[1 : n_iter + 1] if n_iter else curve[:1]
    prototypes = solution.positions.reshape(padded.shape)[places]
    return Minimum(prototypes, max(n_iter, 1), costs.tolist(), n_iter < max_iter)


def objective_of(
    samples: Samples, slopes: np.ndarray, counts: np.ndarray, backend: Backend
) -> GLVQObjective:
    """Return what training minimises.

    `slopes` are groups × problems, `counts` of prototypes groups × problems × classes, or × 1.
    """
    activations, weights = samples.activations, samples.weights
    if weights is None:
        weights = backend.full((len(samples.y),), 1, "float64")
    is_absent = np.arange(counts.max()) >= counts[..., np.newaxis]
    shape = *slopes.shape, samples.n_classes, is_absent.shape[-1]
    absent = np.broadcast_to(np.where(is_absent, np.inf, 0.0), shape)
    return GLVQObjective(
        samples=samples,
        shares=weights / weights.sum(),
        square_norms=backend.cast(squares(activations, backend.xp), "float64")[:, None],
        is_own=backend.range(samples.n_classes)[:, None] == samples.y,
        slopes=backend.array(slopes, "float64")[:, :, None],
        absent=backend.array(absent, name_of(activations)),
        backend=backend,
    )


def starting_prototypes(samples: Samples, batch: GLVQBatch, backend: Backend) -> Array:
    """Return class means plus noise, from the numbers that `GLVQClassifier` would draw."""
    activations, y, n_classes, _ = samples
    n_units, dtype, spread = activations.shape[-1], name_of(activations), batch.init_noise
    members = backend.cast(backend.range(n_classes)[:, None] == y, dtype)
    means = (members @ activations) / members.sum(axis=1)[:, None]
    shape = *batch.slopes.shape, n_classes, int(batch.counts.max()), n_units
    start = backend.zeros(shape, dtype)
    for seed, count in sorted(set(zip(batch.seeds.flat, batch.counts.flat, strict=True))):
        rng = check_random_state(int(seed))
        noise = backend.array(rng.uniform(-spread, spread, size=(n_classes, count, n_units)), dtype)
        for place in np.argwhere((batch.seeds == seed) & (batch.counts == count)):
            group, problem = (int(index) for index in place)
            start[group, problem, :, :count] = means[group, :, None] + noise
    return start


def predicted_classes(trained: TrainedGLVQ, activations: Array, backend: Backend) -> Array:
    """Return the class of the nearest prototype (groups × problems × samples)."""
    xp, prototypes = backend.xp, trained.prototypes
    prototypes = prototypes.reshape(len(prototypes), -1, prototypes.shape[-1])
    blocks = _shifted_distances(prototypes, trained.absent, activations, backend)
    classes = [xp.argmin(xp.amin(distances, axis=3), axis=2) for _, distances in blocks]
    return xp.concat(classes, axis=2)


def cut_into_batches(
    samples: Samples, counts: np.ndarray, n_seeds: int, backend: Backend
) -> Iterator[np.ndarray]:
    """Yield the places in a table, seeds × settings, of those to train together (groups × places).

    `counts` are the prototypes per class of each setting. As problems with fewer prototypes than
    others of their batch are padded, they go together only if all of it is little work.
    """
    groups, n_samples, n_units = samples.activations.shape
    table = np.arange(n_seeds * len(counts)).reshape(n_seeds, -1)
    largest = int(counts.max())
    n_prototypes = table.size * samples.n_classes * largest
    bytes_of_prototype = groups * VECTORS * n_units * samples.activations.itemsize
    is_little = 4 * n_samples * n_units * n_prototypes < backend.small_flops
    for most in [largest] if is_little else np.unique(counts).tolist():
        columns = slice(None) if is_little else counts == most
        # Where all seeds share their activations, they are one group, not one per seed.
        places = table[:, columns].reshape(groups, -1)
        at_once = max(1, backend.batch_bytes // (samples.n_classes * most * bytes_of_prototype))
        for part in row_slices(places.shape[1], at_once):
            yield places[:, part]
