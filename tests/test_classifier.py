import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict, cross_val_score
from threadpoolctl import threadpool_limits

from hyperlvq import ComparisonLayer, HyperLVQClassifier, RLSClassifier
from hyperlvq.kernels.scores import softmax_probabilities


def small(**parameters):
    return HyperLVQClassifier(n_units=300, random_state=0, **parameters)


@pytest.fixture(scope="module")
def product():
    """Return samples whose class no single feature tells."""
    X = np.random.default_rng(0).normal(size=(1500, 6))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_probabilities_are_better_than_those_of_a_forest(load):
    X, y = load(return_X_y=True)
    forest = RandomForestClassifier(100, random_state=0)
    ours, theirs = (
        log_loss(y, cross_val_predict(model, X, y, method="predict_proba"))
        for model in (small(), forest)
    )

    assert ours < theirs


def test_labels_that_are_noise_give_no_advantage_over_the_largest_class(rng):
    X, y = rng.normal(size=(400, 8)), rng.permutation(np.repeat([0, 1], [280, 120]))
    model = small().fit(X[:200], y[:200])

    assert abs(model.score(X[200:], y[200:]) - np.mean(y[200:] == 0)) < 0.05
    assert model.predict_proba(X)[:, 1].max() < 0.6


def test_scores_are_those_of_a_layer_and_a_linear_readout(wine):
    X, y = wine
    model = small().fit(X, y)
    layer = ComparisonLayer()
    layer.fit(X)
    for name in ("features_", "thresholds_", "keys_", "kinds_"):
        setattr(layer, name, getattr(model, name))

    np.testing.assert_allclose(model.decision_function(X), layer.transform(X) @ model.coef_.T)


def test_probabilities_follow_from_scores_and_never_are_zero(wine):
    X, y = wine
    model = small().fit(X, y)
    found, scores = model.predict_proba(X), model.decision_function(X)

    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(found.argmax(axis=1), scores.argmax(axis=1))
    assert found.min() >= model.uniform_share_ / 3 == pytest.approx(1 / (len(y) + 2) / 3)


def test_left_out_figures_are_close_to_those_of_new_samples(product):
    X, y = product
    model = small().fit(X[:700], y[:700])
    loss = log_loss(y[700:], model.predict_proba(X[700:]))

    assert model.left_out_accuracy_ == pytest.approx(model.score(X[700:], y[700:]), abs=0.03)
    assert model.left_out_log_loss_ == pytest.approx(loss, abs=0.05)


def test_left_out_figures_weigh_samples_as_training_does(rng):
    X, y = rng.normal(size=(300, 4)), np.repeat([0, 1], [270, 30])
    plain, balanced = (small(class_weight=each).fit(X, y) for each in (None, "balanced"))

    assert plain.left_out_accuracy_ == pytest.approx(0.9, abs=0.02)
    assert balanced.left_out_accuracy_ == pytest.approx(0.5, abs=0.1)


def test_missing_values_are_told_from_others(rng):
    X = rng.normal(size=(300, 3))
    y = rng.integers(2, size=300)
    X[y == 1, 1] = np.nan

    assert small().fit(X[:200], y[:200]).score(X[200:], y[200:]) == 1


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_values_missing_only_at_prediction_are_the_medians_of_training(load, rng):
    X, y = load(return_X_y=True)
    model = small().fit(X[::2], y[::2])
    holed = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    by_hand = np.where(np.isnan(holed), np.median(X[::2], axis=0), X)

    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.warns(UserWarning, match="the training median") as warned:
            found = getattr(model, method)(holed)
        assert [each.filename for each in warned] == [__file__]
        np.testing.assert_array_equal(found, getattr(model, method)(by_hand))


@pytest.mark.parametrize(
    ("columns", "listed"),
    [
        (["b"], "feature 'b' by"),
        (["e", "a"], "features 'a' and 'e' by"),
        ([*"abcdefg"], "features 'a', 'b', 'c', 'd', 'e' and 2 more by"),
    ],
)
def test_a_warning_names_a_few_columns(columns, listed, rng):
    frame = pd.DataFrame(rng.normal(size=(60, 7)), columns=[*"abcdefg"])
    model = HyperLVQClassifier(1, n_units=20, random_state=0).fit(frame, frame["a"] > 0)

    with pytest.warns(
        UserWarning, match=f"replaced missing values in {listed} the training median"
    ):
        model.predict(frame.assign(**dict.fromkeys(columns, np.nan)))


def test_values_missing_in_training_too_keep_their_meaning(rng):
    X = rng.normal(size=(300, 3))
    y = rng.integers(2, size=300)
    X[y == 1, 1] = np.nan
    model = small().fit(X, y)
    below_all = np.where(np.isnan(X), -1e300, X)

    np.testing.assert_array_equal(np.isnan(model.medians_), [False, True, False])
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(below_all))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("missing_in_training", [0, 1])
def test_a_row_without_any_value_gets_the_class_frequencies(
    n_classes, class_weight, missing_in_training, rng
):
    X, y = rng.normal(size=(90, 3)), np.repeat(np.arange(n_classes), 90 // n_classes)
    X[:missing_in_training, 2] = np.nan
    weights = 1.0 + y
    model = small(class_weight=class_weight).fit(X, y, weights)
    totals = np.bincount(y, weights)
    expected = totals / totals.sum() if class_weight is None else np.full(n_classes, 1 / n_classes)
    rows = np.array([[np.nan] * 3, [np.nan, np.nan, 0.1]])

    with pytest.warns(UserWarning, match="features 0"):
        found, scores, labels = (
            getattr(model, name)(rows) for name in ("predict_proba", "decision_function", "predict")
        )
    np.testing.assert_allclose(found[0], expected, rtol=1e-9)
    np.testing.assert_array_equal(labels[0], found[0].argmax())
    assert not np.allclose(found[1], expected, rtol=1e-3)
    np.testing.assert_allclose(softmax_probabilities(scores, model.uniform_share_), found)


def test_one_repetition_is_left_out_at_a_time_and_other_weights_as_a_whole():
    X, y, classes = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1]), np.array([0, 1])
    model = small()

    def portions(features, weights):
        return sorted(model._prepared((features, y, np.array(weights)), classes).portions)

    assert portions(X, [3.0, 5.0, 7.0]) == [1, 1, 1]
    real = np.array([0.5, 2.5, 3.0])  # their mean is 2, which becomes 1
    assert portions(X, real) == [0.25, 1, 1.5]  # the first two are equal samples
    assert portions(np.array([[0.0], [2.0], [1.0]]), real) == [0.25, 1.25, 1.5]


def test_equal_samples_of_two_classes_do_not_mislead_the_choice():
    X = np.repeat([[0.0], [1.0]], 100, axis=0)
    y = np.concatenate([np.repeat([0, 1], [80, 20]), np.repeat([0, 1], [30, 70])])
    model = small().fit(X, y)

    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]])[:, 1], [0.2, 0.7], atol=0.03)


@pytest.mark.parametrize("unit", [1e-100, 1 / 178, 1e9])
def test_unit_of_fractional_weights_does_not_matter(wine, unit):
    X, y = wine
    weights = np.linspace(1, 2, len(y))
    expected, found = (small().fit(X, y, factor * weights) for factor in (1, unit))

    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-6)


XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
ODD = np.array([0, 1, 1, 0])
#: All that `fit` learns, but for how long it took.
FITTED = (
    *("coef_", "features_", "thresholds_", "keys_", "kinds_", "uniform_share_", "relevances_"),
    *("left_out_accuracy_", "left_out_log_loss_", "classes_", "medians_", "class_prior_"),
)


def assert_same_model(found, expected):
    for name in FITTED:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)


def test_one_copy_of_repeated_rows_with_fractional_weights_is_left_out():
    X, y = np.repeat(XOR, 250, axis=0), np.repeat(ODD, 250)
    model = small().fit(X, y, np.full(len(y), 0.5))

    assert_same_model(model, small().fit(X, y))


@pytest.mark.parametrize("n_copies", [2, 250])
def test_points_that_are_all_repeated_equally_often_are_learnt(n_copies):
    X, y = np.repeat(XOR, n_copies, axis=0), np.repeat(ODD, n_copies)
    model = HyperLVQClassifier(random_state=0).fit(X, y)

    assert model.left_out_accuracy_ == 1
    np.testing.assert_array_equal(model.predict(XOR), ODD)
    # as sure as the law of succession is after so many rows that were all right
    own = model.predict_proba(XOR)[np.arange(4), ODD]
    assert (own > 1 - 5 / (len(y) + 2)).all()


def test_one_more_row_changes_little():
    X, y = np.repeat(XOR, 250, axis=0), np.repeat(ODD, 250)
    models = [small().fit(X[start:], y[start:]) for start in (0, 1)]
    first, second = (model.predict_proba(XOR) for model in models)

    assert models[0].left_out_accuracy_ == models[1].left_out_accuracy_ == 1
    np.testing.assert_allclose(first, second, atol=1e-3)


@st.composite
def designs(draw):
    """Draw distinct points with classes, how often each occurs, and an order of the rows."""
    points = st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans())
    drawn = draw(st.lists(points, min_size=4, max_size=9, unique=True))
    X, y = np.array([point[:2] for point in drawn], float), np.array([p[2] for p in drawn]) * 1
    assume(len(set(y.tolist())) == 2)
    counts = np.array(draw(st.lists(st.integers(1, 6), min_size=len(y), max_size=len(y))))
    return X, y, counts, np.array(draw(st.permutations(range(counts.sum()))))


@given(designs(), st.sampled_from([None, "balanced"]))
@settings(max_examples=25, deadline=None)
def test_rows_in_any_order_are_their_points_with_counts_as_weights(design, class_weight):
    X, y, counts, order = design
    rows = np.repeat(np.arange(len(y)), counts)[order]
    model = HyperLVQClassifier(2, n_units=40, class_weight=class_weight, random_state=0)
    repeated, weighted = clone(model).fit(X[rows], y[rows]), model.fit(X, y, counts)

    assert_same_model(repeated, weighted)


@given(designs(), st.sampled_from([1, 2, 2**20, 2**40]))
@settings(deadline=None)
def test_one_copy_is_left_out_at_a_time_however_often_all_are_repeated(design, factor):
    X, y, counts, _ = design
    weights = counts.astype(float) * factor
    samples = small()._prepared((X, y, weights), np.array([0, 1]))

    assert samples.portions.tolist() == [1] * len(y)
    assert samples.weights.sum() == weights.sum()


def test_weights_of_two_are_two_copies_of_each_row(wine):
    X, y = wine
    twice = small().fit(np.tile(X, (2, 1)), np.tile(y, 2))

    assert_same_model(small().fit(X, y, np.full(len(y), 2)), twice)
    # a copy that stays in training gives the one left out away
    assert twice.left_out_log_loss_ < small().fit(X, y).left_out_log_loss_


@pytest.mark.parametrize("n_rows", [2**20, 2**20 + 1])
def test_more_than_a_million_rows_are_counted_as_fewer_are(n_rows):
    rows = np.arange(n_rows) % 4
    model = small().fit(XOR[rows], ODD[rows])

    assert model.left_out_accuracy_ == 1
    assert model.uniform_share_ == 1 / (n_rows + 2)


@pytest.mark.parametrize("count", [1e6, 1e9, 1e12])
def test_counts_of_any_size_give_the_shares_of_classes(count):
    X = np.repeat([[0.0], [1.0], [2.0]], 2, axis=0)
    y = np.tile([0, 1], 3)
    weights = count * np.array([1, 3, 2, 2, 4, 1])
    found = small().fit(X, y, weights).predict_proba([[0.0], [1.0], [2.0]])

    np.testing.assert_allclose(found[:, 1], [0.75, 0.5, 0.2], atol=0.01)


@pytest.mark.parametrize("n_units", [100, 300])
def test_left_out_accuracy_of_large_counts_is_that_of_predictions(rng, n_units):
    X, y = np.round(rng.normal(size=(600, 3))), rng.integers(2, size=600)
    weights = np.full(len(y), 1e9)
    model = small().set_params(n_units=n_units).fit(X, y, weights)

    assert model.left_out_accuracy_ == pytest.approx(model.score(X, y), abs=0.01)


def test_order_of_weighted_samples_and_the_sign_of_zero_do_not_matter(rng):
    X, y = np.round(rng.normal(size=(90, 3))), np.arange(90) % 2
    weights, order = rng.uniform(size=90), rng.permutation(90)
    expected = small().fit(X, y, weights)
    found = small().fit((X + 0.0)[order], y[order], weights[order])

    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-12)


def test_equal_numbers_of_blas_threads_give_equal_arrays_and_others_equal_labels():
    X, y = load_digits(return_X_y=True)

    def fitted(n_threads):
        with threadpool_limits(n_threads):
            return small(n_networks=1).set_params(n_units=400).fit(X[:1400], y[:1400])

    one, two, again = map(fitted, (1, 2, 2))
    assert_same_model(again, two)
    np.testing.assert_allclose(two.coef_, one.coef_, atol=1e-4)
    np.testing.assert_array_equal(two.predict(X), one.predict(X))


@pytest.mark.parametrize("weight", [1e3, 1e9, 1e300])
def test_class_that_outweighs_all_others_is_predicted(wine, weight):
    X, y = wine

    assert (small(class_weight={1: weight}).fit(X, y).predict(X) == 1).mean() > 0.5


def test_model_is_better_than_least_squares_of_features(product):
    X, y = product

    ours = cross_val_score(small(n_networks=1), X, y, cv=3).mean()
    assert ours > cross_val_score(RLSClassifier(), X, y, cv=3).mean() + 0.05


def test_tensors_are_refused(wine, request):
    torch = pytest.importorskip("torch")
    request.getfixturevalue("dispatch")

    with pytest.raises(
        TypeError, match="HyperLVQClassifier supports numpy arrays only, got a torch tensor"
    ):
        small().fit(torch.as_tensor(wine[0]), wine[1])
