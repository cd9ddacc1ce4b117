"""A float model and what is exported of it, on the same samples."""

from typing import Any, NamedTuple

import numpy as np

from hyperlvq.export.fitted import device_features
from hyperlvq.export.learning import GLVQLearner, PerceptronLearner
from hyperlvq.export.plan import Plan


class Comparison(NamedTuple):
    """How a float model and its exported form do on the same samples; None: labels unknown."""

    float_accuracy: float | None
    exported_accuracy: float | None
    agreement: float


def compare(
    model: Any, exported: Plan | PerceptronLearner | GLVQLearner, X: Any, y: Any = None
) -> Comparison:
    """Return the accuracy of a model, of its exported form, and how often their labels agree.

    Parameters
    ----------
    model : Pipeline
        The fitted model the exported form was made of.
    exported : Plan, PerceptronLearner or GLVQLearner
        What `to_c` writes: a learner for a trainable model, which has other prototypes.
    X : array-like of shape (n_samples, n_features), or what the model's first step takes
    y : array-like of shape (n_samples,), optional
        The true labels; there are no accuracies without them.
    """
    expected = np.asarray(model.predict(X))
    predicted = exported.predict(device_features(model, X))
    return Comparison(
        None if y is None else _share(expected == np.asarray(y)),
        None if y is None else _share(predicted == np.asarray(y)),
        _share(expected == predicted),
    )


def _share(hits):
    return float(np.mean(hits))
