"""What units of comparisons are, without compiled code: `hyperlvq.kernels.comparisons` has that."""

from typing import Any, NamedTuple, Self

import numpy as np

from hyperlvq.kernels.scores import linear_scores
from hyperlvq.registry import UNIT_KINDS

KINDS = tuple(UNIT_KINDS)
#: The number of comparisons of each kind.
N_COMPARISONS = np.array([len(activations) - 1 for activations in UNIT_KINDS.values()])
#: The activation of each kind by the number of comparisons that hold, padded by 0.
COUNTS = np.zeros((len(KINDS), N_COMPARISONS.max() + 1), dtype=np.int8)
for _row, _activations in zip(COUNTS, UNIT_KINDS.values(), strict=True):
    _row[: len(_activations)] = _activations


class Units(NamedTuple):
    """Units, and their comparisons one after the other."""

    features: np.ndarray  # of each comparison, the feature that it reads
    thresholds: np.ndarray
    keys: np.ndarray  # +1 or -1
    kinds: np.ndarray  # of each unit, an index into KINDS

    @classmethod
    def joined(cls, parts: list[Any]) -> Self:
        """Return all units of several groups."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    @property
    def ends(self) -> np.ndarray:
        """The position behind each unit's last comparison."""
        return np.cumsum(N_COMPARISONS[self.kinds])

    def take(self, chosen: np.ndarray) -> Self:
        """Return the units of these indices."""
        lengths = N_COMPARISONS[self.kinds[chosen]]
        starts = self.ends[chosen] - lengths
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        places = np.repeat(starts, lengths) + within
        features, thresholds, keys = (part[places] for part in self[:3])
        return type(self)(features, thresholds, keys, self.kinds[chosen])


#: A unit without comparisons, whose activation is always 1.
CONSTANT_UNIT = Units(
    np.empty(0, np.int32),
    np.empty(0),
    np.empty(0, np.int8),
    np.array([KINDS.index("constant")], "i4"),
)


def places_of(features: np.ndarray) -> Any:
    """Yield each feature with the places of the comparisons that read it."""
    order = np.argsort(features, kind="stable")
    found, starts = np.unique(features[order], return_index=True)
    yield from zip(found, np.split(order, starts)[1:], strict=True)


def compare_rows(X: np.ndarray, units: Units) -> np.ndarray:
    """Return the activation of every unit for every row of X: few rows, by numpy."""
    holds = (X[:, units.features] >= units.thresholds) == (units.keys > 0)
    sums = np.zeros((len(X), len(units.features) + 1), dtype=np.int64)
    np.cumsum(holds, axis=1, out=sums[:, 1:])
    ends = units.ends
    counts = sums[:, ends] - sums[:, ends - N_COMPARISONS[units.kinds]]
    return COUNTS[units.kinds, counts]


def score_rows(X: np.ndarray, units: Units, coefficients: np.ndarray) -> np.ndarray:
    """Return the linear scores of what `compare_rows` returns."""
    return linear_scores(compare_rows(X, units), coefficients)
