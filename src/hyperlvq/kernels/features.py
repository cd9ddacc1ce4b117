"""Columns of a table as features: numbers as they are, one feature for each level of text."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

RARE = "(rare)"
MISSING = "(missing)"

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


def columns_to_features(numbers, text, lookups: Lookups, n_features, medians=None):
    """Return the features of columns (rows × features, float64).

    `numbers` come first, in their order, with `medians` in place of NaN where they are given. Each
    cell of `text` sets the feature of its level; a level that no lookup has sets none.
    """
    n_rows = len([*numbers, *text][0])
    features = np.zeros((n_rows, n_features))
    for position, column in enumerate(numbers):
        features[:, position] = column
    if medians is not None:
        block = features[:, : len(numbers)]
        np.copyto(block, medians, where=np.isnan(block))
    for column, lookup in zip(text, lookups, strict=True):
        # NaN, which is not itself, stands for a missing value as None does
        found = [lookup.get(cell if cell == cell else None, -1) for cell in column]
        where = np.array(found, dtype=np.intp)
        rows = np.flatnonzero(where >= 0)
        features[rows, where[rows]] = 1
    return features


def feature_names(parameters: Mapping[str, Any], learnt: Mapping[str, Any]) -> list[str]:
    """Return the names of the features that a fitted `FrameVectorizer` makes of columns."""
    numbers = parameters["numbers"]
    names = [*numbers, *[""] * (learnt["n_features_out_"] - len(numbers))]
    for column, lookup in zip(parameters["text"], level_lookups(learnt), strict=True):
        for level, feature in lookup.items():
            own = MISSING if level is None else level
            names[feature] = f"{column}_{RARE if names[feature] else own}"
    return names
