"""Pieces of C text: literals that read back exactly, tables, comments that stay comments."""

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from string import Template

import numpy as np

LINE_LENGTH = 96
INDENT = "    "
CONDITION = re.compile(r"^\?if (.*?)\n(.*?)^\?end\n", flags=re.MULTILINE | re.DOTALL)


def fill(file: str, fields: Mapping[str, object]) -> str:
    """Return a file of the hand-written runtime with its `${fields}` filled in.

    Lines between `?if field and not other` and `?end` are there if the fields are so.
    """

    def kept(found):
        terms = [term.split() for term in found[1].split(" and ")]
        holds = all(bool(fields[term[-1]]) != (term[0] == "not") for term in terms)
        return found[2] if holds else ""

    text = files("hyperlvq.export").joinpath("runtime", file).read_text(encoding="utf-8")
    return Template(CONDITION.sub(kept, text)).substitute(fields)


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


def indented(lines: Iterable[str], depth: int = 1) -> str:
    """Return lines of code, indented."""
    return "\n".join(depth * INDENT + line for line in lines)
