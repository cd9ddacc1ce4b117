"""A plan as C99: a header, a source, a page with the compile lines, and a self-test."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from hyperlvq.checks import InputError
from hyperlvq.export.c_learning import render_learner
from hyperlvq.export.c_level import level
from hyperlvq.export.c_parts import encode, header_words, start, types
from hyperlvq.export.c_scores import dot, predict
from hyperlvq.export.c_selftest import selftest
from hyperlvq.export.ctext import runtime
from hyperlvq.export.layout import Layout
from hyperlvq.export.learning import GLVQLearner, PerceptronLearner, make_learner
from hyperlvq.export.plan import Plan, make_plan
from hyperlvq.export.readme import readme
from hyperlvq.export.words import names
from hyperlvq.writing import replacing


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
    """Write a fitted model as C99 and return the files written, all of them or none.

    Parameters
    ----------
    model : Pipeline, Plan or learner
        A fitted pipeline as for `make_plan`, or a plan or what `make_learner` returns, which have
        their own name, input, bits and way to learn.
    folder : path
        Where NAME.h, NAME.c and NAME.md go; made if it does not exist.
    name, input, bits
        As for `make_plan`.
    vectors : array-like of shape (n_samples, n_features), optional
        Raw samples for NAME_selftest.c, whose main returns 0 when the C gives them the plan's
        classes; those of a trainable model before it learns.
    trainable : bool or {"perceptron", "glvq"}, default=False
        Whether the device can learn, and by which rule: see `make_learner`. Prototypes are then
        kept in RAM, in 16 bits or in float, whatever `bits` is.
    learning_rate : float, optional
        The step of a trainable model, by default that of the readout where it has one.

    Returns
    -------
    files : list of Path
    """
    if isinstance(model, PerceptronLearner | GLVQLearner):
        if trainable or learning_rate is not None:
            raise InputError("a learner has its own rule and learning rate: give to_c no others")
        texts = render_learner(model, vectors)
    elif trainable:
        rule = None if trainable is True else trainable
        rated = {"rule": rule, "learning_rate": learning_rate}
        texts = _trainable(model, vectors, name=name, input=input, **rated)
    else:
        is_plan = isinstance(model, Plan)
        plan = model if is_plan else make_plan(model, name=name, input=input, bits=bits)
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
    texts = {
        f"{plan.name}.h": runtime("model.h", **names(plan), **header_words(plan)),
        f"{plan.name}.c": _source(layout),
    }
    if vectors is not None:
        texts[f"{plan.name}_selftest.c"] = selftest(plan, vectors, plan.predict_index(vectors))
    return texts | {f"{plan.name}.md": readme(layout, has_selftest=vectors is not None)}


def _trainable(model, vectors, **options):
    if isinstance(model, Plan):
        raise InputError("a plan has no prototypes to learn from: give to_c the pipeline")
    return render_learner(make_learner(model, **options), vectors)


def _made_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made a folder: {error.strerror}") from None
    return folder


def _source(layout):
    plan = layout.plan
    beginning = start(layout, layout.table_bytes)
    parts = (beginning, level(plan), types(layout), encode(layout), dot(layout))
    return "\n".join([*parts, predict(layout)])
