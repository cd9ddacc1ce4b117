"""What every readout does alike: labels, weights, bad input, degenerate data."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from hyperlvq import (
    CentroidClassifier,
    GLVQClassifier,
    KGLVQClassifier,
    LVQ1Classifier,
    PerceptronClassifier,
    RLSClassifier,
)
from hyperlvq.readouts.base import check_prototype_counts

READOUTS = [
    RLSClassifier(),
    CentroidClassifier(),
    PerceptronClassifier(random_state=0),
    LVQ1Classifier(random_state=0),
    GLVQClassifier(random_state=0),
    GLVQClassifier(solver="sgd", tol=1e-2, random_state=0),
    KGLVQClassifier(random_state=0),
]
LEARNERS = READOUTS[1:6]

every_readout = pytest.mark.parametrize("readout", READOUTS, ids=repr, indirect=True)
every_learner = pytest.mark.parametrize("readout", LEARNERS, ids=repr, indirect=True)
MANY = [LVQ1Classifier, GLVQClassifier, KGLVQClassifier]


@pytest.fixture
def readout(request):
    return clone(request.param)


@every_readout
@pytest.mark.parametrize(
    "labels",
    [["a", "b", "c"], [7, -3, 1000], [True, False, True], [2.0, 3.0, 4.0], ["ä, b", "🙂", ""]],
    ids=str,
)
def test_labels_of_any_kind_come_back(readout, activations, labels):
    X, y = activations
    named = np.array(labels)[y]

    predicted = readout.fit(X, named).predict(X)
    assert set(predicted) <= set(named)
    assert (predicted == named).mean() > 0.8


@every_readout
def test_same_random_state_gives_the_same_model(readout, activations):
    X, y = activations

    first = readout.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(readout.fit(X, y).decision_function(X), first)


@every_readout
def test_order_of_the_samples_does_not_matter(readout, activations, rng):
    X, y = activations
    rows = rng.permutation(len(X))

    expected = readout.fit(X, y).decision_function(X)
    np.testing.assert_allclose(readout.fit(X[rows], y[rows]).decision_function(X), expected)


@every_readout
def test_whole_weights_are_repetition(readout, activations, rng):
    X, y = activations
    weights = rng.integers(0, 4, size=len(X))

    expected = readout.fit(X.repeat(weights, axis=0), y.repeat(weights)).decision_function(X)
    weighted = readout.fit(X, y, sample_weight=weights).decision_function(X)
    np.testing.assert_allclose(weighted, expected)


@every_readout
def test_fractional_weights_are_taken(readout, activations, rng):
    X, y = activations

    readout.fit(X, y, sample_weight=rng.uniform(0.01, 3, size=len(X)))
    assert readout.score(X, y) > 0.8


@every_readout
def test_types_of_the_input_agree(readout, activations):
    X, y = activations

    narrow = readout.fit(X, y).predict(X)
    wide = readout.fit(X.astype(np.float64), y).predict(X.astype(np.float64))
    assert (narrow == wide).mean() > 0.95


@every_readout
def test_prediction_does_not_depend_on_the_batch(readout, activations):
    X, y = activations
    readout.fit(X, y)

    one_by_one = np.concatenate([readout.predict(x[np.newaxis]) for x in X])
    np.testing.assert_array_equal(one_by_one, readout.predict(X))


@every_readout
def test_decision_of_two_classes_is_one_number_per_sample(readout, activations):
    X, y = activations
    readout.fit(X, y > 0)

    scores = readout.decision_function(X)
    assert scores.shape == (len(X),)
    np.testing.assert_array_equal(scores > 0, readout.predict(X))


@every_readout
def test_single_class_is_refused(readout):
    with pytest.raises(
        ValueError, match="needs samples of at least two classes, got one class: 'one'"
    ):
        readout.fit(np.eye(3), ["one", "one", "one"])


@every_readout
def test_prediction_before_fit_is_refused(readout):
    with pytest.raises(NotFittedError):
        type(readout)().predict(np.eye(3))


@every_readout
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1], "sample_weight must not be negative, got -1"),
        ([0, 0, 0], "sample_weight is zero for all samples"),
        ([1e308, 1e308, 1], "sample_weight must add up to between 1e-200 and 1e\\+200, got"),
        ([1e-310, 1e-310, 0], "sample_weight must add up to between"),
        ([[1, 1, 1]], "sample_weight must have one dimension, got 2"),
        ([1, 1], "inconsistent numbers of samples"),
        ([1, np.nan, 1], "sample_weight contains NaN"),
    ],
)
def test_bad_weights_are_named(readout, weights, message):
    with pytest.raises(ValueError, match=message):
        readout.fit(np.eye(3), [0, 1, 0], sample_weight=weights)


@every_readout
def test_missing_values_are_refused(readout):
    with pytest.raises(ValueError, match="NaN"):
        readout.fit([[0.0, np.nan], [1.0, 1.0]], [0, 1])


@every_readout
def test_one_sample_per_class_is_learnt(readout):
    X, y = np.array([[0.0, 0.0], [4.0, 4.0], [0.0, 9.0]]), [0, 1, 2]

    scores = readout.fit(X, y).decision_function(X)
    assert np.isfinite(scores).all()


@every_readout
def test_equal_samples_with_different_labels_are_survived(readout):
    X = np.ones((6, 3))

    assert np.isfinite(readout.fit(X, [0, 1, 0, 1, 0, 1]).decision_function(X)).all()


@every_readout
def test_constant_features_are_survived(readout, activations):
    X, y = activations
    X = np.column_stack([X, np.zeros(len(X)), np.full(len(X), 3)]).astype(np.int8)

    assert np.isfinite(readout.fit(X, y).decision_function(X)).all()
    assert readout.score(X, y) > 0.8


@pytest.mark.parametrize("kind", MANY)
def test_more_prototypes_than_samples_are_survived(kind):
    X, y = np.array([[0.0, 1.0], [3.0, 1.0], [5.0, 2.0]]), [0, 1, 1]

    fitted = kind(prototypes_per_class=4, random_state=0).fit(X, y)
    assert fitted.prototype_classes_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert np.isfinite(fitted.decision_function(X)).all()


@pytest.mark.parametrize("kind", MANY)
def test_prototypes_at_the_same_place_are_survived(kind, activations):
    X, y = activations

    fitted = kind(prototypes_per_class=3, init_noise=0, random_state=0).fit(X, y)
    assert np.isfinite(fitted.decision_function(X)).all()


@pytest.mark.parametrize("kind", MANY)
def test_prototypes_can_be_counted_by_class(kind, activations):
    X, y = activations
    named = np.array(["a", "b", "c"])[y]

    listed = kind(prototypes_per_class=[1, 3, 2], random_state=0).fit(X, named)
    mapped = kind(prototypes_per_class={"c": 2, "a": 1, "b": 3}, random_state=0).fit(X, named)
    assert listed.prototype_classes_.tolist() == [0, 1, 1, 1, 2, 2]
    np.testing.assert_array_equal(listed.decision_function(X), mapped.decision_function(X))


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    [
        (0, ValueError, "prototypes_per_class must be at least 1, got 0"),
        (1.5, TypeError, "prototypes_per_class must be an integer, got 1.5"),
        ([1, 2], ValueError, "prototypes_per_class has 2 entries for 3 classes"),
        ([1, 2, 0], ValueError, "prototypes_per_class must be at least 1, got 0"),
        ({"a": 1, "b": 2}, ValueError, "prototypes_per_class has no entry for class 'c'"),
        ({"a": 1, "b": 2, "c": 1, "d": 1}, ValueError, "an entry for 'd', which is no class"),
        ("three", TypeError, "prototypes_per_class must be an integer, got 'three'"),
    ],
)
def test_bad_counts_of_prototypes_are_named(counts, error, message):
    with pytest.raises(error, match=message):
        check_prototype_counts(counts, np.array(["a", "b", "c"]))


@pytest.mark.parametrize("counts", [np.array(2), np.array([2, 2, 2]), (2, 2, 2), np.int8(2)])
def test_counts_of_prototypes_may_be_arrays(counts):
    assert check_prototype_counts(counts, np.array(["a", "b", "c"])).tolist() == [2, 2, 2]


@every_learner
def test_first_partial_fit_needs_the_classes(readout):
    with pytest.raises(ValueError, match="first call of partial_fit needs all labels in classes"):
        type(readout)().partial_fit(np.eye(3), [0, 1, 2])


@every_learner
def test_partial_fit_refuses_labels_that_were_not_announced(readout):
    with pytest.raises(ValueError, match="y has labels that are not in classes: 2"):
        type(readout)().partial_fit(np.eye(3), [0, 1, 2], classes=[0, 1])


@every_learner
def test_partial_fit_refuses_a_change_of_classes(readout):
    fitted = type(readout)().partial_fit(np.eye(3), [0, 1, 2], classes=[0, 1, 2])

    with pytest.raises(ValueError, match="classes must stay what the first call gave"):
        fitted.partial_fit(np.eye(3), [0, 1, 1], classes=[0, 1])


@every_learner
def test_partial_fit_refuses_a_single_class(readout):
    with pytest.raises(ValueError, match="classes must list at least two labels, got"):
        type(readout)().partial_fit(np.eye(3), [0, 0, 0], classes=[0])


@every_learner
def test_class_unseen_so_far_is_never_predicted(readout, activations):
    X, y = activations
    learner = type(readout)()

    learner.partial_fit(X[y == 0], y[y == 0], classes=[0, 1, 2])
    assert (learner.predict(X) == 0).all()
    learner.partial_fit(X, y)
    assert set(learner.predict(X)) == {0, 1, 2}


@every_learner
def test_learning_in_batches_classifies_well(readout, activations):
    X, y = activations
    learner = type(readout)()

    for _ in range(5):
        for rows in np.array_split(np.random.default_rng(0).permutation(len(X)), 9):
            learner.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert learner.score(X, y) > 0.8


@pytest.mark.parametrize("kind", [PerceptronClassifier, LVQ1Classifier, GLVQClassifier])
def test_partial_fit_is_one_pass_of_fit_in_the_same_order(kind, activations, recwarn):
    X, y = activations
    one_pass = {"max_iter": 1, "shuffle": False, "random_state": 0}
    if kind is GLVQClassifier:
        one_pass["solver"] = "sgd"

    fitted = kind(**one_pass).fit(X, y)
    learnt = kind(**one_pass).partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_array_equal(fitted.prototypes_, learnt.prototypes_)
    assert fitted.loss_curve_ == learnt.loss_curve_
    assert fitted.n_iter_ == learnt.n_iter_ == 1


@every_readout
@pytest.mark.parametrize(
    "arguments",
    [
        {"y": np.zeros(90)},
        {"y": np.linspace(0, 1, 90)},
        {"sample_weight": np.full(90, -1.0)},
    ],
    ids=["one class", "continuous labels", "negative weights"],
)
def test_failed_refit_leaves_the_model_as_it_was(readout, activations, arguments):
    X, y = activations
    expected = readout.fit(X, y).decision_function(X)

    with pytest.raises(ValueError, match=r"one class|continuous|negative"):
        readout.fit(X, **{"y": y + 5, **arguments})
    np.testing.assert_array_equal(readout.decision_function(X), expected)


@every_readout
def test_failed_first_fit_leaves_the_model_unfitted(readout):
    with pytest.raises(ValueError, match="one class"):
        readout.fit(np.eye(3), [1, 1, 1])
    with pytest.raises(NotFittedError):
        readout.predict(np.eye(3))


@every_learner
def test_failed_first_batch_announces_no_classes(readout):
    with pytest.raises(ValueError, match="not in classes"):
        readout.partial_fit(np.eye(3), [0, 1, 2], classes=[0, 1])

    readout.partial_fit(np.eye(3), [0, 1, 2], classes=[0, 1, 2])
    assert readout.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", [PerceptronClassifier, LVQ1Classifier, GLVQClassifier])
def test_huge_weights_need_no_huge_memory(kind, activations):
    X, y = activations

    heavy = kind(random_state=0).fit(X, y, sample_weight=np.full(len(X), 1e9))
    assert heavy.score(X, y) > 0.8
    with pytest.raises(ValueError, match="must add up to at most 1048576, got 9e\\+10"):
        heavy.partial_fit(X, y, sample_weight=np.full(len(X), 1e9))


@pytest.mark.parametrize("kind", [LVQ1Classifier, GLVQClassifier])
def test_shares_of_a_visit_add_up_from_batch_to_batch(kind, activations):
    X, y = activations
    learner = kind(random_state=0).partial_fit(X, y, classes=[0, 1, 2])

    moved = []
    for _ in range(4):
        before = learner.prototypes_.copy()
        learner.partial_fit(X[:1], y[:1], sample_weight=[0.5])
        moved.append(bool((learner.prototypes_ != before).any()))
    assert moved == [False, True, False, True]


@every_readout
@pytest.mark.parametrize(
    "convert",
    [np.asfortranarray, lambda X: X.astype(np.int64), lambda X: X.astype(object), lambda X: X + 3],
    ids=["fortran", "int64", "object", "shifted"],
)
def test_input_of_any_form_is_learnt(readout, activations, convert):
    X, y = activations

    assert readout.fit(convert(X), y).score(convert(X), y) > 0.8


@every_readout
def test_unsigned_bytes_and_read_only_arrays_are_learnt(readout, activations):
    X, y = (activations[0] + 3).astype(np.uint8), activations[1]
    X.setflags(write=False)

    assert readout.fit(X, y).score(X, y) > 0.8


@every_readout
def test_categorical_labels_come_back(readout, activations):
    X, y = activations
    named = pd.Series(pd.Categorical.from_codes(y, ["low", "middle", "high"]))

    assert set(readout.fit(X, named).predict(X)) == {"low", "middle", "high"}


@pytest.mark.parametrize(
    "readout",
    [
        GLVQClassifier(random_state=0),
        KGLVQClassifier(tol=1e-3, random_state=0),
        LVQ1Classifier(random_state=0),
    ],
    ids=str,
)
@pytest.mark.parametrize("class_weight", [{0: 2, 2: 3}, "balanced"])
def test_class_weights_are_weights_of_samples(readout, class_weight, activations, rng):
    X, y = activations
    weights = rng.integers(1, 4, size=len(y)).astype(float)
    of_classes = {0: 2, 1: 1, 2: 3}
    if class_weight == "balanced":
        of_classes = {label: len(y) / weights[y == label].sum() for label in range(3)}
    each = np.array([of_classes[label] for label in y])
    expected = clone(readout).fit(X, y, sample_weight=weights * each).decision_function(X)

    weighted = clone(readout).set_params(class_weight=class_weight).fit(X, y, weights)
    np.testing.assert_allclose(weighted.decision_function(X), expected, rtol=1e-4)


def test_balanced_classes_find_a_rare_one(rng):
    y = (np.arange(200) % 20 == 0).astype(int)
    X = rng.normal(size=(200, 2)) + 1.5 * y[:, np.newaxis]
    plain, balanced = (
        GLVQClassifier(class_weight=weight, random_state=0).fit(X, y).predict(X)
        for weight in (None, "balanced")
    )

    assert balanced[y == 1].mean() > plain[y == 1].mean() + 0.2


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("even", "class_weight must be a dict, 'balanced' or None, got 'even'"),
        ([1, 2], r"class_weight must be a dict, 'balanced' or None, got \[1, 2\]"),
        ({7: 1}, "class_weight has an entry for 7, which is no class"),
        ({0: 0}, "class_weight must be a finite number above 0, got 0"),
    ],
)
def test_wrong_class_weights_are_named(class_weight, message, iris):
    with pytest.raises(ValueError, match=message):
        GLVQClassifier(class_weight=class_weight).fit(*iris)


def test_batches_take_class_weights_but_cannot_be_balanced(iris):
    X, y = iris
    labels = [0, 1, 2]
    expected = GLVQClassifier(random_state=0).partial_fit(X, y, labels, 1 + (y == 1))
    weighted = GLVQClassifier(class_weight={1: 2}, random_state=0).partial_fit(X, y, labels)

    np.testing.assert_array_equal(weighted.prototypes_, expected.prototypes_)
    with pytest.raises(ValueError, match="class_weight='balanced' needs all samples"):
        GLVQClassifier(class_weight="balanced").partial_fit(X, y, labels)


@every_readout
def test_what_was_tampered_with_after_fit_is_refused(readout, activations):
    X, y = activations
    readout.fit(X, y)
    first = next(iter(readout._record.learnt))
    setattr(readout, first, getattr(readout, first)[:, :-1])

    with pytest.raises(ValueError, match=r"must be for \d+ \w+, as the rest of the model is"):
        readout.predict(X)


@every_learner
def test_classes_of_prototypes_that_do_not_exist_are_refused(readout, activations):
    X, y = activations
    readout.fit(X, y)
    readout.prototype_classes_[0] = 3

    for use in (readout.predict, lambda X: readout.partial_fit(X, y)):
        with pytest.raises(ValueError, match="prototype_classes_ must lie between 0 and 2"):
            use(X)


def test_labels_that_no_file_would_hold_still_predict():
    labels = ["a" * 2000, "b"]

    assert CentroidClassifier().fit([[0], [1]], labels).predict([[0]])[0] == labels[0]


@every_learner
def test_labels_that_are_not_in_order_are_refused(readout, activations):
    X, y = activations
    readout.fit(X, y)
    readout.classes_ = readout.classes_[::-1].copy()

    with pytest.raises(ValueError, match="classes_ must be two or more different labels in order"):
        readout.partial_fit(X, y)


@every_learner
def test_shares_of_a_visit_that_are_roundings_short_do_no_harm(readout, activations):
    X, y = activations

    readout.partial_fit(X[:10], y[:10], classes=[0, 1, 2], sample_weight=np.full(10, 0.1))

    assert readout.partial_fit(X, y).predict(X).shape == (90,)
