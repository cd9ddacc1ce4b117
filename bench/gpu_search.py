"""The paper's search over settings on one device, and how batched training compares.

    python bench/gpu_search.py search --data ARCHIVE -o FOLDER [--minutes M]
    python bench/gpu_search.py check --data ARCHIVE
    each with [--device cpu|cuda] [--sets A,B] [--models A,B] [--seeds N]

`search` writes what `hyperlvq study tune --device` writes, without the command line of it, and says
how long every model took on every set; `check` trains some problems of a few sets both ways and
compares costs, accuracies and times.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from measure import Table

from hyperlvq.batched.backend import Backend, open_backend
from hyperlvq.batched.glvq import GLVQBatch, Samples, train_glvq
from hyperlvq.study import protocol as protocols
from hyperlvq.study.collection import open_collection
from hyperlvq.study.data_set import DataSet
from hyperlvq.study.device import device_executor, device_models, search_together
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.protocol import samples_of, scale_file
from hyperlvq.study.runner import Step
from hyperlvq.study.tuning import GridSearch, tune_study

SEARCHED_MODELS = (
    *("rls_features", "rvfl_rls", "intrvfl_rls", "glvq_features", "rvfl_glvq"),
    *("intrvfl_glvq_p1", "intrvfl_glvq"),
)
CHECKED_SETS = ("iris", "trains", "abalone", "plant-shape", "statlog-vehicle")
CHECKED_GRID = {"slope": (2, 7, 13), "prototypes_per_class": (1, 3)}
CHECKED_LAYERS: dict[str, dict[str, int]] = {
    "glvq_features": {},
    "rvfl_glvq": {"n_units": 1000},
    "intrvfl_glvq": {"n_units": 1000, "clip": 3},
}


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description="Search over settings on a device.")
    parser.add_argument("what", choices=("search", "check"))
    parser.add_argument("--data", required=True, help="the archive of the collection")
    parser.add_argument("-o", "--output", help="the folder of the records")
    parser.add_argument("--device", default="cuda", choices=("cpu", "cuda"))
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--sets", type=lambda text: text.split(","))
    parser.add_argument("--models", type=lambda text: text.split(","), default=SEARCHED_MODELS)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    backend = open_backend(options.device)
    if options.what == "search":
        steps = tune_study(
            open_collection(options.data),
            options.output,
            models=device_models(options.models, grid="full"),
            sets=options.sets,
            n_seeds=options.seeds,
            executor=device_executor(backend, options.minutes),
        )
        print(table_of_steps(steps))
        return
    collection = open_collection(options.data)
    for name in options.sets or CHECKED_SETS:
        for model, layer in CHECKED_LAYERS.items():
            line = compare(collection.load(name), model, layer, options.seeds, backend)
            print(line, flush=True)


def search_table(archive: str, folder: str) -> Table:
    """Return how long the whole search, the paper's and more, takes on a GPU."""
    executor = device_executor(open_backend("cuda"))
    source = open_collection(archive)
    return table_of_steps(tune_study(source, folder, models=SEARCHED_MODELS, executor=executor))


def table_of_steps(steps: Iterable[Step]) -> Table:
    """Return the seconds and mean accuracy of every model; print each set's, of a first seed."""
    start = last = time.perf_counter()
    seconds: dict[str, float] = defaultdict(float)
    accuracies: dict[str, list[float]] = defaultdict(list)
    for step in steps:
        now = time.perf_counter()
        record, taken, last = step.record, now - last, now
        seconds[record["model"]] += taken
        if record["error"] is None:
            accuracies[record["model"]].append(record["accuracy"])
        if not record["seed"]:  # the seeds of a run end together
            result = record["error"] or f"{record['accuracy']:.4f}"
            name = f"{step.done}/{step.total} {record['model']} {record['dataset']}"
            print(f"{name} {taken:.2f} s {result}", flush=True)
    rows = [
        [name, f"{seconds[name]:.1f}", str(len(found)), f"{np.mean(found):.4f}"]
        for name, found in accuracies.items()
    ]
    total = [f"All of it: {time.perf_counter() - start:.1f} s."]
    return Table("Search over settings", ["model", "seconds", "sets", "accuracy"], rows, total)


def compare(
    data_set: DataSet, name: str, layer: dict[str, int], n_seeds: int, backend: Backend
) -> str:
    """Return a line on costs, accuracies and times of a few problems, both ways."""
    model = MODELS[name]
    to_the_end = replace(model, grid=CHECKED_GRID, limits={})
    job = GridSearch(data_set, to_the_end, "paper", "full", layer, None, n_seeds)
    part = samples_of(scale_file(data_set.X), data_set.y, data_set.tuning)
    start = time.perf_counter()
    pipelines = [
        protocols.build(model, candidate, seed, "paper")
        for seed in range(n_seeds)
        for candidate in job.candidates()
    ]
    for pipeline in pipelines:
        protocols.fit_quietly(pipeline, part)
    one_by_one = time.perf_counter() - start
    accuracy = np.mean([pipeline.score(part.X_test, part.y_test) for pipeline in pipelines])
    costs = np.array([pipeline[-1].loss_curve_[-1] for pipeline in pipelines])
    trained, seconds = train_both(part, pipelines, n_seeds, backend)
    scores = np.mean(search_together(job, backend)["scores"])
    ratio = backend.numpy(trained.costs).ravel().mean() / costs.mean()
    n_iter = backend.numpy(trained.n_iter)
    return (
        f"{data_set.name} {name}: {len(costs)} problems; cost ratio {ratio:.5f}; "
        f"accuracy {accuracy:.4f} one by one, {scores:.4f} batched; "
        f"iterations {np.mean([p[-1].n_iter_ for p in pipelines]):.0f}, {n_iter.mean():.0f} "
        f"(most {n_iter.max()}); {one_by_one:.2f} s, {seconds:.2f} s"
    )


def train_both(part, pipelines, n_seeds, backend):
    """Return the batched solution of the pipelines' problems and its seconds, the second time."""
    classes, y = np.unique(part.y_train, return_inverse=True)
    first = [pipelines[seed * len(pipelines) // n_seeds] for seed in range(n_seeds)]
    activations = np.stack([pipeline[:-1].transform(part.X_train) for pipeline in first])
    is_integer = activations.dtype.kind == "i"
    dtype = "float32" if is_integer else "float64"
    samples = Samples(backend.array(activations, dtype), backend.array(y), len(classes))
    readouts = [pipeline[-1] for pipeline in pipelines[: len(pipelines) // n_seeds]]
    slopes = np.array([[float(readout.slope) for readout in readouts]] * n_seeds)
    counts = np.array([[readout.prototypes_per_class for readout in readouts]] * n_seeds)
    seeds = np.broadcast_to(np.arange(n_seeds)[:, np.newaxis], slopes.shape)
    batch = GLVQBatch(slopes, counts, seeds, float(readouts[0].init_noise))
    train_glvq(samples, batch, backend)
    backend.wait()
    start = time.perf_counter()
    trained = train_glvq(samples, batch, backend)
    backend.wait()
    return trained, time.perf_counter() - start


if __name__ == "__main__":
    main()
