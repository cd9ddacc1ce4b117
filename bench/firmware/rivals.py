"""Fit scikit-learn's models and write them as C with emlearn and m2cgen.

    python bench/firmware/rivals.py DATA FOLDER {table,sizes}

DATA is an .npz file with X_train, y_train and X_test. Every model gets a folder of its own in
FOLDER with model.h, model.c and about.json: those of the table in docs/firmware.md, or each kind in
several sizes. Runs in an environment of its own, without hyperlvq.
"""

import json
import sys
from functools import partial
from pathlib import Path

import emlearn
import m2cgen
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

SEEDS = range(5)
HEADER = """#include <stdint.h>
#define BENCH_FEATURES {n_features}
typedef {value} bench_value;
int bench_predict(const bench_value *x);
"""
HIGHEST_SCORE = """
int bench_predict(const bench_value *x)
{
    double scores[10];
    int best = 0;
    score((double *)x, scores);
    for (int i = 1; i < 10; i++) {
        if (scores[i] > scores[best]) {
            best = i;
        }
    }
    return best;
}
"""
HIGHEST_VOTE = """
int bench_predict(const bench_value *x)
{
    double scores[45];
    const double *pair = scores;
    int votes[10] = {0}, best = 0;
    score((double *)x, scores);
    for (int i = 0; i < 10; i++) {
        for (int j = i + 1; j < 10; j++) {
            votes[*pair++ > 0 ? i : j]++;
        }
    }
    for (int i = 1; i < 10; i++) {
        if (votes[i] > votes[best]) {
            best = i;
        }
    }
    return best;
}
"""


def main():
    """Write every model for every seed it depends on."""
    data, folder = np.load(sys.argv[1]), Path(sys.argv[2])
    choice = {"table": table_rivals, "sizes": rivals_by_size}[sys.argv[3]]
    for name, seeds, write in choice():
        for seed in seeds:
            write(seed, data, folder / f"{name} {seed}".replace(" ", "-").replace(",", ""), name)


def table_rivals():
    """Yield names, seeds and what writes a model of a seed into a folder."""
    # Less smoothing makes variances that the fixed point of emlearn cannot hold.
    yield (
        "emlearn GaussianNB",
        [0],
        partial(write_loadable, lambda _: GaussianNB(var_smoothing=1e-2)),
    )
    yield "emlearn MLP-32", SEEDS, partial(write_loadable, partial(network, 32))
    yield "emlearn 1-NN", [0], write_neighbours
    yield "m2cgen logistic", [0], partial(write_m2cgen, LogisticRegression(max_iter=5000))
    for n_trees in (10, 100):
        name = f"emlearn forest of {n_trees}"
        yield name, SEEDS, partial(write_forest, n_trees, 1)
        yield f"{name}, x doubled", SEEDS, partial(write_forest, n_trees, 2)
    yield "m2cgen SVC-RBF", [0], partial(write_m2cgen, SVC())


def rivals_by_size():
    """Yield the same for networks and forests of several sizes, and two models of one size."""
    for n_units in (8, 16, 32, 64, 128):
        name = f"emlearn MLP-{n_units}"
        yield name, SEEDS, partial(write_loadable, partial(network, n_units))
    for n_trees in (3, 10, 30, 100):
        yield f"emlearn forest of {n_trees}", SEEDS, partial(write_forest, n_trees, 2)
    yield "m2cgen logistic", [0], partial(write_m2cgen, LogisticRegression(max_iter=5000))
    yield "m2cgen SVC-RBF", [0], partial(write_m2cgen, SVC())


def network(n_units, seed):
    """Return a network of one hidden layer."""
    return MLPClassifier([n_units], max_iter=2000, random_state=seed)


def write_loadable(build, seed, data, folder, name):
    """Write a model of floating-point features with emlearn."""
    with np.errstate(under="ignore"):  # which emlearn has numpy raise
        model = build(seed).fit(data["X_train"], data["y_train"])
    text = emlearn.convert(model, method="loadable").save(name="net")
    call = "(int)net_predict(x, BENCH_FEATURES)"
    save(folder, name, "float", f"{text}\n{wrapper(call)}", model.predict(data["X_test"]))


def write_forest(n_trees, factor, seed, data, folder, name):
    """Write a forest; thresholds are cut to integers, which `factor` 2 spares halves."""
    model = RandomForestClassifier(n_trees, random_state=seed)
    model.fit(factor * data["X_train"], data["y_train"])
    text = emlearn.convert(model, dtype="int16_t").save(name="net", include_proba=False)
    predicted = model.predict(factor * data["X_test"])
    call = "net_predict(x, BENCH_FEATURES)"
    save(folder, name, "int16_t", f"{text}\n{wrapper(call)}", predicted, factor)


def write_neighbours(_, data, folder, name):
    """Write the nearest neighbour, with the array of distances it works in."""
    model = KNeighborsClassifier(1).fit(data["X_train"].astype(np.int16), data["y_train"])
    text = emlearn.convert(model).save(name="net")
    n_items = len(data["X_train"])
    body = f"""static EmlNeighborsDistanceItem distances[{n_items}];

int bench_predict(const bench_value *x)
{{
    int16_t label = -1;
    eml_neighbors_predict(&net, x, BENCH_FEATURES, distances, {n_items}, &label);
    return label;
}}
"""
    save(folder, name, "int16_t", f"{text}\n{body}", model.predict(data["X_test"]))


def write_m2cgen(model, _, data, folder, name):
    """Write a model whose C fills an array: of scores by class, or an SVM's by pair of classes."""
    model.fit(data["X_train"], data["y_train"])
    body = HIGHEST_VOTE if isinstance(model, SVC) else HIGHEST_SCORE
    text = m2cgen.export_to_c(model)
    save(folder, name, "double", f"{text}\n{body}", model.predict(data["X_test"]))


def wrapper(call):
    """Return the function that main.c calls."""
    return f"int bench_predict(const bench_value *x) {{ return {call}; }}\n"


def save(folder, name, value, text, predicted, factor=1):
    """Write the C, and what must be known to run it."""
    folder.mkdir(parents=True)
    (folder / "model.h").write_text(HEADER.format(n_features=64, value=value))
    (folder / "model.c").write_text(f'#include "model.h"\n{text}')
    about = {
        "name": name,
        "value": value,
        "factor": factor,
        "include": emlearn.includedir,
        "predicted": predicted.tolist(),
    }
    (folder / "about.json").write_text(json.dumps(about))


if __name__ == "__main__":
    main()
