"""Columns of a table as features: numbers, parts of dates, one feature for each level of text."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hyperlvq.registry import DATE_PARTS

RARE = "(rare)"
MISSING = "(missing)"
NO_DATE = np.datetime64("NaT", "us")

Lookups = Sequence[Mapping[str | None, int]]


def level_lookups(learnt: Mapping[str, Any]) -> list[dict[str | None, int]]:
    """Return for each column of text which feature a level has; None is a missing value.

    `learnt` has the attributes of a fitted `FrameVectorizer`.
    """
    lookups: list[dict[str | None, int]] = [
        {} if feature < 0 else {None: feature} for feature in learnt["missing_features_"].tolist()
    ]
    levels = (learnt[f"level_{each}_"].tolist() for each in ("names", "columns", "features"))
    for name, column, feature in zip(*levels, strict=True):
        lookups[column][name] = feature
    return lookups


def parts_of_dates(dates: np.ndarray) -> np.ndarray:
    """Return years, months from 1, weekdays from Monday as 0, and hours with their fraction.

    Dates are datetime64; the result is of shape (rows, 4), NaN where they are missing.
    """
    is_missing = np.isnat(dates)
    moments = np.where(is_missing, np.datetime64(0, "s"), dates.astype("M8[s]"))
    days = moments.astype("M8[D]")
    months = days.astype("M8[M]").astype(np.int64)
    weekdays = (days.astype(np.int64) + 3) % 7  # 1970 began on a Thursday
    hours = (moments - days).astype(np.int64) / 3600
    parts = np.column_stack([1970 + months // 12, 1 + months % 12, weekdays, hours])
    return np.where(is_missing[:, np.newaxis], np.nan, parts)


def date_features(dates: Sequence[np.ndarray], learnt: Mapping[str, Any]) -> list[np.ndarray]:
    """Return those parts of dates that a fitted `FrameVectorizer` makes features of."""
    parts = [parts_of_dates(column) for column in dates]
    pairs = zip(learnt["date_columns_"].tolist(), learnt["date_parts_"].tolist(), strict=True)
    return [parts[column][:, part] for column, part in pairs]


def columns_to_features(
    columns: Sequence[Sequence[Any]], learnt: Mapping[str, Any], lookups: Lookups, fill: bool
) -> np.ndarray:
    """Return the features of columns of numbers, of text and of dates (rows × features, float64).

    Numbers come first and then parts of dates, in their order, with medians in place of NaN if
    `fill`. Each cell of text sets the feature of its level; a level that no lookup has sets none.
    """
    numbers, text, dates = columns
    numbers = [*numbers, *date_features(dates, learnt)]
    features = np.zeros((len([*numbers, *text][0]), learnt["n_features_out_"]))
    for position, column in enumerate(numbers):
        features[:, position] = column
    if fill:
        block = features[:, : len(numbers)]
        np.copyto(block, learnt["medians_"], where=np.isnan(block))
    for column, lookup in zip(text, lookups, strict=True):
        # NaN, which is not itself, stands for a missing value as None does
        found = [lookup.get(cell if cell == cell else None, -1) for cell in column]
        where = np.array(found, dtype=np.intp)
        rows = np.flatnonzero(where >= 0)
        features[rows, where[rows]] = 1
    return features


def feature_names(parameters: Mapping[str, Any], learnt: Mapping[str, Any]) -> list[str]:
    """Return the names of the features that a fitted `FrameVectorizer` makes of columns."""
    pairs = zip(learnt["date_columns_"].tolist(), learnt["date_parts_"].tolist(), strict=True)
    dates = [f"{parameters['dates'][column]}_{DATE_PARTS[part]}" for column, part in pairs]
    names = [*parameters["numbers"], *dates]
    names += [""] * (learnt["n_features_out_"] - len(names))
    for column, lookup in zip(parameters["text"], level_lookups(learnt), strict=True):
        for level, feature in lookup.items():
            own = MISSING if level is None else level
            names[feature] = f"{column}_{RARE if names[feature] else own}"
    return names
