"""The C that every exported model has: what a header says, types, tables, encoding."""

from collections.abc import Mapping

import numpy as np

from hyperlvq.export.counting import encode_body
from hyperlvq.export.ctext import comment, constant, hex_words, macro_list, runtime, string_literal
from hyperlvq.export.layout import MOST_WORDS, Layout
from hyperlvq.export.plan import Plan
from hyperlvq.export.words import avr_complaint, names, read_entry, unsigned_type

FIXED_STEP = """\
 *   scores       each output multiplies the activations by its weights, and the highest wins.
 * Units are taken in blocks of 32, so that memory does not grow with their number."""
LEARNT_STEP = """\
 *   distances    the prototype closest to the activations gives the class.
 * Units are encoded in blocks of 32."""


def header_words(plan: Plan) -> dict[str, str]:
    """Return what a header says of features and classes."""
    features = zip(plan.feature_names, plan.feature_ranges, strict=True)
    return {
        "unit": "in the units of the training data",
        "nan_words": ", and NaN as the smallest" if plan.input == "float" else "",
        "feature_lines": "\n".join(
            f" *   x[{i}]  {comment(name)}: {low:.9g} to {high:.9g}"
            for i, (name, (low, high)) in enumerate(features)
        ),
        "class_lines": "\n".join(
            f" *   {i}  {comment(name)}" for i, name in enumerate(plan.class_names)
        ),
        "class_names": macro_list(
            f"{plan.name.upper()}_CLASS_NAMES", map(string_literal, plan.class_names)
        ),
    }


def start(layout: Layout, table_bytes: Mapping[str, int]) -> str:
    """Return the source's beginning: how flash is read, which has such tables, and types."""
    plan = layout.plan
    return runtime(
        "start.c",
        **names(plan),
        last_step=LEARNT_STEP if layout.learns else FIXED_STEP,
        avr_limit=_avr_limit(plan.name, table_bytes),
        level_type=unsigned_type(plan.n_units),
    )


def _avr_limit(name, table_bytes):
    complaint = avr_complaint(table_bytes)
    return f'#error "{name} does not fit an AVR: {complaint}"\n' if complaint else ""


def types(layout: Layout) -> str:
    """Return the types of activations and weights."""
    if layout.is_packed:
        sizes = {"padded_units": layout.padded_units, "n_words": MOST_WORDS}
        return runtime("types_packed.c", **names(layout.plan), **sizes)
    return runtime(
        "types_plain.c",
        **names(layout.plan),
        padded_units=layout.padded_units,
        activation_type=unsigned_type(layout.highest_activation),
        weight_type=weight_type(layout),
    )


def weight_type(layout: Layout) -> str:
    """Return the type of one weight."""
    return "uint8_t" if layout.plan.bits == 8 else "int16_t"


def encode(layout: Layout) -> str:
    """Return the keys and the function that encodes a word of units."""
    return runtime(
        "encode.c",
        **names(layout.plan),
        keys=constant(layout.plan.name, "uint32_t", "keys", hex_words(layout.keys)),
        activation_words=f"0 to {layout.highest_activation}",
        encode_body=encode_body(layout),
    )


def class_of(plan: Plan, output: str) -> tuple[str, str]:
    """Return a table of classes if one is needed, and the expression for an output's class."""
    class_type = unsigned_type(plan.n_classes - 1)
    per_class, rest = divmod(plan.n_outputs, plan.n_classes)
    if rest == 0 and np.array_equal(plan.output_classes, np.arange(plan.n_outputs) // per_class):
        index = output if per_class == 1 else f"({output} / {per_class}u)"
        return "", f"({class_type}){index}"
    classes = constant(plan.name, class_type, "classes", map(str, plan.output_classes))
    return (
        f"\n/* The class of each output. */\n{classes}",
        f"({class_type}){read_entry(plan, class_type, 'classes', output)}",
    )
