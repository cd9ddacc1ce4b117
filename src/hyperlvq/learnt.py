"""Checks of what parts have learnt: before compiled code follows it, and in model files."""

from collections.abc import Collection, Mapping
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from hyperlvq.checks import check_integer, check_real
from hyperlvq.registry import DATE_PARTS, UNIT_KINDS, Check, Learnt, PartRecord

#: Floats hold all integers up to here.
LARGEST_COUNT = 2**53
#: Of a model file: every row that is predicted takes the room of the longest label.
LONGEST_LABEL = 1000
FLOATS = ("float64", "float32")
#: What readouts learn from as it is.
SAMPLE_DTYPES = (*FLOATS, "int8", "int16", "uint8")
#: numpy's letters for truth values, integers, floats of any length, and text.
LABEL_KINDS = "biufUO"
#: Sizes that may be 0.
POSSIBLY_EMPTY = frozenset(
    {"numbers", "text", "levels", "dates", "parts", "medians", "iterations", "comparisons"}
)


class ValueType(NamedTuple):
    """What the values of a learnt attribute are.

    Arrays have one of `dtypes`. A `check` that is not `quick` looks at every number of a large
    array, and is left out where an estimator only makes sure that its arrays can be used.
    """

    dtypes: tuple[str, ...] = ()
    check: Check = lambda name, value: None
    quick: bool = False


def check_usable(
    record: PartRecord, learnt: Mapping[str, Any], parameters: Mapping[str, Any] | None = None
) -> dict[str, int]:
    """Return the sizes of a fitted part; raise ValueError if they or its indices are wrong.

    This is quick. With `parameters`, sizes must agree with them.
    """
    sizes: dict[str, int] = {}
    if parameters is not None:
        for size, name in record.given_sizes.items():
            value = parameters[name]
            sizes[size] = int(value) if isinstance(value, Integral) else len(value)
    found = {
        name: spec
        for name, spec in record.learnt.items()
        # shap sets feature_names_in_ to None where a model has no names
        if name in learnt and (spec.required or learnt[name] is not None)
    }
    for name, spec in record.learnt.items():
        if spec.required and name not in found:
            raise ValueError(f"{name} is missing")
    for name in record.kept:
        if f"{name}_" in learnt:
            record.parameters[name].check(f"{name}_", learnt[f"{name}_"])
    for name, spec in found.items():
        value_type = VALUE_TYPES[spec.type]
        _check_type(name, learnt[name], value_type)
        if value_type.quick:
            value_type.check(name, learnt[name])
        _check_sizes(name, learnt[name], spec, sizes)
    for name, spec in found.items():
        if spec.below is not None:
            _check_indices(name, learnt[name], spec.least, sizes[spec.below])
    if "kinds_" in found:
        _check_comparisons(learnt["kinds_"], sizes["comparisons"])
    return sizes


def check_whole(
    record: PartRecord, learnt: Mapping[str, Any], parameters: Mapping[str, Any]
) -> dict[str, int]:
    """Return the sizes of a fitted part; raise ValueError for anything that `fit` does not set."""
    sizes = check_usable(record, learnt, parameters)
    for name in record.learnt.keys() & learnt.keys():
        spec = record.learnt[name]
        if not (value_type := VALUE_TYPES[spec.type]).quick:
            value_type.check(name, learnt[name])
        if spec.type == "labels":
            _check_label_lengths(name, learnt[name])
    if record.check is not None:
        record.check(parameters, learnt)
    return sizes


def _check_comparisons(kinds: Any, n_comparisons: int) -> None:
    """Raise if units have not as many comparisons as their kinds say."""
    of_kinds = np.array([len(activations) - 1 for activations in UNIT_KINDS.values()])
    places = kinds if isinstance(kinds, np.ndarray) else kinds.tolist()  # of a tensor
    if of_kinds[places].sum() != n_comparisons:
        raise ValueError("features_ must be for as many comparisons as the units have")


def _check_sizes(name: str, value: Any, spec: Learnt, sizes: dict[str, int]) -> None:
    """Compare an attribute's sizes with those known, and note the others."""
    if spec.type == "count":  # which may be a size
        shape: tuple[int, ...] = (value,) if spec.sizes else ()
    else:
        shape = (len(value),) if isinstance(value, list) else getattr(value, "shape", ())
    if len(shape) != len(spec.sizes):
        raise ValueError(f"{name} must have {len(spec.sizes)} dimensions, got {len(shape)}")
    for size, length in zip(spec.sizes, shape, strict=True):
        if length == 0 and size not in POSSIBLY_EMPTY:
            raise ValueError(f"{name} must have at least one of its {size}, got shape {shape}")
        if length != sizes.setdefault(size, length):
            raise ValueError(
                f"{name} must be for {sizes[size]} {size}, as the rest of the model is, "
                f"got {length}"
            )


def _check_type(name: str, value: Any, expected: ValueType) -> None:
    if not expected.dtypes:
        return
    if not hasattr(value, "dtype"):
        raise ValueError(f"{name} must be an array")
    if not isinstance(value, np.ndarray):  # a tensor, whose indices torch looks at
        return
    dtype = value.dtype
    is_expected = dtype.name in expected.dtypes and dtype.isnative
    if not (dtype.kind in LABEL_KINDS if expected is VALUE_TYPES["labels"] else is_expected):
        raise ValueError(f"{name} must be of type {' or '.join(expected.dtypes)}, got {dtype}")


def _check_indices(name: str, value: Any, least: int, limit: int) -> None:
    is_array = isinstance(value, np.ndarray) and value.size
    if is_array and not (value.min() >= least and value.max() < limit):
        raise ValueError(f"{name} must lie between {least} and {limit - 1}")


def _indices_of(choices: Collection[str]) -> Check:
    return partial(_check_indices, least=0, limit=len(choices))


def _check_finite(name: str, value: np.ndarray) -> None:
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        raise ValueError(f"{name} must be finite numbers")


def _check_not_infinite(name: str, value: np.ndarray) -> None:
    if np.isinf(value).any():
        raise ValueError(f"{name} must not be infinite")


def _check_signs(name: str, value: np.ndarray) -> None:
    if value.min() < -1 or value.max() > 1 or not value.all():  # no temporary array
        raise ValueError(f"{name} must be -1 and 1 only")


def _check_losses(name: str, value: Any) -> None:
    if not isinstance(value, list) or not all(isinstance(each, float) for each in value):
        raise ValueError(f"{name} must be a list of numbers")
    _check_finite(name, np.array(value))


def _check_text(name: str, value: np.ndarray) -> None:
    if value.dtype.kind == "O" and not all(isinstance(each, str) for each in value):
        raise ValueError(f"{name} must be text")


def _check_names(name: str, value: np.ndarray) -> None:
    _check_text(name, value)
    if len({*value}) < len(value):
        raise ValueError(f"{name} must be different names")


def _check_labels(name: str, value: Any) -> None:
    if not isinstance(value, np.ndarray) or value.ndim != 1:  # a tensor, or of a wrong size
        return
    _check_text(name, value)
    _check_finite(name, value)
    if len(value) < 2 or not (value[:-1] < value[1:]).all():
        raise ValueError(f"{name} must be two or more different labels in order")


def _check_label_lengths(name: str, value: np.ndarray) -> None:
    longest = value.dtype.itemsize // 4 if value.dtype.kind == "U" else 0
    if value.dtype.kind == "O":
        longest = max(map(len, value), default=0)
    if longest > LONGEST_LABEL:
        raise ValueError(f"{name} must have at most {LONGEST_LABEL} characters each")


def _check_share(name: str, value: Any) -> None:
    if not 0 <= check_real(name, value) < 1:
        raise ValueError(f"{name} must be less than 1, got {value!r}")


VALUE_TYPES: Mapping[str, ValueType] = {
    "count": ValueType(check=partial(check_integer, minimum=0, maximum=LARGEST_COUNT), quick=True),
    "number": ValueType(check=check_real, quick=True),
    "positive": ValueType(check=partial(check_real, positive=True), quick=True),
    "share": ValueType(check=_check_share, quick=True),
    "losses": ValueType(check=_check_losses),
    "signs": ValueType(("int8",), _check_signs),
    "numbers": ValueType(FLOATS, _check_finite),
    "numbers or nan": ValueType((*FLOATS, "float16"), _check_not_infinite),
    "samples": ValueType(SAMPLE_DTYPES, _check_finite),
    "indices": ValueType(("int64", "int32")),
    "kinds": ValueType(("int32",), _indices_of(UNIT_KINDS), quick=True),
    "parts of dates": ValueType(("int64", "int32"), _indices_of(DATE_PARTS), quick=True),
    "text": ValueType(("object",), _check_text),
    "names": ValueType(("object",), _check_names),
    "labels": ValueType(("bool", "integer", "float", "str", "object"), _check_labels, quick=True),
}
