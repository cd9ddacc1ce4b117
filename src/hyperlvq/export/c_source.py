"""The source file of a model's C: what fills the hand-written runtime."""

from textwrap import indent

import numpy as np

from hyperlvq.export.c_counting import encode_body
from hyperlvq.export.ctext import (
    INDENT,
    constant,
    fill,
    float_literal,
    hex_words,
    unsigned_literal,
    value_literals,
)
from hyperlvq.export.layout import (
    BLOCK_UNITS,
    PACKED_UNITS,
    Layout,
    scaling_columns,
    stored_biases,
    stored_weights,
)
from hyperlvq.export.learning import GLVQLearner, PerceptronLearner
from hyperlvq.export.plan import Plan

FIXED_STEP = """\
 *   scores       each output multiplies the activations by its weights, and the highest wins.
 * Units are taken in blocks of 32, so that memory does not grow with their number."""
LEARNT_STEP = """\
 *   distances    the prototype closest to the activations gives the class.
 * Units are encoded in blocks of 32."""


def model_source(plan: Plan, layout: Layout, fields: dict[str, object]) -> str:
    """Return the C of a model that does not learn."""
    kind = "packed" if layout.is_packed else "plain"
    fields = _shared(plan, layout, fields) | _weights(plan, layout)
    fields |= _dot(layout, plan.name) | _class_of(plan, layout, "best")
    fields["dot_plain"] = fill("dot_plain.c", fields).rstrip("\n")
    files = ("start.c", _level_file(plan), f"types_{kind}.c", "encode.c", f"dot_{kind}.c")
    return "\n".join(fill(file, fields) for file in (*files, "predict.c"))


def learner_source(
    learner: PerceptronLearner | GLVQLearner, layout: Layout, fields: dict[str, object]
) -> str:
    """Return the C of a model that learns."""
    plan = learner.plan
    fields = (
        _shared(plan, layout, fields) | _class_of(plan, layout, "output") | _rule(learner, layout)
    )
    files = ("start.c", _level_file(plan), "types_learnt.c", "encode.c", "activate.c")
    return "\n".join(fill(file, fields) for file in (*files, f"learn_{learner.rule}.c"))


def _shared(plan, layout, fields):
    """Return what fills the parts that all models have: tables of keys and scalings, encoding."""
    complaint = layout.avr_complaint
    refusal = f'#error "{plan.name} does not fit an AVR: {complaint}"\n' if complaint else ""
    keys = hex_words(plan.key_words(BLOCK_UNITS).T)
    return {
        **fields,
        **_scaling_tables(plan, layout.scaling),
        **(_integer_level(plan, layout, fields) if plan.input != "float" else {}),
        "last_step": LEARNT_STEP if layout.rule else FIXED_STEP,
        "avr_limit": refusal,
        "keys": constant(plan.name, "uint32_t", "keys", keys),
        "encode_body": encode_body(layout, plan.name),
    }


def _level_file(plan):
    return "level_float.c" if plan.input == "float" else "level_integer.c"


def _scaling_tables(plan, scaling):
    """Return the table of scalings, each stored once or by feature, and how one is found."""
    columns = scaling_columns(plan.scaling).items()
    literals = [_field_literals(scaling.field_types[name], column) for name, column in columns]
    rows = [f"{{{', '.join(row)}}}" for row in zip(*literals, strict=True)]
    row_type, index, shared = f"{plan.name}_scaling", "feature", ""
    distinct = list(dict.fromkeys(rows))
    stored = distinct if scaling.n_rows < len(rows) else rows
    text = constant(plan.name, row_type, "scalings", stored)
    if scaling.index_type:
        indices = (str(distinct.index(row)) for row in rows)
        text = (
            "/* The scalings that features share, and which one each has. */\n"
            + text
            + constant(plan.name, scaling.index_type, "scaling_of", indices)
        )
        index = _read_entry(plan.name, scaling.index_type, "scaling_of", "feature")
    elif scaling.n_rows == 1:
        index, shared = "0", "    (void)feature; /* all features share a scaling */\n"
    return {"scaling_table": text, "scaling_index": index, "one_for_all": shared}


def _field_literals(field_type, column):
    if column.dtype == bool:
        return map(str, column.astype(int))
    return map(unsigned_literal, column) if field_type[0] == "u" else value_literals(column)


def _integer_level(plan, layout, fields):
    """Return what fills the function that turns an integer into a level."""
    scaling, types = layout.scaling, layout.scaling.field_types
    remainder_type = f"int{scaling.remainder_bits}_t"
    settles = scaling.remainder_bits > 0
    settling = fill("settle.c", {**fields, "remainder_type": remainder_type}) if settles else ""
    if scaling.is_mixed:
        settling = f"    if (scaling.settles) {{\n{indent(settling, INDENT)}    }}\n"
    has_offsets = "offset" in types
    return {
        "multiplier_type": types["multiplier"],
        "offset_field": f"    {types['offset']} offset;\n" if has_offsets else "",
        "settles_field": f"    {types['settles']} settles;\n" if scaling.is_mixed else "",
        "unsigned_type": types["span"],
        "product_type": f"uint{scaling.product_bits}_t",
        "value_bits": np.iinfo(plan.scaling.dtype).bits,
        "offset": "scaling.offset" if has_offsets else unsigned_literal(plan.scaling.offset[0]),
        "shift": scaling.shift,
        "exactness": "come at most one off, and the remainder settles it"
        if settles
        else "that were checked at every level",
        "settle_declaration": f"    {remainder_type} span, remainder;\n" if settles else "",
        "settle_code": settling,
    }


def _weights(plan, layout):
    """Return the tables of weights, in the order of flash, and of what is taken off scores."""
    padded = np.zeros((plan.n_outputs, layout.padded_units), dtype=np.int64)
    padded[:, : plan.n_units] = stored_weights(plan)
    firsts = range(0, layout.padded_units, BLOCK_UNITS)
    weights = np.concatenate([padded[:, first : first + BLOCK_UNITS].ravel() for first in firsts])
    if layout.is_packed:
        stored, literals = "uint32_t", hex_words(weights.astype(np.uint8).view("<u4"))
        words = ", four to a word, each plus 128"
    else:
        stored, literals = layout.weight_type, value_literals(weights)
        words = ", each plus 128" if plan.bits == 8 else ""
    biases = value_literals(stored_biases(plan))
    return {
        "weight_words": words,
        "weights": constant(plan.name, stored, "weights", literals),
        "biases": constant(plan.name, f"{plan.name}_score", "biases", biases),
    }


def _dot(layout, name):
    """Return what fills the product of activations and weights."""
    words = layout.words_per_carry
    body = fill("dot_carried.c" if layout.carries else "dot_words.c", vars(layout))
    reader = "READ_BYTE" if layout.bits == 8 else "READ_WORD"
    return {
        "half_bound": words * PACKED_UNITS * 255 * layout.highest_activation,
        "dot_body": body.rstrip("\n"),
        "read_weight": f"{name.upper()}_{reader}",
        "score_factor": f"{layout.step} * " if layout.step > 1 else "",
    }


def _class_of(plan, layout, output):
    """Return a table of classes if one is needed, and the expression for an output's class."""
    if layout.has_class_table:
        classes = constant(plan.name, layout.class_type, "classes", map(str, plan.output_classes))
        table = f"\n/* The class of each output. */\n{classes}"
        index = _read_entry(plan.name, layout.class_type, "classes", output)
    else:
        per_class = plan.n_outputs // plan.n_classes
        table, index = "", output if per_class == 1 else f"({output} / {per_class}u)"
    return {"class_table": table, "class_of_output": f"({layout.class_type}){index}"}


def _read_entry(name: str, integer_type: str, table_name: str, index: str) -> str:
    """Return the expression that reads an entry of a table of bytes or of 16-bit words."""
    reader = "READ_BYTE" if integer_type == "uint8_t" else "READ_WORD"
    return f"{name.upper()}_{reader}(&{name}_{table_name}[{index}])"


def _rule(learner, layout):
    """Return what fills the rule by which a device learns."""
    is_float = layout.entry_type == "float"
    entries = learner.prototypes.astype(np.float32) if is_float else learner.prototypes
    prototypes = constant(
        learner.plan.name, layout.entry_type, "prototypes", value_literals(entries)
    )
    fields = {"prototypes": f"/* What learning starts from. */\n{prototypes}"}
    if isinstance(learner, GLVQLearner):
        numbers = {"slope": learner.slope, "rate": learner.rate}
        return fields | {name: float_literal(np.float32(n)) for name, n in numbers.items()}
    bits = learner.fraction_bits
    return fields | {"fraction_bits": bits, "scale": 1 << bits, "rate": learner.rate}
