"""The training costs of RLS and GLVQ over data sets, by the formulas of the paper's Table I."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from reprlib import repr as short

import pandas as pd

from hyperlvq.checks import InputError
from hyperlvq.costs import flops_by_method
from hyperlvq.report.results import LARGEST_SIZE, Published
from hyperlvq.study.records import Record

COST_COLUMNS = ("dataset", "n_samples", "n_train", "protocol", "n_classes", "intrvfl_rls_n")
LAYER_MODEL = "intrvfl_rls"
#: A method's title and the formula of its flops.
METHODS = {
    "rls": ("RLS, straightforward", "N(2N²/3 + 4TN + 2TL − N − T − L + 2)"),
    "rls_qr": ("RLS, QR", "N(4N²/3 + 2TN + 2TL + 3LN − N − 3L + 2)"),
    "glvq": ("GLVQ", "I·T(3PLN + 6N + 19) + TN"),
}

#: n_samples (T), n_units (N) and n_classes (L) per data set.
SizesBySet = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class CostTable:
    """Training costs, with P = 1 prototype per class and I = 10 iterations for GLVQ.

    `sets` has a row per data set: its sizes, the flops of each method and its ratio to
    straightforward RLS. `methods` has a row per method: title, formula, total flops over the data
    sets, mean and median ratio.
    """

    sets: pd.DataFrame
    methods: pd.DataFrame


def cost_table(sizes: SizesBySet) -> CostTable:
    """Return the training costs over data sets of these sizes."""
    if not sizes:
        raise InputError(f"training costs need the columns {', '.join(COST_COLUMNS)}")
    sets = pd.DataFrame.from_dict(
        {name: {**of_set, **flops_by_method(**of_set)} for name, of_set in sizes.items()},
        orient="index",
    )
    methods = pd.DataFrame.from_dict(METHODS, orient="index", columns=["title", "formula"])
    for name in METHODS:
        ratio = sets[f"{name}_ratio"] = sets[name] / sets["rls"]
        figures = sets[name].sum(), ratio.mean(), ratio.median()
        methods.loc[name, ["total_flops", "mean_ratio", "median_ratio"]] = figures
    return CostTable(sets, methods)


def published_sizes(published: Published | None) -> SizesBySet:
    """Return the sizes in a published table, none where a column of `COST_COLUMNS` is missing.

    T is all samples for the k-fold sets and the training file's for the others, as in the paper.
    """
    rows = [] if published is None else published.rows
    if not all(set(COST_COLUMNS) <= set(row) for row in rows):
        return {}
    return {
        row["dataset"]: {
            "n_samples": _size(row, "n_samples" if row["protocol"] == "kfold" else "n_train"),
            "n_units": _size(row, "intrvfl_rls_n"),
            "n_classes": _size(row, "n_classes"),
        }
        for row in rows
    }


def recorded_sizes(records: Iterable[Record]) -> SizesBySet:
    """Return the sizes of the intRVFL + RLS runs, averaged over the runs on a data set."""
    fields = {"n_samples": "n_train", "n_units": "n_units", "n_classes": "n_classes"}
    runs = [
        {"dataset": record["dataset"]} | {name: record.get(of) for name, of in fields.items()}
        for record in records
        if record["model"] == LAYER_MODEL and record.get("accuracy") is not None
    ]
    means = pd.DataFrame(runs, columns=["dataset", *fields]).dropna().groupby("dataset").mean()
    return means.round().astype(int).to_dict("index")


def _size(row: Mapping[str, str], column: str) -> int:
    try:
        size = int(row[column])
    except ValueError:
        size = 0
    if not 1 <= size <= LARGEST_SIZE:
        raise InputError(
            f"data set {row['dataset']}, column {column}: a whole number from 1 to {LARGEST_SIZE} "
            f"is needed, got {short(row[column])}"
        )
    return size
