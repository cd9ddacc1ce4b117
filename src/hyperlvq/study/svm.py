"""An SVM that has probabilities."""

from itertools import islice
from typing import Any, Self

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from hyperlvq.study.folds import N_FOLDS, stratified_folds

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
            values = [self._values(self._trained(X, y, part.train), X[part.test]) for part in parts]
            labels = np.concatenate([y[part.test] for part in parts])
            self.calibrator_ = LogisticRegression(max_iter=1000).fit(np.concatenate(values), labels)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probability of each class."""
        known = np.isin(self.classes_, self.calibrator_.classes_)
        probabilities = np.zeros((len(X), len(self.classes_)))
        probabilities[:, known] = self.calibrator_.predict_proba(self._values(self, X))
        return probabilities

    def _trained(self, X: np.ndarray, y: np.ndarray, rows: np.ndarray) -> SVC:
        svc = SVC(C=self.C, gamma=self.gamma, cache_size=self.cache_size)
        return svc.fit(X[rows], y[rows])

    def _values(self, svc: SVC, X: np.ndarray) -> np.ndarray:
        """Return the decision values of an SVC by class, the lowest for classes it lacks."""
        values = svc.decision_function(X)
        if values.ndim == 1:
            values = np.stack([-values, values], axis=1)
        by_class = np.full((len(X), len(self.classes_)), values.min())
        by_class[:, np.isin(self.classes_, svc.classes_)] = values
        return by_class
