"""The source file of a model's C: what fills the hand-written runtime, and pieces of C text.

Literals read back exactly, comments stay comments.
"""

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from itertools import chain
from string import Template
from textwrap import indent
from typing import Any

import numpy as np

from hyperlvq.export.encoders import UnitRun, ordered
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

LINE_LENGTH = 96
INDENT = "    "
#: What NaN becomes on a device, below all other floats.
LOWEST = np.iinfo(np.int32).min
CONDITION = re.compile(
    r"^\?if (.*?)\n(.*?)(?:^\?else\n(.*?))?^\?end\n", flags=re.MULTILINE | re.DOTALL
)
#: What reads so many bytes of an AVR's flash.
PROGRAM_READERS = {1: "pgm_read_byte", 2: "pgm_read_word", 4: "pgm_read_dword"}


def fill(file: str, fields: Mapping[str, Any]) -> str:
    """Return a file of the hand-written runtime with its `${fields}` filled in.

    Lines between `?if field and not other` and `?end` are there if the fields are so, those from
    `?else` on if they are not.
    """

    def kept(found):
        terms = [term.split() for term in found[1].split(" and ")]
        holds = all(bool(fields[term[-1]]) != (term[0] == "not") for term in terms)
        return found[2] if holds else found[3] or ""

    text = files("hyperlvq.export").joinpath("runtime", file).read_text(encoding="utf-8")
    return Template(CONDITION.sub(kept, text)).substitute(fields)


def source(
    exported: Plan | PerceptronLearner | GLVQLearner,
    layout: Layout | ComparisonLayout,
    fields: dict[str, Any],
) -> str:
    """Return the C of a model."""
    plan = exported if isinstance(exported, Plan) else exported.plan
    name, compares = plan.name, isinstance(layout, ComparisonLayout)
    level = f"level_{'float' if plan.input == 'float' else 'integer'}.c"
    names = ["start.c"] if compares else ["start.c", level, "types.c", "encode.c"]
    fields = fields | {
        "classes": constant(name, layout.class_type, "classes", map(str, plan.output_classes)),
        "class_of_output": _class_of(plan, layout),
        **(_comparisons(plan, layout) if compares else _levels_and_signs(plan, layout)),
    }
    if not isinstance(exported, Plan):
        fields |= _learning(exported, layout)
        names += ["activate.c", f"learn_{exported.rule}.c"]
    else:
        biases = value_literals(stored_biases(plan))
        fields |= {
            "biases": constant(name, f"{name}_score", "biases", biases),
            "weights": _weights(plan, layout),
            "read_weight": _reader(name, layout.weight_type),
        }
        fields["winner"] = fill("winner.c", fields)
        names += ["compare.c"] if compares else ["dot.c", "predict.c"]
    return "\n".join(fill(each, fields) for each in names)


def _learning(learner, layout):
    """Return what fills the rule of a device that learns."""
    entries, numbers = learner.prototypes, {"rate": learner.rate}
    if isinstance(learner, GLVQLearner):
        entries, numbers = entries.astype(np.float32), numbers | {"slope": learner.slope}
        numbers = {name: float_literal(np.float32(number)) for name, number in numbers.items()}
    else:
        bits = learner.fraction_bits
        numbers |= {"fraction_bits": bits, "scale": 1 << bits}
    literals = value_literals(entries)
    prototypes = constant(learner.plan.name, layout.entry_type, "prototypes", literals)
    return numbers | {"prototypes": prototypes}


def _levels_and_signs(plan, layout):
    """Return what fills the functions that make activations by levels and signs."""
    keys = hex_words(plan.encoder.key_words(BLOCK_UNITS).T)
    return {
        **vars(layout.scaling),
        **_scalings(plan, layout.scaling),
        **(_integer_level(plan, layout.scaling) if plan.input != "float" else {}),
        **_encoding(layout, plan.name),
        "keys": constant(plan.name, "uint32_t", "keys", keys),
        "half_bound": layout.words_per_carry * PACKED_UNITS * 255 * layout.highest_activation,
        "score_factor": f"{layout.step} * " if layout.step > 1 else "",
    }


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
        "planes": _indented(declared),
        "carry_from_plane_0": _indented(carried, 2),
        "carry_from_plane_2": _indented(carried[2:], 2),
        "clipping": _indented(_clipping(layout, word, planes)) if layout.clips else "",
        "activation": value,
        "next_unit": _indented((f"{plane} = ({word})({plane} >> 1);" for plane in kept), 2),
        "spread": _indented(spread, 2),
        "next_four_units": _indented((f"{plane} >>= 4;" for plane in kept), 2),
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
    index = "0" if scaling.is_shared else "feature"
    if scaling.index_type:
        indices = (str(distinct.index(row)) for row in rows)
        text += constant(plan.name, scaling.index_type, "scaling_of", indices)
        index = _read_entry(plan.name, scaling.index_type, "scaling_of", "feature")
    return {"scaling_table": text, "scaling_index": index}


def _integer_level(plan, scaling):
    """Return what fills the function that turns an integer into a level."""
    exact = plan.encoder.scaling
    names = {"name": plan.name, "NAME": plan.name.upper()}
    settling = fill("settle.c", vars(scaling) | names) if scaling.remainder_bits else ""
    if scaling.is_mixed:
        settling = f"    if (scaling.settles) {{\n{indent(settling, INDENT)}    }}\n"
    return {
        "unsigned_type": scaling.field_types["span"],
        "value_bits": np.iinfo(exact.dtype).bits,
        "offset": "scaling.offset" if scaling.has_offsets else unsigned_literal(exact.offset[0]),
        "settling": settling,
    }


def _weights(plan, layout):
    """Return the table of weights, in the order of flash."""
    if isinstance(layout, ComparisonLayout):
        weights = plan.weights.T
    else:
        padded = np.zeros((plan.n_outputs, layout.padded_units), dtype=np.int64)
        padded[:, : plan.n_units] = stored_weights(plan)
        firsts = range(0, layout.padded_units, BLOCK_UNITS)
        weights = np.concatenate([padded[:, each : each + BLOCK_UNITS].ravel() for each in firsts])
        if layout.is_packed:
            words = hex_words(weights.astype(np.uint8).view("<u4"))
            return constant(plan.name, "uint32_t", "weights", words)
    return constant(plan.name, layout.weight_type, "weights", value_literals(weights))


def _comparisons(plan, layout):
    """Return what fills the function that compares features with thresholds."""
    name, encoder = plan.name, plan.encoder
    fills = {"medians": "", "empty_class": ""}
    if plan.medians is not None:
        # NaN stays the smallest, which no float is
        codes = np.where(np.isnan(plan.medians), LOWEST, ordered(plan.medians))
        fills["medians"] = constant(name, "int32_t", "medians", value_literals(codes))
    if plan.empty_scores is not None:
        fills["empty_class"] = plan.output_classes[plan.empty_scores.argmax()]
    thresholds = value_literals(ordered(encoder.thresholds))
    runs = [f"{{{run.n_units}u, {run.n_comparisons}}}" for run in encoder.runs]
    activations = chain.from_iterable(_activations(run, plan.factor) for run in encoder.runs)
    return {
        **fills,
        "number_type": "int32_t" if plan.input == "float" else f"{name}_value",
        "runs": constant(name, f"{name}_run", "runs", runs),
        "activations": constant(name, "uint8_t", "activations", map(str, activations)),
        "features": constant(name, layout.feature_type, "features", map(str, encoder.features)),
        "thresholds": constant(name, layout.threshold_type, "thresholds", thresholds),
        "read_feature": _reader(name, layout.feature_type),
        "read_threshold": PROGRAM_READERS[TYPE_BYTES[layout.threshold_type]],
    }


def _activations(run: UnitRun, factor: int) -> list[int]:
    """Return the activations of a run as the device has them.

    They are in the order of numbers whose bits, the first comparison's the highest, tell which
    features reach their thresholds.
    """
    lowest, holding_below = min(run.activations), 2 ** (run.n_comparisons - run.n_above) - 1
    n_holding = [(n ^ holding_below).bit_count() for n in range(2**run.n_comparisons)]
    return [factor * (run.activations[n] - lowest) for n in n_holding]


def _class_of(plan, layout):
    """Return the expression for an output's class."""
    output, per_class = "output" if layout.rule else "best", plan.n_outputs // plan.n_classes
    index = output if per_class == 1 else f"({output} / {per_class}u)"
    if layout.has_class_table:
        index = _read_entry(plan.name, layout.class_type, "classes", output)
    return f"({layout.class_type}){index}"


def _read_entry(name, integer_type, table_name, index):
    """Return the expression that reads an entry of a table of bytes or of 16-bit words."""
    return f"{_reader(name, integer_type)}(&{name}_{table_name}[{index}])"


def _reader(name, integer_type):
    return f"{name.upper()}_READ_{'BYTE' if TYPE_BYTES[integer_type] == 1 else 'WORD'}"


def float_literal(value: np.float32) -> str:
    """Return the shortest literal that reads back to the same float; NAN is that of <math.h>."""
    if np.isnan(value):
        return "NAN"
    text = np.format_float_positional(value, unique=True, trim="0")
    if len(text) > 16:
        text = np.format_float_scientific(value, unique=True, trim="0")
    return f"{text}f"


def integer_literal(value: int) -> str:
    """Return a literal of the width its value needs, also where int has 16 bits."""
    value = int(value)
    if -(2**15) < value < 2**15:
        return str(value)
    if value in (-(2**15), -(2**31)):  # which without the minus sign are too large
        return f"({integer_literal(value + 1)} - 1)"
    width = 32 if abs(value) < 2**31 else 64
    return f"{'-' if value < 0 else ''}INT{width}_C({abs(value)})"


def value_literals(values: np.ndarray) -> list[str]:
    """Return literals of floats or of signed integers."""
    return list(map(float_literal if values.dtype.kind == "f" else integer_literal, values.ravel()))


def unsigned_literal(value: int) -> str:
    """Return an unsigned literal of the width its value needs."""
    value = int(value)
    if value < 2**16:
        return f"{value}u"
    return f"UINT32_C({value})" if value < 2**32 else f"UINT64_C({value})"


def hex_words(values: np.ndarray) -> list[str]:
    """Return 32-bit words as literals."""
    return [f"0x{int(value):08X}" for value in values.ravel()]


def table(literals: Iterable[str]) -> str:
    """Return the lines of an initialiser."""
    lines, line = [], INDENT[:-1]
    for literal in literals:
        if len(line) + len(literal) + 2 > LINE_LENGTH:
            lines.append(line)
            line = INDENT[:-1]
        line += f" {literal},"
    return "\n".join([*lines, line])


def constant(name: str, entry_type: str, table_name: str, literals: Iterable[str]) -> str:
    """Return the definition of a table in flash."""
    entries = list(literals)
    head = f"static const {entry_type} {name}_{table_name}[{len(entries)}] {name.upper()}_FLASH"
    return f"{head} = {{\n{table(entries)}\n}};\n"


def comment(text: str) -> str:
    """Return text that neither ends a comment nor leaves its line."""
    printable = "".join(char if char.isprintable() else "?" for char in text)
    # Trigraphs last: the marks before them become question marks.
    for mark, harmless in (("\\", "?"), ("*/", "??"), ("/*", "??"), ("??/", "?!/")):
        printable = printable.replace(mark, harmless)
    return printable


def string_literal(text: str) -> str:
    r"""Return a literal of the text in UTF-8; octal escapes run into no digit that follows."""
    escaped = re.sub(rb'["\\?]', rb"\\\g<0>", text.encode(errors="replace"))  # ? as in trigraphs
    ascii_only = re.sub(rb"[^ -~]", lambda byte: b"\\%03o" % ord(byte[0]), escaped)
    return f'"{ascii_only.decode()}"'


def _indented(lines, depth=1):
    return indent("\n".join(lines), depth * INDENT)
