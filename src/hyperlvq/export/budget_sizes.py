"""The sizes a budget depends on, of a plan or of a model that is only thought of."""

from dataclasses import dataclass, replace

import numpy as np

from hyperlvq.export.layout import Layout
from hyperlvq.export.plan import Plan
from hyperlvq.export.scaling import INTEGER_DTYPES, FloatScaling

#: A smaller share of distinct scalings than this is stored once, with an index per feature.
INDEXED_SHARE = 0.75
#: Of as many features, or fewer, too few can share a scaling.
LARGEST_UNSHARED = 3
#: Features whose levels gcc computes one after the other instead of in a loop.
MOST_UNROLLED = 2


@dataclass(frozen=True)
class ScalingSizes:
    """How the scaling of features is stored and computed.

    Attributes
    ----------
    n_rows : int
        Rows of the table of scalings.
    fields : tuple of int
        Bytes of each field of a row.
    index_bytes : int
        Bytes of each feature's index into the rows, or 0 where there is none.
    product_bits : int
        Width of the integer product that gives a level; 0 with float.
    remainder_bits : int
        Width of the remainder that settles a level; 0 where none does.
    is_mixed : bool
        Whether remainders settle the levels of some features only.
    shift : int
        By how many bits the product is shifted.
    subtracts : bool
        Whether the compiler knows a minimum and subtracts it, where others are added.
    """

    n_rows: int
    fields: tuple[int, ...]
    index_bytes: int = 0
    product_bits: int = 0
    remainder_bits: int = 0
    is_mixed: bool = False
    shift: int = 0
    subtracts: bool = False

    def table_bytes(self, n_features: int, largest_alignment: int) -> int:
        """Return the bytes of the rows and of the features' indices."""
        return self.n_rows * _row_bytes(self.fields, largest_alignment) + (
            n_features * self.index_bytes
        )


def _row_bytes(fields, largest_alignment):
    """Return the bytes of a struct in an array."""
    end, widest = 0, 1
    for size in fields:
        alignment = min(size, largest_alignment)
        end += -end % alignment + size
        widest = max(widest, alignment)
    return end + -end % widest


@dataclass(frozen=True)
class Sizes:
    """What the budget of a model depends on.

    Attributes
    ----------
    n_features, n_units, n_outputs, n_classes : int
    clip : int
        Largest activation κ.
    bits : {8, 16}
        Width of a weight.
    input : {"float", "int16", "int32"}
        The type of a raw feature value.
    factor : {1, 2}
        1 for least squares, 2 for prototypes.
    score_bits : {32, 64}
        Width of a score.
    scaling : ScalingSizes
    class_bytes : int
        Bytes of an output's class in a table of them, or 0 where they are in the order of
        classes, equally many of each.
    """

    n_features: int
    n_units: int
    n_outputs: int
    n_classes: int
    clip: int
    bits: int
    input: str
    factor: int
    score_bits: int
    scaling: ScalingSizes
    class_bytes: int = 0

    @property
    def limit(self) -> int:
        """The largest activation there can be, as for a plan."""
        return min(self.clip, self.n_features)

    @classmethod
    def of(cls, plan: Plan) -> "Sizes":
        """Return the sizes of a plan."""
        return cls(
            n_features=plan.n_features,
            n_units=plan.n_units,
            n_outputs=plan.n_outputs,
            n_classes=plan.n_classes,
            clip=plan.clip,
            bits=plan.bits,
            input=plan.input,
            factor=plan.factor,
            score_bits=Layout(plan).score_bits,
            scaling=_scaling_of(plan),
            class_bytes=_class_bytes(plan),
        )

    @classmethod
    def planned(
        cls,
        n_features: int,
        n_units: int,
        n_classes: int,
        prototypes_per_class: int = 1,
        *,
        clip: int = 3,
        bits: int = 8,
        input: str = "float",  # noqa: A002
        readout: str = "glvq",
    ) -> "Sizes":
        """Return the sizes of a model before it exists, where unknown the larger ones.

        Every feature is taken to have a scaling of its own, and an index of it, integers to span
        their whole type, and every weight to be the largest.
        """
        n_outputs = n_classes * (1 if readout == "rls" else prototypes_per_class)
        factor = 1 if readout == "rls" else 2
        largest = factor * n_units * min(clip, n_features) * 2**bits
        return cls(
            n_features=n_features,
            n_units=n_units,
            n_outputs=n_outputs,
            n_classes=n_classes,
            clip=clip,
            bits=bits,
            input=input,
            factor=factor,
            score_bits=32 if 2 * largest < 2**31 else 64,
            scaling=_scaling_at_most(n_features, n_units, input),
        )


def _scaling_of(plan):
    scaling = plan.scaling
    if isinstance(scaling, FloatScaling):
        stored = _stored([scaling.minimum, scaling.scale], (4, 4))
        is_constant = stored.n_rows == 1 or plan.n_features <= MOST_UNROLLED
        return replace(stored, subtracts=is_constant and bool((scaling.minimum > 0).any()))
    value_bytes = np.dtype(scaling.dtype).itemsize
    columns = [scaling.multiplier, scaling.offset, scaling.span, scaling.minimum, scaling.settles]
    is_mixed = len(np.unique(scaling.settles)) > 1
    fields = [
        _unsigned_bytes(int(scaling.multiplier.max())),
        *([scaling.width // 8] if len(np.unique(scaling.offset)) > 1 else []),
        *(value_bytes, value_bytes),
        *([1] if is_mixed else []),
    ]
    remainder_bits = scaling.remainder_width if scaling.settles.any() else 0
    return _stored(columns, tuple(fields), scaling.width, remainder_bits, is_mixed, scaling.shift)


def _stored(columns, fields, *widths):
    """Return the sizes of scalings that are stored once each, or by feature."""
    n_features = len(columns[0])
    n_distinct = len(np.unique(np.column_stack(columns), axis=0))
    if n_distinct == 1:
        return ScalingSizes(1, fields, 0, *widths)
    if n_distinct > INDEXED_SHARE * n_features:
        return ScalingSizes(n_features, fields, 0, *widths)
    return ScalingSizes(n_distinct, fields, _unsigned_bytes(n_distinct - 1), *widths)


def _scaling_at_most(n_features, n_units, input_type):
    # Where some features share one, the code for indices may exceed what rows save.
    index_bytes = _unsigned_bytes(n_features - 1) if n_features > LARGEST_UNSHARED else 0
    if input_type == "float":
        return ScalingSizes(n_features, (4, 4), index_bytes, subtracts=True)
    value_bits = np.iinfo(INTEGER_DTYPES[input_type]).bits
    width = 32 if (n_units + 1) << value_bits < 2**31 else 64
    fields = (width // 8, value_bits // 8, value_bits // 8)
    return ScalingSizes(n_features, fields, index_bytes, width, width, shift=value_bits)


def _class_bytes(plan):
    per_class, rest = divmod(plan.n_outputs, plan.n_classes)
    in_order = np.arange(plan.n_outputs) // max(per_class, 1)
    if rest == 0 and np.array_equal(plan.output_classes, in_order):
        return 0
    return _unsigned_bytes(plan.n_classes - 1)


def _unsigned_bytes(largest):
    return next(size for size in (1, 2, 4, 8) if largest < 2 ** (8 * size))
