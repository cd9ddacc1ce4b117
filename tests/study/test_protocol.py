import json
import math
from dataclasses import replace
from time import perf_counter

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from tiny_study import make_set, without_times

from hyperlvq import make_classifier
from hyperlvq.costs import glvq_flops, rls_flops
from hyperlvq.registry import PARTS
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.protocol import (
    FLOPS_PER_SECOND,
    PROTOCOLS,
    START_SECONDS,
    Run,
    build,
    class_probabilities,
    estimated_seconds,
    evaluation_samples,
    fit_quietly,
    n_splits,
    probability_results,
    scale_file,
)
from hyperlvq.study.records import KEY, TIMES

QUICK = {
    "rls_features": {"alpha": 0.5},
    "glvq_features": {"slope": 3},
    "rvfl_rls": {"n_units": 20, "alpha": 1.0},
    "intrvfl_glvq": {"n_units": 50, "clip": 3, "slope": 5, "prototypes_per_class": 2},
    "intrvfl_glvq_p1_10": {"n_units": 50, "clip": 3, "slope": 5},
    "kglvq": {"prototypes_per_class": 1, "slope": 5, "gamma": 0.3},
    "intrvfl_centroids": {"n_units": 50, "clip": 3},
    "intrvfl_perceptron": {"n_units": 50, "clip": 3},
    "intrvfl_lvq1": {"n_units": 50, "clip": 3},
    "hyperlvq_one": {"n_units": 40},
    "boosting": {"max_iter": 5},
    "svm": {"C": 2.0, "gamma": 0.5},
    "mlp": {"alpha": 0.01, "learning_rate_init": 0.01},
    "knn": {"n_neighbors": 3},
    "ridge": {"alpha": 1.0},
}


@pytest.fixture
def data_set():
    return make_set()


def evaluate(name, parameters, data_set, split, seed, protocol):
    """Return the record of one run."""
    return Run(data_set, MODELS[name], protocol, parameters, split, seed, "best").result()


def with_garbage_in_test_rows(data_set, split):
    X, y = data_set.X.copy(), data_set.y.copy()
    X[data_set.splits[split].test] = 1e6
    y[data_set.splits[split].test] = 0
    return replace(data_set, X=X, y=y)


def test_columns_are_scaled_by_their_own_range():
    X = np.array([[1.0, -2, 5], [3, 0, 5], [2, 2, 5]])

    assert scale_file(X).tolist() == [[0, 0, 0], [1, 0.5, 0], [0.5, 1, 0]]


@pytest.mark.parametrize("name", QUICK)
def test_strict_model_does_not_depend_on_what_it_is_tested_on(data_set, name):
    poisoned = with_garbage_in_test_rows(data_set, 0)
    scores = []
    for candidate in (data_set, poisoned):
        pipeline = build(MODELS[name], QUICK[name], 0, "strict")
        fit_quietly(pipeline, evaluation_samples(candidate, 0, "strict"))
        scores.append(pipeline.predict(data_set.X).tolist())

    assert scores[0] == scores[1]


@pytest.mark.parametrize(("protocol", "with_file"), [("paper", 1), ("strict", 4)])
def test_sets_with_a_test_file_have_one_split_in_the_paper(data_set, protocol, with_file):
    assert n_splits(data_set, protocol) == 4
    assert n_splits(make_set(has_test_file=True), protocol) == with_file


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", ["glvq_features", "intrvfl_glvq", "rvfl_rls"])
@pytest.mark.parametrize("has_test_file", [False, True])
def test_record_agrees_with_fitting_by_hand(protocol, name, has_test_file):
    data_set = make_set(has_test_file=has_test_file)
    record = evaluate(name, QUICK[name], data_set, 0, 7, protocol)

    parameters = {**MODELS[name].fixed, **QUICK[name]}
    model = make_classifier(*MODELS[name].recipe, **parameters, random_state=7)
    if protocol == "paper":
        model.set_params(scale="passthrough")
    X = scale_file(data_set.X) if protocol == "paper" else data_set.X
    train, test = data_set.splits[0]
    X_test, y_test = X[test], data_set.y[test]
    if protocol == "paper" and has_test_file:
        train, X_test, y_test = slice(None), scale_file(data_set.X_test), data_set.y_test
    model.fit(X[train], data_set.y[train])
    assert record["accuracy"] == model.score(X_test, y_test)
    assert record["iterations"] == model[-1].n_iter_


def test_votes_are_those_of_networks_with_random_numbers_of_their_own(data_set):
    model = MODELS["intrvfl_glvq_votes"]
    small = {**model.defaults, "n_units": 40, "clip": 3}
    pipeline = build(model, small, 7, "strict")
    samples = evaluation_samples(data_set, 1, "strict")
    fit_quietly(pipeline, samples)

    voters = pipeline[-1].estimators_
    X_test = pipeline[0].transform(samples.X_test)
    votes = np.stack([voter.predict(X_test) for voter in voters])
    most_common = [np.bincount(column).argmax() for column in votes.T.astype(int)]
    assert len({voter[1].keys_.tobytes() for voter in voters}) == 10
    np.testing.assert_array_equal(pipeline.predict(samples.X_test), np.array(most_common))
    record = evaluate(model.name, small, data_set, 1, 7, "strict")
    assert record["accuracy"] == pipeline.score(samples.X_test, samples.y_test)
    assert record["iterations"] is None


def test_record_is_flat_and_says_what_was_run(data_set):
    record = evaluate("intrvfl_glvq_p1_10", QUICK["intrvfl_glvq_p1_10"], data_set, 1, 2, "paper")

    assert json.loads(json.dumps(record, allow_nan=False)) == record
    nested = [name for name, value in record.items() if isinstance(value, list | dict)]
    assert set(nested) <= {"confidence_bins"}
    assert [record[name] for name in KEY] == ["paper", "intrvfl_glvq_p1_10", "tiny", 1, 2]
    assert (record["n_units"], record["max_iter"], record["slope"]) == (50, 10, 5)
    sizes = record["n_train"], record["n_test"], record["n_features"], record["n_classes"]
    assert sizes == (30, 10, 3, 2)
    assert record["error"] is None
    assert sum(right for _, _, right in record["confidence_bins"]) == 10 * record["accuracy"]


def test_times_are_parts_of_the_time_it_took(data_set):
    start = perf_counter()
    record = evaluate("knn", QUICK["knn"], data_set, 0, 0, "paper")
    elapsed = perf_counter() - start

    times = [record[name] for name in TIMES]
    assert min(times) > 0
    assert sum(times) < elapsed


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", QUICK)
def test_run_repeated_gives_the_same_record_and_random_models_alone_heed_the_seed(
    data_set, protocol, name
):
    seeds = (1, 1) if MODELS[name].is_random else (0, 1)
    first, second = (evaluate(name, QUICK[name], data_set, 0, seed, protocol) for seed in seeds)

    assert without_times([first | {"seed": 1}]) == without_times([second])


def seconds(name, n_samples=1000, n_features=20, **changes):
    model = MODELS[name]
    return estimated_seconds(model, {**model.defaults, **changes}, n_samples, n_features, 3)


def flops(name, **changes):
    return (seconds(name, **changes) - START_SECONDS) * FLOPS_PER_SECOND


@pytest.mark.parametrize("name", MODELS)
def test_more_samples_take_longer(name):
    assert START_SECONDS < seconds(name, 100) < seconds(name, 1000)


USUAL = PARTS["GLVQClassifier"].usual_iterations


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        ("intrvfl_rls", {"n_units": 300}, rls_flops(1000, 300, 3)),
        ("rls_features", {}, rls_flops(1000, 20, 3)),
        (
            "intrvfl_glvq",
            {"n_units": 300, "prototypes_per_class": 5},
            glvq_flops(1000, 300, 3, 5, USUAL),
        ),
        ("glvq_features", {}, glvq_flops(1000, 20, 3, 3, USUAL)),
        ("intrvfl_glvq_p1_10", {}, glvq_flops(1000, 1000, 3, 1, 10)),  # the limit counts
    ],
)
def test_training_takes_the_flops_of_the_papers_table(name, changes, expected):
    assert flops(name, **changes) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "samples_factor", "features_factor"),
    [("forest", 2, 1), ("svm", 4, 1), ("mlp", 2, 43 / 23), ("ridge", 2, 4), ("kglvq", 4, 1)],
)
def test_more_data_take_as_much_longer_as_the_method_says(name, samples_factor, features_factor):
    assert flops(name, n_samples=2000) == pytest.approx(samples_factor * flops(name))
    assert flops(name, n_features=40) == pytest.approx(features_factor * flops(name))


def test_votes_take_as_long_as_all_voters():
    assert flops("intrvfl_glvq_votes") == pytest.approx(10 * flops("intrvfl_glvq"))


@pytest.mark.parametrize("value", [-5, 0, 0.5, 10**400, 1e308])
def test_absurd_setting_is_estimated_all_the_same(value):
    for name in ("intrvfl_rls", "intrvfl_glvq", "kglvq"):
        estimate = seconds(name, n_units=value, prototypes_per_class=value)

        assert START_SECONDS < estimate < math.inf


X = np.array([[0.0], [1.0], [4.0]])


def test_a_class_that_training_did_not_see_has_no_probability():
    classifier = KNeighborsClassifier(1).fit(X, [0, 2, 2])

    assert class_probabilities(classifier, X, 4).tolist() == [[1, 0, 0, 0], *[[0, 0, 1, 0]] * 2]


def test_a_model_may_have_no_probabilities():
    assert class_probabilities(RidgeClassifier().fit(X, [0, 1, 1]), X, 2) is None


def test_log_loss_is_that_of_the_true_class_with_a_floor_under_its_probability():
    probabilities = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])

    expected = -(math.log(0.5) + math.log(0.25) + math.log(0.001)) / 3
    found = probability_results(probabilities, np.array([0, 0, 1]))
    assert found["log_loss"] == pytest.approx(expected, abs=1e-6)


def test_samples_are_counted_by_tenths_of_confidence():
    probabilities = np.array([[0.62, 0.38], [0.35, 0.65], [1.0, 0.0], [0.5, 0.5]])
    bins = probability_results(probabilities, np.array([0, 0, 0, 1]))["confidence_bins"]

    assert bins[5:] == [[1, 0.5, 0], [2, 1.27, 1], [0, 0, 0], [0, 0, 0], [1, 1, 1]]
    assert bins[:5] == [[0, 0, 0]] * 5
