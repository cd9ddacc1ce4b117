"""What a model takes of a device, before it is built: flash, RAM, stack and instructions.

flash
    By how many bytes a firmware grows when it calls the model: linked with --gc-sections and
    compiled as the export's NAME.md says, less the same firmware without the call. It is
    Σ tables + Σ terms · figures: the tables' bytes follow from the sizes, the code's terms (a
    level of float, a plane of counters, …) too, and what each takes was measured. The first
    float or 64-bit operation of a firmware brings routines of the compiler with it; they are
    counted here, though other code may share them.
image
    Flash with the least program around the model: start-up code and a main that calls it.
RAM
    Static bytes: none, all tables lie in flash.
stack
    Levels of all features, activations of a block, scores of all outputs, and frames of the
    model's functions: an upper bound of what was measured.
instructions
    Of one prediction, from the call to the return: Σ times · figures, with how often each part
    runs known from the sizes and its mean cost, for samples within the training ranges, measured.

The figures are those of gcc at -Os; bench/calibrate_budget.py measures and fits them anew.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from math import ceil
from typing import Any, NamedTuple

from hyperlvq.checks import InputError, check_choice
from hyperlvq.export.budget_sizes import ScalingSizes, Sizes
from hyperlvq.export.budget_terms import Shape, code_terms, frame_terms, instruction_terms
from hyperlvq.export.layout import BLOCK_UNITS
from hyperlvq.export.plan import MOST_UNITS, Plan
from hyperlvq.export.words import avr_complaint

__all__ = ["Budget", "ScalingSizes", "Sizes", "largest_units", "parse_size", "predict_budget"]

TARGETS = ("cortex-m3", "avr", "riscv32")
KILOBYTE = 1024
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(k|kb|kib|b|)", flags=re.IGNORECASE)


class Budget(NamedTuple):
    """Bytes of flash, image, static RAM and stack, and instructions of a prediction."""

    flash: int
    image: int
    ram: int
    stack: int
    instructions: int


def predict_budget(model: Sizes | Plan, target: str) -> Budget:
    """Return what a model takes of a device.

    Parameters
    ----------
    model : Sizes or Plan
    target : {"cortex-m3", "avr", "riscv32"}
        The processor; an AVR as the ATmega328P, a RISC-V as rv32imac.

    Returns
    -------
    budget : Budget

    Examples
    --------
    >>> from hyperlvq.export.budget import Sizes, predict_budget
    >>> sizes = Sizes.planned(n_features=64, n_units=256, n_classes=10, input="int16")
    >>> budget = predict_budget(sizes, "cortex-m3")
    >>> 5000 < budget.flash < 7000, budget.ram, budget.stack < 600
    (True, 0, True)
    """
    sizes = Sizes.of(model) if isinstance(model, Plan) else model
    figures, is_avr = _figures()[_checked_target(target)], target == "avr"
    flash = table_bytes(sizes, is_avr) + total(code_terms(sizes, is_avr), figures["code"])
    return Budget(
        flash=round(flash),
        image=round(flash + figures["bare_image"]),
        ram=0,
        stack=ceil(
            stack_arrays(sizes, is_avr) + total(frame_terms(sizes, is_avr), figures["frame"])
        ),
        instructions=round(total(instruction_terms(sizes, is_avr), figures["instructions"])),
    )


def largest_units(
    n_features: int,
    n_classes: int,
    prototypes_per_class: int = 1,
    *,
    max_flash: int | None = None,
    max_ram: int | None = None,
    target: str = "cortex-m3",
    clip: int = 3,
    bits: int = 8,
    input: str = "float",  # noqa: A002
    readout: str = "glvq",
    step: int = BLOCK_UNITS,
) -> int | None:
    """Return the most units, a multiple of `step`, that fit; None where no number does.

    RAM is what a prediction needs at its deepest: static bytes and stack. Whatever the limits,
    an AVR reads no table beyond 32,767 bytes.

    Examples
    --------
    >>> from hyperlvq.export.budget import largest_units, parse_size
    >>> largest_units(64, 10, 2, max_flash=parse_size("1k")) is None
    True
    """

    def exceeds(n_units):
        sizes = Sizes.planned(
            n_features,
            n_units,
            n_classes,
            prototypes_per_class,
            clip=clip,
            bits=bits,
            input=input,
            readout=readout,
        )
        if target == "avr" and avr_complaint(model_tables(sizes, is_avr=True)):
            return True
        budget = predict_budget(sizes, target)
        needs = ((budget.flash, max_flash), (budget.ram + budget.stack, max_ram))
        return any(limit is not None and need > limit for need, limit in needs)

    candidates = range(step, MOST_UNITS + 1, step)
    n_fitting = bisect_left(candidates, True, key=exceeds)
    return candidates[n_fitting - 1] if n_fitting else None


def parse_size(text: str) -> int:
    """Return the bytes that a size on the command line stands for.

    Examples
    --------
    >>> from hyperlvq.export.budget import parse_size
    >>> parse_size("16k"), parse_size("1.5 KB"), parse_size("2048")
    (16384, 1536, 2048)
    """
    found = SIZE.fullmatch(str(text).strip())
    if not found:
        raise InputError(f"a size is a number of bytes or of kilobytes, as in 16k, got {text!r}")
    factor = KILOBYTE if found[2].lower().startswith("k") else 1
    return int(float(found[1]) * factor)


def table_bytes(sizes: Sizes, is_avr: bool) -> int:
    """Return the bytes of all constant tables."""
    classes = sizes.n_outputs * sizes.class_bytes
    # An AVR aligns nothing.
    scaling = sizes.scaling.table_bytes(sizes.n_features, 1 if is_avr else 8)
    return sum(model_tables(sizes, is_avr).values()) + classes + scaling


def model_tables(sizes: Sizes, is_avr: bool) -> dict[str, int]:
    """Return the bytes of each table that `Layout.table_bytes` has."""
    layout = Shape(sizes, is_avr).layout
    return {
        "keys": layout.n_blocks * BLOCK_UNITS // 8 * sizes.n_features,
        "weights": sizes.n_outputs * layout.padded_units * sizes.bits // 8,
        "biases": sizes.n_outputs * sizes.score_bits // 8,
    }


def stack_arrays(sizes: Sizes, is_avr: bool) -> int:
    """Return the bytes of the arrays that a prediction keeps on the stack."""
    shape = Shape(sizes, is_avr)
    levels = sizes.n_features * (1 if sizes.n_units < 2**8 else 2)
    activation = 1 if shape.layout.highest_activation < 2**8 and not shape.is_packed else 2
    return levels + BLOCK_UNITS * activation + sizes.n_outputs * sizes.score_bits // 8


def total(terms: Mapping[str, float], figures: Mapping[str, float]) -> float:
    """Return Σ times · figure."""
    return sum(times * figures.get(name, 0.0) for name, times in terms.items())


@cache
def _figures() -> dict[str, Any]:
    text = files("hyperlvq.export").joinpath("budget_figures.json").read_text(encoding="utf-8")
    return json.loads(text)["targets"]


def _checked_target(target):
    try:
        return check_choice("target", target, TARGETS)
    except ValueError as error:
        raise InputError(str(error)) from None
