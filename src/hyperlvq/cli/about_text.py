"""What is said about a model, in lines of text."""

from hyperlvq.cli.text import aligned, confusion_lines, counted, facts, short, size
from hyperlvq.tables.about import About, columns_of
from hyperlvq.tables.columns import Column, Kind
from hyperlvq.tables.confusion import Confusion

MOST_CLASSES = 12
MOST_NAMES = 100
MOST_LEVELS = 5


def training_lines(about: About) -> list[str]:
    """Return what came out of a training."""
    return [
        *facts(
            [
                ("table", f"{about['table']}: {counted(about['rows'], 'row')}"),
                ("target", f"{about['target']}: {_class_balance(about['classes'])}"),
                *_column_facts(columns_of(about)),
                *(("note", note) for note in about["notes"]),
            ]
        ),
        *_validation_lines(about),
        "",
        *facts([*_search_facts(about), *_model_facts(about)]),
    ]


def model_lines(about: About) -> list[str]:
    """Return all that a model knows about itself."""
    trained = f"on {about['rows']} rows of {about['table']}, {about['trained']}"
    return [
        *facts(
            [
                *_model_facts(about),
                ("trained", trained),
                ("target", f"{about['target']}: {_class_balance(about['classes'])}"),
                *_accuracy_facts(about),
            ]
        ),
        "",
        *column_lines(columns_of(about)),
    ]


def python_model_lines(about: About) -> list[str]:
    """Return what can be known of a model that was saved in Python."""
    columns = about["columns"] and _listed([column["name"] for column in about["columns"]])
    return facts(
        [
            ("model", _model(about)),
            ("trained", f"in Python, on {counted(about['features'], 'feature')}"),
            ("columns", columns or "without names, so no table can be matched to it"),
            ("classes", _listed(about["classes"])),
        ]
    )


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    shown = ", ".join(map(short, names[:MOST_NAMES]))
    return f"{shown}, {more} more" if more > 0 else shown


def column_lines(columns: list[Column]) -> list[str]:
    """Return a table of the columns: their types, ranges or levels, missing values."""
    return aligned(
        [
            ["column", "type", "missing", "values"],
            *([c.name, c.kind.value, str(c.n_missing), _values(c)] for c in columns),
        ],
        left=(0, 1, 3),
    )


def _values(column: Column) -> str:
    if column.kind is Kind.NUMBER:
        return f"{column.minimum:g} to {column.maximum:g}"
    if column.kind is Kind.DROPPED:
        return f"left out: {column.reason}"
    levels = list(map(short, column.levels or ()))
    more = (column.n_levels or 0) - len(levels[:MOST_LEVELS])
    return ", ".join([*levels[:MOST_LEVELS], *([f"{more} more"] if more > 0 else [])])


def _column_facts(columns: list[Column]) -> list[tuple[str, str]]:
    used = [column for column in columns if column.kind is not Kind.DROPPED]
    n_numbers = sum(column.kind is Kind.NUMBER for column in used)
    kinds = f"{len(used)} used: {n_numbers} of numbers, {len(used) - n_numbers} of text"
    left_out = [
        ("left out", f"{column.name}: {column.reason}")
        for column in columns
        if column.kind is Kind.DROPPED
    ]
    notes = [("note", f"{column.name}: {column.note}") for column in columns if column.note]
    return [("columns", kinds), *left_out, *notes]


def _class_balance(classes: dict[str, int]) -> str:
    total = sum(classes.values())
    shown = [
        f"{short(name)} {count} ({count / total:.0%})"
        for name, count in list(classes.items())[:MOST_CLASSES]
    ]
    more = len(classes) - len(shown)
    return ", ".join([*shown, f"{more} more"] if more else shown)


def _validation_lines(about: About) -> list[str]:
    if about["validation"] is None:
        return []
    confusion = Confusion.from_dict(about["validation"]["confusion"])
    return ["", *facts(_accuracy_facts(about)), "", *confusion_lines(confusion)]


def _accuracy_facts(about: About) -> list[tuple[str, str]]:
    validation, classes = about["validation"], about["classes"]
    if validation is None:
        return []
    largest = max(classes, key=lambda name: classes[name])
    accuracy = f"{validation['mean']:.3f} ± {validation['spread']:.3f}"
    folds = f"in {len(validation['accuracies'])}-fold cross-validation"
    guessing = f"always {short(largest)}: {classes[largest] / sum(classes.values()):.3f}"
    return [("accuracy", f"{accuracy} {folds} ({guessing})")]


def _search_facts(about: About) -> list[tuple[str, str]]:
    if about["search"] is None:
        return []
    rounds = [
        ("tuned", f"{each['n_settings']} settings on {each['n_rows']} rows: {_round(each)}")
        for each in about["search"]["rounds"]
    ]
    return [*rounds, ("note", "chosen on these rows: expect a little less than this accuracy")]


def _round(found: dict) -> str:
    return f"{found['accuracy']:.3f} with {_settings(found['best'])}"


def _model_facts(about: About) -> list[tuple[str, str]]:
    return [("model", _model(about)), *_cost_facts(about)]


def _model(about: About) -> str:
    model = f"{about['hidden']} with {about['readout']}"
    return f"{model}: {_settings(about['settings'])}" if about["settings"] else model


def _settings(settings: dict) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _cost_facts(about: About) -> list[tuple[str, str]]:
    costs, lines = about["costs"], []
    if "float" in costs:
        forms = [f"{size(costs['float']['bytes'])} in floating point"]
        if "integer" in costs:
            forms.append(f"{size(costs['integer']['bytes'])} in integers")
        lines.append(("size", f"{counted(costs['features'], 'feature')}, {', '.join(forms)}"))
    training = [f"{about['fit_seconds']:.2f} s"]
    if "iterations" in costs:
        training.append(counted(costs["iterations"], "iteration"))
    if costs["training_flops"] is not None:
        training.append(f"{costs['training_flops']:.2g} flops")
    return [*lines, ("training", ", ".join(training))]
