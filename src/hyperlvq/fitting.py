"""Fits that succeed or leave the estimator as it was."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Any

from hyperlvq.registry import PartRecord, check_parameters


@contextmanager
def fitting(estimator: Any, found: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Check the parameters, and undo the fit inside if it raises.

    Parameters that predictions need are kept as learnt attributes. `found` are parameters that
    were left to the data. A failed fit, an interrupted one too, leaves all attributes as they
    were. That holds for learnt arrays because no fit writes into those of an earlier one, and
    for learnt lists because they only grow.
    """
    attributes = vars(estimator)
    before = dict(attributes)
    lengths = {name: len(value) for name, value in before.items() if isinstance(value, list)}
    try:
        parameters = {**attributes, **(found or {})}
        check_parameters(estimator._record, parameters)
        attributes.update(kept_parameters(estimator._record, parameters))
        yield
    except BaseException:
        attributes.update(before)
        for name in attributes.keys() - before.keys():
            del attributes[name]
        for name, length in lengths.items():
            del before[name][length:]
        raise


def kept_parameters(record: PartRecord, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the parameters that predictions need, under the names of learnt attributes."""
    return {f"{name}_": copy(parameters[name]) for name in record.kept}
