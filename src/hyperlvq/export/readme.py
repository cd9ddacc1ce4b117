"""The page beside exported C, NAME.md: how to build it and what it takes."""

from hyperlvq.export.budget import predict_budget
from hyperlvq.export.ctext import comment, runtime
from hyperlvq.export.layout import Layout
from hyperlvq.export.words import avr_complaint, names

BUDGET_ROWS = {
    "flash: tables and code, bytes, predicted": "flash",
    "RAM: static, bytes": "ram",
    "RAM: stack of a prediction, bytes, at most": "stack",
    "instructions of a prediction, predicted": "instructions",
}


def readme(layout: Layout, has_selftest: bool) -> str:
    """Return the page's text."""
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
        budget_rows=_budget_rows(layout),
    )


def _budget_rows(layout):
    """Return a row of the three targets for each part of the budget."""
    plan = layout.plan
    budgets = [predict_budget(plan, target) for target in ("cortex-m3", "riscv32")]
    budgets += [] if avr_complaint(layout.table_bytes) else [predict_budget(plan, "avr")]
    rows = []
    for what, field in BUDGET_ROWS.items():
        cells = [f"{getattr(budget, field):,}" for budget in budgets]
        cells += ["does not fit"] * (3 - len(cells))
        rows.append(f"| {what} | {' | '.join(cells)} |")
    return "\n".join(rows)


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
    complaint = avr_complaint(layout.table_bytes)
    return f"\nIt does not fit an AVR: {complaint}.\n" if complaint else ""


def _note_lines(plan):
    if not plan.notes:
        return ""
    return "\n## Notes\n\n" + "".join(f"- {comment(note)}\n" for note in plan.notes)
