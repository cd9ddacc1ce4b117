"""Classifiers of the study that are no recipes."""

from collections.abc import Callable
from itertools import islice
from typing import Any, Self

import numpy as np
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from hyperlvq.classifier import HyperLVQClassifier
from hyperlvq.study.data_set import N_FOLDS, stratified_folds

CACHE_MEGABYTES = 2000


class ProbabilitySVC(SVC):
    """SVC whose probabilities are a logistic regression on its decision values.

    That is fitted to samples which an SVC of the others has not seen: all of them in three folds,
    or, of more than `calibration_rows`, about so many in fewer folds. With 0 there are no
    probabilities. Predictions are those of SVC.
    """

    calibrator_: Any

    def __init__(self, C: float, gamma: float, calibration_rows: int = 2000) -> None:
        super().__init__(C=C, gamma=gamma, cache_size=CACHE_MEGABYTES)
        self.calibration_rows = calibration_rows

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Train on all samples, then on parts of them for the probabilities."""
        super().fit(X, y)
        if self.calibration_rows:
            n_folds = max(N_FOLDS, len(y) // self.calibration_rows)
            n_used = max(1, n_folds * self.calibration_rows // len(y))
            parts = list(islice(stratified_folds(np.arange(len(y)), y, n_folds), n_used))
            svc = SVC(C=self.C, gamma=self.gamma, cache_size=self.cache_size)
            values = [
                self._values(svc.fit(X[part.train], y[part.train]), X[part.test]) for part in parts
            ]
            labels = np.concatenate([y[part.test] for part in parts])
            self.calibrator_ = LogisticRegression(max_iter=1000).fit(np.concatenate(values), labels)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probability of each class."""
        known = np.isin(self.classes_, self.calibrator_.classes_)
        probabilities = np.zeros((len(X), len(self.classes_)))
        probabilities[:, known] = self.calibrator_.predict_proba(self._values(self, X))
        return probabilities

    def _values(self, svc: SVC, X: np.ndarray) -> np.ndarray:
        """Return the decision values of an SVC by class, the lowest for classes it lacks."""
        values = svc.decision_function(X)
        if values.ndim == 1:
            values = np.stack([-values, values], axis=1)
        by_class = np.full((len(X), len(self.classes_)), values.min())
        by_class[:, np.isin(self.classes_, svc.classes_)] = values
        return by_class


class MajorityVotes(BaggingClassifier):
    """Takes the class that most voters choose, where bagging would average probabilities."""

    def predict(self, X: Any) -> Any:
        """Return the class of each sample, the first of those that are equally common."""
        votes = np.stack([voter.predict(X) for voter in self.estimators_], axis=1)
        counts = [np.bincount(row, minlength=self.n_classes_) for row in votes]
        return self.classes_[np.argmax(counts, axis=1)]


#: Each with about the flops of a training on T samples of K features and L classes.
OUTSIDE: dict[str, tuple[Any, Callable[[int, int, int], float]]] = {
    "hyperlvq": (HyperLVQClassifier, lambda T, K, L: 6e7 * (T + 20000)),
    "forest": (RandomForestClassifier, lambda T, K, L: 500 * 2000 * T),
    "boosting": (HistGradientBoostingClassifier, lambda T, K, L: 100 * L * (1e7 + 20 * T * K)),
    "svm": (ProbabilitySVC, lambda T, K, L: 500 * T**2),
    "mlp": (MLPClassifier, lambda T, K, L: 1e5 * T * (K + L)),
    "knn": (KNeighborsClassifier, lambda T, K, L: T * K**2),
    "ridge": (RidgeClassifier, lambda T, K, L: T * K**2),
}
