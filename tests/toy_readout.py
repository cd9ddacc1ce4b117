"""A readout of a stranger: the median of each class, and its record."""

from functools import partial

import numpy as np

from hyperlvq.checks import check_integer
from hyperlvq.readouts.base import PrototypeReadout
from hyperlvq.registry import PARTS, Learnt, Parameter, PartRecord

RECORD = PartRecord(
    "toy_readout",
    recipe_name="medians",
    title="class medians",
    learnt={
        "prototypes_": Learnt("numbers", ("classes", "features")),
        "prototype_classes_": Learnt("indices", ("classes",), below="classes"),
        "classes_": Learnt("labels", ("classes",)),
        "n_features_in_": Learnt("count", ("features",)),
    },
    parameters={
        "n_digits": Parameter(partial(check_integer, minimum=0), int, "Digits to round to"),
    },
    grid={"n_digits": (0, 1)},
)


class MedianClassifier(PrototypeReadout):
    """Classify by the nearest class median."""

    _record = RECORD

    def __init__(self, n_digits=3):
        self.n_digits = n_digits

    def _fit_samples(self, engine, samples, classes):
        X, y, _ = samples
        medians = [np.median(X[y == index], axis=0) for index in range(len(classes))]
        self.classes_ = classes
        self.prototypes_ = np.round(np.array(medians, dtype=float), self.n_digits)
        self.prototype_classes_ = np.arange(len(medians))


def register():
    """Make the readout known."""
    PARTS["MedianClassifier"] = RECORD
