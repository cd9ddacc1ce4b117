"""Learning on the device: the numbers of the twin in Python, and of the kernel."""

from typing import NamedTuple

import numpy as np
import pytest
from export.firmware import (
    AVR,
    CLANG,
    CORTEX_M3,
    HOST,
    RISCV32,
    SANITIZERS,
    TARGETS,
    compile_object,
    run_program,
    self_test,
)
from export.firmware_cost import c_rows, function_frames

from hyperlvq import make_classifier
from hyperlvq.checks import InputError
from hyperlvq.export import make_learner, make_plan, to_c
from hyperlvq.export.layout import Layout
from hyperlvq.export.learning import LARGEST_ENTRY, LARGEST_SUM
from hyperlvq.kernels.online import glvq_pass, perceptron_pass

PASSES = 3
both_rules = pytest.mark.parametrize("rule", ["perceptron", "glvq"])


def on_every(targets):
    return pytest.mark.parametrize("target", targets, ids=lambda target: target.name)


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


class Learnt(NamedTuple):
    prototypes: np.ndarray
    model_bytes: int
    wrong: int
    predicted: np.ndarray


def learn_on(target, learner, X, y, folder, *options):
    """Export a learner's start, let a target learn the stream, and return what it reports."""
    rows = c_rows(learner.plan.values(X))
    (folder / "stream.h").write_text(
        f"#define PASSES {PASSES}\n#define SAMPLES {len(X)}\n"
        f"static const net_value samples[SAMPLES][NET_FEATURES] = {{{rows}}};\n"
        f"static const uint8_t labels[SAMPLES] = {{{', '.join(map(str, y))}}};\n"
    )
    output = run_program(target, folder, [folder / "net.c"], TARGETS / "learn.c", *options)
    prototypes, rest = output.split("model ")
    size, rest = rest.split("wrong ")
    wrong, predicted = rest.split("predicted ")
    words = np.array([int(word, 16) for word in prototypes.split()], dtype=np.uint32)
    entries = (
        words.astype(np.uint16).view(np.int16)
        if "int" in str(learner.prototypes.dtype)
        else words.view(np.float32)
    )
    return Learnt(
        entries.reshape(learner.prototypes.shape),
        int(size, 16),
        int(wrong, 16),
        np.array([int(word, 16) for word in predicted.split()]),
    )


def learn_everywhere(target, model, stream, folder, *options, **given):
    """Return a learner and what a target learnt, from the same start by the same rule."""
    learner = make_learner(model, name="net", input="int16", **given)
    to_c(learner, folder)
    learnt = learn_on(target, learner, *stream, folder, *options)
    start = learner.prototypes.copy()
    returned = [learner.learn(*stream) for _ in range(PASSES)]
    assert (start != learner.prototypes).any()
    return learner, learnt, returned[-1]


@on_every([HOST, CLANG, CORTEX_M3, RISCV32])
def test_perceptron_learns_the_same_bits_as_python(target, model, stream, tmp_path):
    learner, learnt, mistakes = learn_everywhere(target, model, stream, tmp_path, rule="perceptron")

    np.testing.assert_array_equal(learnt.prototypes, learner.prototypes)
    assert learnt.wrong == mistakes
    np.testing.assert_array_equal(learnt.predicted, learner.predict_index(stream[0]))


@on_every([HOST, CLANG, CORTEX_M3, RISCV32])
def test_glvq_learns_within_float_rounding_of_python(target, model, stream, tmp_path):
    start = make_learner(model, rule="glvq").prototypes
    learner, learnt, _ = learn_everywhere(target, model, stream, tmp_path, rule="glvq")

    scale = np.abs(learner.prototypes).max()
    assert np.abs(start - learner.prototypes).max() > 0.01 * scale
    np.testing.assert_allclose(learnt.prototypes, learner.prototypes, rtol=1e-4, atol=1e-4 * scale)
    error = np.linalg.norm(learnt.prototypes - learner.prototypes)
    assert error < 1e-4 * np.linalg.norm(learner.prototypes)


def test_perceptron_is_the_kernel_bit_for_bit(model, stream):
    X, y = stream
    learner = make_learner(model, name="net", input="int16", rule="perceptron")
    one = 2**learner.fraction_bits
    prototypes = learner.prototypes / one
    activations = learner.plan.activations(X)

    for _ in range(PASSES):
        expected = perceptron_pass(
            activations,
            y,
            np.arange(len(X)),
            prototypes,
            learner.plan.output_classes,
            learner.rate / one,
        )
        assert learner.learn(X, y) == expected
    np.testing.assert_array_equal(learner.prototypes, prototypes * one)


def test_glvq_is_the_kernel(model, stream):
    X, y = stream
    learner = make_learner(model, rule="glvq", learning_rate=2.0)
    prototypes = learner.prototypes.copy()

    expected = glvq_pass(
        learner.plan.activations(X),
        y,
        np.arange(len(X)),
        prototypes,
        learner.plan.output_classes,
        learner.slope,
        2.0,
    )

    assert learner.learn(X, y) == expected
    np.testing.assert_array_equal(learner.prototypes, prototypes)


@both_rules
def test_learning_lowers_the_mistakes(rule, model, stream):
    learner = make_learner(model, rule=rule)
    before = np.mean(learner.predict_index(stream[0]) == stream[1])
    for _ in range(20):
        learner.learn(*stream)

    assert np.mean(learner.predict_index(stream[0]) == stream[1]) > before


@both_rules
def test_sanitizers_find_nothing(rule, model, stream, tmp_path):
    learn_everywhere(HOST, model, stream, tmp_path, *SANITIZERS, rule=rule)


def test_entries_stop_at_16_bits_on_device_and_in_python(model, stream, tmp_path):
    given = {"rule": "perceptron", "learning_rate": 2.0}
    learner, learnt, _ = learn_everywhere(HOST, model, stream, tmp_path, *SANITIZERS, **given)

    assert np.abs(learner.prototypes.astype(int)).max() == LARGEST_ENTRY
    np.testing.assert_array_equal(learnt.prototypes, learner.prototypes)


@both_rules
@pytest.mark.parametrize("input_type", ["float", "int16"])
def test_avr_compiles_without_a_warning(rule, input_type, model, tmp_path):
    to_c(model, tmp_path, name="net", input=input_type, trainable=rule)

    compile_object(AVR, tmp_path)


def test_prototypes_in_float_reach_the_end_of_an_avr_first(stream, tmp_path):
    model = make_classifier("intrvfl", "centroids", n_units=3000, random_state=0).fit(*stream)
    for rule in ("perceptron", "glvq"):
        to_c(model, tmp_path, name=rule, input="int16", trainable=rule)

    sentence = "48000 bytes of prototypes, where a table has at most 32767"
    assert sentence in (tmp_path / "glvq.c").read_text()
    assert "#error" not in (tmp_path / "perceptron.c").read_text()


@on_every([HOST, CORTEX_M3, AVR])
@both_rules
def test_self_test_is_of_the_model_before_it_learns(rule, target, model, stream, tmp_path):
    to_c(model, tmp_path, name="net", input="int16", trainable=rule, vectors=stream[0][:60])

    assert self_test(target, tmp_path).wrong == 0


@both_rules
def test_ram_is_what_header_and_readme_say(rule, model, stream, tmp_path):
    learner, learnt, _ = learn_everywhere(CORTEX_M3, model, stream, tmp_path, rule=rule)

    assert learnt.model_bytes == Layout.of(learner.plan, rule).learnt_bytes
    assert f"{learnt.model_bytes} bytes" in (tmp_path / "net.h").read_text()
    assert f"| RAM: the model | {learnt.model_bytes:,} |" in (tmp_path / "net.md").read_text()


@both_rules
@pytest.mark.parametrize(("n_units", "clip"), [(255, 3), (256, 3), (1000, 127), (1000, 128)])
def test_stack_is_within_what_the_readme_says(rule, n_units, clip, rng, tmp_path):
    X, y = rng.integers(100, size=(20, 300)), np.arange(20) % 2
    model = make_classifier("intrvfl", "centroids", n_units=n_units, clip=clip, random_state=0)
    to_c(model.fit(X, y), tmp_path, name="net", input="int16", trainable=rule)
    cell = (tmp_path / "net.md").read_text().split("at most | ")[1].split(" |")[0]
    stated = int(cell.replace(",", ""))

    frames = function_frames(compile_object(CORTEX_M3, tmp_path, "-fstack-usage"))

    used = sum(frames.values()) - min(frames["net_predict"], frames["net_learn"])
    assert used <= stated <= used + 256


@pytest.mark.parametrize(("n_units", "sum_type"), [(5461, "int32_t"), (5462, "int64_t")])
def test_sums_of_the_perceptron_are_as_wide_as_they_must_be(n_units, sum_type, stream, tmp_path):
    model = make_classifier("intrvfl", "centroids", n_units=n_units, clip=12, random_state=0)
    to_c(model.fit(*stream), tmp_path, name="net", trainable="perceptron")

    assert f"{sum_type} sum = 0;" in (tmp_path / "net.c").read_text()


def test_rule_follows_the_readout(stream):
    def kind(readout, **parameters):
        model = make_classifier("intrvfl", readout, n_units=40, random_state=0, **parameters)
        return type(make_learner(model.fit(*stream))).__name__

    assert kind("glvq") == "GLVQLearner"
    assert kind("perceptron") == "PerceptronLearner"
    assert kind("centroids") == "PerceptronLearner"


def test_rates_are_those_of_the_readout(stream):
    perceptron = make_classifier(
        "intrvfl", "perceptron", n_units=40, learning_rate=0.01, random_state=0
    )
    glvq = make_classifier("intrvfl", "glvq", n_units=40, solver="sgd", random_state=0, tol=1)
    learner = make_learner(perceptron.fit(*stream))

    assert learner.rate / 2**learner.fraction_bits == pytest.approx(0.01, rel=0.01)
    assert make_learner(glvq.fit(*stream)).rate == glvq[-1].learning_rate_


def test_rates_that_integers_cannot_express_are_refused_with_those_they_can(model):
    learner = make_learner(model, rule="perceptron")
    one, limit = 2**learner.fraction_bits, learner.plan.limit
    largest = (LARGEST_SUM - LARGEST_ENTRY) // limit

    for rate in (1 / one, largest / one):
        held = make_learner(model, rule="perceptron", learning_rate=rate)
        assert held.rate == rate * one
        assert held.rate * limit + LARGEST_ENTRY < 2**31
    for rate in (0.4 / one, (largest + 1) / one, 1.7e308):
        with pytest.raises(InputError, match=f"at rates of {1 / one:g} to {largest / one:g}, got"):
            make_learner(model, rule="perceptron", learning_rate=rate)


def test_a_rate_that_nobody_chose_is_one_that_integers_express(stream):
    model = make_classifier("intrvfl", "centroids", n_units=40, clip=12, random_state=0)
    model.fit(*stream)[-1].prototypes_[0, 0] = 1000

    assert make_learner(model, rule="perceptron").rate == 1


@both_rules
def test_label_without_a_prototype_teaches_nothing(rule, model, stream):
    learner = make_learner(model, rule=rule)
    start = learner.prototypes.copy()
    learner.learn(stream[0][:5], np.full(5, 200))

    np.testing.assert_array_equal(learner.prototypes, start)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_cannot_learn_is_refused_with_the_reason(model, stream, tmp_path):
    rls = make_classifier("intrvfl", "rls", n_units=40, random_state=0).fit(*stream)
    cases = [
        (lambda: to_c(rls, tmp_path, trainable=True), "RLSClassifier has no prototypes"),
        (lambda: to_c(model, tmp_path, trainable="hebb"), "the rule must be"),
        (lambda: to_c(make_plan(model), tmp_path, trainable=True), "give to_c the pipeline"),
        (lambda: make_learner(model, learning_rate=0), "learning_rate must be"),
        (
            lambda: to_c(make_learner(model), tmp_path, learning_rate=0.5),
            "a learner has its own rule and learning rate",
        ),
    ]
    for call, message in cases:
        with pytest.raises(InputError, match=message):
            call()
    assert not list(tmp_path.iterdir())
