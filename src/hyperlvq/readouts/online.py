"""What readouts share that learn from one sample at a time."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from hyperlvq.kernels.distances import squared_norms
from hyperlvq.kernels.samples import MOST_VISITS, visits_of_pass, weights_as_visits
from hyperlvq.readouts.base import (
    BatchReadout,
    check_prototype_counts,
    progress_printer,
    warn_not_converged,
)

PATIENCE = 5


class OnlineReadout(BatchReadout):
    """A prototype readout that can learn from one sample at a time.

    Subclasses have the parameters `learning_rate`, `max_iter`, `shuffle` and `random_state`, and
    may have `prototypes_per_class` and `init_noise`.
    """

    #: Whether `fit` goes back to the prototypes before the pass of the smallest loss.
    _keeps_best = False
    classes_: np.ndarray
    prototype_classes_: np.ndarray
    loss_curve_: list[float]
    n_iter_: int
    prototypes_: np.ndarray

    @abstractmethod
    def _learn_pass(self, X, y, visits, rate):
        """Change `prototypes_` by one pass over X[visits]; return the sum of its losses."""

    @abstractmethod
    def _has_converged(self):
        """Return, after a pass of `fit`, whether it was the last one needed."""

    def _starting_rate(self, X, y, weights):
        """Return the learning rate of the first pass."""
        return self.learning_rate

    def _continued_rate(self, X, y, weights):
        """Return the learning rate of one more `partial_fit`."""
        return self.learning_rate

    def _decay(self, finished):
        """Return the factor of the learning rate after a number of finished passes."""
        return 1.0

    def _keeps_order(self):
        """Return whether `fit` learns from the samples in the order given."""
        return not self.shuffle

    def _fit_samples(self, engine, samples, classes):
        counts = self._prototype_counts(classes)
        if not self._keeps_order():
            samples = engine.canonical_samples(samples)
        rng = check_random_state(self.random_state)
        start = self._starting_prototypes(engine, samples, classes, counts, rng)
        self._learn(engine, samples, classes, start, rng)

    def _learn_batch(self, engine, samples, classes):
        X, y, weights = samples
        most = max(MOST_VISITS, len(weights))
        if weights.sum() > most:  # more than anyone would wait for
            raise ValueError(
                f"sample_weight of one partial_fit must add up to at most {most}, "
                f"got {weights.sum():g}"
            )
        counts = self._prototype_counts(classes)
        self.classes_ = classes
        if not hasattr(self, "prototypes_"):
            self.prototypes_ = np.empty((0, X.shape[1]))
            self.prototype_classes_ = np.empty(0, dtype=np.intp)
            self.loss_curve_ = []
            self.n_iter_ = 0
            self._carried_weight = 0.0
        self._add_prototypes(engine, samples, counts)
        rate = self._continued_rate(X, y, weights)
        visits, self._carried_weight = visits_of_pass(weights, self._carried_weight)
        if len(visits):
            loss, _ = self._loss_and_start(X, y, visits, rate)
            self.loss_curve_.append(loss)
        self.n_iter_ += 1

    def _loss_and_start(self, X, y, visits, rate):
        """Learn from one pass; return its mean loss and the prototypes before it.

        Raises if the prototypes leave all bounds, and goes back to those before.
        """
        before = self.prototypes_.copy()
        loss = self._learn_pass(X, y, visits, rate)
        if not np.isfinite(squared_norms(self.prototypes_)).all():
            self.prototypes_ = before
            raise ValueError(
                f"the prototypes grow without bounds: learning_rate={self.learning_rate!r} "
                "or the features are too large"
            )
        return loss / len(visits), before

    def _prototype_counts(self, classes):
        return check_prototype_counts(getattr(self, "prototypes_per_class", 1), classes)

    def _starting_prototypes(self, engine, samples, classes, counts, rng):
        """Return the prototypes that `fit` starts from, and their classes."""
        return self._noisy_means(engine, samples, counts, rng)

    def _noisy_means(self, engine, samples, counts, rng):
        """Return prototypes at the class means plus U(-noise, noise), and their classes.

        `counts` says how many each class gets; a class without samples must get none.
        """
        sums, weights = engine.class_totals(samples, len(counts))
        noise = getattr(self, "init_noise", 0)
        prototype_classes = engine.array(np.repeat(np.arange(len(counts)), counts))
        prototypes = sums[prototype_classes] / weights[prototype_classes][:, None]
        if noise > 0:
            prototypes += engine.array(rng.uniform(-noise, noise, size=prototypes.shape))
        return prototypes, prototype_classes

    def _add_prototypes(self, engine, samples, counts):
        """Give prototypes to the classes that this batch is the first to have samples of."""
        counts[self.prototype_classes_] = 0
        counts[np.setdiff1d(np.arange(len(counts)), samples[1])] = 0
        rng = check_random_state(self.random_state)
        added, added_classes = self._noisy_means(engine, samples, counts, rng)
        self.prototypes_ = np.concatenate([self.prototypes_, added])
        self.prototype_classes_ = np.concatenate([self.prototype_classes_, added_classes])

    def _learn(self, engine, samples, classes, start, rng):
        """Pass over the samples until converged, or `max_iter` times."""
        X, y, weights = samples
        self.classes_, self._carried_weight = classes, 0.0
        self.prototypes_, self.prototype_classes_ = start
        rate = self._starting_rate(X, y, weights)
        visit_weights = weights_as_visits(weights)
        self.loss_curve_ = []
        best = self.prototypes_
        report = progress_printer(getattr(self, "verbose", 0), self.max_iter)
        for finished in range(self.max_iter):
            visits, _ = visits_of_pass(visit_weights, rng.uniform())
            if self.shuffle:
                visits = rng.permutation(visits)
            loss, before = self._loss_and_start(X, y, visits, rate * self._decay(finished))
            self.loss_curve_.append(loss)
            if report is not None:
                report(self.loss_curve_)
            best = before if loss == min(self.loss_curve_) else best
            if self._has_converged():
                break
        else:
            warn_not_converged(f"stopped at the limit of {self.max_iter} passes (max_iter)")
        self.n_iter_ = len(self.loss_curve_)
        if self._keeps_best:
            self.prototypes_ = best


def has_settled(losses: list[Any], tol: Any) -> bool:
    """Return whether the last passes, five of them, lowered the best loss by less than `tol`."""
    earlier, recent = losses[:-PATIENCE], losses[-PATIENCE:]
    return bool(earlier) and min(earlier) - min(recent) < tol
