"""Records and published figures made up for the tests of the report."""

import csv
import json
import shutil

import numpy as np
import pytest

from hyperlvq.study.experiments import MODELS

N_SETS, N_SPLITS, N_SEEDS = 30, 4, 2


def make_record(**changes):
    """Return a record of a run; `changes` replace its fields."""
    record = {
        "protocol": "paper",
        "settings": "published",
        "model": "intrvfl_rls",
        "dataset": "iris",
        "split": 0,
        "seed": 0,
        "n_units": 300,
        "n_train": 112,
        "n_test": 38,
        "n_classes": 3,
        "accuracy": 0.9,
        "iterations": None,
        "error": None,
    }
    return record | changes


def make_unreadable(dataset, error):
    """Return the record of a data set that could not be read."""
    nothing = dict.fromkeys(("model", "split", "seed", "accuracy", "n_train", "n_test"))
    return make_record(dataset=dataset, error=error, **nothing)


def true_accuracies(n_sets=N_SETS):
    """Return accuracies like the paper's by data set and model: hard sets are hard for all."""
    rng = np.random.default_rng(7)
    difficulty = rng.beta(1.4, 4, n_sets)
    skill = {name: 0.008 * place for place, name in enumerate(MODELS)}
    return {
        f"set-{number:03d}": {
            name: float(np.clip(1 - hardness + gain + rng.normal(0, 0.04), 0.2, 1))
            for name, gain in skill.items()
        }
        for number, hardness in enumerate(difficulty)
    }


def study_records(accuracies, n_splits=N_SPLITS, n_seeds=N_SEEDS, **changes):
    """Return the records of a study whose runs scatter around the accuracies given."""
    rng = np.random.default_rng(8)
    return [
        make_record(
            dataset=dataset,
            model=name,
            split=split,
            seed=seed,
            accuracy=float(np.clip(accuracy + rng.normal(0, 0.01), 0, 1)),
            **changes,
        )
        for dataset, by_model in accuracies.items()
        for name, accuracy in by_model.items()
        for split in range(n_splits)
        for seed in range(n_seeds if MODELS[name].is_random else 1)
    ]


def write_records(folder, records):
    """Write the records of a study to a folder."""
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "records.jsonl").write_text(lines, encoding="utf-8")
    return folder


def write_published(path, accuracies):
    """Write a published file with accuracies and the sizes that costs are counted from."""
    columns = {m.accuracy_column: name for name, m in MODELS.items() if m.accuracy_column}
    sizes = {"n_samples": 1000, "n_classes": 2, "protocol": "kfold", "n_train": 750}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["dataset", *sizes, "intrvfl_rls_n", *columns])
        writer.writeheader()
        for dataset, by_model in accuracies.items():
            published = {column: f"{by_model[name]:.4f}" for column, name in columns.items()}
            writer.writerow({"dataset": dataset, "intrvfl_rls_n": 500} | sizes | published)
    return path


@pytest.fixture
def record():
    return make_record


@pytest.fixture
def unreadable():
    return make_unreadable


@pytest.fixture(scope="session")
def records():
    """Return the records of a study of all models, with one data set that failed."""
    study = study_records(true_accuracies())
    return [*study, make_unreadable("trains", "trains_R.dat, line 3: 31 columns, expected 30")]


@pytest.fixture(scope="session")
def published_path(tmp_path_factory):
    return write_published(tmp_path_factory.mktemp("published") / "paper.csv", true_accuracies())


@pytest.fixture(scope="session")
def study_folder(tmp_path_factory, records):
    return write_records(tmp_path_factory.mktemp("study"), records)


@pytest.fixture
def write_study(tmp_path):
    return lambda records: write_records(tmp_path, records)


@pytest.fixture(scope="session")
def chromium():
    """Return a browser; skip the test where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("needs a Chromium on the PATH")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
