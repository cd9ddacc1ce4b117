"""The C that turns raw feature values into levels."""

import numpy as np

from hyperlvq.export.ctext import (
    constant,
    float_literal,
    indented,
    integer_literal,
    runtime,
    unsigned_literal,
)
from hyperlvq.export.plan import Plan
from hyperlvq.export.scaling import FloatScaling
from hyperlvq.export.words import names, read_entry, unsigned_type


def level(plan: Plan) -> str:
    """Return the table of scalings and the function that applies one."""
    scaling = plan.scaling
    if isinstance(scaling, FloatScaling):
        rows = np.column_stack([-scaling.minimum, scaling.scale])
        literals = [
            f"{{{float_literal(offset)}, {float_literal(scale)}}}" for offset, scale in rows
        ]
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
        "scaling_index": read_entry(plan, index_type, "scaling_of", "feature"),
        "one_for_all": "",
    }
