"""Data frames as features."""

from datetime import date, datetime, time
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from hyperlvq import FrameVectorizer, load, save

FRAME = pd.DataFrame(
    {
        "a": [1.0, np.nan, 3.0, 5.0, 9.0],
        "b": [np.nan] * 5,
        "t": ["x", "y", np.nan, "y", "x"],
        "u": ["k", "k", "k", "l", "m"],
    }
)


def vectorizer(**parameters):
    return FrameVectorizer(["a", "b"], ["t", "u"], **parameters).fit(FRAME)


def test_numbers_come_first_and_then_the_levels_of_each_column():
    found = vectorizer().transform(FRAME)

    np.testing.assert_array_equal(found[:, :2], FRAME[["a", "b"]])
    levels = np.eye(3)[[0, 1, 2, 1, 0]], np.eye(3)[[0, 0, 0, 1, 2]]
    np.testing.assert_array_equal(found[:, 2:], np.hstack(levels))


@pytest.mark.parametrize("min_rows", [1, 2, 5])
@pytest.mark.parametrize("max_levels", [2, 4, 100])
@pytest.mark.parametrize("levels", ["abcdefgh", "abcdefgh?", "?"])  # a question mark is missing
def test_levels_are_those_of_scikit_learn(levels, max_levels, min_rows, rng):
    cells = rng.choice([*levels], 40)
    column = np.array([None if cell == "?" else cell for cell in cells], dtype=object)
    oracle = OneHotEncoder(
        handle_unknown="ignore",
        min_frequency=min_rows,
        max_categories=max_levels,
        sparse_output=False,
    ).fit(column[:, np.newaxis])
    ours = FrameVectorizer(text=["t"], min_rows=min_rows, max_levels=max_levels)

    ours.fit(pd.DataFrame({"t": column}))

    new = np.array([*column, "unseen"], dtype=object)
    found = ours.transform(pd.DataFrame({"t": new}, dtype=object))
    np.testing.assert_array_equal(found, oracle.transform(new[:, np.newaxis]))


def test_missing_numbers_are_filled_as_scikit_learn_does_and_features_have_names():
    imputer = SimpleImputer(strategy="median", keep_empty_features=True).fit(FRAME[["a", "b"]])

    fitted = vectorizer(fill=True, min_rows=2)

    found = fitted.transform(FRAME)[:, :2]
    np.testing.assert_array_equal(found, imputer.transform(FRAME[["a", "b"]]))
    names = fitted.get_feature_names_out().tolist()
    assert names == ["a", "b", "t_x", "t_y", "t_(missing)", "u_k", "u_(rare)"]


#: An arrow table as the data frame of a library.
LIBRARIES = {
    "pandas": lambda table: table.to_pandas(),
    "polars": lambda table: pytest.importorskip("polars").from_arrow(table),
    "pyarrow": lambda table: table,
}
KINDS = {
    "whole": [1, 2, 3],
    "number": [0.5, None, 2.0],
    "text": ["x", None, "y"],
    "truth": [True, False, True],
    "level": pa.array(["u", "v", "u"]).dictionary_encode(),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_of_a_frame_go_by_their_types(library, tmp_path):
    frame = LIBRARIES[library](pa.table(KINDS))

    fitted = FrameVectorizer().fit(frame)

    expected = [[1, 0.5, 1, 0, 0, 0, 1, 1, 0], [2, np.nan, 0, 0, 1, 1, 0, 0, 1]]
    found = fitted.transform(frame)
    np.testing.assert_array_equal(found[:2], expected)
    assert fitted.get_feature_names_out().tolist() == [
        *("whole", "number", "text_x", "text_y", "text_(missing)"),
        *("truth_False", "truth_True", "level_u", "level_v"),
    ]
    save(fitted, tmp_path / "m")  # whose columns go by their names
    other_order = {name: frame[name] for name in reversed(KINDS)}
    np.testing.assert_array_equal(load(tmp_path / "m").transform(other_order), found)


def test_pandas_own_numbers_and_text_and_categories_of_numbers_are_taken():
    numbers, text = pd.array([1, pd.NA], dtype="Int64"), pd.array(["x", pd.NA], dtype="string")
    frame = pd.DataFrame({"i": numbers, "c": pd.Categorical([7, 8]), "t": text})

    found = FrameVectorizer().fit(frame)

    np.testing.assert_array_equal(found.transform(frame), [[1, 1, 0, 1, 0], [np.nan, 0, 1, 0, 1]])
    assert found.get_feature_names_out().tolist() == ["i", "c_7", "c_8", "t_x", "t_(missing)"]


MOMENTS = [datetime(2020, 2, 29, 18, 30), None, datetime(1969, 12, 31, 6)]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("zone", [None, "America/New_York"])
def test_dates_become_what_calendars_and_clocks_show(library, zone):
    moments = [each and each.replace(tzinfo=zone and ZoneInfo(zone)) for each in MOMENTS]
    frame = LIBRARIES[library](pa.table({"d": pa.array(moments, pa.timestamp("us", zone))}))

    fitted = FrameVectorizer().fit(frame)

    expected = [[2020, 2, 5, 18.5], [np.nan] * 4, [1969, 12, 2, 6]]
    np.testing.assert_array_equal(fitted.transform(frame), expected)
    names = fitted.get_feature_names_out().tolist()
    assert names == ["d_year", "d_month", "d_weekday", "d_hour"]
    filled = clone(fitted).set_params(fill=True).fit(frame).transform(frame)
    np.testing.assert_array_equal(filled[1], np.median(np.array(expected)[[0, 2]], axis=0))


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        ([date(2020, 1, 6), date(2020, 1, 13)], ["d_year"]),  # nothing differs
        ([date(2020, 1, 6), date(2020, 2, 3)], ["d_month"]),
        ([time(10, 30), time(11)], ["d_hour"]),
    ],
)
def test_parts_of_dates_that_do_not_differ_are_no_features(cells, names):
    frame = {"d": cells}

    assert FrameVectorizer(dates=["d"]).fit(frame).get_feature_names_out().tolist() == names


def test_weekdays_and_months_are_those_of_pandas(rng):
    days = rng.integers(-(10**5), 10**5, 200).astype("M8[D]")
    calendar = pd.DatetimeIndex(days)

    found = FrameVectorizer(dates=["d"]).fit({"d": days}).transform({"d": days})

    expected = np.column_stack([calendar.year, calendar.month, calendar.day_of_week])
    np.testing.assert_array_equal(found, expected)


def test_output_can_be_a_frame_and_a_clone_must_be_fitted():
    found = vectorizer().set_output(transform="pandas").transform(FRAME)

    assert found.columns.tolist()[:4] == ["a", "b", "t_x", "t_y"]
    with pytest.raises(NotFittedError):
        clone(vectorizer()).transform(FRAME)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"numbers": [], "text": []}, "FrameVectorizer needs at least one column"),
        ({"numbers": "a"}, "numbers must be a list of strings, got 'a'"),
        ({"text": ["t", "t"]}, r"text must be distinct names, got \['t', 't'\]"),
        ({"text": ["t"], "max_levels": 1}, "max_levels must be at least 2, got 1"),
        ({"numbers": ["a"], "fill": 1}, "fill must be True or False, got 1"),
        ({"text": ["a"]}, r"column 'a' must contain text, got 1\.0"),
        ({"dates": ["t"]}, "column 't' must contain dates, got 'x'"),
    ],
)
def test_bad_parameters_are_named(parameters, sentence):
    with pytest.raises((TypeError, ValueError), match=f"^{sentence}$"):
        FrameVectorizer(**parameters).fit(FRAME)
    spans = pd.DataFrame({"a": [1], "long": pd.to_timedelta(["1 day"])})
    with pytest.raises(TypeError, match=r"^column 'long' has type timedelta.*, expected numbers, "):
        FrameVectorizer().fit(spans)


def test_what_was_changed_after_fit_is_refused():
    fitted = vectorizer()
    fitted.level_features_ = fitted.level_features_ + 100

    with pytest.raises(ValueError, match="level_features_ must lie between 0 and 7"):
        fitted.transform(FRAME)
    fitted = vectorizer()
    fitted.text_ = ["t"]
    with pytest.raises(ValueError, match="missing_features_ must be for 1 text"):
        fitted.transform(FRAME)
