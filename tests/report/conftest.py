"""Records and published figures made up for the tests of the report."""

import json

import numpy as np
import pandas as pd
import pytest

from hyperlvq.study.experiments import MODELS

N_SETS, N_SPLITS, N_SEEDS = 30, 4, 2


def make_record(**changes):
    """Return a record of a run; `changes` replace its fields. Without a model it is of a data set
    that could not be read.
    """
    key = {"protocol": "paper", "model": "intrvfl_rls", "dataset": "iris", "split": 0, "seed": 0}
    sizes = {"n_units": 300, "n_train": 112, "n_test": 38, "n_classes": 3}
    results = {"accuracy": 0.9, "iterations": None, "error": None}
    if changes.get("model", key["model"]) is None:
        changes = dict.fromkeys(("split", "seed", "accuracy", "n_train", "n_test")) | changes
    return key | {"settings": "published"} | sizes | results | changes


@pytest.fixture
def record():
    return make_record


@pytest.fixture(scope="session")
def true_accuracies():
    """Return accuracies like the paper's by data set and model: hard sets are hard for all."""
    rng = np.random.default_rng(7)
    difficulty = rng.beta(1.4, 4, N_SETS)
    skill = {name: 0.008 * place for place, name in enumerate(MODELS)}
    return {
        f"set-{number:03d}": {
            name: float(np.clip(1 - hardness + gain + rng.normal(0, 0.04), 0.2, 1))
            for name, gain in skill.items()
        }
        for number, hardness in enumerate(difficulty)
    }


@pytest.fixture(scope="session")
def records(true_accuracies):
    """Return the records of a study of all models, with one data set that failed."""
    rng = np.random.default_rng(8)
    study = [
        make_record(
            dataset=dataset,
            model=name,
            split=split,
            seed=seed,
            accuracy=float(np.clip(accuracy + rng.normal(0, 0.01), 0, 1)),
        )
        for dataset, by_model in true_accuracies.items()
        for name, accuracy in by_model.items()
        for split in range(N_SPLITS)
        for seed in range(N_SEEDS if MODELS[name].is_random else 1)
    ]
    error = "trains_R.dat, line 3: 31 columns, expected 30"
    return [*study, make_record(model=None, dataset="trains", error=error)]


@pytest.fixture(scope="session")
def published_path(tmp_path_factory, true_accuracies):
    """Return a published file with accuracies and the sizes that costs are counted from."""
    path = tmp_path_factory.mktemp("published") / "paper.csv"
    columns = {name: m.accuracy_column for name, m in MODELS.items() if m.accuracy_column}
    table = pd.DataFrame(true_accuracies).T.round(4)[[*columns]].rename(columns=columns)
    sizes = {"n_samples": 1000, "n_classes": 2, "n_train": 750, "intrvfl_rls_n": 500}
    table.assign(**sizes, protocol="kfold").to_csv(path, index_label="dataset")
    return path


def write_records(folder, records):
    """Write the records of a study to a folder."""
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "records.jsonl").write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def study_folder(tmp_path_factory, records):
    return write_records(tmp_path_factory.mktemp("study"), records)


@pytest.fixture
def write_study(tmp_path):
    return lambda *records: write_records(tmp_path, records)
