"""Search settings by successive halving: many on few rows, the best of them on more.

scikit-learn's HalvingGridSearchCV draws its rows without regard to classes, so that rare ones
vanish from small draws; here every draw keeps their shares.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from hyperlvq.checks import InputError
from hyperlvq.registry import search_grid
from hyperlvq.tables.cross_validation import Tick, cross_validate, possible_folds

FEWEST_ROWS = 500
MOST_ROWS = 20_000
#: A third of the settings goes on, on three times the rows.
FACTOR = 3
N_FOLDS = 3

Settings = dict[str, Any]
Build = Callable[..., Pipeline]


@dataclass(frozen=True)
class Round:
    """So many settings compared on so many rows; the best one and its accuracy."""

    n_settings: int
    n_rows: int
    best: Settings
    accuracy: float


@dataclass(frozen=True)
class Search:
    """What a search found."""

    rounds: tuple[Round, ...]

    @property
    def best(self) -> Settings:
        """Return the settings that were best in the last round."""
        return self.rounds[-1].best

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"best": self.best, "rounds": [asdict(each) for each in self.rounds]}


def candidates(hidden: str, readout: str, given: Mapping[str, Any]) -> list[Settings]:
    """Return the settings to try: a small grid of the parameters that are not given."""
    grid = search_grid(hidden, readout)
    free = {name: values for name, values in grid.items() if name not in given}
    if not free:
        raise InputError(f"--tune: {hidden} with {readout} has no parameter left to search")
    return [dict(zip(free, values, strict=True)) for values in product(*free.values())]


def schedule(n_settings: int, n_rows: int) -> list[tuple[int, int]]:
    """Return for each round how many settings it compares, and on how many rows.

    Examples
    --------
    >>> from hyperlvq.tables.tuning import schedule
    >>> schedule(24, 150), schedule(24, 5000), schedule(4, 10**6)
    ([(24, 150)], [(24, 555), (8, 1666), (3, 5000)], [(4, 6666), (2, 20000)])
    """
    most = min(n_rows, MOST_ROWS)
    n_rounds = 1
    while n_settings > FACTOR**n_rounds and most // FACTOR**n_rounds >= FEWEST_ROWS:
        n_rounds += 1
    return [
        (ceil(n_settings / FACTOR**step), most // FACTOR ** (n_rounds - 1 - step))
        for step in range(n_rounds)
    ]


def n_ticks(settings: list[Settings], n_rows: int) -> int:
    """Return how many fits a search takes."""
    return N_FOLDS * sum(count for count, _ in schedule(len(settings), n_rows))


def search(
    build: Build, settings: list[Settings], X: pd.DataFrame, y: np.ndarray, seed: int, tick: Tick
) -> Search:
    """Return how the settings compare, by accuracy in cross-validation."""
    rounds = []
    for n_settings, n_rows in schedule(len(settings), len(y)):
        rows = _draw(y, n_rows, seed)
        n_folds = possible_folds(y[rows], N_FOLDS)
        if not n_folds:
            raise InputError("--tune needs at least two rows in each of two classes")
        scored = [
            (cross_validate(build(**each), X.iloc[rows], y[rows], n_folds, seed, tick).mean, each)
            for each in settings[:n_settings]
        ]
        scored.sort(key=lambda pair: -pair[0])  # stable: of equals, the first in the grid
        settings = [each for _, each in scored]
        rounds.append(Round(len(scored), len(rows), settings[0], scored[0][0]))
    return Search(tuple(rounds))


def _draw(y: np.ndarray, n_rows: int, seed: int) -> np.ndarray:
    """Return the numbers of about `n_rows` rows: of every class its share, and two if it can be."""
    _, class_index, counts = np.unique(y, return_inverse=True, return_counts=True)
    shuffled = np.random.default_rng(seed).permutation(len(y))
    by_class = shuffled[np.argsort(class_index[shuffled], kind="stable")]
    rank = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    wanted = np.maximum(np.rint(counts * n_rows / len(y)), 2)
    return np.sort(by_class[rank < np.repeat(wanted, counts)])
