"""The training costs of RLS and GLVQ over data sets, by the formulas of the paper's Table I."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

import pandas as pd

from hyperlvq.checks import InputError
from hyperlvq.costs import glvq_flops, relative_costs, rls_flops, rls_qr_flops
from hyperlvq.report.results import LARGEST_SIZE
from hyperlvq.study.records import Record

COST_COLUMNS = ("dataset", "n_samples", "n_train", "protocol", "n_classes", "intrvfl_rls_n")
LAYER_MODEL = "intrvfl_rls"
METHODS = {
    "rls": ("RLS, straightforward", "N(2N²/3 + 4TN + 2TL − N − T − L + 2)", rls_flops),
    "rls_qr": ("RLS, QR", "N(4N²/3 + 2TN + 2TL + 3LN − N − 3L + 2)", rls_qr_flops),
    "glvq": ("GLVQ", "I·T(3PLN + 6N + 19) + TN", glvq_flops),
}


@dataclass(frozen=True)
class CostTable:
    """Training costs, with P = 1 prototype per class and I = 10 iterations for GLVQ.

    `sets` has a row a data set: n_samples (T), n_units (N), n_classes (L), the flops of each
    method and its ratio to straightforward RLS. `methods` has a row a method: title, formula,
    total flops over the data sets, mean and median ratio.
    """

    sets: pd.DataFrame
    methods: pd.DataFrame


def cost_table(rows: Iterable[Mapping[str, Any]]) -> CostTable:
    """Return the training costs over data sets, one row of `COST_COLUMNS` each.

    T is all samples for the k-fold sets and the training file's for the others, as in the paper.

    Examples
    --------
    >>> from hyperlvq.report.costs import cost_table
    >>> row = {"dataset": "toy", "n_samples": 1000, "n_train": 750, "protocol": "kfold"}
    >>> table = cost_table([row | {"n_classes": 2, "intrvfl_rls_n": 500}])
    >>> table.methods["mean_ratio"].round(2).to_dict()
    {'rls': 1.0, 'rls_qr': 0.62, 'glvq': 0.06}
    """
    rows = list(rows)
    if not has_cost_columns(rows):
        raise InputError(f"training costs need the columns {', '.join(COST_COLUMNS)}")
    sets = pd.DataFrame.from_dict(
        {row["dataset"]: _costs(*_sizes(row)) for row in rows}, orient="index"
    )
    if sets.empty:
        raise InputError("no data sets to count the training costs of")
    sets.index.name = "dataset"
    return CostTable(sets, _methods(sets))


def has_cost_columns(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether every row has the columns that `cost_table` needs."""
    return all(set(COST_COLUMNS) <= set(row) for row in rows)


def cost_rows(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return the rows for `cost_table` from the intRVFL + RLS runs, sizes averaged over them."""
    runs = pd.DataFrame(
        [
            {name: record.get(name) for name in ("dataset", "n_train", "n_units", "n_classes")}
            for record in records
            if record["model"] == LAYER_MODEL and record.get("accuracy") is not None
        ]
    ).dropna()
    if runs.empty:
        return []
    means = runs.groupby("dataset").mean().round().astype(int)
    means = means.rename(columns={"n_units": "intrvfl_rls_n"}).reset_index()
    means["n_samples"] = means["n_train"]
    return means.assign(protocol="records").to_dict("records")


def _sizes(row: Mapping[str, Any]) -> tuple[int, int, int]:
    samples = "n_samples" if row["protocol"] == "kfold" else "n_train"
    return _size(row, samples), _size(row, "intrvfl_rls_n"), _size(row, "n_classes")


def _size(row: Mapping[str, Any], column: str) -> int:
    try:
        size = int(row[column])
    except (TypeError, ValueError):
        size = 0
    if not 1 <= size <= LARGEST_SIZE:
        raise InputError(
            f"data set {row['dataset']}, column {column}: a whole number from 1 to {LARGEST_SIZE} "
            f"is needed, got {short(row[column])}"
        )
    return size


def _costs(n_samples: int, n_units: int, n_classes: int) -> dict[str, float]:
    flops = {
        name: function(n_samples, n_units, n_classes) for name, (_, _, function) in METHODS.items()
    }
    ratios = {"rls": 1.0} | relative_costs(n_samples, n_units, n_classes)
    sizes = {"n_samples": n_samples, "n_units": n_units, "n_classes": n_classes}
    return sizes | flops | {f"{name}_ratio": ratio for name, ratio in ratios.items()}


def _methods(sets: pd.DataFrame) -> pd.DataFrame:
    rows = {
        name: {
            "title": title,
            "formula": formula,
            "total_flops": sets[name].sum(),
            "mean_ratio": sets[f"{name}_ratio"].mean(),
            "median_ratio": sets[f"{name}_ratio"].median(),
        }
        for name, (title, formula, _) in METHODS.items()
    }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "method"
    return table
