"""A plan as C99: a header, a source, a README with the compile lines, and a self-test."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.export.counting import encode_body
from hyperlvq.export.ctext import (
    comment,
    constant,
    float_literal,
    hex_words,
    indented,
    integer_literal,
    runtime,
    table,
    unsigned_literal,
)
from hyperlvq.export.layout import MOST_WORDS, PACKED_UNITS, Layout
from hyperlvq.export.plan import Plan, make_plan
from hyperlvq.export.readme import readme
from hyperlvq.export.scaling import FloatScaling
from hyperlvq.export.words import avr_complaint, names, unsigned_type
from hyperlvq.writing import replacing


def to_c(
    model: Any,
    folder: str | Path,
    *,
    name: str = "model",
    input: str = "float",  # noqa: A002
    bits: int = 8,
    vectors: Any = None,
) -> list[Path]:
    """Write a fitted model as C99 and return the files written, all of them or none.

    Parameters
    ----------
    model : Pipeline or Plan
        A fitted pipeline as for `make_plan`, or a plan, which has its own name, input and bits.
    folder : path
        Where NAME.h, NAME.c and README.md go; made if it does not exist.
    name, input, bits
        As for `make_plan`.
    vectors : array-like of shape (n_samples, n_features), optional
        Raw samples for NAME_selftest.c, whose main returns 0 when the C gives them the plan's
        classes.

    Returns
    -------
    files : list of Path
    """
    plan = model if isinstance(model, Plan) else make_plan(model, name=name, input=input, bits=bits)
    texts = render(plan, vectors)
    folder = _made_folder(Path(folder))
    with ExitStack() as parts:
        for file, text in texts.items():
            part = parts.enter_context(replacing(folder / file))
            part.write_text(text, encoding="utf-8", newline="\n")
    return [folder / file for file in texts]


def render(plan: Plan, vectors: Any = None) -> dict[str, str]:
    """Return the text of every file by its name."""
    layout = Layout(plan)
    texts = {f"{plan.name}.h": _header(plan), f"{plan.name}.c": _source(layout)}
    if vectors is not None:
        texts[f"{plan.name}_selftest.c"] = _selftest(plan, vectors)
    return texts | {"README.md": readme(layout, has_selftest=vectors is not None)}


def _made_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made a folder: {error.strerror}") from None
    return folder


def _header(plan):
    features = zip(plan.feature_names, plan.feature_ranges, strict=True)
    return runtime(
        "model.h",
        **names(plan),
        unit="in the units of the training data",
        nan_words=", and NaN as the smallest" if plan.input == "float" else "",
        feature_lines="\n".join(
            f" *   x[{i}]  {comment(name)}: {low:.9g} to {high:.9g}"
            for i, (name, (low, high)) in enumerate(features)
        ),
        class_lines="\n".join(
            f" *   {i}  {comment(name)}" for i, name in enumerate(plan.class_names)
        ),
    )


def _source(layout):
    dots = _dot_packed(layout) if layout.is_packed else _dot_plain(layout)
    parts = [_start(layout), _level(layout.plan), _types(layout), _encode(layout), dots]
    return "\n".join([*parts, _predict(layout)])


def _start(layout):
    plan = layout.plan
    return runtime(
        "start.c",
        **names(plan),
        padded_units=layout.padded_units,
        avr_limit=_avr_limit(layout),
        level_type=unsigned_type(plan.n_units),
        score_type=f"int{layout.score_bits}_t",
    )


def _avr_limit(layout):
    complaint = avr_complaint(layout)
    return f'#error "{layout.plan.name} does not fit an AVR: {complaint}"\n' if complaint else ""


def _types(layout):
    if layout.is_packed:
        return runtime("types_packed.c", **names(layout.plan))
    return runtime(
        "types_plain.c",
        **names(layout.plan),
        activation_type=unsigned_type(layout.highest_activation),
        weight_type=_weight_type(layout),
    )


def _weight_type(layout):
    return "uint8_t" if layout.plan.bits == 8 else "int16_t"


def _encode(layout):
    return runtime(
        "encode.c",
        **names(layout.plan),
        keys=constant(layout.plan.name, "uint32_t", "keys", hex_words(layout.keys)),
        activation_words=f"0 to {layout.highest_activation}",
        encode_body=encode_body(layout),
    )


def _dot_packed(layout):
    words = layout.words_per_carry
    bound = words * PACKED_UNITS * 255 * layout.highest_activation
    plain = _dot_plain(layout).rstrip("\n")
    packed = runtime(
        "dot_packed.c",
        **names(layout.plan),
        half_bound=bound,
        dot_body=_dot_body(carries=words < MOST_WORDS, words=words),
    )
    return f"#if defined(__AVR__)\n{plain}\n#else\n{packed}#endif\n"


def _dot_body(carries, words):
    lines = ["uint32_t sum = 0;"]
    if carries:
        lines.append("uint32_t total = 0;")
    lines += [
        "",
        "do {",
        "    const uint32_t four = *weights++;",
        "",
        "    sum += *activations++ * (four & even);",
        "    sum += *activations++ * ((four >> 8) & even);",
    ]
    if carries:
        lines += [
            f"    if (words % {words} == 1) {{",
            "        total += sum >> 16;",
            "        sum = 0;",
            "    }",
        ]
    lines += ["} while (--words);", "return total;" if carries else "return sum >> 16;"]
    return indented(lines)


def _dot_plain(layout):
    reader = "READ_BYTE" if layout.plan.bits == 8 else "READ_WORD"
    return runtime(
        "dot_plain.c",
        **names(layout.plan),
        dot_bound=layout.largest_dot,
        sum_type=_sum_type(layout),
        weight_type=_weight_type(layout),
        read_weight=f"{layout.plan.name.upper()}_{reader}",
    )


def _sum_type(layout):
    if layout.plan.bits == 8:
        return "uint16_t" if layout.largest_dot < 2**16 else "uint32_t"
    return "int32_t" if layout.largest_dot < 2**31 else "int64_t"


def _predict(layout):
    plan = layout.plan
    storage = "uint32_t" if layout.is_packed else _weight_type(layout)
    literals = hex_words if layout.is_packed else lambda values: map(integer_literal, values)
    class_table, class_of_best = _class_of_best(plan)
    return runtime(
        "predict.c",
        **names(plan),
        weight_words=", four to a word, each plus 128"
        if layout.is_packed
        else (", each plus 128" if plan.bits == 8 else ""),
        weights=constant(plan.name, storage, "weights", literals(layout.weights)),
        starts=constant(
            plan.name, f"{plan.name}_score", "starts", map(integer_literal, layout.starts)
        ),
        step=f"{layout.step} * " if layout.step > 1 else "",
        class_table=class_table,
        class_of_best=class_of_best,
    )


def _class_of_best(plan):
    """Return the table of classes if one is needed, and the expression for the best's class."""
    class_type = unsigned_type(plan.n_classes - 1)
    per_class, rest = divmod(plan.n_outputs, plan.n_classes)
    if rest == 0 and np.array_equal(plan.output_classes, np.arange(plan.n_outputs) // per_class):
        best = "best" if per_class == 1 else f"(best / {per_class}u)"
        return "", f"({class_type}){best}"
    classes = constant(plan.name, class_type, "classes", map(str, plan.output_classes))
    return (
        f"\n/* The class of each output. */\n{classes}",
        f"({class_type}){_read(plan, class_type, 'classes', 'best')}",
    )


def _level(plan):
    scaling = plan.scaling
    if isinstance(scaling, FloatScaling):
        rows = np.column_stack([scaling.minimum, scaling.scale])
        literals = [f"{{{float_literal(low)}, {float_literal(scale)}}}" for low, scale in rows]
        return runtime("level_float.c", **names(plan), **_scaling_tables(plan, literals))
    return _integer_level(plan, scaling)


def _integer_level(plan, scaling):
    has_offsets = len(np.unique(scaling.offset)) > 1
    settles = bool(scaling.settles.any())
    is_mixed = settles and not scaling.settles.all()
    columns = [map(unsigned_literal, scaling.multiplier)]
    if has_offsets:
        columns.append(map(unsigned_literal, scaling.offset))
    columns += [map(unsigned_literal, scaling.span), map(integer_literal, scaling.minimum)]
    if is_mixed:
        columns.append(map(str, scaling.settles.astype(int)))
    literals = [f"{{{', '.join(row)}}}" for row in zip(*columns, strict=True)]
    remainder_type = f"int{scaling.remainder_width}_t"
    return runtime(
        "level_integer.c",
        **names(plan),
        **_scaling_tables(plan, literals),
        multiplier_type=unsigned_type(int(scaling.multiplier.max())),
        offset_field=f"    uint{scaling.width}_t offset;\n" if has_offsets else "",
        settles_field="    uint8_t settles;\n" if is_mixed else "",
        unsigned_type=f"u{names(plan)['value_type']}",
        product_type=f"uint{scaling.width}_t",
        value_bits=np.iinfo(scaling.dtype).bits,
        offset="scaling.offset" if has_offsets else unsigned_literal(scaling.offset[0]),
        shift=scaling.shift,
        exactness="come at most one off, and the remainder settles it"
        if settles
        else "that were checked at every level",
        settle_declaration=f"    {remainder_type} span, remainder;\n" if settles else "",
        settle_code=_settling(plan, remainder_type, is_mixed) if settles else "",
    )


def _settling(plan, remainder_type, is_mixed):
    upper = plan.name.upper()
    lines = [
        f"span = ({remainder_type})scaling.span;",
        f"remainder = 2 * (({remainder_type}){upper}_UNITS * ({remainder_type})distance",
        f"                 - ({remainder_type})level * span);",
        "if (remainder > span || (remainder == span && (level & 1u))) {",
        "    level++;",
        "} else if (remainder < -span || (remainder == -span && (level & 1u))) {",
        "    level--;",
        "}",
    ]
    if is_mixed:
        lines = ["if (scaling.settles) {", *(f"    {line}" for line in lines), "}"]
    return indented(lines) + "\n"


def _scaling_tables(plan, literals):
    """Return the table of distinct scalings, and of each feature's index if that is smaller."""
    distinct = list(dict.fromkeys(literals))
    scaling = f"{plan.name}_scaling"
    if len(distinct) == 1:
        shared = "    (void)feature; /* all features share a scaling */\n"
        text = constant(plan.name, scaling, "scalings", distinct)
        return {"scaling_table": text, "scaling_index": "0", "one_for_all": shared}
    # An index takes a byte or two, a scaling six or more.
    if len(distinct) > 0.75 * len(literals):
        text = constant(plan.name, scaling, "scalings", literals)
        return {"scaling_table": text, "scaling_index": "feature", "one_for_all": ""}
    index_type = unsigned_type(len(distinct) - 1)
    indices = [str(distinct.index(literal)) for literal in literals]
    return {
        "scaling_table": "/* The scalings that features share, and which one each has. */\n"
        + constant(plan.name, scaling, "scalings", distinct)
        + constant(plan.name, index_type, "scaling_of", indices),
        "scaling_index": _read(plan, index_type, "scaling_of", "feature"),
        "one_for_all": "",
    }


def _read(plan, integer_type, table_name, index):
    """Return the expression that reads an entry of a table of bytes or 16-bit words."""
    reader = "READ_BYTE" if integer_type == "uint8_t" else "READ_WORD"
    return f"{plan.name.upper()}_{reader}(&{plan.name}_{table_name}[{index}])"


def _selftest(plan, vectors):
    values = plan.values(vectors)
    if len(values) == 0:
        raise InputError("vectors must have at least one sample")
    literal = float_literal if plan.input == "float" else integer_literal
    if plan.input == "float" and not np.isfinite(values).all():
        raise InputError("vectors must be finite in float32")
    return runtime(
        "selftest.c",
        **names(plan),
        n_samples=len(values),
        samples=",\n".join(f"    {{\n{table(map(literal, row))}\n    }}" for row in values),
        expected=table(map(str, plan.predict_index(vectors))),
    )
