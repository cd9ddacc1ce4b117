"""Prototype readouts, learnt from sums over partitions."""

import numpy as np
from sklearn.utils import check_random_state

from hyperlvq.distributed import passes
from hyperlvq.distributed.samples import PartitionedSamples
from hyperlvq.readouts import CentroidClassifier, GLVQClassifier
from hyperlvq.readouts.base import check_prototype_counts, starting_prototypes
from hyperlvq.readouts.lbfgs import minimise
from hyperlvq.readouts.ranges import check_range


def learn_centroids(readout: CentroidClassifier, samples: PartitionedSamples) -> None:
    """Fit to the class means, each as heavy as its class."""
    totals = samples.class_totals()
    check_range(np.stack([totals.lows, totals.highs]))
    means = totals.sums / totals.counts[:, np.newaxis]
    readout.classes_, readout.n_features_in_ = samples.classes, means.shape[1]
    readout._reset()
    readout._add(means, np.arange(len(means)), totals.counts.astype(float))


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

    flat_prototypes, readout.n_iter_, readout.loss_curve_ = minimise(
        evaluate, start.ravel(), readout.max_iter, readout.tol
    )
    readout.prototypes_ = flat_prototypes.reshape(start.shape)
    readout.prototype_classes_, readout.classes_ = prototype_classes, samples.classes
    readout.n_features_in_ = start.shape[1]
    readout._carried_weight = 0.0  # what `partial_fit` goes on from


def start_of(
    readout: GLVQClassifier, totals: passes.ClassTotals, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the prototypes to start from, and their classes."""
    means = totals.sums / totals.counts[:, np.newaxis]
    weights = totals.counts.astype(float)
    rng = check_random_state(readout.random_state)
    return starting_prototypes(
        means, np.arange(len(means)), weights, counts, readout.init_noise, rng
    )
