"""How good predicted probabilities are: log loss, and confidence against frequency.

Probabilities have a column for each class of the data set; a class that training did not see has
probability 0.
"""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

#: What a probability counts as at least, for every model: half of what one tree in 500 says.
PROBABILITY_FLOOR = 0.001
N_BINS = 10

#: For each tenth of confidence: samples, the sum of their confidences, how many were right.
ConfidenceBins = list[list[float]]


def class_probabilities(
    classifier: ClassifierMixin, X: np.ndarray, n_classes: int
) -> np.ndarray | None:
    """Return the probabilities of the classes 0 to n_classes - 1, None where a model has none."""
    if not hasattr(classifier, "predict_proba"):
        return None
    probabilities = np.zeros((len(X), n_classes))
    probabilities[:, classifier.classes_] = classifier.predict_proba(X)
    return probabilities


def probability_results(probabilities: np.ndarray | None, y: np.ndarray) -> dict[str, Any]:
    """Return what a record says about probabilities, None where there are none."""
    if probabilities is None:
        return {"log_loss": None, "confidence_bins": None}
    loss = round(log_loss(probabilities, y), 6)
    return {"log_loss": loss, "confidence_bins": confidence_bins(probabilities, y)}


def log_loss(probabilities: np.ndarray, y: np.ndarray) -> float:
    """Return the mean of -ln p over samples, p the probability of the true class or the floor."""
    of_true_class = probabilities[np.arange(len(y)), y]
    return float(-np.log(np.maximum(of_true_class, PROBABILITY_FLOOR)).mean())


def confidence_bins(probabilities: np.ndarray, y: np.ndarray) -> ConfidenceBins:
    """Return samples by the probability of their most probable class, which may be right."""
    confidence = probabilities.max(axis=1)
    is_right = probabilities.argmax(axis=1) == y
    bins = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    counts, confidences, right = (
        np.bincount(bins, weights, minlength=N_BINS) for weights in (None, confidence, is_right)
    )
    return [
        [int(count), round(float(total), 6), int(n_right)]
        for count, total, n_right in zip(counts, confidences, right, strict=True)
    ]
