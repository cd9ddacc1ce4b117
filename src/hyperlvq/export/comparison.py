"""A float model and its integer form on the same samples."""

from typing import Any, NamedTuple

import numpy as np

from hyperlvq.export.fitted import device_features
from hyperlvq.export.plan import Plan


class Comparison(NamedTuple):
    """How a float model and its integer form do on the same samples."""

    float_accuracy: float
    integer_accuracy: float
    agreement: float


def compare(model: Any, plan: Plan, X: Any, y: Any) -> Comparison:
    """Return the accuracy of a model, of its plan, and how often their labels agree.

    Parameters
    ----------
    model : Pipeline
        The fitted model the plan was made of.
    plan : Plan
    X : array-like of shape (n_samples, n_features), or what the model's first step takes
    y : array-like of shape (n_samples,)
        The true labels.
    """
    expected = np.asarray(model.predict(X))
    predicted = plan.predict(device_features(model, X))
    truth = np.asarray(y)
    return Comparison(
        float(np.mean(expected == truth)),
        float(np.mean(predicted == truth)),
        float(np.mean(expected == predicted)),
    )
