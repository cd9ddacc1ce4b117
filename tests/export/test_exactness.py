"""Every label of the C equals the plan's, on every target."""

from dataclasses import replace

import numpy as np
import pytest
from export.firmware import (
    AVR,
    CLANG,
    CORTEX_M3,
    HOST,
    RISCV32,
    SANITIZED,
    on_every,
    self_test,
)
from export.random_models import (
    KINDS,
    SMALL,
    VOTE,
    Settings,
    draw,
    draw_comparing,
    plan_and_samples,
    write,
)
from sklearn.pipeline import Pipeline

from hyperlvq import CentroidClassifier, HyperLVQClassifier, make_classifier
from hyperlvq.export import make_plan, to_c
from hyperlvq.export.layout import layout_of

EXTREMES = [
    Settings("glvq", "int16", 8, 1, 8, 1, 2, 1),
    Settings("glvq", "float", 8, 2, 33, 127, 2, 5),
    Settings("rls", "int16", 16, 170, 2000, 127, 2, 1),
    Settings("lvq1", "int32", 8, 129, 64, 127, 3, 1),
    Settings("centroids", "int16", 8, 300, 1999, 3, 26, 1),
    Settings("centroids", "int32", 16, 600, 40, 300, 3, 1),
]
COMPARING_EXTREMES = [
    Settings(VOTE, "int16", 8, 1, 1, 0, 2, 1, "comparisons"),
    Settings("glvq", "float", 16, 2, 2, 0, 2, 5, "comparisons"),
    Settings(VOTE, "float", 16, 300, 400, 0, 26, 4, "comparisons"),
    Settings("centroids", "int32", 8, 300, 1000, 0, 3, 1, "comparisons"),
]
CASES = [
    *[(HOST, 40, draw(seed)) for seed in range(60)],
    *[(CLANG, 40, draw(seed)) for seed in range(100, 106)],
    *[(SANITIZED, 40, draw(seed)) for seed in range(200, 206)],
    *[(SANITIZED, 40, settings) for settings in EXTREMES],
    *[(CORTEX_M3, 20, draw(seed)) for seed in range(300, 306)],
    *[(RISCV32, 20, draw(seed)) for seed in range(400, 406)],
    *[(AVR, 8, draw(seed, **SMALL)) for seed in range(500, 506)],
    *[(HOST, 40, draw_comparing(seed)) for seed in range(12)],
    *[(CLANG, 40, draw_comparing(seed)) for seed in range(100, 102)],
    *[(SANITIZED, 40, draw_comparing(seed)) for seed in range(200, 204)],
    *[(SANITIZED, 40, settings) for settings in COMPARING_EXTREMES],
    *[(CORTEX_M3, 20, draw_comparing(seed)) for seed in range(300, 303)],
    *[(RISCV32, 20, draw_comparing(seed)) for seed in range(400, 403)],
    *[(AVR, 8, draw_comparing(seed, **SMALL)) for seed in range(500, 503)],
]


@pytest.mark.parametrize(("target", "n_samples", "settings"), CASES, ids=str)
def test_labels_are_those_of_the_plan(target, n_samples, settings, tmp_path):
    write(settings, tmp_path, n_samples)

    assert self_test(target, tmp_path) == 0


@pytest.mark.parametrize("trainable", [False, "perceptron", "glvq"])
def test_remainders_settle_some_features_and_one_class_has_no_output(trainable, tmp_path):
    X = np.arange(201)[:, np.newaxis] * [1, 3, 0.37] + [0, 0, 0.25]
    y = np.arange(201) // 50 % 2
    model = make_classifier("intrvfl", "centroids", n_units=100, random_state=0).fit(X, y)
    readout = CentroidClassifier().partial_fit(model[:-1].transform(X), y, classes=[0, 1, 2])
    model = Pipeline([*model.steps[:-1], ("readout", readout)])
    to_c(model, tmp_path, name="net", input="int16", vectors=X, trainable=trainable)

    source = (tmp_path / "net.c").read_text()
    assert "if (scaling.settles)" in source
    assert "net_classes[2]" in source
    assert self_test(SANITIZED, tmp_path) == 0


@on_every([SANITIZED, CORTEX_M3, RISCV32, AVR])
@pytest.mark.parametrize(
    "model",
    [
        HyperLVQClassifier(3, n_units=30, random_state=0),
        make_classifier("comparisons", "rls", n_units=60, kinds=KINDS, random_state=0),
    ],
)
def test_missing_values_give_the_labels_of_the_model_where_units_compare(
    model, target, rng, tmp_path
):
    X = rng.normal(size=(60, 4)).astype(np.float32).astype(np.float64)
    y = (X.sum(axis=1) > 0).astype(int)
    X[rng.uniform(size=X.shape) < 0.3] = np.nan
    X[:, 3] = np.where(np.arange(60) % 2, 0.0, -0.0)
    plan = make_plan(model.fit(X, y), name="net", bits=16)
    to_c(plan, tmp_path, vectors=X)

    assert "NAN" in (tmp_path / "net_selftest.c").read_text()
    np.testing.assert_array_equal(plan.predict(X), model.predict(X))
    assert self_test(target, tmp_path) == 0


@on_every([SANITIZED, CORTEX_M3, RISCV32, AVR])
@pytest.mark.parametrize("has_some", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        HyperLVQClassifier(2, n_units=30, random_state=0),
        make_classifier("comparisons", "centroids", n_units=60, kinds=KINDS, random_state=0),
    ],
)
def test_values_missing_only_at_prediction_give_the_labels_of_the_model(
    model, has_some, target, rng, tmp_path
):
    X = rng.normal(size=(61, 4)).astype(np.float32).astype(np.float64)
    y = (X.sum(axis=1) > 0.5).astype(int)
    if has_some:
        X[:9, 2] = np.nan
    plan = make_plan(model.fit(X, y), name="net", bits=16)
    X[rng.uniform(size=X.shape) < 0.4] = np.nan
    X[5] = np.nan
    to_c(plan, tmp_path, vectors=X)

    is_filled = ~np.array([False, False, has_some, False])
    np.testing.assert_array_equal(~np.isnan(plan.medians), is_filled)
    with pytest.warns(UserWarning, match="the training median"):
        np.testing.assert_array_equal(plan.predict(X), model.predict(X))
    assert self_test(target, tmp_path) == 0


def test_remainders_of_a_wide_range_of_integers_settle_levels_in_64_bits(rng, tmp_path):
    X = rng.integers(-(2**29), 2**29, (80, 3))
    model = make_classifier("intrvfl", "centroids", n_units=40, random_state=0).fit(X, X[:, 0] > 0)
    plan = make_plan(model, name="net", input="int32")
    to_c(plan, tmp_path, vectors=X)

    assert layout_of(plan).scaling.remainder_bits == 64
    assert self_test(HOST, tmp_path) == 0


def test_more_units_than_16_bits_count_give_the_labels_of_the_plan(tmp_path):
    plan, samples = plan_and_samples(Settings(VOTE, "int16", 8, 3, 30, 0, 3, 1, "comparisons"))
    units = np.repeat(np.arange(plan.n_units), 2**16 // plan.n_units + 1)
    wide = {"encoder": plan.encoder.take(units), "weights": plan.weights[:, units]}
    to_c(replace(plan, **wide), tmp_path, vectors=samples)

    assert self_test(HOST, tmp_path) == 0


def test_self_test_counts_wrong_labels(tmp_path):
    plan, samples = plan_and_samples(draw(3))
    to_c(plan, tmp_path, vectors=samples)
    source = tmp_path / "net_selftest.c"
    head, table, rest = source.read_text().partition("net_expected[NET_SAMPLES] NET_FLASH = {\n")
    first, comma, others = rest.partition(",")
    wrong = (int(first) + 1) % plan.n_classes
    source.write_text(f"{head}{table}    {wrong}{comma}{others}")

    assert len(set(plan.predict_index(samples))) > 1
    assert self_test(HOST, tmp_path) == 1
