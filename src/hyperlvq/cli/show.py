"""`hyperlvq show`: what a model file holds; what is said about a model, in lines of text."""

from collections import Counter
from typing import TYPE_CHECKING

from hyperlvq.cli import options
from hyperlvq.cli.options import (
    aligned,
    confusion_lines,
    counted,
    fact_lines,
    print_result,
    read_saved,
    readable_size,
    shortened,
)

if TYPE_CHECKING:
    from hyperlvq.tables.about import About
    from hyperlvq.tables.columns import Column

LEFT_OUT = "by leave-one-out"
#: Why the figures of networks, and of tuned settings, are optimistic.
CHOSEN_BY_ROWS = "the accuracy is optimistic because the settings were chosen on these rows"
MOST_SHARES = 12
MOST_SHOWN_NAMES = 100
MOST_SHOWN_LEVELS = 5
#: Numbers and dates in these forms need no word.
PLAIN_NUMBERS, PLAIN_DATES = ", written as 1234.5", ", written as 2012-12-31"


def show(model: str = options.MODEL, as_json: bool = options.JSON) -> None:
    """Show a model's settings, classes, columns, size and training.

    Example: hyperlvq show model.hlvq
    """
    from hyperlvq.tables.about import to_plain

    about = read_saved(model).about
    lines = model_lines(about) if "trained" in about else python_model_lines(about)
    print_result(lines, to_plain(about), as_json)


def table_lines(about: "About") -> list[str]:
    """Return what is known about a table, which is most of it before training."""
    return fact_lines(
        [
            ("table", f"{about['table']}: {counted(about['rows'], 'row')}"),
            _target_fact(about),
            *_column_facts(about["columns"]),
            *(("note", note) for note in about["notes"]),
        ]
    )


def training_lines(about: "About") -> list[str]:
    """Return what came out of a training."""
    lines, accuracy = table_lines(about), _accuracy_facts(about)
    if about["validation"] is None and accuracy:
        accuracy.append(("note", CHOSEN_BY_ROWS))
    lines += ["", *fact_lines(accuracy)] if accuracy else []
    if about["validation"] is not None:
        lines += ["", *confusion_lines(about["validation"].confusion)]
    model = fact_lines([*_search_facts(about), *_model_facts(about)])
    return [*lines, "", *model, *_network_lines(about)]


def model_lines(about: "About") -> list[str]:
    """Return all that a model knows about itself."""
    missing = about.get("missing")
    pairs = [
        *_model_facts(about),
        ("trained", f"on {about['rows']} rows of {about['table']}, {about['trained']}"),
        _target_fact(about),
        *([("missing", ", ".join(["NA and similar markers", *missing]))] if missing else []),
        *_accuracy_facts(about),
    ]
    columns = [[c.name, c.kind.value, str(c.n_missing), _values(c)] for c in about["columns"]]
    header = ["column", "type", "missing", "values"]
    column_lines = aligned([header, *columns], left=(0, 1, 3))
    return [*fact_lines(pairs), *_network_lines(about), "", *column_lines]


def python_model_lines(about: "About") -> list[str]:
    """Return what can be known of a model that was saved in Python."""
    columns = _first(
        [shortened(column.name) for column in about["columns"] or ()], MOST_SHOWN_NAMES
    )
    return fact_lines(
        [
            ("model", _model(about)),
            ("trained", f"in Python, on {counted(about['features'], 'feature')}"),
            ("columns", columns or "unnamed, so the model cannot be applied to tables"),
            ("classes", _first([*map(shortened, about["classes"])], MOST_SHOWN_NAMES)),
        ]
    )


def _first(items: list[str], n_shown: int, n_items: int | None = None) -> str:
    """Return the first items, with commas, and how many more there are."""
    more = (n_items or len(items)) - len(items[:n_shown])
    return ", ".join([*items[:n_shown], *([f"{more} more"] if more > 0 else [])])


def _values(column: "Column") -> str:
    if not column.is_used:
        return f"left out: {column.reason}"
    if column.minimum is not None and column.maximum is not None:
        example = column.date_form or (column.form and column.form.example)
        written = f", written as {example}" if example else ""
        seen = f"{column.shown(column.minimum)} to {column.shown(column.maximum)}"
        return seen + written.removesuffix(PLAIN_NUMBERS).removesuffix(PLAIN_DATES)
    return _first([*map(shortened, column.levels or ())], MOST_SHOWN_LEVELS, column.n_levels)


def _column_facts(columns: "list[Column]") -> list[tuple[str, str]]:
    kinds = Counter(column.kind.value for column in columns if column.is_used)
    dates = f", {counted(kinds['date'], 'date')}" if kinds["date"] else ""
    of_kinds = f"{kinds['number']} numeric, {kinds['text']} text{dates}"
    return [
        ("columns", f"{kinds.total()} used: {of_kinds}"),
        *(("left out", f"{each.name}: {each.reason}") for each in columns if not each.is_used),
        *(("note", f"{each.name}: {each.note}") for each in columns if each.note),
    ]


def _target_fact(about: "About") -> tuple[str, str]:
    n_rows = about["rows"]
    shares = [f"{shortened(name)} {n} ({n / n_rows:.0%})" for name, n in about["classes"].items()]
    return "target", f"{about['target']}: {_first(shares, MOST_SHARES)}"


def _accuracy_facts(about: "About") -> list[tuple[str, str]]:
    validation, classes, left_out = about["validation"], about["classes"], about.get("left_out")
    if validation is not None:
        accuracy = f"{validation.mean:.3f} ± {validation.spread:.3f}"
        how = f"in {len(validation.accuracies)}-fold cross-validation"
        log_loss = validation.log_loss
    elif left_out is not None:
        accuracy, log_loss = f"{left_out['accuracy']:.3f}", left_out["log_loss"]
        how = LEFT_OUT
    else:
        return []
    largest = max(classes, key=lambda name: classes[name])
    guessing = f"always predicting {shortened(largest)}: {classes[largest] / about['rows']:.3f}"
    if validation is None and "class_weight" in about["settings"]:
        guessing = "all classes weighted equally"
    facts = [("accuracy", f"{accuracy} {how} ({guessing})")]
    return facts if log_loss is None else [*facts, ("log loss", f"{log_loss:.3f}")]


def _network_lines(about: "About") -> list[str]:
    """Return what was chosen for each network of the default classifier, and what came of it."""
    if "networks" not in about:
        return []
    networks, left_out = about["networks"], about["left_out"]
    total = sum(networks["weight"]) or 1
    rows = [["network", "units", "penalty", "leave-one-out accuracy", "log loss", "vote weight"]]
    shown = ("kind", "n_units", "alpha", "left_out_accuracy", "left_out_log_loss", "weight")
    for kind, n_units, alpha, *figures, weight in zip(*map(networks.get, shown), strict=True):
        shares = [f"{figure:.3f}" for figure in figures]
        rows.append(
            [shortened(kind), str(n_units), f"{alpha:.3g}", *shares, f"{weight / total:.0%}"]
        )
    if len(rows) > 2:
        figures = [f"{left_out[name]:.3f}" for name in ("accuracy", "log_loss")]
        rows.append(["all", str(sum(networks["n_units"])), "", *figures, ""])
    return ["", *aligned(rows)]


def _search_facts(about: "About") -> list[tuple[str, str]]:
    if about["search"] is None:
        return []
    rounds = [
        f"{each['n_settings']} settings on {each['n_rows']} rows: "
        f"{each['accuracy']:.3f} with {_settings(each['best'])}"
        for each in about["search"]["rounds"]
    ]
    return [*(("tuned", each) for each in rounds), ("note", CHOSEN_BY_ROWS)]


def _model(about: "About") -> str:
    model = " with ".join(filter(None, [about["hidden"], about["readout"]]))
    return f"{model}: {_settings(about['settings'])}" if about["settings"] else model


def _settings(settings: dict) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _model_facts(about: "About") -> list[tuple[str, str]]:
    costs, pairs = about["costs"], [("model", _model(about))]
    if "networks" in about:
        is_alone = len(about["networks"]["kind"]) == 1
        chosen = "penalty" if is_alone else "penalties and vote weights"
        pairs.append(("chosen", f"{chosen}, {LEFT_OUT}"))
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
