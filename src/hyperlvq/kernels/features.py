"""Columns of a table as features: numbers as they are, one feature for each level of text."""

from collections.abc import Mapping, Sequence

import numpy as np

Levels = Sequence[Mapping[str | None, int]]


def level_lookups(names, columns, features, missing_features) -> list[dict[str | None, int]]:
    """Return for each column of text which feature a level has; None is a missing value.

    `names`, `columns` and `features` say for each level what it is called, which column it belongs
    to and which feature it has; `missing_features` says it for the missing values of each column,
    -1 where they have none.
    """
    lookups: list[dict[str | None, int]] = [
        {} if feature < 0 else {None: feature} for feature in missing_features.tolist()
    ]
    for name, column, feature in zip(names, columns.tolist(), features.tolist(), strict=True):
        lookups[column][name] = feature
    return lookups


def columns_to_features(numbers, text, lookups: Levels, n_features, medians=None):
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


def choose_levels(column, min_rows, max_levels):
    """Return the levels of a column of text, the feature of each from 0, and that of missing ones.

    Levels are sorted, with a missing value behind them; those of fewer than `min_rows` rows
    share one feature behind all others, as do the rarest beyond `max_levels` features.
    """
    cells = [cell if cell == cell else None for cell in column]
    present, counts = np.unique(
        np.array([cell for cell in cells if cell is not None], dtype=object), return_counts=True
    )
    names = present.tolist()
    n_missing = cells.count(None)
    if n_missing:
        names, counts = [*names, None], np.append(counts, n_missing)
    is_rare = counts < min_rows
    if len(counts) - is_rare.sum() + 1 > max_levels:
        is_rare[np.argsort(counts, kind="stable")[: len(counts) - (max_levels - 1)]] = True
    features = np.where(is_rare, (~is_rare).sum(), np.cumsum(~is_rare) - 1)
    if n_missing:
        return names[:-1], features[:-1], int(features[-1])
    return names, features, -1
