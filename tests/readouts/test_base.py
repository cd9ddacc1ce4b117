"""What every readout does alike: labels, weights, bad input, degenerate data."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from hyperlvq import (
    CentroidClassifier,
    GLVQClassifier,
    KGLVQClassifier,
    LVQ1Classifier,
    PerceptronClassifier,
    RLSClassifier,
    make_classifier,
    rls_path,
)
from hyperlvq.readouts.base import check_prototype_counts, check_solution

READOUTS = [
    RLSClassifier(),
    CentroidClassifier(),
    PerceptronClassifier(random_state=0),
    LVQ1Classifier(random_state=0),
    GLVQClassifier(random_state=0),
    GLVQClassifier(solver="sgd", tol=1e-2, random_state=0),
    KGLVQClassifier(random_state=0),
]
LEARNERS = [readout for readout in READOUTS if hasattr(readout, "partial_fit")]
MANY = [LVQ1Classifier, GLVQClassifier, KGLVQClassifier]
ONLINE = [PerceptronClassifier, LVQ1Classifier, GLVQClassifier]

every_readout = pytest.mark.parametrize("readout", READOUTS, ids=repr, indirect=True)
every_prototype_readout = pytest.mark.parametrize(
    "readout",
    [each for each in READOUTS if not isinstance(each, RLSClassifier)],
    ids=repr,
    indirect=True,
)
every_learner = pytest.mark.parametrize("readout", LEARNERS, ids=repr, indirect=True)


@pytest.fixture
def readout(request):
    return clone(request.param)


@every_readout
@pytest.mark.parametrize(
    "labels",
    [
        np.array(["a", "b", "c"]),
        np.array([7, -3, 1000]),
        np.array([True, False, True]),
        np.array([2.0, 3.0, 4.0]),
        np.array(["ä, b", "🙂", ""]),
        pd.Series(pd.Categorical(["low", "middle", "high"])),
    ],
    ids=str,
)
def test_labels_of_any_kind_come_back(readout, activations, labels):
    X, y = activations
    named = labels[y]

    predicted = readout.fit(X, named).predict(X)
    assert set(predicted) == set(labels)
    assert (predicted == np.asarray(named)).mean() > 0.8


@every_readout
def test_same_random_state_gives_the_same_model_in_any_order_of_samples(readout, activations, rng):
    X, y = activations
    rows = rng.permutation(len(X))

    expected = readout.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(readout.fit(X, y).decision_function(X), expected)
    np.testing.assert_allclose(readout.fit(X[rows], y[rows]).decision_function(X), expected)


@pytest.mark.parametrize(
    "readout", [CentroidClassifier(), KGLVQClassifier(kernel="linear", random_state=0)], ids=str
)
def test_probabilities_are_relative_to_the_distances_of_the_samples(readout, iris):
    X, y = iris[0][:100], iris[1][:100]
    readout.fit(X, y)
    combinations = readout.dual_coef_ @ readout.X_fit_ if hasattr(readout, "X_fit_") else None
    prototypes = readout.prototypes_ if combinations is None else combinations

    distances = ((X[:, np.newaxis] - prototypes) ** 2).sum(axis=2)
    scale = distances.sum(axis=1).mean()
    assert readout.distance_scale_ == pytest.approx(scale)
    expected = 1 / (1 + np.exp(10 * (distances[:, 1] - distances[:, 0]) / scale))
    np.testing.assert_allclose(readout.predict_proba(X)[:, 1], expected, rtol=1e-6)


@every_learner
def test_class_without_samples_has_no_probability_and_is_never_predicted(readout, activations):
    X, y = activations
    readout.partial_fit(X[y == 0], y[y == 0], classes=[0, 1, 2])
    np.testing.assert_array_equal(readout.predict_proba(X), [[1, 0, 0]] * len(X))
    assert (readout.predict(X) == 0).all()

    readout.partial_fit(X[y < 2], y[y < 2])
    found = readout.predict_proba(X)
    assert (found[:, 2] == 0).all()
    assert (found[:, :2] > 0).all()
    assert set(readout.partial_fit(X, y).predict(X)) == {0, 1, 2}


def test_least_squares_has_no_probabilities():
    assert not hasattr(RLSClassifier(), "predict_proba")


@every_readout
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1], "sample_weight must not be negative, got -1"),
        ([0, 0, 0], "sample_weight must be positive for some sample"),
        ([1e308, 1e308, 1], "sample_weight must have a sum from 1e-200 to 1e\\+200, got"),
        ([1e-310, 1e-310, 0], "sample_weight must have a sum from"),
        ([[1, 1, 1]], "sample_weight must have one dimension, got 2"),
        ([1, 1], "inconsistent numbers of samples"),
        ([1, np.nan, 1], "sample_weight contains NaN"),
    ],
)
def test_bad_weights_are_named(readout, weights, message):
    with pytest.raises(ValueError, match=message):
        readout.fit(np.eye(3), [0, 1, 0], sample_weight=weights)


@every_readout
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.array([[0.0, 0.0], [4.0, 4.0], [0.0, 9.0]]), [0, 1, 2]),
        (np.ones((6, 3)), [0, 1, 0, 1, 0, 1]),
    ],
    ids=["one sample per class", "equal samples with different labels"],
)
def test_degenerate_samples_are_survived(readout, X, y):
    assert np.isfinite(readout.fit(X, y).decision_function(X)).all()


@pytest.mark.parametrize("kind", MANY)
@pytest.mark.parametrize("init_noise", [1, 0])
def test_more_prototypes_than_samples_and_at_the_same_place_are_survived(kind, init_noise):
    X, y = np.array([[0.0, 1.0], [3.0, 1.0], [5.0, 2.0]]), [0, 1, 1]

    fitted = kind(prototypes_per_class=4, init_noise=init_noise, random_state=0).fit(X, y)
    assert fitted.prototype_classes_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
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
    ("counts", "message"),
    [
        ([1, 2], "prototypes_per_class has 2 entries for 3 classes"),
        ([1, 2, 0], "prototypes_per_class must be at least 1, got 0"),
        ({"a": 1, "b": 2}, "prototypes_per_class has no entry for class 'c'"),
        ({"a": 1, "b": 2, "c": 1, "d": 1}, "an entry for 'd', which is not a class"),
    ],
)
def test_bad_counts_of_prototypes_are_named(counts, message, iris):
    with pytest.raises(ValueError, match=message):
        LVQ1Classifier(counts).fit(iris[0], np.array(["a", "b", "c"])[iris[1]])


@pytest.mark.parametrize("counts", [np.array(2), np.array([2, 2, 2]), (2, 2, 2), np.int8(2)])
def test_counts_of_prototypes_may_be_arrays(counts):
    assert check_prototype_counts(counts, np.array(["a", "b", "c"])).tolist() == [2, 2, 2]


@every_learner
@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (None, "classes must be given in the first call of partial_fit"),
        ([0, 1], "y has labels that are missing in classes: 2"),
        ([0], "classes must list at least two labels, got"),
    ],
)
def test_classes_of_batches_are_checked_and_announced_by_no_failed_one(readout, classes, message):
    with pytest.raises(ValueError, match=message):
        readout.partial_fit(np.eye(3), [0, 1, 2], classes=classes)

    readout.partial_fit(np.eye(3), [0, 1, 2], classes=[0, 1, 2])
    assert readout.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="classes must equal those of the first call"):
        readout.partial_fit(np.eye(3), [0, 1, 1], classes=[0, 1])


@every_learner
def test_learning_in_batches_classifies_well(readout, activations):
    X, y = activations
    learner = type(readout)()

    for _ in range(5):
        for rows in np.array_split(np.random.default_rng(0).permutation(len(X)), 9):
            learner.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert learner.score(X, y) > 0.8


@pytest.mark.parametrize("kind", ONLINE)
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
    ("arguments", "message"),
    [
        ({"y": ["one"] * 90}, "at least two classes, got one class: 'one'"),
        ({"y": np.linspace(0, 1, 90)}, "continuous"),
        ({"sample_weight": np.full(90, -1.0)}, "negative"),
    ],
)
def test_failed_refit_leaves_the_model_as_it_was(readout, activations, arguments, message):
    X, y = activations
    expected = readout.fit(X, y).decision_function(X)

    with pytest.raises(ValueError, match=message):
        readout.fit(X, **{"y": y + 5, **arguments})
    np.testing.assert_array_equal(readout.decision_function(X), expected)


@pytest.mark.parametrize("kind", ONLINE)
def test_huge_weights_need_no_huge_memory(kind, activations):
    X, y = activations

    heavy = kind(random_state=0).fit(X, y, sample_weight=np.full(len(X), 1e9))
    assert heavy.score(X, y) > 0.8
    with pytest.raises(ValueError, match="must have a sum of at most 1048576, got 9e\\+10"):
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
    [
        np.asfortranarray,
        lambda X: X.astype(np.int64),
        lambda X: X.astype(object),
        lambda X: X + 3,
        lambda X: (X + 3).astype(np.uint8),
        lambda X: np.pad(X, ((0, 0), (0, 2)), constant_values=3),
    ],
    ids=["fortran", "int64", "object", "shifted", "bytes", "constant features"],
)
def test_input_of_any_form_is_learnt_without_writing_to_it(readout, activations, convert):
    X, y = convert(activations[0]), activations[1]
    X.setflags(write=False)

    assert readout.fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize(
    "readout",
    [
        GLVQClassifier(slope=10, random_state=0),
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


def test_batches_take_class_weights_but_cannot_be_balanced(iris):
    X, y = iris
    labels = [0, 1, 2]
    readout = GLVQClassifier(slope=10, random_state=0)
    expected = clone(readout).partial_fit(X, y, labels, 1 + (y == 1))
    weighted = readout.set_params(class_weight={1: 2}).partial_fit(X, y, labels)

    np.testing.assert_array_equal(weighted.prototypes_, expected.prototypes_)
    with pytest.raises(ValueError, match="class_weight='balanced' is not supported by partial_fit"):
        GLVQClassifier(class_weight="balanced").partial_fit(X, y, labels)


@every_learner
@pytest.mark.parametrize(
    ("name", "tamper", "message"),
    [
        ("prototypes_", lambda values: values[:, :-1], r"must be for \d+ \w+, as the rest of the"),
        ("prototype_classes_", lambda values: values + 1, "must lie between 0 and 2"),
        ("classes_", lambda values: values[::-1].copy(), "must be two or more different labels in"),
    ],
)
def test_what_was_tampered_with_after_fit_is_refused(readout, activations, name, tamper, message):
    X, y = activations
    readout.fit(X, y)
    setattr(readout, name, tamper(getattr(readout, name)))

    for use in (readout.predict, lambda X: readout.partial_fit(X, y)):
        with pytest.raises(ValueError, match=message):
            use(X)


@pytest.mark.parametrize("curve", [None, 5.0])
def test_loss_curve_that_is_none_is_refused(activations, curve):
    readout = GLVQClassifier(random_state=0).fit(*activations)
    readout.loss_curve_ = np.array(readout.loss_curve_)
    readout.predict(activations[0])  # an array will do
    readout.loss_curve_ = curve

    with pytest.raises(ValueError, match="loss_curve_ must have 1 dimensions, got 0"):
        readout.predict(activations[0])


def test_labels_that_no_file_would_hold_still_predict():
    labels = ["a" * 2000, "b"]

    assert CentroidClassifier().fit([[0], [1]], labels).predict([[0]])[0] == labels[0]


@pytest.mark.parametrize(
    ("readout", "limit"),
    [
        (GLVQClassifier(max_iter=3), "max_iter=3 iterations"),
        (GLVQClassifier(solver="sgd", max_iter=3, tol=0), "max_iter=3 passes"),
        (KGLVQClassifier(max_iter=3), "max_iter=3 iterations"),
        (PerceptronClassifier(max_iter=3), "max_iter=3 passes"),
        (RLSClassifier(solver="fista", max_iter=3), "fista stopped after max_iter=3 iterations"),
        (RLSClassifier(solver="lms", max_iter=3), "lms stopped after max_iter=3 iterations"),
        (make_classifier("features", "glvq", max_iter=3), "max_iter=3 iterations"),
    ],
    ids=repr,
)
def test_limit_of_iterations_is_told_to_the_code_that_called(readout, limit, iris):
    with pytest.warns(ConvergenceWarning, match=limit) as caught:
        readout.fit(*iris)

    assert [warning.filename for warning in caught] == [__file__]
    fitted = getattr(readout, "steps", [("", readout)])[-1][1]
    assert fitted.n_iter_ == len(getattr(fitted, "loss_curve_", range(3))) == 3


LINEAR_OR_MEANS = [RLSClassifier(), RLSClassifier(solver="pinv"), CentroidClassifier()]


@pytest.mark.parametrize("scale", [1e-300, 1e-142, -1e140, 1e300])
@pytest.mark.parametrize("readout", LINEAR_OR_MEANS, ids=repr)
def test_features_out_of_range_are_refused(iris, readout, scale):
    X, y = iris

    with pytest.raises(
        ValueError, match=r"the largest absolute feature must be from .*: scale the"
    ):
        readout.fit(X * scale, y)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
@pytest.mark.parametrize("readout", LINEAR_OR_MEANS, ids=repr)
def test_features_at_the_ends_of_the_range_are_classified_as_ever(iris, readout, scale):
    X, y = iris
    X = X / X.max()
    expected = readout.fit(X, y).predict(X)

    assert (readout.fit(X * scale, y).predict(X * scale) == expected).mean() > 0.99


def test_features_of_zero_are_fine():
    readout = RLSClassifier().fit(np.zeros((4, 2)), [0, 1, 1, 1])

    assert np.isfinite(readout.decision_function(np.zeros((1, 2)))).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of the overflow in a path
def test_a_column_out_of_range_is_refused(iris):
    X, y = iris
    X = X * [1, 1, 1, 1e-170]

    with pytest.raises(ValueError, match="the model has infinite numbers"):
        RLSClassifier().fit(X, y)
    with pytest.raises(ValueError, match="the model has infinite numbers"):
        rls_path(X, y, [1.0])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of the overflow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("readout", "what"),
    [(CentroidClassifier(), "squared distances"), (RLSClassifier(), "scores")],
)
def test_a_sample_too_far_to_be_classified_is_refused(iris, n_classes, readout, what):
    X, y = iris
    readout.fit(X * 1e-100, y % n_classes)

    with pytest.raises(ValueError, match=f"the {what} are not finite: features are too"):
        readout.predict([*X, X[0] * 1e250])


@pytest.mark.parametrize(
    "readout",
    [
        GLVQClassifier(max_iter=25, tol=0, random_state=0, verbose=1),
        GLVQClassifier(solver="sgd", max_iter=25, tol=0, random_state=0, verbose=1),
        KGLVQClassifier(max_iter=25, tol=0, random_state=0, verbose=1),
    ],
    ids=["glvq", "glvq-sgd", "kglvq"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_verbose_training_prints_the_loss_once_in_ten_iterations(readout, activations, capsys):
    losses = readout.fit(*activations).loss_curve_

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(losses) // 10 > 0
    assert lines[0].startswith(f"iteration 10 of at most 25: loss {losses[9]:.6f}, ")
    assert lines[0].endswith(" s elapsed")


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_a_solution_with_one_number_that_is_not_finite_is_refused(number):
    with pytest.raises(ValueError, match="the model has infinite numbers"):
        check_solution(np.array([[1.0, number]]))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.float64])
@pytest.mark.parametrize("counts", [1, [3, 1, 2]], ids=str)
def test_prototype_distances_are_squared_euclidean(activations, dtype, counts):
    X, y = activations[0].astype(dtype), activations[1]
    readout = LVQ1Classifier(counts, random_state=0).fit(X, y)

    distances = readout.prototype_distances(X)

    assert distances.dtype == np.float64
    expected = cdist(X.astype(float), readout.prototypes_, "sqeuclidean")
    np.testing.assert_allclose(distances, expected, rtol=1e-9)


@every_prototype_readout
def test_closest_prototypes_give_the_decisions(readout, activations):
    X, y = activations
    distances = readout.fit(X, y).prototype_distances(X)

    of_classes = [distances[:, readout.prototype_classes_ == c].min(axis=1) for c in range(3)]
    scores = readout.decision_function(X)
    shared = scores[:, :1] + of_classes[0][:, None]  # k(x, x) for kernels
    np.testing.assert_allclose(shared - np.transpose(of_classes), scores, atol=1e-5)
    nearest = readout.prototype_classes_[distances.argmin(axis=1)]
    np.testing.assert_array_equal(nearest, readout.predict(X))
    assert distances.min() >= 0


@every_prototype_readout
def test_prototype_distances_check_what_they_are_given(readout, activations):
    X, y = activations

    with pytest.raises(NotFittedError):
        readout.prototype_distances(X)
    readout.fit(X, y)
    with pytest.raises(ValueError, match="X has 39 features"):
        readout.prototype_distances(X[:, 1:])
    with pytest.raises(ValueError, match="NaN"):
        readout.prototype_distances(np.full((1, 40), np.nan))


def test_a_sample_on_its_prototype_is_not_negatively_far(rng):
    X, y = rng.normal(size=(20, 7)) * 1e3 + 1e5, np.arange(20)

    distances = CentroidClassifier().fit(X, y).prototype_distances(X)
    assert distances.min() >= 0
    np.testing.assert_allclose(distances.diagonal(), 0, atol=1e-3)


def test_prototype_distances_of_a_pipeline_are_those_of_activations(wine):
    X, y = wine
    model = make_classifier("intrvfl", "glvq", n_units=50, random_state=0).fit(X, y)
    activations = model[:-1].transform(X)

    expected = cdist(activations.astype(float), model[-1].prototypes_, "sqeuclidean")
    np.testing.assert_allclose(model[-1].prototype_distances(activations), expected, rtol=1e-9)
