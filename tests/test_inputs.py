"""Dates and integers that float64 does not hold are no features or labels without a word."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import is_classifier

import hyperlvq
from hyperlvq import CentroidClassifier, FrameVectorizer, make_classifier
from hyperlvq.inputs import check_no_dates
from hyperlvq.registry import PARTS, estimator_class

Y = [0, 1, 0, 1]
DAYS = pd.Series(pd.to_datetime(["2020-01-01", "2021-02-03", None, "2022-05-06"]))
GOOD = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
BAD_FRAMES = {
    "datetime": GOOD.assign(d=DAYS),
    "datetime with a zone": GOOD.assign(d=DAYS.dt.tz_localize("UTC")),
    "timedelta": GOOD.assign(d=DAYS - DAYS[0]),
    "period": GOOD.assign(d=DAYS.dt.to_period("M")),
    "timestamps as objects": GOOD.assign(d=DAYS.astype(object)),
    "NaT among numbers": GOOD.assign(d=pd.Series([1.0, pd.NaT, 2.0, 3.0], dtype=object)),
    "dates as objects": GOOD.assign(d=[date(2020, 1, day) for day in (1, 2, 3, 4)]),
    "durations as objects": GOOD.assign(d=[timedelta(day) for day in (1, 2, 3, 4)]),
    "categories of dates": GOOD.assign(d=DAYS.astype("category")),
    "arrow in pandas": GOOD.assign(d=DAYS.astype("timestamp[us][pyarrow]")),
    "only dates": DAYS.to_frame("d"),
    "polars dates": pl.DataFrame({"d": DAYS.to_numpy()}).cast(pl.Date),
    "polars durations": pl.DataFrame({"a": Y, "d": [1, 2, 3, 4]}).cast({"d": pl.Duration}),
    "polars times": pl.DataFrame({"a": Y, "d": [1, 2, 3, 4]}).cast({"d": pl.Time}),
    "arrow": pa.table({"a": Y, "d": pa.array(DAYS.to_numpy())}),
}
BAD_ARRAYS = {
    "datetime64": DAYS.to_numpy()[:, np.newaxis],
    "timedelta64": (DAYS - DAYS[0]).to_numpy()[:, np.newaxis],
    "list of dates": [[date(2020, 1, day)] for day in (1, 2, 3, 4)],
    "NaT as object": np.array([[1.0], [pd.NaT], [2.0], [3.0]], dtype=object),
    "datetime64 as object": np.array([[np.datetime64("2020")], [1], [2], [3]], dtype=object),
}
KINDS = [kind for kind in PARTS if kind not in ("FrameVectorizer", "MinMaxScaler")]
MODELS = {
    **{kind: estimator_class(kind)() for kind in KINDS},
    "recipe": make_classifier("features", "centroids"),
}
WIDE = 2**53


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("X", BAD_FRAMES.values(), ids=BAD_FRAMES)
def test_column_of_dates_is_refused_by_its_name(model, X):
    with pytest.raises(TypeError, match=r"^column 'd' has .* convert dates with FrameVectorizer"):
        model.fit(X, Y)


@pytest.mark.parametrize("X", BAD_ARRAYS.values(), ids=BAD_ARRAYS)
def test_array_of_dates_is_refused(X):
    for model in MODELS.values():
        with pytest.raises(TypeError, match=r"^column 0 has .* convert dates with FrameVectorizer"):
            model.fit(X, Y)


@pytest.mark.parametrize("kind", KINDS)
def test_dates_are_refused_by_fitted_estimators(kind):
    estimator = estimator_class(kind)(**({"n_units": 20} if "Layer" in kind else {}))
    if kind == "HyperLVQClassifier":
        estimator.set_params(n_units=20)
    estimator.fit(np.arange(4.0)[:, np.newaxis], Y)
    method = estimator.predict if is_classifier(estimator) else estimator.transform

    with pytest.raises(TypeError, match="convert dates with FrameVectorizer"):
        method(BAD_ARRAYS["datetime64"])


def test_frame_vectorizer_makes_features_of_what_is_refused():
    model = hyperlvq.FrameVectorizer().fit(BAD_FRAMES["datetime"])

    assert model.transform(BAD_FRAMES["datetime"]).dtype == np.float64


@pytest.mark.parametrize("column", [DAYS, DAYS - DAYS[0]])
def test_dates_are_no_numbers_for_frame_vectorizer(column):
    with pytest.raises(TypeError, match=r"^column 'd' must be numbers, got (date|timed)"):
        FrameVectorizer(numbers=["d"]).fit(column.to_frame("d"))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if PARTS[kind].output is None])
@pytest.mark.parametrize(
    "labels",
    [
        np.array(["2020", "2021", "2020", "2021"], dtype="M8[ns]"),
        np.array([1, 2, 1, 2], dtype="m8[s]"),
        pd.Series(pd.to_datetime(["2020", "2021", "2020", "2021"])),
        pd.to_datetime(["2020", "2021", "2020", "2021"]).tz_localize("UTC"),
        list(pd.to_datetime(["2020", "2021", "2020", "2021"])),
        [date(2020, 1, 1), date(2020, 1, 2)] * 2,
        pd.Series(pd.period_range("2020", periods=4, freq="Y")),
        np.array([(1,), (2,), (1,), (2,)], dtype=[("a", "i4")]),
    ],
    ids=str,
)
def test_labels_that_models_cannot_keep_are_refused_in_fit(kind, labels):
    with pytest.raises(ValueError, match=r"^labels must be text, numbers or Boolean values, got"):
        estimator_class(kind)().fit(GOOD, labels)


def test_dates_are_no_labels_of_batches():
    labels = np.array(["2020", "2021", "2020", "2021"], dtype="M8[D]")

    with pytest.raises(ValueError, match=r"got datetime64\[D\]: convert them to text"):
        CentroidClassifier().partial_fit(GOOD, labels, classes=np.unique(labels))


LOSING = {
    "int64": np.array([WIDE, WIDE + 1, 1, 2]),
    "negative": -np.array([WIDE, WIDE + 1, 1, 2]),
    "uint64": np.array([2**63, 2**63 + 1, 1, 2], dtype=np.uint64),
    "objects": np.array([10**40, 10**40 + 1, 1, 2.5], dtype=object),
    "objects at the limit": np.array([WIDE, WIDE + 1, 1, 2], dtype=object),
}
KEEPING = {
    "small": np.array([1, 2, 3, 4]),
    "multiples": WIDE * np.array([1, 2, 3, 4]),
    "one value": np.array([WIDE + 1] * 4),
    "int32": np.array([2**31 - 1, 2, 3, 4], dtype=np.int32),
    "objects": np.array([10**40, 2 * 10**40, 1, 2], dtype=object),
    "floats": np.array([1e30, 2e30, 1.0, 2.0]),
}


def frames(column):
    """Return frames of all libraries with a column that should be named, beside others."""
    frame = pd.DataFrame({"a": [1.5, 2.5, 3.5, 4.5], "id": column, "b": [1, 2, 3, 4]})
    yield frame
    if column.dtype.kind in "iu":
        yield frame.astype({"id": str(column.dtype).replace("i", "I").replace("uI", "UI")})
        yield pl.from_pandas(frame)


@pytest.mark.parametrize("column", LOSING.values(), ids=LOSING)
@pytest.mark.filterwarnings("error")
def test_integers_that_lose_differences_are_named_once_in_a_call(column):
    for model in (CentroidClassifier(), make_classifier("features", "centroids")):
        for frame in frames(column):
            with pytest.warns(
                UserWarning, match=r"^different integers .* columns 'id': "
            ) as caught:
                model.fit(frame, Y)
            assert [each.filename for each in caught] == [__file__]


def test_integers_beside_missing_ones_are_named_too():
    column = [2**60, 2**60 + 1, None, 5]

    for frame in (pd.DataFrame({"id": column}, dtype="Int64"), pl.DataFrame({"id": column})):
        with pytest.warns(UserWarning, match=r"^different integers .* columns 'id': "):
            make_classifier("intrvfl", "centroids").fit(frame, Y)


@pytest.mark.parametrize("column", LOSING.values(), ids=LOSING)
def test_frame_vectorizer_names_integers_that_lose_differences(column):
    with pytest.warns(UserWarning, match=r"^different integers .* columns 'id': ") as caught:
        FrameVectorizer().fit(pd.DataFrame({"a": Y, "id": column}))
    assert len(caught) == 1


def test_columns_of_arrays_and_lists_are_named_by_their_places():
    X = np.stack([np.arange(4), LOSING["int64"], -LOSING["int64"]], axis=1)

    for given in (X, X.tolist(), X.astype(object)):
        with pytest.warns(UserWarning, match="in the columns 1, 2:"):
            CentroidClassifier().fit(given, Y)


@pytest.mark.parametrize("column", KEEPING.values(), ids=KEEPING)
@pytest.mark.filterwarnings("error")
def test_integers_that_keep_their_differences_bring_no_warning(column):
    CentroidClassifier().fit(pd.DataFrame({"id": column}), Y)
    CentroidClassifier().fit(column[:, np.newaxis], Y)
    FrameVectorizer().fit(pd.DataFrame({"id": column}))


def test_columns_of_the_same_name_are_looked_at_one_by_one():
    frame = pd.DataFrame({"a": [1, 2], "d": DAYS[:2]})
    frame.columns = ["a", "a"]

    with pytest.raises(TypeError, match="column 'a' has values of type datetime64"):
        check_no_dates(frame)
