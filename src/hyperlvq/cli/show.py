"""`hyperlvq show`: what a model file holds; what is said about a model, in lines of text."""

from typing import TYPE_CHECKING

from hyperlvq.cli import options
from hyperlvq.cli.options import print_result, read_saved
from hyperlvq.cli.text import (
    aligned,
    confusion_lines,
    counted,
    fact_lines,
    readable_size,
    shortened,
)

if TYPE_CHECKING:
    from hyperlvq.tables.about import About
    from hyperlvq.tables.columns import Column

MOST_SHARES = 12
MOST_NAMES = 100
MOST_LEVELS = 5


def show(model: str = options.MODEL, as_json: bool = options.JSON) -> None:
    """Show a model: its settings, classes and columns, size and costs, what it was trained on.

    Example: hyperlvq show model.hlvq
    """
    from hyperlvq.tables.about import to_plain

    about = read_saved(model).about
    lines = model_lines(about) if "trained" in about else python_model_lines(about)
    print_result(lines, to_plain(about), as_json)


def training_lines(about: "About") -> list[str]:
    """Return what came out of a training."""
    table = [
        ("table", f"{about['table']}: {counted(about['rows'], 'row')}"),
        _target_fact(about),
        *_column_facts(about["columns"]),
        *(("note", note) for note in about["notes"]),
    ]
    validation = []
    if about["validation"] is not None:
        confusion = confusion_lines(about["validation"].confusion)
        validation = ["", *fact_lines(_accuracy_facts(about)), "", *confusion]
    model = fact_lines([*_search_facts(about), *_model_facts(about)])
    return [*fact_lines(table), *validation, "", *model]


def model_lines(about: "About") -> list[str]:
    """Return all that a model knows about itself."""
    pairs = [
        *_model_facts(about),
        ("trained", f"on {about['rows']} rows of {about['table']}, {about['trained']}"),
        _target_fact(about),
        *_accuracy_facts(about),
    ]
    columns = [[c.name, c.kind.value, str(c.n_missing), _values(c)] for c in about["columns"]]
    header = ["column", "type", "missing", "values"]
    return [*fact_lines(pairs), "", *aligned([header, *columns], left=(0, 1, 3))]


def python_model_lines(about: "About") -> list[str]:
    """Return what can be known of a model that was saved in Python."""
    columns = _first([shortened(column.name) for column in about["columns"] or ()], MOST_NAMES)
    return fact_lines(
        [
            ("model", _model(about)),
            ("trained", f"in Python, on {counted(about['features'], 'feature')}"),
            ("columns", columns or "without names, so no table can be matched to it"),
            ("classes", _first([*map(shortened, about["classes"])], MOST_NAMES)),
        ]
    )


def _first(items: list[str], n_shown: int, n_items: int | None = None) -> str:
    """Return the first items, with commas, and how many more there are."""
    more = (n_items or len(items)) - len(items[:n_shown])
    return ", ".join([*items[:n_shown], *([f"{more} more"] if more > 0 else [])])


def _values(column: "Column") -> str:
    if not column.is_used:
        return f"left out: {column.reason}"
    if column.levels is None:
        return f"{column.minimum:g} to {column.maximum:g}"
    return _first([*map(shortened, column.levels)], MOST_LEVELS, column.n_levels)


def _column_facts(columns: "list[Column]") -> list[tuple[str, str]]:
    used = [column for column in columns if column.is_used]
    n_text = sum(column.levels is not None for column in used)
    return [
        ("columns", f"{len(used)} used: {len(used) - n_text} of numbers, {n_text} of text"),
        *(("left out", f"{each.name}: {each.reason}") for each in columns if not each.is_used),
        *(("note", f"{each.name}: {each.note}") for each in columns if each.note),
    ]


def _target_fact(about: "About") -> tuple[str, str]:
    n_rows = about["rows"]
    shares = [f"{shortened(name)} {n} ({n / n_rows:.0%})" for name, n in about["classes"].items()]
    return "target", f"{about['target']}: {_first(shares, MOST_SHARES)}"


def _accuracy_facts(about: "About") -> list[tuple[str, str]]:
    validation, classes = about["validation"], about["classes"]
    if validation is None:
        return []
    largest = max(classes, key=lambda name: classes[name])
    accuracy = f"{validation.mean:.3f} ± {validation.spread:.3f}"
    folds = f"in {len(validation.accuracies)}-fold cross-validation"
    guessing = f"always {shortened(largest)}: {classes[largest] / about['rows']:.3f}"
    return [("accuracy", f"{accuracy} {folds} ({guessing})")]


def _search_facts(about: "About") -> list[tuple[str, str]]:
    if about["search"] is None:
        return []
    rounds = [
        f"{each['n_settings']} settings on {each['n_rows']} rows: "
        f"{each['accuracy']:.3f} with {_settings(each['best'])}"
        for each in about["search"]["rounds"]
    ]
    note = "chosen on these rows: expect a little less than this accuracy"
    return [*(("tuned", each) for each in rounds), ("note", note)]


def _model(about: "About") -> str:
    model = f"{about['hidden']} with {about['readout']}"
    return f"{model}: {_settings(about['settings'])}" if about["settings"] else model


def _settings(settings: dict) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _model_facts(about: "About") -> list[tuple[str, str]]:
    costs, pairs = about["costs"], [("model", _model(about))]
    forms = {"float": "in floating point", "integer": "in integers"}
    known = [(costs[form]["bytes"], how) for form, how in forms.items() if form in costs]
    sizes = [f"{readable_size(n_bytes)} {how}" for n_bytes, how in known]
    if sizes:
        pairs.append(("size", ", ".join([counted(costs["features"], "feature"), *sizes])))
    training = [f"{about['fit_seconds']:.2f} s"]
    if "iterations" in costs:
        training.append(counted(costs["iterations"], "iteration"))
    if costs["training_flops"] is not None:
        training.append(f"{costs['training_flops']:.2g} flops")
    return [*pairs, ("training", ", ".join(training))]
