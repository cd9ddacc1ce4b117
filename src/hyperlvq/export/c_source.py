"""The source file of a model's C: what fills the hand-written runtime."""

from itertools import chain
from textwrap import indent
from typing import Any

import numpy as np

from hyperlvq.export.ctext import (
    INDENT,
    constant,
    fill,
    float_literal,
    hex_words,
    indented,
    unsigned_literal,
    value_literals,
)
from hyperlvq.export.encoders import Run, ordered
from hyperlvq.export.layout import (
    BLOCK_UNITS,
    PACKED_UNITS,
    TYPE_BYTES,
    ComparisonLayout,
    Layout,
    scaling_columns,
    stored_biases,
    stored_weights,
)
from hyperlvq.export.learning import GLVQLearner, PerceptronLearner
from hyperlvq.export.plan import Plan

#: What reads so many bytes of an AVR's flash.
PROGRAM_READERS = {1: "pgm_read_byte", 2: "pgm_read_word", 4: "pgm_read_dword"}


def model_source(plan: Plan, layout: Layout | ComparisonLayout, fields: dict[str, Any]) -> str:
    """Return the C of a model that does not learn."""
    biases = value_literals(stored_biases(plan))
    fields = {
        **fields,
        "biases": constant(plan.name, f"{plan.name}_score", "biases", biases),
        "classes": _classes(plan, layout),
        "class_of_output": _class_of(plan, layout, "best"),
        "read_weight": _reader(plan.name, layout.weight_type),
    }
    fields["winner"] = fill("winner.c", fields)
    if isinstance(layout, ComparisonLayout):
        return _comparison_source(plan, layout, fields)
    fields |= {
        "weights": _weights(plan, layout),
        "half_bound": layout.words_per_carry * PACKED_UNITS * 255 * layout.highest_activation,
        "score_factor": f"{layout.step} * " if layout.step > 1 else "",
    }
    return _source(plan, layout, fields, "dot.c", "predict.c")


def learner_source(
    learner: PerceptronLearner | GLVQLearner, layout: Layout, fields: dict[str, Any]
) -> str:
    """Return the C of a model that learns."""
    plan, entries, rate = learner.plan, learner.prototypes, learner.rate
    numbers: dict[str, Any]
    if isinstance(learner, GLVQLearner):
        entries = entries.astype(np.float32)
        steps = {"slope": learner.slope, "rate": rate}
        numbers = {name: float_literal(np.float32(number)) for name, number in steps.items()}
    else:
        bits = learner.fraction_bits
        numbers = {"fraction_bits": bits, "scale": 1 << bits, "rate": rate}
    literals = value_literals(entries)
    fields = {
        **fields,
        **numbers,
        "classes": _classes(plan, layout),
        "class_of_output": _class_of(plan, layout, "output"),
        "prototypes": constant(plan.name, layout.entry_type, "prototypes", literals),
    }
    return _source(plan, layout, fields, "activate.c", f"learn_{learner.rule}.c")


def _source(plan, layout, fields, *endings):
    name, keys = plan.name, hex_words(plan.encoder.key_words(BLOCK_UNITS).T)
    fields = {
        **fields,
        **_scalings(plan, layout.scaling),
        **_encoding(layout, name),
        "keys": constant(name, "uint32_t", "keys", keys),
    }
    if plan.input != "float":
        fields |= _integer_level(plan, layout.scaling, fields)
    level = "level_float.c" if plan.input == "float" else "level_integer.c"
    files = ("start.c", level, "types.c", "encode.c", *endings)
    return "\n".join(fill(file, fields) for file in files)


def _encoding(layout, name):
    """Return what fills the function that counts signs in planes of bits and stores activations."""
    word, upper, limit = f"{name}_word", name.upper(), layout.limit
    planes = [f"plane{p}" for p in range(layout.n_planes)]
    starts = [f"({word})-1" if layout.first_count >> p & 1 else 0 for p in range(len(planes))]
    declared = (f"{word} {plane} = {start};" for plane, start in zip(planes, starts, strict=True))
    carried = [
        *(f"{upper}_ADD_ONE({plane}, one);" for plane in planes[:-1]),
        f"{planes[-1]} ^= one;",
    ]
    kept = ["inside"] * layout.is_odd + planes[: layout.n_clipped_planes]
    bits = [f"(({plane} & 1u) << {p})" if p else f"({plane} & 1u)" for p, plane in enumerate(kept)]
    value = f"\n{3 * INDENT}| ".join(bits)
    if layout.rule:
        value = f"{'' if layout.is_odd else '2 * '}(int)({value}) - {limit}"
    first, *others = (f"{upper}_SPREAD({plane})" for plane in kept)
    spread = [f"one = {first};", *(f"one |= {bit} << {p};" for p, bit in enumerate(others, 1))]
    return {
        "planes": indented(declared),
        "carry_from_plane_0": indented(carried, 2),
        "carry_from_plane_2": indented(carried[2:], 2),
        "clipping": indented(_clipping(layout, word, planes)) if layout.clips else "",
        "activation": value,
        "next_unit": indented((f"{plane} = ({word})({plane} >> 1);" for plane in kept), 2),
        "spread": indented(spread, 2),
        "next_four_units": indented((f"{plane} >>= 4;" for plane in kept), 2),
    }


def _clipping(layout, word, planes):
    """Yield the steps that turn a negative count to 0 and a high one to the limit."""
    *digits, sign = planes
    is_set = [layout.limit >> p & 1 for p in range(len(digits))]
    lowest = is_set.index(1)
    yield f"high = {digits[lowest]};"
    for plane, bit in zip(digits[lowest + 1 :], is_set[lowest + 1 :], strict=True):
        yield f"high {'&' if bit else '|'}= {plane};"
    yield f"high = ({word})(high & ~{sign});"
    yield f"inside = ({word})~(high | {sign});"
    for plane, bit in zip(digits[: layout.n_clipped_planes], is_set, strict=False):
        yield f"{plane} = ({plane} & inside) | high;" if bit else f"{plane} &= inside;"


def _scalings(plan, scaling):
    """Return the table of scalings, each stored once or by feature, and how one is found."""
    literals = [
        map(unsigned_literal, column)
        if column.dtype != bool and scaling.field_types[name].startswith("u")
        else value_literals(column)
        for name, column in scaling_columns(plan.encoder.scaling).items()
    ]
    rows = [f"{{{', '.join(row)}}}" for row in zip(*literals, strict=True)]
    distinct = list(dict.fromkeys(rows))
    stored = distinct if scaling.n_rows < len(rows) else rows
    text = constant(plan.name, f"{plan.name}_scaling", "scalings", stored)
    index = "0" if scaling.n_rows == 1 else "feature"
    if scaling.index_type:
        indices = (str(distinct.index(row)) for row in rows)
        text += constant(plan.name, scaling.index_type, "scaling_of", indices)
        index = _read_entry(plan.name, scaling.index_type, "scaling_of", "feature")
    return {
        "scaling_table": text,
        "scaling_index": index,
        "is_shared": scaling.n_rows == 1,
        "is_indexed": scaling.index_type,
    }


def _integer_level(plan, scaling, fields):
    """Return what fills the function that turns an integer into a level."""
    types, exact = scaling.field_types, plan.encoder.scaling
    fields = fields | vars(scaling)
    settling = fill("settle.c", fields) if scaling.remainder_bits else ""
    if scaling.is_mixed:
        settling = f"    if (scaling.settles) {{\n{indent(settling, INDENT)}    }}\n"
    has_offsets = "offset" in types
    return fields | {
        "multiplier_type": types["multiplier"],
        "unsigned_type": types["span"],
        "value_bits": np.iinfo(exact.dtype).bits,
        "has_offsets": has_offsets,
        "offset": "scaling.offset" if has_offsets else unsigned_literal(exact.offset[0]),
        "is_mixed": scaling.is_mixed,
        "settling": settling,
    }


def _weights(plan, layout):
    """Return the table of weights, in the order of flash."""
    padded = np.zeros((plan.n_outputs, layout.padded_units), dtype=np.int64)
    padded[:, : plan.n_units] = stored_weights(plan)
    firsts = range(0, layout.padded_units, BLOCK_UNITS)
    weights = np.concatenate([padded[:, first : first + BLOCK_UNITS].ravel() for first in firsts])
    if layout.is_packed:
        words = hex_words(weights.astype(np.uint8).view("<u4"))
        return constant(plan.name, "uint32_t", "weights", words)
    return constant(plan.name, layout.weight_type, "weights", value_literals(weights))


def _comparison_source(plan, layout, fields):
    name, encoder = plan.name, plan.encoder
    thresholds = value_literals(ordered(encoder.thresholds))
    weights = value_literals(plan.weights.T)
    runs = [f"{{{run.n_units}u, {run.n_comparisons}}}" for run in encoder.runs]
    activations = chain.from_iterable(_activations(run, plan.factor) for run in encoder.runs)
    fields |= {
        "number_type": "int32_t" if plan.input == "float" else f"{name}_value",
        "runs": constant(name, f"{name}_run", "runs", runs),
        "activations": constant(name, "uint8_t", "activations", map(str, activations)),
        "features": constant(name, layout.feature_type, "features", map(str, encoder.features)),
        "thresholds": constant(name, layout.threshold_type, "thresholds", thresholds),
        "weights": constant(name, layout.weight_type, "weights", weights),
        "read_feature": _reader(name, layout.feature_type),
        "read_threshold": PROGRAM_READERS[TYPE_BYTES[layout.threshold_type]],
    }
    return "\n".join(fill(file, fields) for file in ("start.c", "compare.c"))


def _activations(run: Run, factor: int) -> list[int]:
    """Return the activations of a run as the device has them.

    They are in the order of numbers whose bits, the first comparison's the highest, tell which
    features reach their thresholds.
    """
    lowest, holding_below = min(run.activations), 2 ** (run.n_comparisons - run.n_above) - 1
    n_holding = [(n ^ holding_below).bit_count() for n in range(2**run.n_comparisons)]
    return [factor * (run.activations[n] - lowest) for n in n_holding]


def _classes(plan, layout):
    return constant(plan.name, layout.class_type, "classes", map(str, plan.output_classes))


def _class_of(plan, layout, output):
    """Return the expression for an output's class."""
    per_class = plan.n_outputs // plan.n_classes
    index = output if per_class == 1 else f"({output} / {per_class}u)"
    if layout.has_class_table:
        index = _read_entry(plan.name, layout.class_type, "classes", output)
    return f"({layout.class_type}){index}"


def _read_entry(name: str, integer_type: str, table_name: str, index: str) -> str:
    """Return the expression that reads an entry of a table of bytes or of 16-bit words."""
    return f"{_reader(name, integer_type)}(&{name}_{table_name}[{index}])"


def _reader(name, integer_type):
    return f"{name.upper()}_READ_{'BYTE' if TYPE_BYTES[integer_type] == 1 else 'WORD'}"
