"""The decisions about the C of any model: its types of values, scores and classes."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hyperlvq.export.plan import Plan

#: AVR counts the bytes of an object in 15 bits and addresses flash near by 16.
LARGEST_AVR_TABLE = 2**15 - 1
LARGEST_AVR_TABLES = 2**16 - 2**12
TYPE_BYTES = {"float": 4} | {f"{u}int{8 * n}_t": n for u in ("", "u") for n in (1, 2, 4, 8)}


@dataclass(eq=False, kw_only=True)
class ModelLayout:
    """The numbers that decide the C of a model, as in its plan, and the decisions."""

    n_features: int
    n_units: int
    n_outputs: int
    n_classes: int
    bits: int
    input: str
    factor: int
    largest_score: int  # what no score, nor a part of its sum, exceeds
    has_class_table: bool = False  # else outputs have the order of classes, equally many of each
    rule: str | None = None
    #: Bytes of each constant table but the scaling's and the classes'.
    table_bytes: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.is_byte: bool = self.bits == 8
        self.value_type: str = "float" if self.input == "float" else f"{self.input}_t"
        self.score_bits = 32 if self.largest_score < 2**31 else 64
        self.score_type: str = f"int{self.score_bits}_t"
        self.class_type: str = unsigned_type(self.n_classes - 1)

    def flash_tables(self, is_avr: bool) -> int:
        """Return the bytes of all constant tables."""
        classes = self.n_outputs * TYPE_BYTES[self.class_type] if self.has_class_table else 0
        return sum(self.table_bytes.values()) + classes

    @property
    def avr_complaint(self) -> str:
        """Why the tables are more than an AVR can read, or nothing."""
        for part, size in self.table_bytes.items():
            if size > LARGEST_AVR_TABLE:
                return f"{size} bytes of {part}, where a table has at most {LARGEST_AVR_TABLE}"
        total = sum(self.table_bytes.values())
        if total > LARGEST_AVR_TABLES:
            return f"{total} bytes of tables, where at most 64 KB are in reach"
        return ""


def unsigned_type(largest: int) -> str:
    """Return the narrowest unsigned type of C that holds a number."""
    return next(f"uint{bits}_t" for bits in (8, 16, 32, 64) if largest < 2**bits)


def numbers_of(plan: Plan) -> dict[str, Any]:
    """Return what layouts have of a plan whatever its encoder."""
    shared = ("n_features", "n_units", "n_outputs", "n_classes", "bits", "input", "factor")
    in_order = np.arange(plan.n_outputs) * plan.n_classes // plan.n_outputs
    is_even = plan.n_outputs % plan.n_classes == 0
    return {
        **{name: getattr(plan, name) for name in shared},
        "has_class_table": not (is_even and np.array_equal(plan.output_classes, in_order)),
    }


def stored_biases(plan: Plan) -> np.ndarray:
    """Return what is taken off scores: the plan's bias, less what lowest activations add."""
    return plan.biases - plan.factor * (plan.weights.astype(np.int64) @ plan.encoder.lowest)
