"""The decisions about the C of units that compare features with thresholds.

The device keeps activations less the lowest of their kind, times the plan's factor: they are 0 or
more, and a unit of 0 adds nothing to the scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from hyperlvq.export.encoders import Run, ordered
from hyperlvq.export.model_layout import (
    TYPE_BYTES,
    ModelLayout,
    numbers_of,
    stored_biases,
    unsigned_type,
)
from hyperlvq.export.plan import Plan
from hyperlvq.registry import UNIT_KINDS


@dataclass(eq=False, kw_only=True)
class ComparisonLayout(ModelLayout):
    """The layout of a model whose units compare."""

    n_comparisons: int
    n_runs: int
    n_activations: int  # in tables
    n_active: float  # units above their lowest activation, as a rule
    threshold_type: str

    @classmethod
    def of(cls, plan: Plan) -> "ComparisonLayout":
        """Return the layout of a plan."""
        encoder: Any = plan.encoder
        runs, codes = encoder.runs, ordered(encoder.thresholds)
        highest = np.concatenate(
            [np.full(run.n_units, max(stored_activations(run, plan))) for run in runs]
        )
        scores = np.abs(plan.weights.astype(np.int64)) @ highest + np.abs(stored_biases(plan))
        return cls(
            **numbers_of(plan),
            n_comparisons=len(codes),
            n_runs=len(runs),
            n_activations=sum(2 ** (run.n_above + run.n_below) for run in runs),
            n_active=sum(run.n_units * _active_share(run.activations) for run in runs),
            threshold_type=_signed_type(codes),
            largest_score=int(scores.max()),
        )

    @classmethod
    def planned(
        cls,
        n_features: int,
        n_units: int,
        n_classes: int,
        prototypes_per_class: int = 1,
        *,
        kinds: str | Sequence[str] = "conjunction",
        bits: int = 8,
        input: str = "float",  # noqa: A002
        factor: int = 1,
    ) -> "ComparisonLayout":
        """Return the layout of a model before it exists, where unknown the larger one.

        `n_units` do not count a constant one, and `kinds` are those of `ComparisonLayer`.
        """
        tables = [UNIT_KINDS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
        n_each = -(-n_units // len(tables))
        return cls(
            n_features=n_features,
            n_units=n_units,
            n_outputs=n_classes * prototypes_per_class,
            n_classes=n_classes,
            bits=bits,
            input=input,
            factor=factor,
            n_comparisons=sum(n_each * (len(activations) - 1) for activations in tables),
            n_runs=sum(map(len, tables)),
            n_activations=sum(len(activations) << len(activations) - 1 for activations in tables),
            n_active=sum(n_each * _active_share(activations) for activations in tables),
            threshold_type="int32_t" if input == "float" else f"{input}_t",
            largest_score=2 * factor * n_units * 2**bits,
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.count_type: str = unsigned_type(max(self.n_units, 2**8))
        self.feature_type: str = unsigned_type(self.n_features - 1)
        self.weight_type: str = f"int{self.bits}_t"
        # An activation times a weight: an int of 16 bits holds it where weights have 8.
        self.product_type = "int16_t" if self.is_byte else "int32_t"
        self.table_bytes = {
            "runs": 2 * self.n_runs * TYPE_BYTES[self.count_type],
            "activations": self.n_activations,
            "features": self.n_comparisons * TYPE_BYTES[self.feature_type],
            "thresholds": self.n_comparisons * TYPE_BYTES[self.threshold_type],
            "weights": self.n_units * self.n_outputs * self.bits // 8,
            "biases": self.n_outputs * TYPE_BYTES[self.score_type],
        }

    def stack_bytes(self, is_avr: bool) -> int:
        """Return the bytes of the arrays that a call keeps on the stack."""
        ordered_values = 4 * self.n_features if self.input == "float" else 0
        return ordered_values + self.n_outputs * TYPE_BYTES[self.score_type]


def stored_activations(run: Run, plan: Plan) -> list[int]:
    """Return the activations of a run as the device has them.

    They are in the order of numbers whose bits, the first comparison's the highest, tell which
    features reach their thresholds.
    """
    lowest, holding_below = min(run.activations), 2**run.n_below - 1
    numbers = range(2 ** (run.n_above + run.n_below))
    return [
        plan.factor * (run.activations[(number ^ holding_below).bit_count()] - lowest)
        for number in numbers
    ]


def _active_share(activations):
    """Return how many units of a kind are above their lowest, where keys are drawn evenly."""
    n, lowest = len(activations) - 1, min(activations)
    return sum(comb(n, k) for k, each in enumerate(activations) if each > lowest) / 2**n


def _signed_type(numbers):
    """Return the narrowest signed type of C that holds all numbers."""
    largest = max(int(numbers.max()), -1 - int(numbers.min()))
    return next(f"int{bits}_t" for bits in (8, 16, 32) if largest < 2 ** (bits - 1))
