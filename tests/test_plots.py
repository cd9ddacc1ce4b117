"""Displays draw what the model has learnt."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler

from hyperlvq import (
    CentroidClassifier,
    FrameVectorizer,
    GLVQClassifier,
    HyperLVQClassifier,
    LossCurveDisplay,
    PrototypeDisplay,
    RLSClassifier,
    make_classifier,
)

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(60, noise=0.1, random_state=0)
    return 100 * X, np.array(["left", "right"])[y]


def drawn_points(display):
    """Return the places of the samples, and of all prototypes in the order they were drawn."""
    samples, *prototypes = [collection.get_offsets() for collection in display.ax_.collections]
    return samples, np.vstack(prototypes)


def texts(labels):
    return [label.get_text() for label in labels]


def test_pictures_are_in_the_units_of_the_features(digits):
    names = [f"pixel{number}" for number in range(64)]
    frame = pytest.importorskip("pandas").DataFrame(digits[0], columns=names)
    all_that_vary = PCA(61, random_state=0)
    model = make_pipeline(all_that_vary, CentroidClassifier()).fit(frame, digits[1])

    display = PrototypeDisplay.from_estimator(model, image_shape=(8, 8))

    mosaic = display.ax_.images[0].get_array()
    assert mosaic.shape == (8, 10 * 9 - 1)
    zeros = digits[0][digits[1] == 0].mean(axis=0)
    np.testing.assert_allclose(mosaic[:, :8], zeros.reshape(8, 8), atol=1e-9)
    assert texts(display.ax_.get_xticklabels()) == [str(digit) for digit in range(10)]
    assert list(display.feature_names) == names


def test_classes_with_fewer_prototypes_leave_pictures_empty(digits):
    counts = [1] * 9 + [2]
    readout = GLVQClassifier(counts, max_iter=1000, tol=0.01, random_state=0).fit(*digits)

    display = PrototypeDisplay.from_estimator(readout, image_shape=(8, 8), cmap="viridis")

    mosaic = display.ax_.images[0].get_array()
    assert mosaic.mask[9:, :8].all()
    np.testing.assert_array_equal(mosaic[9:, -8:].ravel(), readout.prototypes_[-1])
    assert display.ax_.images[0].get_cmap().name == "viridis"


def test_behind_a_hidden_layer_the_closest_samples_are_drawn(digits):
    X, y = digits[0][:300], digits[1][:300]
    model = make_classifier("intrvfl", "centroids", n_units=200, random_state=0).fit(X, y)

    display = PrototypeDisplay.from_estimator(model, X, image_shape=(8, 8))

    activations = model[:-1].transform(X).astype(float)
    distances = np.square(activations - model[-1].prototypes_[3]).sum(axis=1)
    np.testing.assert_allclose(display.prototypes[3], X[distances.argmin()], atol=1e-9)
    assert display.are_samples


def test_prototypes_of_two_features_stand_among_the_samples(moons):
    X, y = moons
    model = make_classifier("features", "centroids").fit(X, y)

    display = PrototypeDisplay.from_estimator(model, X, y)

    samples, prototypes = drawn_points(display)
    np.testing.assert_array_equal(samples, X)
    np.testing.assert_allclose(prototypes, [X[y == label].mean(axis=0) for label in np.unique(y)])
    colours = display.ax_.collections[0].get_facecolors()
    assert len(np.unique(colours[y == "left"], axis=0)) == 1
    assert len(np.unique(colours, axis=0)) == 2
    assert display.ax_.get_legend().get_title().get_text() == "prototypes of"


@pytest.mark.parametrize("is_recipe", [True, False])
def test_prototypes_of_more_features_are_lines_over_their_names(is_recipe, iris):
    frame = pytest.importorskip("pandas").DataFrame(iris[0], columns=list("abcd"))
    readout = GLVQClassifier(random_state=0)
    model = (make_pipeline(MinMaxScaler(), readout) if is_recipe else readout).fit(frame, iris[1])

    display = PrototypeDisplay.from_estimator(model)

    lines = [line.get_ydata() for line in display.ax_.lines]
    np.testing.assert_array_equal(lines, readout.prototypes_)
    assert texts(display.ax_.get_xticklabels()) == list("abcd")
    assert texts(display.ax_.get_legend().get_texts()) == ["0", "1", "2"]


def test_prototypes_of_a_data_frame_are_lines_over_its_features():
    frame = pytest.importorskip("pandas").DataFrame({"size": [1, 2, 3, 4], "hue": list("xxyy")})
    model = make_pipeline(FrameVectorizer(), MinMaxScaler(), CentroidClassifier())

    display = PrototypeDisplay.from_estimator(model.fit(frame, list("aabb")), frame)

    assert texts(display.ax_.get_xticklabels()) == ["size", "hue_x", "hue_y"]
    np.testing.assert_allclose(display.ax_.lines[0].get_ydata(), [1 / 6, 1, 0])


@pytest.mark.parametrize(
    ("step", "n_features", "names"),
    [
        (PCA(2), 4, ["pca0", "pca1"]),
        (SelectKBest(k=2), 4, ["c", "d"]),
        (SimpleImputer(), 2, ["a", "b"]),
        (FunctionTransformer(np.log1p), 2, ["feature 0", "feature 1"]),
    ],
    ids=repr,
)
def test_two_features_that_cannot_be_inverted_are_points_as_the_readout_sees_them(
    step, n_features, names, iris
):
    columns = list("abcd"[:n_features])
    frame = pytest.importorskip("pandas").DataFrame(iris[0][:, :n_features], columns=columns)
    model = make_pipeline(MinMaxScaler().set_output(transform="pandas"), step, CentroidClassifier())

    display = PrototypeDisplay.from_estimator(model.fit(frame, iris[1]), frame, iris[1])

    samples, prototypes = drawn_points(display)
    np.testing.assert_array_equal(samples, model[:-1].transform(frame))
    np.testing.assert_array_equal(prototypes, model[-1].prototypes_)
    assert [display.ax_.get_xlabel(), display.ax_.get_ylabel()] == names


def test_a_function_with_its_inverse_is_inverted(moons):
    X, y = np.exp(moons[0] / 100), moons[1]
    step = FunctionTransformer(np.log, np.exp, feature_names_out="one-to-one")
    model = make_pipeline(step, CentroidClassifier()).fit(X, y)

    samples, prototypes = drawn_points(PrototypeDisplay.from_estimator(model, X, y))

    np.testing.assert_array_equal(samples, X)
    np.testing.assert_allclose(prototypes, np.exp(model[-1].prototypes_))


def test_more_classes_than_colours_have_shades(rng):
    y = np.repeat(np.arange(12), 3)
    X = rng.normal(size=(36, 2)) + y[:, None]

    display = PrototypeDisplay.from_estimator(CentroidClassifier().fit(X, y), X, y)

    colours = [each.get_facecolor()[0] for each in display.ax_.collections[1:]]
    assert len(np.unique(colours, axis=0)) == 12


def test_displays_draw_in_the_axes_given_and_name_a_curve_that_has_one(iris):
    model = make_classifier("features", "glvq", random_state=0).fit(*iris)
    readout = model[-1]
    figure, (left, right) = pyplot.subplots(1, 2)

    prototypes = PrototypeDisplay.from_estimator(readout, ax=left)
    losses = LossCurveDisplay.from_estimator(model, ax=right, name="GLVQ", color="red")
    without_name = LossCurveDisplay.from_estimator(readout)

    assert (prototypes.ax_, losses.ax_) == (left, right)
    assert prototypes.figure_ is losses.figure_ is figure
    np.testing.assert_array_equal(losses.line_.get_ydata(), readout.loss_curve_)
    np.testing.assert_array_equal(losses.line_.get_xdata(), np.arange(readout.n_iter_) + 1)
    assert losses.line_.get_color() == "red"
    assert texts(right.get_legend().get_texts()) == ["GLVQ"]
    assert without_name.ax_.get_legend() is None


def test_tensors_are_drawn(on_device, dispatch, moons):
    X, y = moons
    tensors = on_device(X, (y == "left").astype(int))
    model = make_classifier("features", "glvq", random_state=0).fit(*tensors)

    assert drawn_points(PrototypeDisplay.from_estimator(model, *tensors))[0].shape == X.shape


def test_what_cannot_be_drawn_is_named(iris, moons):
    recipe = make_classifier("intrvfl", "centroids", n_units=10, random_state=0).fit(*iris)
    centroids = CentroidClassifier().fit(*moons)

    with pytest.raises(ValueError, match=r"prototypes behind IntRVFLLayer .* give X"):
        PrototypeDisplay.from_estimator(recipe)
    with pytest.raises(ValueError, match="needs a model with prototypes_, got HyperLVQClassifier"):
        PrototypeDisplay.from_estimator(HyperLVQClassifier(1, n_units=20).fit(*iris))
    with pytest.raises(ValueError, match="needs a model with loss_curve_, got RLSClassifier"):
        LossCurveDisplay.from_estimator(RLSClassifier().fit(*iris))
    with pytest.raises(ValueError, match=r"\(8, 8\) is for 64 features, the prototypes have 2"):
        PrototypeDisplay.from_estimator(centroids, image_shape=(8, 8))
    assert pyplot.get_fignums() == []
    with pytest.raises(ValueError, match="y has a label that the model does not know: 'up'"):
        PrototypeDisplay.from_estimator(centroids, [[0, 0]], ["up"])
    with pytest.raises(NotFittedError):
        PrototypeDisplay.from_estimator(GLVQClassifier())


def test_displays_load_without_matplotlib_and_ask_for_it_when_drawing():
    script = (
        "import sys; sys.modules['matplotlib'] = None; import hyperlvq; "
        "hyperlvq.LossCurveDisplay([1.0]).plot()"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert "ImportError: LossCurveDisplay needs matplotlib: pip install matplotlib" in result.stderr
