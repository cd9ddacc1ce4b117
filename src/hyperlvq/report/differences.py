"""What a reader must know before comparing a study with the paper, as headings and texts."""

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from hyperlvq.report.costs import CostTable
from hyperlvq.report.results import Study
from hyperlvq.study.experiments import MODELS

PROPOSED = "intrvfl_glvq"
OUTSIDE = ("forest", "svm")
PAPER_NOISE = 1.0
N_PAPER_SEEDS = 5


class Difference(NamedTuple):
    """A heading and its text."""

    heading: str
    text: str


STRICT = Difference(
    "What strict means",
    "Scaling is learnt on the training data alone, and settings, where they were tuned, inside "
    "the training part of each split. The four splits of the training file are used for every "
    "data set, also for those that come with a test file, since those test files were scaled "
    "on their own.",
)
ORIENTATION = Difference(
    "Not comparable one to one",
    "The paper scales test data by their own range, tunes on samples that it also tests on, "
    "and evaluates some sets on a test file. Its figures are shown for orientation: a "
    "difference here mixes the models with the protocols.",
)
TUNING = Difference(
    "Tuning saw test samples",
    "The half of each data set that the paper tuned on overlaps the splits it evaluates on, so "
    "its accuracies, and those obtained here at its settings or at others found that way, are "
    "optimistic for every model.",
)
PENALTY = Difference(
    "The penalty of RLS",
    "The paper prints the ridge penalty λI; its figures were obtained with λ diag(var H), the "
    "variance of each activation, and that is what the RLS models of this study use.",
)
PRECISION = Difference(
    "The precision of RLS",
    "The paper's RLS figures agree with a pseudo-inverse in single precision, which drops "
    "eigenvalues below N · 2⁻²³ of the largest, and not with exact solutions; so they are computed "
    "that way here.",
)
START = Difference(
    "The start of GLVQ on features and RVFL",
    "The paper has one prototype per class there, which starts at the mean of its class plus noise "
    "of up to 1, more than such activations vary. Here they may be several, and start closer.",
)


def differences(
    study: Study, costs: CostTable | None = None, *, has_published: bool = False
) -> Iterator[Difference]:
    """Yield the differences that apply to a study."""
    if study.protocol == "strict":
        yield from (STRICT, ORIENTATION)
    else:
        yield from (_scaling(study.accuracies), TUNING)
    if has_published:
        yield _sets(study)
    most = int(study.n_seeds.max().max())
    same = "as here" if most == N_PAPER_SEEDS else f"here the mean is over {most}"
    yield Difference(
        "Random initialisations",
        f"The paper averages over {N_PAPER_SEEDS} random initialisations; {same}. Models without "
        "randomness need one. Its four “folds” are independent splits whose test parts overlap.",
    )
    if any(MODELS[name].is_rls for name in study.accuracies):
        yield PENALTY
        if "pinv" in study.solvers:
            yield PRECISION
    if any(noise < PAPER_NOISE for noise in study.noises):
        yield START
    yield from (_outside(study.accuracies, name) for name in OUTSIDE if name in study.accuracies)
    if costs is not None:
        glvq = costs.methods.loc["glvq"]
        yield Difference(
            "A mean of ratios hides a lot",
            "The paper's 21 % (GLVQ) and 79 % (QR) of the cost of straightforward RLS are means "
            f"over data sets of a ratio that varies widely. For GLVQ the mean here is "
            f"{glvq['mean_ratio']:.2f} and the median {glvq['median_ratio']:.2f}.",
        )


def _scaling(accuracies: pd.DataFrame) -> Difference:
    here = accuracies.get("intrvfl_rls", pd.Series(dtype=float)).get("annealing")
    measured = "" if here is None or pd.isna(here) else f" ({here:.3f} here)"
    return Difference(
        "Test files are scaled on their own",
        "Where a data set comes as a training and a test file, the paper scales each to [0, 1] by "
        "its own range, so the same value can mean different things in the two. Some figures are "
        f"artefacts of that, such as 0.192 on annealing for intRVFL + RLS{measured}.",
    )


def _sets(study: Study) -> Difference:
    unread = sorted({failure.dataset for failure in study.failures if failure.model is None})
    missing = f" Not read here: {', '.join(unread)}." if unread else ""
    return Difference(
        "The same data sets on both sides",
        "The paper's means cover 121 data sets (112 for KGLVQ). The means beside ours are taken "
        f"again over the sets that both have.{missing} Means with two digits are quoted from the "
        "paper's text and cover all of its sets.",
    )


def _outside(accuracies: pd.DataFrame, name: str) -> Difference:
    title = MODELS[name].title
    text = (
        f"The paper compares random networks among themselves; the {title} is a line from outside."
    )
    both = accuracies.filter([name, PROPOSED]).dropna()
    if PROPOSED in both and len(both):
        text += (
            f" Over the data sets that both have ({len(both)}) it reaches {both[name].mean():.4f} "
            f"and the proposed network {both[PROPOSED].mean():.4f}."
        )
    return Difference(f"An outside line: {title}", text)
