"""Settings of models that a device can hold."""

import re
from bisect import bisect_left
from functools import partial
from math import inf
from typing import Any

from hyperlvq.checks import InputError
from hyperlvq.export.budget import predict_budget
from hyperlvq.export.encoders import MOST_UNITS_OR_FEATURES
from hyperlvq.export.layout import BLOCK_UNITS, ComparisonLayout, Layout
from hyperlvq.registry import PartRecord, recipe_records

#: More units hardly help, and search would take long.
ENOUGH_UNITS = {"intrvfl": 2000, "comparisons": 4000}
#: To choose among, as far as they are not given.
PROTOTYPES = (1, 2, 3)
SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)\s*(k|kb|kib|b|)", flags=re.IGNORECASE)


def device_settings(
    n_features: int,
    n_classes: int,
    *,
    max_flash: int | str | None = None,
    max_ram: int | str | None = None,
    chip: str = "cortex-m3",
    input: str = "float",  # noqa: A002
    bits: int = 8,
    hidden: str = "intrvfl",
    readout: str = "glvq",
    **parameters: Any,
) -> list[dict[str, Any]]:
    """Find settings of the largest models that fit a device.

    Parameters
    ----------
    n_features, n_classes : int
        Number of features and classes of the data.
    max_flash, max_ram : int or str, optional
        Limits of flash and RAM in bytes, such as 16384 or "16k". RAM includes the stack.
    chip : {"cortex-m3", "avr", "riscv32"}, default="cortex-m3"
        The processor.
    input, bits : str, int
        As for `make_plan`.
    hidden, readout, **parameters : str, str, dict
        As for `make_classifier`. Parameters given here are neither searched nor returned.
        Without `clip`, the budget assumes the largest value that `--tune` tries. For
        `HyperLVQClassifier` see `device_units`.

    Returns
    -------
    settings : list of dict
        Parameters for `make_classifier`: one dict for each number of prototypes per class, with the
        largest number of units that fits.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hyperlvq import make_classifier
    >>> from hyperlvq.export import device_settings, make_plan, predict_budget
    >>> X, y = load_digits(return_X_y=True)
    >>> settings = device_settings(64, 10, max_flash="8k", input="int16", clip=3)
    >>> settings[-1]
    {'n_units': 160, 'prototypes_per_class': 3}
    >>> model = make_classifier("intrvfl", "glvq", clip=3, random_state=0, **settings[-1])
    >>> plan = make_plan(model.fit(X, y), input="int16")
    >>> 6000 < predict_budget(plan, "cortex-m3").flash <= 8192
    True
    """
    layer, record = exportable_recipe(hidden, readout)
    has_several = "prototypes_per_class" in record.parameters
    given = parameters.get("prototypes_per_class")
    planned: partial[Any]
    if hidden == "comparisons":
        planned = partial(ComparisonLayout.planned, kinds=parameters.get("kinds", "conjunction"))
    else:
        planned = partial(Layout.planned, clip=parameters.get("clip", max(layer.grid["clip"])))
    sizes = {"n_features": n_features, "n_classes": n_classes, "input": input, "bits": bits}
    factor = 2 if record.output_rows == "prototypes_" else 1
    settings = []
    for per_class in (given,) if given else PROTOTYPES if has_several else (1,):
        of_size = partial(planned, prototypes_per_class=per_class, factor=factor, **sizes)
        most = _largest_units(of_size, chip, max_flash, max_ram)
        wanted = parameters.get("n_units", min(most, ENOUGH_UNITS[hidden]))
        if 0 < wanted <= most:
            found = {"n_units": wanted}
            if has_several:
                found["prototypes_per_class"] = per_class
            settings.append({name: n for name, n in found.items() if name not in parameters})
    return settings or _refuse(n_features, n_classes)


def device_units(
    n_features: int,
    n_classes: int,
    *,
    max_flash: int | str | None = None,
    max_ram: int | str | None = None,
    chip: str = "cortex-m3",
    input: str = "float",  # noqa: A002
    bits: int = 8,
) -> int:
    """Find the largest `HyperLVQClassifier` network that fits a device.

    Parameters
    ----------
    n_features, n_classes : int
        Number of features and classes of the data.
    max_flash, max_ram : int or str, optional
        Limits of flash and RAM in bytes, such as 16384 or "16k". RAM includes the stack.
    chip : {"cortex-m3", "avr", "riscv32"}, default="cortex-m3"
        The processor.
    input, bits : str, int
        As for `make_plan`.

    Returns
    -------
    n_units : int
        Number of units, a multiple of 32.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hyperlvq import HyperLVQClassifier
    >>> from hyperlvq.export import device_units, make_plan, predict_budget
    >>> X, y = load_digits(return_X_y=True)
    >>> n_units = device_units(64, 10, max_flash="32k", input="int16")
    >>> model = HyperLVQClassifier(n_networks=1, n_units=n_units, random_state=0).fit(X, y)
    >>> plan = make_plan(model, input="int16")
    >>> 20000 < predict_budget(plan, "cortex-m3").flash <= 32768
    True
    """
    sizes: Any = {"n_classes": n_classes, "input": input, "bits": bits, "factor": 1}
    planned = partial(ComparisonLayout.planned, n_features, **sizes)
    return _largest_units(planned, chip, max_flash, max_ram) or _refuse(n_features, n_classes)


def exportable_recipe(hidden: str, readout: str) -> list[PartRecord]:
    """Return the records of a hidden layer and a readout whose models can be exported."""
    records = recipe_records(hidden, readout)
    if hidden == "features" or any(record.export_refusal for record in records):
        raise InputError(f"{hidden} with {readout} cannot be exported to a device")
    return records


def _refuse(n_features, n_classes):
    raise InputError(f"no model of {n_features} features and {n_classes} classes fits the device")


def _largest_units(planned, chip, *limits):
    """Return the most units, a multiple of 32, that fit; 0 where no number does.

    `planned` returns the layout of a number of units; `limits` are of flash and RAM.
    """
    named = zip(limits, ("max_flash", "max_ram"), strict=True)
    most_flash, most_ram = (inf if size is None else parse_size(size, name) for size, name in named)

    def exceeds(n_units):
        budget = predict_budget(planned(n_units=n_units), chip)
        is_above = budget.flash > most_flash or budget.ram + budget.stack > most_ram
        return is_above or budget.complaint is not None

    candidates = range(BLOCK_UNITS, MOST_UNITS_OR_FEATURES + 1, BLOCK_UNITS)
    return BLOCK_UNITS * bisect_left(candidates, True, key=exceeds)


def parse_size(size: int | str, name: str = "size") -> int:
    """Return the bytes that a size stands for, as "16k" or "1.5 KB" does."""
    found = SIZE.fullmatch(str(size).strip())
    if not found:
        raise InputError(
            f"{name} must be a number of bytes, or of kilobytes such as 16k, got {size!r}"
        )
    factor = 1024 if found[2].lower().startswith("k") else 1
    return int(float(found[1]) * factor)
