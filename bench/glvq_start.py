"""Where GLVQ on real activations should start: noise, prototypes and slope on the small sets.

    python bench/glvq_start.py --data ARCHIVE [--hidden features|rvfl]

Prints the mean accuracy, over the 80 smallest data sets of the collection, on the half of the
tuning split that was not trained on. The defaults of `make_classifier` come from here.
"""

import argparse
import warnings
from itertools import product

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from hyperlvq import make_classifier
from hyperlvq.study.collection import open_collection
from hyperlvq.study.protocol import samples_of, scale_file
from hyperlvq.study.runner import load_sets

N_SETS = 80
PUBLISHED = {"features": {"slope": 5}, "rvfl": {"slope": 12}}
NOISES, COUNTS, SLOPES = (0.1,), (1, 3, 5), (5, 12)
MAX_ITER = 500


def main():
    """Print one line a setting."""
    parser = argparse.ArgumentParser(description="Compare starts of GLVQ.")
    parser.add_argument("--data", required=True, help="the archive of the collection")
    parser.add_argument("--hidden", default="features", choices=("features", "rvfl"))
    options = parser.parse_args()
    parts = smallest_parts(options.data)
    settings = [{"init_noise": 1.0, "prototypes_per_class": 1, **PUBLISHED[options.hidden]}]
    settings += [
        {"init_noise": noise, "prototypes_per_class": count, "slope": slope}
        for noise, count, slope in product(NOISES, COUNTS, SLOPES)
    ]
    for setting in settings:
        scores = Parallel(-1)(delayed(score)(options.hidden, setting, part) for part in parts)
        print(setting, f"{np.mean(scores):.4f}", flush=True)


def smallest_parts(archive):
    """Return the tuning splits of the smallest sets."""
    collection = open_collection(archive)
    data_sets, _ = load_sets(collection, collection.names())
    sizes = [len(one.y) + (0 if one.y_test is None else len(one.y_test)) for one in data_sets]
    smallest = np.argsort(sizes, kind="stable")[:N_SETS]
    return [
        samples_of(scale_file(data_sets[i].X), data_sets[i].y, data_sets[i].tuning)
        for i in smallest
    ]


def score(hidden, setting, part):
    """Return the accuracy of one model."""
    model = make_classifier(hidden, "glvq", max_iter=MAX_ITER, tol=1e-5, random_state=0, **setting)
    model.set_params(scale="passthrough")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(part.X_train, part.y_train).score(part.X_test, part.y_test)


if __name__ == "__main__":
    main()
