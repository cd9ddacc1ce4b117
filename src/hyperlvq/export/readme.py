"""The README beside exported C: how to build it and what it takes."""

from hyperlvq.export.ctext import comment, runtime
from hyperlvq.export.layout import Layout
from hyperlvq.export.words import avr_complaint, names


def readme(layout: Layout, has_selftest: bool) -> str:
    """Return the README's text."""
    plan = layout.plan
    is_float = plan.input == "float"
    words = names(plan)
    return runtime(
        "readme.md",
        **words,
        origin_words=words["origin"].split(";")[0] + ".",
        float_words="float only to scale the features" if is_float else "no floating point",
        fast_math=", and no `-ffast-math`" if is_float else "",
        selftest_row=_selftest_row(plan) if has_selftest else "",
        selftest_words=_selftest_words(plan) if has_selftest else "",
        avr_words=_avr_words(layout),
        bits=plan.bits,
        note_lines=_note_lines(plan),
        **{f"{part}_bytes": f"{size:,}" for part, size in layout.table_bytes.items()},
        **{f"stack_{target}": f"{size:,}" for target, size in layout.stack_bytes.items()},
    )


def _selftest_row(plan):
    return f"| `{plan.name}_selftest.c` | returns 0 when samples get the expected classes |\n"


def _selftest_words(plan):
    return (
        "\n## Test\n\n```\n"
        f"gcc -std=c99 -O2 {plan.name}.c {plan.name}_selftest.c -o selftest && ./selftest\n"
        f"```\n\nOn a board, compile with `-D{plan.name.upper()}_NO_MAIN` and call "
        f"`{plan.name}_selftest()` from your own main:\nit returns how many samples are wrong.\n"
    )


def _avr_words(layout):
    complaint = avr_complaint(layout)
    return f"\nIt does not fit an AVR: {complaint}.\n" if complaint else ""


def _note_lines(plan):
    if not plan.notes:
        return ""
    return "\n## Notes\n\n" + "".join(f"- {comment(note)}\n" for note in plan.notes)
