"""The decisions about a model's C: which types, tables, loops and helpers it has.

The writer of the C and the budget both read them here, so that neither decides for itself.

Activations are kept as numbers of 0 and more. With a thermometer, a sum h of signs is 2c - K with c
the count of positive ones, and the device keeps u = (h + κ)/step: with κ and K both even or both
odd, every h + κ is even before clipping and after it, and the step is 2; else it is 1. Units that
compare keep activations less the lowest of their kind, times the plan's factor, so that a unit of 0
adds nothing to the scores.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import comb
from typing import Any, Self

import numpy as np

from hyperlvq.export.encoders import ComparingUnits, UnitRun, ordered
from hyperlvq.export.plan import Plan
from hyperlvq.export.scaling import INPUT_DTYPES, FloatScaling, IntegerScaling
from hyperlvq.registry import UNIT_KINDS

TYPE_BYTES = {"float": 4} | {f"{u}int{8 * n}_t": n for u in ("", "u") for n in (1, 2, 4, 8)}
#: AVR counts the bytes of an object in 15 bits and addresses flash near by 16.
LARGEST_AVR_TABLE = 2**15 - 1
LARGEST_AVR_TABLES = 2**16 - 2**12
BLOCK_UNITS = 32
PACKED_UNITS = 4
#: Words of packed weights in a block.
MOST_WORDS = BLOCK_UNITS // PACKED_UNITS
#: Fewer words than this between two carries would cost more than packing gains.
FEWEST_WORDS = 2
#: Features that one step of the counting loop takes.
FEATURES_PER_STEP = 4
#: Added to 8-bit weights, which makes them unsigned and all scores of a sample equally larger.
WEIGHT_OFFSET = 128
#: A smaller share of distinct scalings is stored once each, with an index per feature: an index
#: takes a byte or two, a scaling six or more.
INDEXED_SHARE = 0.75
#: Features, or outputs, that gcc takes one after the other instead of in a loop.
MOST_UNROLLED = 2
#: Of as many features, or fewer, too few can share a scaling.
LARGEST_UNSHARED = 3
#: The type of a learnt prototype's entry, by the rule that moves it.
ENTRY_TYPES = {"perceptron": "int16_t", "glvq": "float"}


@dataclass(eq=False)
class ScalingLayout:
    """How the scaling of features is stored, in rows of a table, and computed."""

    n_rows: int
    field_types: dict[str, str]  # of a row, by name
    index_type: str = ""  # of each feature's index into the rows; empty where there is none
    product_bits: int = 0  # of the integer product that gives a level; 0 with float
    remainder_bits: int = 0  # of the remainder that settles it; 0 where none does
    shift: int = 0  # of the product
    subtracts: bool = False  # whether the compiler knows a float minimum, and does not add it

    def __post_init__(self) -> None:
        self.is_shared = self.n_rows == 1
        self.multiplier_type = self.field_types.get("multiplier", "float")
        self.has_offsets = "offset" in self.field_types
        # Whether remainders settle the levels of some features only.
        self.is_mixed = "settles" in self.field_types

    def table_bytes(self, n_features: int, is_aligned: bool) -> int:
        """Return the bytes of the rows and of the features' indices."""
        fields = [(name, f"u{TYPE_BYTES[kind]}") for name, kind in self.field_types.items()]
        indices = n_features * TYPE_BYTES[self.index_type] if self.index_type else 0
        return self.n_rows * np.dtype(fields, align=is_aligned).itemsize + indices


@dataclass(eq=False, kw_only=True)
class ModelLayout(ABC):
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

    @classmethod
    def planned(
        cls,
        n_features: int,
        n_units: int,
        n_classes: int,
        prototypes_per_class: int = 1,
        *,
        bits: int = 8,
        input: str = "float",  # noqa: A002
        factor: int = 2,
        **own: Any,
    ) -> Self:
        """Return the layout of a model before it exists, where unknown the larger one.

        A thermometer has a `clip`, 3 by default; units that compare have `kinds`, those of
        `ComparisonLayer`, and `n_units` do not count a constant one.
        """
        half_span, unknown = cls._largest(n_features, n_units, input, **own)
        return cls(
            n_features=n_features,
            n_units=n_units,
            n_outputs=n_classes * prototypes_per_class,
            n_classes=n_classes,
            bits=bits,
            input=input,
            factor=factor,
            largest_score=2 * factor * n_units * half_span * 2**bits,
            **unknown,
        )

    @classmethod
    @abstractmethod
    def _largest(cls, *sizes: Any, **own: Any) -> Any:
        """Return half the span of activations, and what else a kind of layout has at most."""

    def __post_init__(self) -> None:
        self.is_byte = self.bits == 8
        self.value_type = "float" if self.input == "float" else f"{self.input}_t"
        self.score_bits = 32 if self.largest_score < 2**31 else 64
        self.score_type = f"int{self.score_bits}_t"
        self.class_type = narrowest_type(self.n_classes - 1)

    def flash_tables(self, is_avr: bool) -> int:
        """Return the bytes of all constant tables."""
        classes = self.n_outputs * TYPE_BYTES[self.class_type] if self.has_class_table else 0
        return sum(self.table_bytes.values()) + classes

    @property
    def avr_complaint(self) -> str:
        """Why the tables are more than an AVR can read, or nothing."""
        for part, size in self.table_bytes.items():
            if size > LARGEST_AVR_TABLE:
                return (
                    f"the table of {part} has {size} bytes, but an AVR can read at most "
                    f"{LARGEST_AVR_TABLE}"
                )
        total = sum(self.table_bytes.values())
        if total > LARGEST_AVR_TABLES:
            return (
                f"the tables have {total} bytes, but an AVR can read at most {LARGEST_AVR_TABLES}"
            )
        return ""


@dataclass(eq=False, kw_only=True)
class Layout(ModelLayout):
    """The layout of a model with a thermometer.

    A device that learns, by a `rule`, keeps activations as they are, and has no weights in flash.
    """

    clip: int
    scaling: ScalingLayout

    @classmethod
    def _largest(cls, n_features, n_units, input_type, clip=3):
        scaling = _largest_scaling(n_features, n_units, input_type)
        return min(clip, n_features), {"clip": clip, "scaling": scaling}

    def __post_init__(self) -> None:
        super().__post_init__()
        self.limit = min(self.clip, self.n_features)
        self._decide_counting()
        self._decide_activations()
        self._decide_products()
        self._decide_tables()

    def _decide_counting(self):
        """Decide how the positive signs of all features are counted, in planes of bits."""
        self.level_type = narrowest_type(self.n_units)
        self.n_blocks = -(-self.n_units // BLOCK_UNITS)
        self.room = self.n_blocks * BLOCK_UNITS
        # Steps of four features, and of one.
        self.fours, self.ones = divmod(self.n_features, FEATURES_PER_STEP)
        # Whether sums and limits differ in parity, so that a clipped sum ends a step of 1.
        self.is_odd = (self.n_features - self.limit) % 2 == 1
        self.clips = self.limit < self.n_features
        # Counters start so that 0 stands for the lowest activation; they have a sign if they clip.
        self.first_count = (self.limit - self.n_features - self.is_odd) // 2
        highest = self.n_features + self.first_count
        self.n_planes = highest.bit_length()
        if self.clips:
            self.n_planes = 1 + max(self.n_planes, (-self.first_count - 1).bit_length())
        self.n_clipped_planes = self.limit.bit_length()
        self.n_activation_planes = self.n_clipped_planes + self.is_odd

    def _decide_activations(self):
        self.highest_activation = 2 * self.limit if self.is_odd else self.limit
        self.activation_type = narrowest_type(self.highest_activation)
        if self.rule:
            self.activation_type = "int8_t" if self.limit < 2**7 else "int16_t"
        # How many words of packed products can be added in 16 bits.
        word = PACKED_UNITS * 255 * self.highest_activation
        self.words_per_carry = max((n for n in (1, 2, 4, 8) if n * word < 2**16), default=0)
        self.carries = self.words_per_carry < MOST_WORDS
        # Whether four activations, and four weights, are multiplied as one word; not on AVR.
        is_narrow = self.bits == 8 and self.words_per_carry >= FEWEST_WORDS
        self.is_packed = is_narrow and self.rule is None

    def _decide_products(self):
        """Decide how activations are multiplied by weights, block by block, or by prototypes."""
        is_byte = self.is_byte
        self.weight_type = "uint8_t" if is_byte else "int16_t"
        # What one unit of an activation times one of a weight adds to a score.
        self.step = self.factor * (1 if self.is_odd else 2)
        largest_weight = 255 if is_byte else 2**15 - 1
        self.largest_dot = BLOCK_UNITS * self.highest_activation * largest_weight
        self.has_wide_sum = self.largest_dot >= (2**16 if is_byte else 2**31)
        if self.rule:
            is_small = self.n_units * self.limit * 2**15 < 2**31
            self.sum_type = "int32_t" if is_small else "int64_t"
        elif is_byte:
            self.sum_type = "uint32_t" if self.has_wide_sum else "uint16_t"
        else:
            self.sum_type = "int64_t" if self.has_wide_sum else "int32_t"

    def _decide_tables(self):
        # Units that have weights in flash: whole words of them where they are packed.
        self.padded_units = self.n_units + (-self.n_units % PACKED_UNITS if self.is_packed else 0)
        self.table_bytes: dict[str, int] = {"keys": 4 * self.n_blocks * self.n_features}
        if self.rule:
            self.entry_type = ENTRY_TYPES[self.rule]
            prototypes = self.n_outputs * self.n_units * TYPE_BYTES[self.entry_type]
            self.table_bytes["prototypes"] = prototypes
            # Norms of the perceptron's stand first: their alignment's rest comes at the end.
            norms = 8 * self.n_outputs + -prototypes % 8 if self.rule == "perceptron" else 0
            self.learnt_bytes = norms + prototypes
        else:
            self.table_bytes["weights"] = self.n_outputs * self.padded_units * self.bits // 8
            self.table_bytes["biases"] = self.n_outputs * TYPE_BYTES[self.score_type]

    def flash_tables(self, is_avr: bool) -> int:
        """Return the bytes of all constant tables."""
        scaling = self.scaling.table_bytes(self.n_features, is_aligned=not is_avr)
        return super().flash_tables(is_avr) + scaling

    def stack_bytes(self, is_avr: bool) -> int:
        """Return the bytes of the arrays that a call keeps on the stack."""
        levels = self.n_features * TYPE_BYTES[self.level_type]
        if self.rule:
            return levels + self.room * TYPE_BYTES[self.activation_type]
        is_packed = self.is_packed and not is_avr
        activations = BLOCK_UNITS * (2 if is_packed else TYPE_BYTES[self.activation_type])
        return levels + activations + self.n_outputs * TYPE_BYTES[self.score_type]


@dataclass(eq=False, kw_only=True)
class ComparisonLayout(ModelLayout):
    """The layout of a model whose units compare."""

    runs: list[UnitRun]
    threshold_type: str
    has_medians: bool = False  # which take the place of missing values
    has_empty_class: bool = False  # of samples without any value

    @classmethod
    def _largest(cls, n_features, n_units, input_type, kinds="conjunction"):
        tables = [UNIT_KINDS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
        n_each = -(-n_units // len(tables))
        # Each kind has all runs that there can be; which one its units are in does not matter.
        runs = [
            UnitRun(0 if i else n_each, i, table) for table in tables for i in range(len(table))
        ]
        threshold_type = "int32_t" if input_type == "float" else f"{input_type}_t"
        fills = dict.fromkeys(("has_medians", "has_empty_class"), input_type == "float")
        return 1, {"runs": runs, "threshold_type": threshold_type, **fills}

    def __post_init__(self) -> None:
        super().__post_init__()
        self.count_type = narrowest_type(max(self.n_units, 2**8))
        self.feature_type = narrowest_type(self.n_features - 1)
        self.weight_type = f"int{self.bits}_t"
        # An activation times a weight: an int of 16 bits holds it where weights have 8.
        self.product_type = "int16_t" if self.is_byte else "int32_t"
        self.n_runs = len(self.runs)
        self.n_comparisons = sum(run.n_units * run.n_comparisons for run in self.runs)
        # Units above their lowest activation, as a rule.
        self.n_active = sum(run.n_units * _active_share(run.activations) for run in self.runs)
        self.table_bytes = {
            "runs": 2 * self.n_runs * TYPE_BYTES[self.count_type],
            "activations": sum(2**run.n_comparisons for run in self.runs),
            "features": self.n_comparisons * TYPE_BYTES[self.feature_type],
            "thresholds": self.n_comparisons * TYPE_BYTES[self.threshold_type],
            "weights": self.n_units * self.n_outputs * self.bits // 8,
            "biases": self.n_outputs * TYPE_BYTES[self.score_type],
        }
        if self.has_medians:
            self.table_bytes["medians"] = 4 * self.n_features

    def stack_bytes(self, is_avr: bool) -> int:
        """Return the bytes of the arrays that a call keeps on the stack."""
        ordered_values = 4 * self.n_features if self.input == "float" else 0
        return ordered_values + self.n_outputs * TYPE_BYTES[self.score_type]


def layout_of(plan: Plan, rule: str | None = None) -> Layout | ComparisonLayout:
    """Return the layout of a plan."""
    shared = ("n_features", "n_units", "n_outputs", "n_classes", "bits", "input", "factor")
    encoder, per_class = plan.encoder, plan.n_outputs // plan.n_classes
    in_order = np.repeat(np.arange(plan.n_classes), per_class)
    lowest, highest = plan.factor * encoder.extremes
    scores = np.abs(stored_weights(plan)) @ (highest - lowest) + np.abs(stored_biases(plan))
    numbers = {name: getattr(plan, name) for name in shared} | {
        "has_class_table": not np.array_equal(plan.output_classes, in_order),
        "largest_score": int(scores.max()),
    }
    if isinstance(encoder, ComparingUnits):
        codes = ordered(encoder.thresholds)
        threshold_type = narrowest_type(min(codes.min(), ~codes.max()))
        return ComparisonLayout(
            **numbers,
            runs=encoder.runs,
            threshold_type=threshold_type,
            has_medians=plan.medians is not None,
            has_empty_class=plan.empty_scores is not None,
        )
    scaling = scaling_layout(encoder.scaling)
    return Layout(**numbers, clip=encoder.clip, scaling=scaling, rule=rule)


def stored_weights(plan: Plan) -> np.ndarray:
    """Return the weights as the device multiplies them (outputs × units, int64)."""
    is_shifted = plan.bits == 8 and not isinstance(plan.encoder, ComparingUnits)
    return plan.weights.astype(np.int64) + (WEIGHT_OFFSET if is_shifted else 0)


def stored_biases(plan: Plan) -> np.ndarray:
    """Return what is taken off scores: the plan's bias, less what lowest activations add."""
    return plan.biases - plan.factor * (plan.weights.astype(np.int64) @ plan.encoder.extremes[0])


def scaling_columns(scaling: FloatScaling | IntegerScaling) -> dict[str, np.ndarray]:
    """Return the fields of scalings that a table needs, in their order, one value per feature."""
    if isinstance(scaling, FloatScaling):
        return {"offset": -scaling.minimum, "scale": scaling.scale}
    columns = {"multiplier": scaling.multiplier}
    if len(np.unique(scaling.offset)) > 1:
        columns["offset"] = scaling.offset
    columns |= {"span": scaling.span, "minimum": scaling.minimum}
    if len(np.unique(scaling.settles)) > 1:
        columns["settles"] = scaling.settles
    return columns


def scaling_layout(scaling: FloatScaling | IntegerScaling) -> ScalingLayout:
    """Return how scalings are stored and computed."""
    columns = scaling_columns(scaling)
    n_features = len(scaling.minimum)
    # Compared as bits, for C tells -0.0 from 0.0.
    bits = np.column_stack([column.view(f"i{column.itemsize}") for column in columns.values()])
    n_rows, index_type = len(np.unique(bits, axis=0)), ""
    if n_rows > INDEXED_SHARE * n_features:
        n_rows = n_features
    elif n_rows > 1:
        index_type = narrowest_type(n_rows - 1)
    if isinstance(scaling, FloatScaling):
        is_known = n_rows == 1 or n_features <= MOST_UNROLLED
        subtracts = is_known and bool((scaling.minimum > 0).any())
        types = dict.fromkeys(columns, "float")
        return ScalingLayout(n_rows, types, index_type, subtracts=subtracts)
    n_levels = scaling.n_levels + 1
    product = 32 if n_levels << scaling.shift <= 2**32 else 64
    remainder = 32 if 2 * n_levels * int(scaling.span.max()) < 2**31 else 64
    types = _integer_fields(scaling.dtype, narrowest_type(int(scaling.multiplier.max())))
    types |= {"offset": f"uint{product}_t", "settles": "uint8_t"}
    types = {name: types[name] for name in columns}
    remainder = remainder if scaling.settles.any() else 0
    return ScalingLayout(n_rows, types, index_type, product, remainder, scaling.shift)


def _largest_scaling(n_features, n_units, input_type):
    """Return the layout for features that share no scaling, of integers that span their type."""
    # Where some features share one, the code for indices may exceed what rows save.
    index_type = narrowest_type(n_features - 1) if n_features > LARGEST_UNSHARED else ""
    if input_type == "float":
        types = dict.fromkeys(("offset", "scale"), "float")
        return ScalingLayout(n_features, types, index_type, subtracts=True)
    dtype = INPUT_DTYPES[input_type]
    n_bits = np.iinfo(dtype).bits
    width = 32 if (n_units + 1) << n_bits < 2**31 else 64
    types = _integer_fields(dtype, f"uint{width}_t")
    return ScalingLayout(n_features, types, index_type, width, width, n_bits)


def _integer_fields(dtype, multiplier_type):
    value_type = f"{np.dtype(dtype).name}_t"
    return {"multiplier": multiplier_type, "span": f"u{value_type}", "minimum": value_type}


def _active_share(activations):
    """Return how many units of a kind are above their lowest, where keys are drawn evenly."""
    n, lowest = len(activations) - 1, min(activations)
    return sum(comb(n, k) for k, each in enumerate(activations) if each > lowest) / 2**n


def narrowest_type(number: int) -> str:
    """Return the narrowest integer type of C that holds a number; it is signed below 0."""
    return f"{np.min_scalar_type(number)}_t"
