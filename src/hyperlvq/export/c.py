"""A plan or a learner as C99: a header, a source, a page with the compile lines, a self-test."""

from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.export.budget import predict_budget
from hyperlvq.export.c_source import (
    comment,
    fill,
    source,
    string_literal,
    table,
    value_literals,
)
from hyperlvq.export.layout import ComparisonLayout, layout_of
from hyperlvq.export.learning import GLVQLearner, PerceptronLearner, make_learner
from hyperlvq.export.plan import Plan, make_plan
from hyperlvq.registry import PARTS, readouts
from hyperlvq.writing import replacing

#: Bytes of stack of a device that learns, beside its arrays.
LEARNING_FRAMES = 256


def to_c(
    model: Any,
    folder: str | Path,
    *,
    name: str = "model",
    input: str = "float",  # noqa: A002
    bits: int = 8,
    vectors: Any = None,
    trainable: bool | str = False,
    learning_rate: float | None = None,
) -> list[Path]:
    """Export a fitted model as C99.

    Either all files are written or none.

    Parameters
    ----------
    model : HyperLVQClassifier, Pipeline, Plan or learner
        A fitted model as for `make_plan`, a plan, or a learner from `make_learner`. For plans and
        learners, `name`, `input` and `bits` are ignored, and `trainable` must be False.
    folder : path
        Folder for NAME.h, NAME.c and NAME.md. It is created if it does not exist.
    name, input, bits : str, str, int
        As for `make_plan`.
    vectors : array-like of shape (n_samples, n_features), optional
        Raw samples for NAME_selftest.c. Its main function returns 0 if the C code predicts the
        same classes as the plan. A trainable model is tested before it learns.
    trainable : bool or {"perceptron", "glvq"}, default=False
        Whether the device can learn, and the learning rule (see `make_learner`). Prototypes are
        then kept in RAM as 16-bit integers or floats, whatever the value of `bits`.
    learning_rate : float, optional
        Learning rate of a trainable model. By default that of the readout, if it has one.

    Returns
    -------
    paths : list of Path
        The files written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import HyperLVQClassifier
    >>> from hyperlvq.export import to_c
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HyperLVQClassifier(n_networks=1, n_units=100, random_state=0).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in to_c(model, folder, name="iris", vectors=X[:10])]
    ['iris.h', 'iris.c', 'iris_selftest.c', 'iris.md']
    """
    exported = model
    if isinstance(model, PerceptronLearner | GLVQLearner):
        if trainable or learning_rate is not None:
            raise InputError(
                "trainable and learning_rate cannot be given with a learner, which has its own"
            )
    elif trainable:
        if isinstance(model, Plan):
            raise InputError("trainable needs the fitted pipeline, got a Plan")
        rule = None if trainable is True else trainable
        learning: Any = {"rule": rule, "learning_rate": learning_rate}
        exported = make_learner(model, name=name, input=input, **learning)
    elif not isinstance(model, Plan):
        exported = make_plan(model, name=name, input=input, bits=bits)
    plan = exported if isinstance(exported, Plan) else exported.plan
    texts = _texts(exported, plan, vectors)
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be created: {error.strerror}") from None
    with ExitStack() as parts:
        for file, text in texts.items():
            part = parts.enter_context(replacing(folder / file))
            part.write_text(text, encoding="utf-8", newline="\n")
    if vectors is None:  # there may be that of an earlier model
        (folder / f"{plan.name}_selftest.c").unlink(missing_ok=True)
    return [folder / file for file in texts]


def _texts(exported, plan, vectors):
    """Return the text of every file by its name."""
    layout = layout_of(plan, getattr(exported, "rule", None))
    fields, name = _fields(plan, layout) | {"has_selftest": vectors is not None}, plan.name
    texts = {f"{name}.h": fill("model.h", fields), f"{name}.c": source(exported, layout, fields)}
    if vectors is not None:
        texts[f"{name}_selftest.c"] = _selftest(exported, plan, vectors, fields)
    return texts | {f"{name}.md": _page(plan, layout, fields)}


def _fields(plan, layout):
    """Return names, sizes and types by the words that stand for them in the runtime's files."""
    ranges = [
        "not used" if np.isnan(low) else f"{low:.9g} to {high:.9g}"
        for low, high in plan.feature_ranges
    ]
    kind = readouts().get(plan.readout, plan.readout)
    feature_lines = [
        f" *   x[{i}]  {comment(name)}: {ranges[i]}" for i, name in enumerate(plan.feature_names)
    ]
    class_lines = [f" *   {i}  {comment(name)}" for i, name in enumerate(plan.class_names)]
    return vars(layout) | {
        "name": plan.name,
        "NAME": plan.name.upper(),
        "what": (
            f"{plan.n_features} features, {plan.n_units} units, {plan.n_outputs} outputs, "
            f"{plan.n_classes} classes ({PARTS[kind].title})."
        ),
        "version": version("hyperlvq"),
        "compares": isinstance(layout, ComparisonLayout),
        "is_float": plan.input == "float",
        "has_medians": plan.medians is not None,
        "has_empty_class": plan.empty_scores is not None,
        "has_missing": plan.medians is not None or plan.empty_scores is not None,
        "learns_glvq": layout.rule == "glvq",
        "avr_complaint": layout.avr_complaint,
        "feature_lines": "\n".join(feature_lines),
        "class_lines": "\n".join(class_lines),
        "class_names": table(map(string_literal, plan.class_names)).replace("\n", " \\\n"),
    }


def _selftest(exported, plan, vectors, fields):
    """Return a program that returns 0 when all samples get the expected classes."""
    if isinstance(exported, GLVQLearner):
        vectors = np.asarray(vectors)[exported.is_clear(vectors)]
    expected, values = exported.predict_index(vectors), plan.values(vectors)
    if len(values) == 0:
        raise InputError("vectors must have at least one sample")
    if np.isinf(values).any():
        raise InputError("vectors must be finite in float32")
    rows = (f"    {{\n{table(value_literals(row))}\n    }}" for row in values)
    samples = {
        "n_samples": len(values),
        "samples": ",\n".join(rows),
        "has_missing": np.isnan(values).any(),
    }
    return fill("selftest.c", {**fields, **samples, "expected": table(map(str, expected))})


def _page(plan, layout, fields):
    """Return the page on how to build the C and what it takes."""
    if layout.rule:
        sizes = {
            "ram": layout.learnt_bytes,
            "stack": layout.stack_bytes(is_avr=False) + LEARNING_FRAMES,
            "flash": sum(layout.table_bytes.values()),
        }
        return fill("learn.md", fields | {name: f"{size:,}" for name, size in sizes.items()})
    table_bytes = {f"{part}_bytes": f"{size:,}" for part, size in layout.table_bytes.items()}
    budgets = [predict_budget(layout, target) for target in ("cortex-m3", "riscv32", "avr")]
    cells = {
        field: " | ".join(
            "does not fit" if budget.complaint else f"{getattr(budget, field):,}"
            for budget in budgets
        )
        for field in ("flash", "ram", "stack", "instructions")
    }
    notes = "".join(f"- {comment(note)}\n" for note in plan.notes)
    return fill("readme.md", fields | table_bytes | cells | {"notes": notes})
