"""A learner as C99: as `c` writes a model, with prototypes in RAM and a rule that moves them."""

from typing import Any

import numpy as np

from hyperlvq.export.c_level import level
from hyperlvq.export.c_parts import class_of, encode, header_words, start
from hyperlvq.export.c_selftest import selftest
from hyperlvq.export.ctext import constant, float_literal, integer_literal, runtime
from hyperlvq.export.layout import BLOCK_UNITS, Layout
from hyperlvq.export.learning import GLVQLearner, PerceptronLearner
from hyperlvq.export.plan import Plan
from hyperlvq.export.words import names

NORM_BYTES = 8


def render_learner(learner: PerceptronLearner | GLVQLearner, vectors: Any = None) -> dict[str, str]:
    """Return the text of every file by its name."""
    plan = learner.plan
    texts = {f"{plan.name}.h": _header(learner), f"{plan.name}.c": _source(learner)}
    if vectors is not None:
        clear = np.asarray(vectors)[learner.is_clear(vectors)]
        expected = learner.predict_index(clear)
        texts[f"{plan.name}_selftest.c"] = selftest(plan, clear, expected, learns=True)
    return texts | {f"{plan.name}.md": _readme(learner)}


def ram_bytes(learner: PerceptronLearner | GLVQLearner) -> int:
    """Return the bytes of RAM that the model takes."""
    plan = learner.plan
    entries = plan.n_outputs * plan.n_units
    if isinstance(learner, GLVQLearner):
        return 4 * entries
    # The norms stand first: what they need of alignment comes after the prototypes.
    return NORM_BYTES * plan.n_outputs + 2 * entries + -2 * entries % NORM_BYTES


def _header(learner):
    plan = learner.plan
    shape = f"[{plan.n_outputs}][{plan.n_units}]"
    if isinstance(learner, GLVQLearner):
        words = "GLVQ's online rule, in float"
        fields = f"    float prototypes{shape};"
    else:
        words = "the perceptron rule, in integers"
        fields = f"    int64_t norms[{plan.n_outputs}];\n    int16_t prototypes{shape};"
    return runtime(
        "learn.h",
        **names(plan),
        **header_words(plan),
        rule_words=words,
        model_fields=fields,
        ram_bytes=ram_bytes(learner),
    )


def _source(learner):
    layout = Layout(learner.plan, learns=True)
    beginning = start(layout, _table_bytes(learner))
    parts = (beginning, level(layout.plan), _types(layout.plan), encode(layout))
    rule = _glvq(learner) if isinstance(learner, GLVQLearner) else _perceptron(learner)
    return "\n".join([*parts, _activate(layout.plan), rule])


def _types(plan: Plan) -> str:
    bits = 8 if plan.limit < 2**7 else 16
    room = -(-plan.n_units // BLOCK_UNITS) * BLOCK_UNITS
    return (
        f"typedef int{bits}_t {plan.name}_activation;\n"
        "/* Activations are written in whole blocks. */\n"
        f"#define {plan.name.upper()}_ROOM {room}u\n"
    )


def _activate(plan):
    class_table, class_of_output = class_of(plan, "output")
    text = runtime("activate.c", **names(plan), class_of_output=class_of_output)
    return class_table + text


def _perceptron(learner):
    plan = learner.plan
    largest_sum = plan.n_units * plan.limit * 2**15
    return runtime(
        "learn_perceptron.c",
        **names(plan),
        fraction_bits=learner.fraction_bits,
        scale=1 << learner.fraction_bits,
        rate=learner.rate,
        sum_type="int32_t" if largest_sum < 2**31 else "int64_t",
        prototypes=_table(plan, "int16_t", map(integer_literal, learner.prototypes.ravel())),
    )


def _glvq(learner):
    plan = learner.plan
    entries = learner.prototypes.ravel().astype(np.float32)
    return runtime(
        "learn_glvq.c",
        **names(plan),
        slope=float_literal(np.float32(learner.slope)),
        rate=float_literal(np.float32(learner.rate)),
        prototypes=_table(plan, "float", map(float_literal, entries)),
    )


def _table(plan, entry_type, literals):
    return "/* What learning starts from. */\n" + constant(
        plan.name, entry_type, "prototypes", literals
    )


def _readme(learner):
    plan = learner.plan
    is_glvq = isinstance(learner, GLVQLearner)
    return runtime(
        "learn.md",
        **names(plan),
        rule="GLVQ's online rule in float" if is_glvq else "the perceptron rule in integers",
        exactness="within float rounding those of" if is_glvq else "bit for bit those of",
        twin=type(learner).__name__,
        libm=" and its mathematics (`-lm`)" if is_glvq else "",
        ram_bytes=f"{ram_bytes(learner):,}",
        stack_bytes=f"{_stack_bytes(learner):,}",
        flash_bytes=f"{sum(_table_bytes(learner).values()):,}",
    )


def _stack_bytes(learner):
    """Return the arrays of one call on its stack: activations and levels, and its frames."""
    plan = learner.plan
    room = -(-plan.n_units // BLOCK_UNITS) * BLOCK_UNITS
    levels = plan.n_features * (1 if plan.n_units < 2**8 else 2)
    return room * (1 if plan.limit < 2**7 else 2) + levels + 256


def _table_bytes(learner):
    """Return the bytes of each constant table but the scaling's."""
    entry_bytes = 4 if isinstance(learner, GLVQLearner) else 2
    return {
        "keys": 4 * Layout(learner.plan).keys.size,
        "prototypes": entry_bytes * learner.prototypes.size,
    }
