"""Features of any unit are scaled, and all others as scikit-learn scales them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.datasets import load_iris, load_wine
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

import hyperlvq
from hyperlvq import RangeScaler, make_classifier
from hyperlvq.export import make_plan
from hyperlvq.model_files import read_path
from hyperlvq.prediction import Predictor

IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)


def recipe():
    return make_classifier("intrvfl", "rls", n_units=200, random_state=0)


@pytest.mark.parametrize(
    ("data", "factor", "dtype"),
    [
        *((IRIS, factor, "float32") for factor in (1e-3, 1e-7, 1e-20, 1e-36)),
        (WINE, 1e-9, "float32"),
        *((IRIS, factor, "float64") for factor in (1e-7, 1e-16, 1e-100, 1e-300)),
        (WINE, 1e-300, "float64"),
    ],
)
def test_unit_of_all_features_does_not_change_the_accuracy(data, factor, dtype):
    X, y = data
    small = (X * factor).astype(dtype)

    expected = recipe().fit(X, y).score(X, y)
    assert recipe().fit(small, y).score(small, y) == pytest.approx(expected, abs=0.01)
    assert expected > 0.95


@given(
    arrays.arrays(
        st.sampled_from([np.float64, np.float32]),
        st.tuples(st.integers(1, 6), st.integers(1, 3)),
        elements=st.floats(-1e6, 1e6, width=32, allow_subnormal=False),
    ),
    st.sampled_from([(0, 1), (-1, 3)]),
)
def test_features_that_scikit_learn_scales_keep_every_bit(X, limits):
    ours, theirs = (kind(limits, clip=True).fit(X) for kind in (RangeScaler, MinMaxScaler))

    kept = (np.ptp(X, axis=0) >= 10 * np.finfo(X.dtype).eps) | (np.ptp(X, axis=0) == 0)
    np.testing.assert_array_equal(ours.scale_[kept], theirs.scale_[kept])
    np.testing.assert_array_equal(ours.transform(X)[:, kept], theirs.transform(X)[:, kept])
    assert ours.transform(X).dtype == theirs.transform(X).dtype


@pytest.mark.parametrize("limits", [(0, 1), (-1, 3)])
def test_every_feature_that_varies_by_more_than_rounding_fills_the_range(limits):
    X = np.array([[1.0, 2e-17, 1e-300, 0.0], [4.0, 5e-17, 3e-300, 1e-200]])
    scaled = RangeScaler(limits).fit_transform(X)

    np.testing.assert_allclose(scaled, np.repeat([[limits[0]], [limits[1]]], 4, axis=1))


@pytest.mark.parametrize("factor", [1, 1e-12])
def test_feature_that_varies_by_rounding_is_constant(factor):
    X = factor * np.array([[0.1 + 0.2], [0.3]])

    assert X[0] != X[1]
    np.testing.assert_allclose(RangeScaler().fit_transform(X), 0, atol=1e-12)


def test_feature_too_small_to_be_scaled_is_named():
    frame = pd.DataFrame({"fine": [1e-300, 2e-300], "tiny": [5e-324, 0.0]})

    with pytest.warns(UserWarning, match=r"^the features 'tiny' are treated as constant") as caught:
        scaled = RangeScaler().fit_transform(frame)
    np.testing.assert_allclose(scaled, [[0, 0], [1, 0]], atol=1e-15)
    assert caught[0].filename == __file__


def test_batches_give_the_ranges_of_all_samples():
    X = IRIS[0] * 1e-20
    whole, batches = RangeScaler().fit(X), RangeScaler()
    for batch in np.array_split(X, 4):
        batches.partial_fit(batch)

    np.testing.assert_array_equal(batches.scale_, whole.scale_)
    np.testing.assert_array_equal(batches.min_, whole.min_)


def test_scaling_is_undone():
    X = IRIS[0] * 1e-30
    scaler = RangeScaler().fit(X)

    np.testing.assert_allclose(scaler.inverse_transform(scaler.transform(X)), X, rtol=1e-12)


def test_pandas_output_has_the_names_of_the_features():
    frame = load_iris(as_frame=True).data
    scaled = RangeScaler().set_output(transform="pandas").fit_transform(frame)

    assert scaled.columns.tolist() == frame.columns.tolist()


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors_are_scaled_as_arrays(on_device, dtype):
    X = (IRIS[0] * [1, 1e-10, 1e-20, 1e-30]).astype(dtype)
    (tensor,) = on_device(X)
    on_tensor, on_array = (RangeScaler(clip=True).fit(each) for each in (tensor, X))

    scaled = on_tensor.transform(tensor)
    assert str(scaled.dtype) == f"torch.{dtype}"
    assert scaled.device == tensor.device
    np.testing.assert_allclose(scaled.cpu().numpy(), on_array.transform(X), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(hyperlvq.to_numpy(on_tensor).scale_, on_array.scale_)


@pytest.mark.parametrize("kind", [RangeScaler, MinMaxScaler])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_model_files_hold_both_scalers(kind, dtype, tmp_path):
    X, y = (IRIS[0] * [1, 1e-9, 1e-20, 1e-30]).astype(dtype), IRIS[1]
    steps = [("scale", kind(clip=True)), *recipe().steps[1:]]
    model = Pipeline(steps).fit(X, y)
    hyperlvq.save(model, tmp_path / "m.hlvq")
    loaded = hyperlvq.load(tmp_path / "m.hlvq")

    assert type(loaded["scale"]) is kind
    expected = model.decision_function(X)
    np.testing.assert_array_equal(loaded.decision_function(X), expected)
    predictor = Predictor(read_path(tmp_path / "m.hlvq").parts)
    columns = dict(enumerate(X.T))
    np.testing.assert_array_equal(predictor.decide(columns), expected)


def test_file_whose_scale_does_not_follow_from_its_ranges_is_refused(tmp_path):
    model = recipe().fit(IRIS[0] * 1e-30, IRIS[1])
    model["scale"].scale_ = model["scale"].scale_ * 2

    with pytest.raises(ValueError, match="RangeScaler: scale_ and min_ must agree with"):
        hyperlvq.save(model, tmp_path / "m.hlvq")


@pytest.mark.parametrize("factor", [1e-7, 1e-20])
def test_exported_model_of_small_features_agrees(factor):
    X, y = (IRIS[0] * factor).astype(np.float32), IRIS[1]
    model = recipe().fit(X, y)

    agreement = np.mean(make_plan(model, bits=16).predict(X) == model.predict(X))
    assert agreement == 1
