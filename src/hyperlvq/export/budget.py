"""What a model takes of a device, before it is built: flash, RAM, stack and instructions.

Bytes of tables follow from the layout, and so does how often each term of the code occurs. What
one occurrence takes is a figure for gcc at -Os, which bench/calibrate_budget.py measures and fits.
"""

import json
from functools import cache
from importlib.resources import files
from math import ceil
from typing import Any, NamedTuple

from hyperlvq.checks import InputError, check_choice
from hyperlvq.export.layout import (
    BLOCK_UNITS,
    MOST_UNROLLED,
    PACKED_UNITS,
    TYPE_BYTES,
    ComparisonLayout,
    Layout,
    layout_of,
)
from hyperlvq.export.plan import Plan

TARGETS = ("cortex-m3", "avr", "riscv32")
#: Beyond these numbers of bit planes registers run short, and each further plane takes more.
CROWDED = (3, 5, 7)


class Budget(NamedTuple):
    """Memory and instructions that an exported model needs.

    The figures assume the compiler options given in the exported NAME.md.

    Attributes
    ----------
    flash : int
        Bytes added to a firmware, including the compiler's routines for float or 64-bit arithmetic.
    image : int
        Bytes of flash of the smallest program that contains the model.
    ram : int
        Bytes of static RAM.
    stack : int
        Bytes of stack, an upper bound.
    instructions : int
        Instructions per prediction for a sample within the training ranges.
    complaint : str or None
        Reason why the model cannot run on an AVR, or None if it can.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import make_classifier
    >>> from hyperlvq.export import make_plan, predict_budget
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_classifier("intrvfl", "glvq", n_units=64, random_state=0).fit(X, y)
    >>> budget = predict_budget(make_plan(model), "cortex-m3")
    >>> budget.flash < 4096, budget.ram
    (True, 0)
    """

    flash: int
    image: int
    ram: int
    stack: int
    instructions: int
    complaint: str | None


def predict_budget(model: Plan | Layout | ComparisonLayout, target: str) -> Budget:
    """Predict the memory and instructions of an exported model.

    Parameters
    ----------
    model : Plan or layout
        A plan. If the model is not trained yet, a layout from `Layout.planned` or
        `ComparisonLayout.planned`.
    target : {"cortex-m3", "avr", "riscv32"}
        The processor. "avr" stands for the ATmega328P and "riscv32" for rv32imac.

    Returns
    -------
    budget : Budget
        Bytes and instructions, accurate to about 10 %.

    Examples
    --------
    >>> from hyperlvq.export import predict_budget
    >>> from hyperlvq.export.layout import Layout
    >>> layout = Layout.planned(n_features=64, n_units=256, n_classes=10, input="int16")
    >>> budget = predict_budget(layout, "cortex-m3")
    >>> 5000 < budget.flash < 7000, budget.ram, budget.stack < 600
    (True, 0, True)
    """
    check_choice("target", target, TARGETS, InputError)
    layout = layout_of(model) if isinstance(model, Plan) else model
    figures, is_avr = _figures()[target], target == "avr"
    code, instructions, frame = (
        sum(times * figures[kind].get(name, 0.0) for name, times in terms.items())
        for kind, terms in terms_of(layout, is_avr)._asdict().items()
    )
    flash = layout.flash_tables(is_avr) + code
    return Budget(
        flash=round(flash),
        image=round(flash + figures["bare_image"]),
        ram=0,
        stack=ceil(layout.stack_bytes(is_avr) + frame),
        instructions=round(instructions),
        complaint=(layout.avr_complaint or None) if is_avr else None,
    )


@cache
def _figures() -> dict[str, Any]:
    text = files("hyperlvq.export").joinpath("budget_figures.json").read_text(encoding="utf-8")
    return json.loads(text)["targets"]


class Terms(NamedTuple):
    """How often the terms of figures occur, by their names."""

    code: dict[str, float]  # what the code consists of
    instructions: dict[str, float]  # which parts of a prediction run
    frame: dict[str, float]  # what the frames of functions hold beside arrays


def terms_of(layout: Layout | ComparisonLayout, is_avr: bool) -> Terms:
    """Return the terms of a model."""
    if isinstance(layout, ComparisonLayout):
        terms = _comparison_terms(layout)
    else:
        terms = _code(layout, is_avr), _instructions(layout, is_avr), _frame(layout)
    return Terms(*({name: float(n) for name, n in each.items() if n} for each in terms))


def _code(layout, is_avr):
    planes, store, scaling = layout.n_planes, _store(layout, is_avr), layout.scaling
    is_float = layout.input == "float"
    return {
        "program": 1,
        f"level of {layout.input}": 1,
        f"level, product of {scaling.product_bits} bits": scaling.product_bits > 0,
        f"level, multiplier of {TYPE_BYTES[scaling.multiplier_type]} bytes": not is_float,
        f"level, remainder of {scaling.remainder_bits} bits": scaling.remainder_bits > 0,
        "level, offset": not is_float and scaling.has_offsets,
        "level, shared scaling": scaling.is_shared,
        "level of float, subtraction": scaling.subtracts,
        "level, index": scaling.index_type != "",
        f"dot {_dot(layout, is_avr)}": 1,
        f"store {store}": 1,
        f"store {store}, plane": layout.n_activation_planes,
        f"scores of {layout.score_bits} bits": 1,
        "levels of 16 bits": layout.level_type != "uint8_t",
        "several features": layout.n_features > 1,
        "several words": _n_words(layout, is_avr) > 1,
        "several blocks": layout.n_blocks > 1,
        **_classes(layout),
        **_crowding("count fours", planes, layout.fours > 0),
        **_crowding("count ones", planes, layout.ones > 0),
        "clip": layout.clips,
    }


def _instructions(layout, is_avr):
    words, planes, n_features = _n_words(layout, is_avr), layout.n_planes, layout.n_features
    store, level_steps = _store(layout, is_avr), _level_steps(layout.scaling, is_avr)
    return {
        "prediction": 1,
        **{name: times * n_features for name, times in level_steps.items()},
        **_crowding("count fours", planes, words * layout.fours),
        "count ones": words * layout.ones,
        "count ones, plane": words * layout.ones * planes,
        f"word, {store}": words,
        f"word, {store}, kept plane": words * layout.n_activation_planes,
        "word, clip": words * layout.clips,
        "word and feature, level of 16 bits": words * n_features * (layout.level_type != "uint8_t"),
        f"block and output, score of {layout.score_bits} bits": layout.n_blocks * layout.n_outputs,
        **_products(layout, is_avr),
        "output": layout.n_outputs,
    }


def _frame(layout):
    # Few terms, so that a bound of all measured models is one of others too.
    return {
        "frames": 1,
        f"frames, {layout.input}": 1,
        "frames, product of 64 bits": layout.scaling.product_bits == 64,
        "frames, remainder of 64 bits": layout.scaling.remainder_bits == 64,
        "frames, several blocks": layout.n_blocks > 1,
        "frames, fours": layout.fours > 0,
        "frames, plane": layout.n_planes,
        f"frames, plane beyond {CROWDED[0]}": max(layout.n_planes - CROWDED[0], 0),
    }


def _comparison_terms(layout):
    threshold = f"threshold of {TYPE_BYTES[layout.threshold_type]} bytes"
    products = {
        f"compare, product of {layout.bits} bits in {layout.score_bits}": 1,
        "compare, product in a loop": layout.n_outputs > MOST_UNROLLED,
    }
    code = {
        "compare": 1,
        f"compare {layout.input}": 1,
        f"compare, {threshold}": 1,
        "compare, medians": layout.has_medians,
        "compare, class of no values": layout.has_empty_class,
        **products,
        **{f"compare, {name}": times for name, times in _classes(layout).items()},
    }
    n_products = layout.n_active * layout.n_outputs
    instructions = {
        "compare": 1,
        "compare, ordered feature": layout.n_features * (layout.input == "float"),
        "compare, feature with a median": layout.n_features * layout.has_medians,
        "compare, run": layout.n_runs,
        "compare, unit": layout.n_units,
        f"compare, value of {2 if layout.input == 'int16' else 4} bytes": layout.n_comparisons,
        f"compare, {threshold}": layout.n_comparisons,
        "compare, features of 16 bits": layout.n_comparisons * (layout.n_features > 2**8),
        "compare, active unit": layout.n_active,
        **{name: times * n_products for name, times in products.items()},
        "compare, output": layout.n_outputs,
    }
    frame = {
        f"compare {layout.input}": 1,
        "compare, scores of 64 bits": layout.score_bits == 64,
    }
    return code, instructions, frame


def _classes(layout):
    """Return the terms for the class of an output."""
    per_class = 0 if layout.has_class_table else layout.n_outputs // layout.n_classes
    return {
        "table of classes": layout.has_class_table,
        "class by division": per_class not in (0, 1, 2, 4),
        "class by shift": per_class in (2, 4),
    }


def _crowding(name, planes, times):
    """Return terms of something done to every plane, which takes more where planes crowd."""
    beyond = {f"{name}, plane beyond {limit}": times * max(planes - limit, 0) for limit in CROWDED}
    return {name: times, f"{name}, plane": times * planes, **beyond}


def _level_steps(scaling, is_avr):
    """Return how often the parts of a level run, for each feature."""
    bits = scaling.product_bits
    kind = f"of {bits} bits" if bits else "of float"
    steps = {
        f"level {kind}": 1,
        f"level {kind}, remainder of {scaling.remainder_bits} bits": scaling.remainder_bits > 0,
        "level, index": scaling.index_type != "",
    }
    # An AVR shifts in loops.
    n_bytes, n_bits = divmod(scaling.shift, 8)
    if is_avr and bits == 32:
        steps["level shift of 32 bits, bit"] = scaling.shift if n_bits else 0
    elif is_avr and bits == 64:
        steps |= {
            "level shift of 64 bits, byte": n_bytes,
            "level shift of 64 bits, bit": n_bits,
            f"level of 64 bits, multiplier of {TYPE_BYTES[scaling.multiplier_type]} bytes": 1,
        }
    return steps


def _products(layout, is_avr):
    """Return steps of dot products, by what is multiplied and by what is known of their number."""
    dot, store = _dot(layout, is_avr), _store(layout, is_avr)
    # What the compiler knows of the blocks: one only, all of one length, or neither.
    blocks = "some length" if layout.padded_units % BLOCK_UNITS else "full blocks"
    if layout.n_blocks == 1:
        blocks = "one block"
    kinds = [f"product, {dot}", f"product, {store} weights of {layout.bits} bits, {blocks}"]
    if is_avr and layout.step > 1:  # which takes registers from the loop
        kinds.append(f"product, {dot}, {blocks}, multiplied sum")
    n_steps = layout.padded_units // (PACKED_UNITS if store == "packed" else 1)
    products = dict.fromkeys(kinds, n_steps * layout.n_outputs)
    if dot == "packed with carries":
        products["carry"] = -(-n_steps // layout.words_per_carry) * layout.n_outputs
    return products


def _store(layout, is_avr):
    return "packed" if layout.is_packed and not is_avr else "plain"


def _dot(layout, is_avr):
    if _store(layout, is_avr) == "packed":
        return "packed with carries" if layout.carries else "packed"
    activation_bits = 8 * TYPE_BYTES[layout.activation_type]
    return f"{activation_bits} x {layout.bits} bits{', wide' if layout.has_wide_sum else ''}"


def _n_words(layout, is_avr):
    """Return the number of words of units that are encoded: of 8 on AVR, of 32 elsewhere."""
    return -(-layout.padded_units // (8 if is_avr else BLOCK_UNITS))
