"""The C that checks a model on samples whose classes are known."""

from typing import Any

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.export.ctext import float_literal, integer_literal, runtime, table
from hyperlvq.export.plan import Plan
from hyperlvq.export.words import names


def selftest(plan: Plan, vectors: Any, expected: np.ndarray, learns: bool = False) -> str:
    """Return a program that returns 0 when all samples get the expected classes."""
    values = plan.values(vectors)
    if len(values) == 0:
        raise InputError("vectors must have at least one sample")
    if plan.input == "float" and not np.isfinite(values).all():
        raise InputError("vectors must be finite in float32")
    literal = float_literal if plan.input == "float" else integer_literal
    name = plan.name
    return runtime(
        "selftest.c",
        **names(plan),
        n_samples=len(values),
        samples=",\n".join(f"    {{\n{table(map(literal, row))}\n    }}" for row in values),
        expected=table(map(str, expected)),
        model=f"    static {name}_model model;\n" if learns else "",
        start=f"    {name}_start(&model);\n" if learns else "",
        model_argument="&model, " if learns else "",
    )
