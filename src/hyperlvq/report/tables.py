"""Tables of a study beside the paper's figures: means over data sets, and every data set."""

from math import nan

import pandas as pd

from hyperlvq.report.results import Study
from hyperlvq.report.statistics import pearson
from hyperlvq.study.experiments import MODELS

PAPER_SUFFIX = "_paper"


def summary_table(study: Study, published: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return one row a model: its mean accuracy, and how it compares with the paper's.

    `paper_mean`, `difference`, `correlation` and `mean_absolute_difference` are over the
    `paper_sets` data sets that both have; `quoted_mean` is a mean that the paper gives in its text
    alone, shown beside the others. `seeds` is the smallest number over the data sets.
    """
    rows = {
        name: _summary_row(
            study.accuracies[name].dropna(),
            study.n_seeds[name],
            published[name] if published is not None and name in published else None,
        )
        for name in study.accuracies
    }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "model"
    table.insert(0, "title", [MODELS[name].title for name in rows])
    quoted = [None if published is None else MODELS[name].published_mean for name in rows]
    table["quoted_mean"] = pd.Series(quoted, rows, float).where(table["paper_sets"] == 0)
    return table


def _summary_row(ours: pd.Series, n_seeds: pd.Series, paper: pd.Series | None) -> dict:
    row = {"sets": len(ours), "seeds": int(n_seeds.min()), "mean_accuracy": ours.mean()}
    both = pd.DataFrame({"ours": ours, "paper": paper}).dropna().astype(float)
    difference = both["ours"] - both["paper"]
    return row | {
        "paper_sets": len(both),
        "paper_mean": both["paper"].mean() if len(both) else nan,
        "difference": difference.mean() if len(both) else nan,
        "correlation": pearson(both["ours"], both["paper"]),
        "mean_absolute_difference": difference.abs().mean() if len(both) else nan,
    }


def per_set_table(study: Study, published: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return one row a data set: each model's accuracy, the paper's after it where given."""
    columns = {}
    for name in study.accuracies:
        columns[name] = study.accuracies[name]
        if published is not None and name in published:
            columns[name + PAPER_SUFFIX] = published[name].reindex(study.accuracies.index)
    return pd.DataFrame(columns)
