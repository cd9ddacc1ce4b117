"""How all models stand beside one of them, over all data sets and over parts of them."""

import pandas as pd

from hyperlvq.checks import InputError, check_choice
from hyperlvq.report.results import Study
from hyperlvq.report.statistics import compare_models, rank_models
from hyperlvq.study.collection import TEST_FILE, manifest
from hyperlvq.study.experiments import MODELS, Comparison

LARGE = 910
GROUPS = ("all data sets", f"more than {LARGE} training samples", "without a test file")


def standings(study: Study, reference: str) -> pd.DataFrame:
    """Return a row per group of data sets and model, of the sets that all models have.

    `wins` are the sets on which the model is better than the reference; the p values of Wilcoxon's
    signed-rank test against it are corrected together within a group. Log loss is a mean over
    data sets, seconds are those of one training on each.
    """
    check_choice("reference", reference, tuple(study.accuracies), InputError)
    tables = [_standing(study, sets, reference) for sets in _groups(study).values()]
    return pd.concat(tables, keys=_groups(study), names=["group", "model"])


def _groups(study: Study) -> dict[str, pd.Index]:
    """Return the data sets of each group, less groups that hold none or all of them."""
    common = study.accuracies.dropna().index
    with_test_file = {name for name, facts in manifest().items() if facts.kind == TEST_FILE}
    parts = common[study.n_train[common] > LARGE], common.difference(with_test_file, sort=False)
    kept = [part if 0 < len(part) < len(common) else common[:0] for part in parts]
    groups = dict(zip(GROUPS, (common, *kept), strict=True))
    return {name: sets for name, sets in groups.items() if len(sets)}


def _standing(study: Study, sets: pd.Index, reference: str) -> pd.DataFrame:
    accuracies, seconds = study.accuracies.loc[sets], study.fit_seconds.loc[sets]
    ranking = rank_models(accuracies)
    others = [name for name in accuracies if name != reference]
    results = compare_models(accuracies, [Comparison(reference, name, "") for name in others])
    table = pd.DataFrame(
        {
            "title": [MODELS[name].title for name in accuracies],
            "sets": len(sets),
            "mean_accuracy": accuracies.mean(),
            "mean_rank": None if ranking is None else ranking.mean_ranks,
            "mean_log_loss": study.log_losses.loc[sets].mean(skipna=False),
            "total_fit_seconds": seconds.sum(skipna=False),
            "median_fit_seconds": seconds.median(skipna=False),
        },
        index=accuracies.columns,
    )
    for result in results:
        name = result.comparison.y
        table.loc[name, ["wins", "ties", "losses"]] = result.wins, result.ties, result.losses
        table.loc[name, ["wilcoxon", "wilcoxon_holm"]] = result.wilcoxon, result.wilcoxon_holm
    return table.sort_values("mean_accuracy", ascending=False, kind="stable")
