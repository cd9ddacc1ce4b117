"""Prototype readouts, learnt from sums over partitions."""

import numpy as np
from sklearn.utils import check_random_state

from hyperlvq.distributed import passes
from hyperlvq.distributed.samples import PartitionedSamples
from hyperlvq.engines import NUMPY_ENGINE
from hyperlvq.kernels.lbfgs import minimise
from hyperlvq.readouts import CentroidClassifier, GLVQClassifier
from hyperlvq.readouts.base import check_prototype_counts, check_range, starting_prototypes


def learn_centroids(readout: CentroidClassifier, samples: PartitionedSamples) -> None:
    """Fit to the class means, each as heavy as its class."""
    totals = samples.class_totals()
    check_range(np.stack([totals.lows, totals.highs]))
    readout.classes_, readout.n_features_in_ = samples.classes, totals.sums.shape[1]
    readout._set_means(totals.sums, totals.counts.astype(float), np.arange(len(totals.counts)))


def learn_glvq(readout: GLVQClassifier, samples: PartitionedSamples) -> None:
    """Minimise the mean cost from the start, and with the minimiser, of the in-memory fit."""
    readout._check_parameters()
    counts = check_prototype_counts(readout.prototypes_per_class, samples.classes)
    totals = samples.class_totals()
    start, prototype_classes = start_of(readout, totals, counts)
    share = 1 / totals.counts.sum()

    def evaluate(flat_prototypes):
        cost, gradient = samples.total(
            passes.glvq_cost,
            flat_prototypes.reshape(start.shape),
            prototype_classes,
            float(readout.slope),
            share,
        )
        return cost, gradient.ravel()

    minimum = minimise(evaluate, start.ravel(), readout.max_iter, readout.tol)
    prototypes = minimum.position.reshape(start.shape)
    readout._set_minimum(minimum._replace(position=prototypes), prototype_classes, samples.classes)
    readout.n_features_in_ = start.shape[1]


def start_of(
    readout: GLVQClassifier, totals: passes.ClassTotals, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the prototypes to start from, and their classes."""
    rng = check_random_state(readout.random_state)
    sums, weights = totals.sums, totals.counts.astype(float)
    return starting_prototypes(NUMPY_ENGINE, sums, weights, counts, readout.init_noise, rng)
