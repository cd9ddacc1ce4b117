"""The C of a fixed model: dot products, scores, the best one's class."""

from hyperlvq.export.c_parts import class_of, weight_type
from hyperlvq.export.ctext import INDENT, constant, hex_words, indented, integer_literal, runtime
from hyperlvq.export.layout import MOST_WORDS, PACKED_UNITS, Layout
from hyperlvq.export.words import names


def dot(layout: Layout) -> str:
    """Return the function that multiplies activations by weights."""
    return _dot_packed(layout) if layout.is_packed else _dot_plain(layout)


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
    step = [
        "const uint32_t four = *weights++;",
        "",
        f"odd += activations[{MOST_WORDS}] * ((four >> 8) & mask);",
        "even += *activations++ * (four & mask);",
    ]
    if not carries:
        sums = "uint32_t even = 0, odd = 0;"
        return indented([sums, "", *_repeated(step, "--words"), "return (even + odd) >> 16;"])
    group = [
        *_repeated(step, f"--words % {words}"),
        "total += (even + odd) >> 16;",
        "even = odd = 0;",
    ]
    sums = "uint32_t even = 0, odd = 0, total = 0;"
    return indented([sums, "", *_repeated(group, "words"), "return total;"])


def _repeated(steps, condition):
    lines = [f"{INDENT}{step}" if step else "" for step in steps]
    return ["do {", *lines, f"}} while ({condition});"]


def _dot_plain(layout):
    reader = "READ_BYTE" if layout.plan.bits == 8 else "READ_WORD"
    return runtime(
        "dot_plain.c",
        **names(layout.plan),
        dot_bound=layout.largest_dot,
        sum_type=_sum_type(layout),
        weight_type=weight_type(layout),
        read_weight=f"{layout.plan.name.upper()}_{reader}",
    )


def _sum_type(layout):
    if layout.plan.bits == 8:
        return "uint16_t" if layout.largest_dot < 2**16 else "uint32_t"
    return "int32_t" if layout.largest_dot < 2**31 else "int64_t"


def predict(layout: Layout) -> str:
    """Return the weights and the function that predicts."""
    plan = layout.plan
    storage = "uint32_t" if layout.is_packed else weight_type(layout)
    literals = hex_words if layout.is_packed else lambda values: map(integer_literal, values)
    class_table, class_of_best = class_of(plan, "best")
    return runtime(
        "predict.c",
        **names(plan),
        score_type=f"int{layout.score_bits}_t",
        weight_words=", four to a word, each plus 128"
        if layout.is_packed
        else (", each plus 128" if plan.bits == 8 else ""),
        weights=constant(plan.name, storage, "weights", literals(layout.weights)),
        biases=constant(
            plan.name, f"{plan.name}_score", "biases", map(integer_literal, layout.biases)
        ),
        step=f"{layout.step} * " if layout.step > 1 else "",
        class_table=class_table,
        class_of_best=class_of_best,
    )
