"""Measure torchhd's classifiers with one thread on the data sets of a folder, and print JSON.

    python bench/peers.py FOLDER SETTINGS

FOLDER holds one .npz file a data set, SETTINGS is the JSON of those in bench/models.py. Runs
in an environment of its own, without hyperlvq.
"""

import json
import sys
import warnings
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from measure import evaluate
from torchhd.classifiers import IntRVFL, OnlineHD

# IntRVFL predicts fastest so: its encoder makes an array of samples × features × units. Larger
# batches fit OnlineHD up to twice as fast, at a loss of accuracy on the synthetic data.
BATCH_SIZE = 128


class Peer:
    """A torchhd classifier with the fit and predict of scikit-learn.

    The classifier is made in `fit`, since our models draw their keys there too.
    """

    def __init__(self, make_classifier, n_units, seed):
        self.make_classifier = make_classifier
        self.n_units = n_units
        self.seed = seed

    def fit(self, X, y):
        """Train on batches in the order of the samples."""
        torch.manual_seed(self.seed)
        self.classifier = self.make_classifier(X.shape[1], self.n_units, len(np.unique(y)))
        samples, labels = batches(X, torch.float32), batches(y, torch.long)
        self.classifier.fit(list(zip(samples, labels, strict=True)))
        return self

    def predict(self, X):
        """Return the class of each sample."""
        predictions = [self.classifier.predict(batch) for batch in batches(X, torch.float32)]
        return torch.cat(predictions).numpy()


def batches(array, dtype):
    """Return the rows of an array as tensors of up to BATCH_SIZE."""
    return torch.as_tensor(array, dtype=dtype).split(BATCH_SIZE)


def make_peers(settings):
    """Return, by name, what makes each peer from a seed."""
    classifiers = {
        "torchhd IntRVFL": partial(IntRVFL, kappa=settings["clip"], alpha=settings["alpha"]),
        "torchhd OnlineHD": partial(OnlineHD, epochs=settings["iterations"]),
    }
    return {name: partial(Peer, make, settings["n_units"]) for name, make in classifiers.items()}


def main():
    """Measure the peers and print their versions and records."""
    folder, settings = sys.argv[1], json.loads(sys.argv[2])
    torch.set_num_threads(1)
    # OnlineHD compares its first batch with prototypes that are still zero.
    warnings.filterwarnings("ignore", message="The norm of a vector is nearly zero")
    data_sets = {path.stem: dict(np.load(path)) for path in Path(folder).glob("*.npz")}
    answer = {
        "versions": ", ".join(f"{name} {version(name)}" for name in ("torch", "torch-hd")),
        "records": evaluate(make_peers(settings), data_sets, settings["seeds"]),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
