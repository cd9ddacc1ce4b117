"""What the study compares, as data: the models, their settings and grids, the comparisons.

Settings files have one row per data set (and split), with the columns of the paper's table; a model
names the column of each of its parameters, so several models may read the same one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperlvq.registry import recipe_defaults, search_grid

# The paper's penalties end at 32. Solved exactly, intRVFL needs larger ones, and they cost nothing.
PENALTIES = tuple(2.0**exponent for exponent in range(-10, 12))
UNITS = tuple(range(50, 1501, 50))
CLIPS = (1, 3, 7, 15)
SLOPES = tuple(range(1, 16))
PROTOTYPES = tuple(range(1, 6))
KERNEL_WIDTHS = tuple(round(0.1 * step, 1) for step in range(1, 12))


@dataclass(frozen=True)
class Model:
    """A model of the study.

    `recipe` is what `make_classifier` takes, or the name of one of scikit-learn's classifiers in
    `protocol.OUTSIDE`. `fixed` are parameters that no settings file has, `defaults` stand in for
    settings. `as_published` are parameters that go with the paper's settings, to compute as its
    authors did. `columns` names the column of each parameter in a settings file, which may lack
    those that `as_published` has; `accuracy_column` is that of the paper's accuracy,
    `published_mean` a mean the paper gives in its text alone. `grid` holds the values that the full
    search tries, the paper's at least; a parameter in `reuse` is taken from that column of the
    settings found so far. `quick_grid` is a smaller one, that reuses nothing. The settings of
    either, "full" or "quick", are compared with the parameters that `limits` has for it. Of more
    than one of `n_voters`, which differ in their random numbers, the class that most of them choose
    is taken.
    """

    name: str
    title: str
    recipe: tuple[str, str] | str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    as_published: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    grid: Mapping[str, tuple] = field(default_factory=dict)
    quick_grid: Mapping[str, tuple] = field(default_factory=dict)
    limits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reuse: Mapping[str, str] = field(default_factory=dict)
    n_voters: int = 1
    accuracy_column: str | None = None
    published_mean: float | None = None
    is_random: bool = True

    @property
    def is_rls(self) -> bool:
        """Return whether the readout is RLS."""
        return isinstance(self.recipe, tuple) and self.recipe[1] == "rls"


@dataclass(frozen=True)
class Comparison:
    """Two models, accuracy against accuracy; `figure` is the paper's number of the plot."""

    x: str
    y: str
    title: str
    figure: int | None = None
    published_pearson: float | None = None
    published_t_test: float | None = None


def _reused_layer(prefix: str) -> dict[str, str]:
    return {"n_units": f"{prefix}_n", "clip": f"{prefix}_kappa"}


def _start_of(hidden: str) -> dict[str, Any]:
    return {"init_noise": recipe_defaults(hidden, "glvq")["init_noise"]}


def _quick_grid(hidden: str, readout: str, **others: tuple) -> dict[str, tuple]:
    return {**search_grid(hidden, readout), **others}


def _without_prototypes(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name != "prototypes_per_class"}


_INTRVFL = _reused_layer("intrvfl_rls")
_HDC_READOUTS = {"centroids": "centroids", "perceptron": "perceptron", "lvq1": "LVQ1"}
_DEFAULT_LAYER = {"n_units": 1000, "clip": 3}
_GLVQ_P1_COLUMNS = {**_reused_layer("intrvfl_glvq_p1"), "slope": "intrvfl_glvq_p1_beta"}
_PROPOSED_COLUMNS = {
    **_reused_layer("intrvfl_glvq"),
    "slope": "intrvfl_glvq_beta",
    "prototypes_per_class": "intrvfl_glvq_ppc",
}
_PROPOSED_DEFAULTS = recipe_defaults("intrvfl", "glvq")
_PROPOSED_GRID = _quick_grid("intrvfl", "glvq", n_units=(1000,))
_ONE_PROTOTYPE = {"prototypes_per_class": 1}
# GLVQ on real activations in the paper; what the recipes have is better.
_PUBLISHED_START = {"prototypes_per_class": 1, "init_noise": 1.0}
_SLOPES_AND_PROTOTYPES = {"slope": SLOPES, "prototypes_per_class": PROTOTYPES}
_TEN_ITERATIONS = {"max_iter": 10}
# Where training takes longest, searches compare settings before it has ended.
_QUICK_LIMITS = {"quick": {"max_iter": 50}}
_LIMITS = {**_QUICK_LIMITS, "full": {"max_iter": 300}}
# The published figures agree with this solver alone: see docs/decisions.
_SINGLE_PRECISION = {"solver": "pinv"}

_MODELS = (
    Model(
        "rls_features",
        "features + RLS",
        ("features", "rls"),
        as_published=_SINGLE_PRECISION,
        defaults=recipe_defaults("features", "rls"),
        columns={"alpha": "rls_features_lmb"},
        grid={"alpha": PENALTIES},
        quick_grid=_quick_grid("features", "rls", alpha=PENALTIES),
        accuracy_column="rls_features_acc",
        is_random=False,
    ),
    Model(
        "glvq_features",
        "features + GLVQ",
        ("features", "glvq"),
        defaults=recipe_defaults("features", "glvq"),
        fixed=_start_of("features"),
        as_published=_PUBLISHED_START,
        columns={"slope": "glvq_features_beta", "prototypes_per_class": "glvq_features_ppc"},
        grid=_SLOPES_AND_PROTOTYPES,
        quick_grid=_quick_grid("features", "glvq"),
        accuracy_column="glvq_features_acc",
    ),
    Model(
        "rvfl_rls",
        "RVFL + RLS",
        ("rvfl", "rls"),
        as_published=_SINGLE_PRECISION,
        defaults=recipe_defaults("rvfl", "rls"),
        columns={"n_units": "rvfl_rls_n", "alpha": "rvfl_rls_lmb"},
        grid={"n_units": UNITS, "alpha": PENALTIES},
        quick_grid=_quick_grid("rvfl", "rls", alpha=PENALTIES),
        accuracy_column="rvfl_rls_acc",
    ),
    Model(
        "rvfl_glvq",
        "RVFL + GLVQ",
        ("rvfl", "glvq"),
        defaults=recipe_defaults("rvfl", "glvq"),
        fixed=_start_of("rvfl"),
        as_published=_PUBLISHED_START,
        columns={
            "n_units": "rvfl_glvq_n",
            "slope": "rvfl_glvq_beta",
            "prototypes_per_class": "rvfl_glvq_ppc",
        },
        grid=_SLOPES_AND_PROTOTYPES,
        reuse={"n_units": "rvfl_rls_n"},
        quick_grid=_quick_grid("rvfl", "glvq"),
        limits=_LIMITS,
        accuracy_column="rvfl_glvq_acc",
    ),
    Model(
        "intrvfl_rls",
        "intRVFL + RLS",
        ("intrvfl", "rls"),
        as_published=_SINGLE_PRECISION,
        defaults=recipe_defaults("intrvfl", "rls"),
        columns={**_INTRVFL, "alpha": "intrvfl_rls_lmb"},
        grid={"n_units": UNITS, "clip": CLIPS, "alpha": PENALTIES},
        quick_grid=_quick_grid("intrvfl", "rls", n_units=(100, 300, 1000), alpha=PENALTIES),
        accuracy_column="intrvfl_rls_acc",
    ),
    Model(
        "intrvfl_glvq_p1",
        "intRVFL + GLVQ, P = 1",
        ("intrvfl", "glvq"),
        defaults=_without_prototypes(_PROPOSED_DEFAULTS),
        fixed=_ONE_PROTOTYPE,
        columns=_GLVQ_P1_COLUMNS,
        grid={"slope": SLOPES},
        reuse=_INTRVFL,
        quick_grid=_without_prototypes(_PROPOSED_GRID),
        limits=_QUICK_LIMITS,
        accuracy_column="intrvfl_glvq_p1_acc",
    ),
    Model(
        "intrvfl_glvq_p1_10",
        "intRVFL + GLVQ, P = 1, 10 iterations",
        ("intrvfl", "glvq"),
        defaults=_without_prototypes(_PROPOSED_DEFAULTS),
        fixed={**_ONE_PROTOTYPE, **_TEN_ITERATIONS},
        columns=_GLVQ_P1_COLUMNS,
        published_mean=0.80,
    ),
    Model(
        "intrvfl_glvq",
        "intRVFL + GLVQ (proposed)",
        ("intrvfl", "glvq"),
        defaults=_PROPOSED_DEFAULTS,
        columns=_PROPOSED_COLUMNS,
        grid=_SLOPES_AND_PROTOTYPES,
        reuse=_INTRVFL,
        quick_grid=_PROPOSED_GRID,
        limits=_LIMITS,
        accuracy_column="intrvfl_glvq_acc",
    ),
    Model(
        "intrvfl_glvq_10",
        "intRVFL + GLVQ (proposed), 10 iterations",
        ("intrvfl", "glvq"),
        defaults=_PROPOSED_DEFAULTS,
        fixed=_TEN_ITERATIONS,
        columns=_PROPOSED_COLUMNS,
        published_mean=0.81,
    ),
    Model(
        "kglvq",
        "KGLVQ",
        ("features", "kglvq"),
        defaults={"prototypes_per_class": 3, "slope": 10, "gamma": 0.5},
        columns={
            "prototypes_per_class": "kglvq_ppc",
            "slope": "kglvq_beta",
            "gamma": "kglvq_sigma",
        },
        grid={"prototypes_per_class": PROTOTYPES, "slope": SLOPES, "gamma": KERNEL_WIDTHS},
        quick_grid=_quick_grid("features", "kglvq", slope=(10,)),
        accuracy_column="kglvq_acc",
    ),
    *(
        Model(
            f"intrvfl_{readout}",
            f"intRVFL + {title}",
            ("intrvfl", readout),
            defaults=_DEFAULT_LAYER,
            columns=_INTRVFL,
        )
        for readout, title in _HDC_READOUTS.items()
    ),
    Model(
        "intrvfl_glvq_votes",
        "ten votes of intRVFL + GLVQ",
        ("intrvfl", "glvq"),
        defaults=_PROPOSED_DEFAULTS,
        columns=_PROPOSED_COLUMNS,
        n_voters=10,
    ),
    Model("forest", "random forest", "forest", fixed={"n_estimators": 500}),
    Model(
        "svm",
        "RBF SVM",
        "svm",
        defaults={"C": 128.0, "gamma": 0.125},
        columns={"C": "svm_c", "gamma": "svm_gamma"},
        grid={
            "C": tuple(2.0**exponent for exponent in range(-5, 16, 2)),
            "gamma": tuple(2.0**exponent for exponent in range(-15, 4, 2)),
        },
        quick_grid={
            "C": tuple(2.0**exponent for exponent in range(-3, 12, 2)),
            "gamma": tuple(2.0**exponent for exponent in range(-9, 4, 2)),
        },
        is_random=False,
    ),
    Model(
        "knn",
        "k nearest neighbours",
        "knn",
        defaults={"n_neighbors": 5},
        columns={"n_neighbors": "knn_k"},
        grid={"n_neighbors": (1, 3, 5, 7, 9, 11, 15, 21, 31)},
        quick_grid={"n_neighbors": (1, 3, 5, 9, 15)},
        is_random=False,
    ),
    Model(
        "ridge",
        "ridge regression",
        "ridge",
        defaults={"alpha": 2.0},
        columns={"alpha": "ridge_lmb"},
        grid={"alpha": PENALTIES},
        quick_grid={"alpha": PENALTIES},
        is_random=False,
    ),
)
MODELS = {model.name: model for model in _MODELS}

COMPARISONS = (
    Comparison("rls_features", "glvq_features", "RLS and GLVQ on the features", figure=1),
    Comparison("rvfl_rls", "rvfl_glvq", "RLS and GLVQ on RVFL", 2, published_pearson=0.78),
    Comparison("rvfl_rls", "intrvfl_rls", "RVFL and intRVFL", 3, published_pearson=0.88),
    Comparison(
        "intrvfl_rls", "intrvfl_glvq_p1", "RLS and GLVQ on intRVFL", 4, published_pearson=0.87
    ),
    Comparison("intrvfl_rls", "intrvfl_glvq_p1_10", "RLS and 10 iterations of GLVQ on intRVFL"),
    Comparison(
        "intrvfl_rls",
        "intrvfl_glvq",
        "intRVFL + RLS and the proposed",
        5,
        published_pearson=0.86,
        published_t_test=0.005,
    ),
    Comparison("intrvfl_rls", "intrvfl_glvq_10", "intRVFL + RLS and 10 iterations of the proposed"),
    Comparison("kglvq", "intrvfl_glvq", "KGLVQ and the proposed", 6, published_pearson=0.94),
)
