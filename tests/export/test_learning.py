"""Learning on the device: the numbers of the twin in Python, and of the kernel."""

import re

import numpy as np
import pytest
from export.firmware import (
    AVR,
    CORTEX_M3,
    HOST,
    LEARNING,
    TARGETS,
    c_rows,
    compile_object,
    function_frames,
    on_every,
    run_program,
    self_test,
)

from hyperlvq import make_classifier
from hyperlvq.checks import InputError
from hyperlvq.export import make_learner, make_plan, to_c
from hyperlvq.export.layout import layout_of
from hyperlvq.export.learning import LARGEST_ENTRY, LARGEST_SUM
from hyperlvq.kernels.online import glvq_pass, perceptron_pass
from hyperlvq.registry import AUTO_STEP

PASSES = 3
both_rules = pytest.mark.parametrize("rule", ["perceptron", "glvq"])


@pytest.fixture
def stream(rng):
    """Return integer samples of four classes that overlap, and their class indices."""
    y = rng.integers(4, size=120)
    centres = rng.integers(0, 200, size=(4, 12))
    return centres[y] + rng.integers(-80, 80, size=(120, 12)), y


@pytest.fixture
def model(stream):
    """Return class means, fitted on the first half of the stream."""
    X, y = stream
    return make_classifier("intrvfl", "centroids", n_units=100, clip=3, random_state=0).fit(
        X[:60], y[:60]
    )


def learn_on(target, learner, X, y, folder):
    """Let a target learn as Python does; return prototypes, last mistakes and predictions."""
    to_c(learner, folder)
    rows = c_rows(learner.plan.values(X))
    (folder / "stream.h").write_text(
        f"#define PASSES {PASSES}\n#define SAMPLES {len(X)}\n"
        f"static const net_value samples[SAMPLES][NET_FEATURES] = {{{rows}}};\n"
        f"static const uint8_t labels[SAMPLES] = {{{', '.join(map(str, y))}}};\n"
    )
    output = run_program(target, folder, [folder / "net.c"], TARGETS / "learn.c")
    parts = re.split(" (?:model|wrong|predicted) ", output)
    entries, (n_bytes,), (wrong,), predicted = (
        np.array([int(word, 16) for word in part.split()], dtype=np.uint32) for part in parts
    )
    is_float = learner.rule == "glvq"
    entries = entries.view(np.float32) if is_float else entries.astype(np.uint16).view(np.int16)
    assert n_bytes == layout_of(learner.plan, learner.rule).learnt_bytes
    assert f" {n_bytes} bytes" in (folder / "net.h").read_text()
    assert f"| RAM: the model | {n_bytes:,} |" in (folder / "net.md").read_text()
    return entries.reshape(learner.prototypes.shape), wrong, predicted


@pytest.mark.parametrize("rate", [None, 2.0])
@on_every(LEARNING)
def test_perceptron_learns_the_same_bits_as_python(target, rate, model, stream, tmp_path):
    given = {"name": "net", "input": "int16", "rule": "perceptron", "learning_rate": rate}
    learner = make_learner(model, **given)
    start = learner.prototypes.copy()

    prototypes, wrong, predicted = learn_on(target, learner, *stream, tmp_path)

    mistakes = [learner.learn(*stream) for _ in range(PASSES)]
    assert (start != learner.prototypes).any()
    np.testing.assert_array_equal(prototypes, learner.prototypes)
    assert wrong == mistakes[-1]
    np.testing.assert_array_equal(predicted, learner.predict_index(stream[0]))
    # Entries stop at 16 bits if the rate is high.
    assert (np.abs(learner.prototypes.astype(int)).max() == LARGEST_ENTRY) == (rate is not None)


@on_every(LEARNING)
def test_glvq_learns_within_float_rounding_of_python(target, model, stream, tmp_path):
    learner = make_learner(model, name="net", input="int16", rule="glvq")
    start = learner.prototypes.copy()

    prototypes, *_ = learn_on(target, learner, *stream, tmp_path)

    for _ in range(PASSES):
        learner.learn(*stream)
    scale = np.abs(learner.prototypes).max()
    assert np.abs(start - learner.prototypes).max() > 0.01 * scale
    np.testing.assert_allclose(prototypes, learner.prototypes, rtol=1e-4, atol=1e-4 * scale)


def test_samples_as_close_to_two_prototypes_are_not_clear(model, stream):
    learner = make_learner(model, rule="glvq")
    assert learner.is_clear(stream[0]).any()

    learner.prototypes[:] = learner.prototypes[0]
    assert not learner.is_clear(stream[0]).any()


@both_rules
def test_learner_is_the_kernel_bit_for_bit(rule, model, stream):
    X, y = stream
    learner = make_learner(model, input="int16", rule=rule)
    one = 2**learner.fraction_bits if rule == "perceptron" else 1
    prototypes = learner.prototypes / one
    data = learner.plan.activations(X), y, np.arange(len(X)), prototypes
    classes = learner.plan.output_classes

    for _ in range(PASSES):
        if rule == "perceptron":
            expected = perceptron_pass(*data, classes, learner.rate / one)
        else:
            expected = glvq_pass(*data, classes, learner.slope, learner.rate)
        assert learner.learn(X, y) == expected
    np.testing.assert_array_equal(learner.prototypes, prototypes * one)


@both_rules
def test_learning_lowers_the_mistakes_but_not_from_a_label_without_a_prototype(rule, model, stream):
    learner = make_learner(model, rule=rule)
    start = learner.prototypes.copy()
    before = np.mean(learner.predict_index(stream[0]) == stream[1])
    learner.learn(stream[0][:5], np.full(5, 200))
    np.testing.assert_array_equal(learner.prototypes, start)
    for _ in range(20):
        learner.learn(*stream)

    found = learner.predict_index(stream[0])
    assert np.mean(found == stream[1]) > before
    np.testing.assert_array_equal(learner.predict(stream[0]), model.classes_[found])


def test_prototypes_in_float_reach_the_end_of_an_avr_first(stream, tmp_path):
    model = make_classifier("intrvfl", "centroids", n_units=3000, random_state=0).fit(*stream)
    for rule in ("perceptron", "glvq"):
        to_c(model, tmp_path, name=rule, input="int16", trainable=rule)

    sentence = "the table of prototypes has 48000 bytes, but an AVR can read at most 32767"
    assert sentence in (tmp_path / "glvq.c").read_text()
    assert "#error" not in (tmp_path / "perceptron.c").read_text()


@pytest.mark.parametrize("input_type", ["float", "int16"])
@on_every([HOST, CORTEX_M3, AVR])
@both_rules
def test_self_test_is_of_the_model_before_it_learns(
    rule, target, input_type, model, stream, tmp_path
):
    to_c(model, tmp_path, name="net", input=input_type, trainable=rule, vectors=stream[0][:60])

    assert self_test(target, tmp_path) == 0


@both_rules
@pytest.mark.parametrize(("n_units", "clip"), [(255, 3), (256, 3), (1000, 127), (1000, 128)])
def test_stack_is_within_what_the_readme_says(rule, n_units, clip, rng, tmp_path):
    X, y = rng.integers(100, size=(20, 300)), np.arange(20) % 2
    model = make_classifier("intrvfl", "centroids", n_units=n_units, clip=clip, random_state=0)
    to_c(model.fit(X, y), tmp_path, name="net", input="int16", trainable=rule)
    cell = (tmp_path / "net.md").read_text().split("upper bound | ")[1].split(" |")[0]
    stated = int(cell.replace(",", ""))

    frames = function_frames(compile_object(CORTEX_M3, tmp_path, "-fstack-usage"))

    used = sum(frames.values()) - min(frames["net_predict"], frames["net_learn"])
    assert used <= stated <= used + 256


def test_rule_and_rate_are_those_of_the_readout(model, stream):
    common = {"n_units": 40, "random_state": 0}
    perceptron = make_classifier("intrvfl", "perceptron", learning_rate=0.01, **common)
    glvq = make_classifier("intrvfl", "glvq", solver="sgd", tol=1, **common)
    learner, of_glvq = make_learner(perceptron.fit(*stream)), make_learner(glvq.fit(*stream))

    assert learner.rate / 2**learner.fraction_bits == pytest.approx(0.01, rel=0.01)
    assert (of_glvq.rate, of_glvq.slope) == (glvq[-1].learning_rate_, glvq[-1].slope_)
    assert (learner.rule, of_glvq.rule) == ("perceptron", "glvq")
    assert make_learner(model).rule == "perceptron"


def test_a_rate_that_nobody_chose_grows_with_units_and_clip_as_distances_do(stream):
    common = {"n_units": 40, "clip": 5, "random_state": 0}
    model = make_classifier("intrvfl", "glvq", slope=4.0, **common).fit(*stream)

    assert make_learner(model).rate == AUTO_STEP / 4.0 * 40 * 5**2


def test_rates_that_integers_cannot_express_are_refused_with_those_they_can(model):
    learner = make_learner(model, rule="perceptron")
    one, limit = 2**learner.fraction_bits, learner.plan.encoder.limit
    largest = (LARGEST_SUM - LARGEST_ENTRY) // limit

    for rate in (1 / one, largest / one):
        held = make_learner(model, rule="perceptron", learning_rate=rate)
        assert held.rate == rate * one
        assert held.rate * limit + LARGEST_ENTRY < 2**31
    for rate in (0.4 / one, (largest + 1) / one, 1.7e308):
        with pytest.raises(
            InputError, match=f"between {1 / one:g} and {largest / one:g} on the device, got"
        ):
            make_learner(model, rule="perceptron", learning_rate=rate)


def test_a_rate_that_nobody_chose_is_one_that_integers_express(stream):
    model = make_classifier("intrvfl", "centroids", n_units=40, clip=12, random_state=0)
    model.fit(*stream)[-1].prototypes_[0, 0] = 1000

    assert make_learner(model, rule="perceptron").rate == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_cannot_learn_is_refused_with_the_reason(model, stream, tmp_path):
    rls = make_classifier("intrvfl", "rls", n_units=40, random_state=0).fit(*stream)
    comparing = make_classifier("comparisons", "centroids", n_units=40, random_state=0).fit(*stream)
    cases = [
        (
            lambda: to_c(comparing, tmp_path, trainable=True),
            "only models with the hidden layer intrvfl",
        ),
        (lambda: to_c(rls, tmp_path, trainable=True), "RLSClassifier has no prototypes"),
        (lambda: to_c(model, tmp_path, trainable="hebb"), "rule must be"),
        (
            lambda: to_c(make_plan(model), tmp_path, trainable=True),
            "trainable needs the fitted pipeline",
        ),
        (lambda: make_learner(model, learning_rate=0), "learning_rate must be"),
        (
            lambda: to_c(make_learner(model), tmp_path, learning_rate=0.5),
            "cannot be given with a learner, which has its own",
        ),
    ]
    for call, message in cases:
        with pytest.raises(InputError, match=message):
            call()
    assert not list(tmp_path.iterdir())
