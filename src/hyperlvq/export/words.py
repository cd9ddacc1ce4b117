"""The words that all files of an export share."""

from collections.abc import Mapping
from importlib.metadata import version

from hyperlvq.export.plan import Plan
from hyperlvq.registry import PARTS, readouts

#: AVR counts the bytes of an object in 15 bits and addresses flash near by 16.
LARGEST_AVR_TABLE = 2**15 - 1
LARGEST_AVR_TABLES = 2**16 - 2**12


def names(plan: Plan) -> dict[str, str]:
    """Return names, sizes and types by the words that stand for them in the runtime's files."""
    return {
        "name": plan.name,
        "NAME": plan.name.upper(),
        "what": (
            f"{plan.n_features} features, {plan.n_units} units, {plan.n_outputs} outputs, "
            f"{plan.n_classes} classes ({PARTS[readouts()[plan.readout]].title})."
        ),
        "origin": (
            f"Written by hyperlvq {version('hyperlvq')}; {plan.name}.md says how to build it."
        ),
        "n_features": str(plan.n_features),
        "n_units": str(plan.n_units),
        "n_outputs": str(plan.n_outputs),
        "n_classes": str(plan.n_classes),
        "value_type": "float" if plan.input == "float" else f"{plan.input}_t",
        "class_type": unsigned_type(plan.n_classes - 1),
    }


def unsigned_type(largest: int) -> str:
    """Return the narrowest unsigned type of C that holds a number."""
    return next(f"uint{bits}_t" for bits in (8, 16, 32, 64) if largest < 2**bits)


def avr_complaint(table_bytes: Mapping[str, int]) -> str:
    """Return why the tables are more than an AVR can read, or nothing."""
    for part, size in table_bytes.items():
        if size > LARGEST_AVR_TABLE:
            return f"{size} bytes of {part}, where a table has at most {LARGEST_AVR_TABLE}"
    total = sum(table_bytes.values())
    if total > LARGEST_AVR_TABLES:
        return f"{total} bytes of tables, where at most 64 KB are in reach"
    return ""


def read_entry(plan: Plan, integer_type: str, table_name: str, index: str) -> str:
    """Return the expression that reads an entry of a table of bytes or of 16-bit words."""
    reader = "READ_BYTE" if integer_type == "uint8_t" else "READ_WORD"
    return f"{plan.name.upper()}_{reader}(&{plan.name}_{table_name}[{index}])"
