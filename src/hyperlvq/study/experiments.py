"""What the study compares, as data: the models, their settings and grids, the comparisons.

Settings files have one row per data set (and split), with the columns of the paper's table; a model
names the column of each of its parameters, so several models may read the same one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperlvq.registry import HiddenName, ReadoutName, Recipe, recipe_defaults, search_grid

LARGEST_PUBLISHED_PENALTY = 32.0
# Solved exactly, intRVFL needs larger penalties than the paper's, and they cost nothing.
PENALTIES = tuple(2.0**exponent for exponent in range(-10, 12))
FULL_GRID: dict[str, Any] = {
    "n_units": tuple(range(50, 1501, 50)),
    "clip": (1, 3, 7, 15),
    "alpha": PENALTIES,
    "slope": tuple(range(1, 16)),
    "prototypes_per_class": tuple(range(1, 6)),
    "gamma": tuple(step / 10 for step in range(1, 12)),
}
#: How columns of the paper's table end, behind the name of the model.
COLUMN_ENDS = dict(zip(FULL_GRID, ("n", "kappa", "lmb", "beta", "ppc", "sigma"), strict=True))
LAYER_PARAMETERS = ("n_units", "clip")


@dataclass(frozen=True)
class Model:
    """A model of the study.

    `recipe` is what `make_classifier` takes, or the name of a classifier in `protocol.OUTSIDE`.
    `fixed` are parameters that no settings file has, `defaults` stand in for settings.
    `as_published` are parameters that go with the paper's settings, to compute as its authors did.
    `columns` names the column of each parameter in a settings file, which may lack those that
    `as_published` has; `accuracy_column` is that of the paper's accuracy, `published_mean` a mean
    the paper gives in its text alone. `grid` holds the values that the full search tries, the
    paper's (`published_grid`) at least; a parameter in `reuse` is taken from that column of the
    settings found so far. `quick_grid` is a smaller one, that reuses nothing. The settings of the
    grids "full" and "quick" are compared with the parameters that `limits` has for them, those of
    "published" with `as_published`, and in the protocol "strict" on at most `tuning_rows` of the
    training samples. Of more than one of `n_voters`, which differ in
    their random numbers, the class that most of them choose is taken.
    """

    name: str
    title: str
    recipe: Recipe | str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    as_published: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    grid: Mapping[str, tuple] = field(default_factory=dict)
    quick_grid: Mapping[str, tuple] = field(default_factory=dict)
    limits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reuse: Mapping[str, str] = field(default_factory=dict)
    tuning_rows: int | None = None
    n_voters: int = 1
    accuracy_column: str | None = None
    published_mean: float | None = None
    is_random: bool = True

    @property
    def published_grid(self) -> dict[str, tuple]:
        """Grid of the paper's search, empty for models that the paper did not tune.

        Parameters in `as_published` are fixed there and not searched.
        """
        if self.accuracy_column is None:
            return {}
        grid = {key: values for key, values in self.grid.items() if key not in self.as_published}
        if "alpha" in grid:
            grid["alpha"] = tuple(a for a in grid["alpha"] if a <= LARGEST_PUBLISHED_PENALTY)
        return grid

    @property
    def readout(self) -> str | None:
        """The name of the readout, None for classifiers that are no recipes."""
        return self.recipe[1] if isinstance(self.recipe, tuple) else None

    @property
    def is_rls(self) -> bool:
        """Return whether the readout is RLS."""
        return self.readout == "rls"

    def n_initialisations(self, parameters: Mapping[str, Any], most: int) -> int:
        """Return the number of initialisations: 1 for a deterministic model, else `most`."""
        is_random = self.is_random and parameters.get("init") != _PUBLISHED_KERNEL_START["init"]
        return most if is_random else 1


@dataclass(frozen=True)
class ModelPair:
    """Two models to compare, accuracy against accuracy.

    `figure` is the number of the plot in the paper, whose Fig. 1 is a diagram. The paper gives no
    p-value, only p < 0.05: `published_t_test` was computed from its table of accuracies.
    """

    x: str
    y: str
    title: str
    figure: int | None = None
    published_pearson: float | None = None
    published_t_test: float | None = None


def _columns(prefix: str, parameters: Iterable[str]) -> dict[str, str]:
    return {name: f"{prefix}_{COLUMN_ENDS[name]}" for name in parameters}


def _tuned(
    name: str,
    hidden: HiddenName,
    readout: ReadoutName,
    title: str | None = None,
    fixed: Any = None,
    **others: Any,
) -> Model:
    """Return a model of the paper, which tunes what its recipe sets less what is `fixed`.

    GLVQ, which takes longest, has the hidden layer that is best for RLS.
    """
    fixed = fixed or {}
    settings = {**recipe_defaults(hidden, readout), **_OWN_DEFAULTS.get(readout, {}), **fixed}
    tuned = [key for key in settings if key in COLUMN_ENDS and key not in fixed]
    reused = [key for key in tuned if key in LAYER_PARAMETERS and readout == "glvq"]
    quick = {**search_grid(hidden, readout), **_QUICK_VALUES.get((hidden, readout), {})}
    return Model(
        name,
        title or f"{_TITLES.get(hidden, hidden)} + {_TITLES[readout]}",
        (hidden, readout),
        defaults={key: settings[key] for key in tuned},
        fixed={key: value for key, value in settings.items() if key not in tuned},
        columns=_columns(name, tuned),
        grid={key: FULL_GRID[key] for key in tuned if key not in reused},
        reuse=_columns(f"{hidden}_rls", reused),
        quick_grid={key: values for key, values in quick.items() if key in tuned},
        accuracy_column=f"{name}_acc",
        **others,
    )


def _with_settings_of(
    model: Model, name: str, title: str, fixed: Any = None, **others: Any
) -> Model:
    """Return a model that is not tuned itself."""
    fixed = {**model.fixed, **(fixed or {})}
    return Model(name, title, model.recipe, model.defaults, fixed, columns=model.columns, **others)


def _ten_iterations(model: Model, title: str, mean: float) -> Model:
    fixed = {"max_iter": 10}
    return _with_settings_of(model, f"{model.name}_10", title, fixed, published_mean=mean)


def _powers_of_two(first: int, last: int) -> tuple[float, ...]:
    return tuple(2.0**exponent for exponent in range(first, last + 1, 2))


# What the records were made with; the defaults of the recipes have changed since.
_OWN_DEFAULTS: dict[str, dict[str, Any]] = {
    "glvq": {"slope": 12, "tol": 1e-5},
    "kglvq": {"prototypes_per_class": 3, "slope": 10, "gamma": 0.5, "tol": 1e-5},
}
_QUICK_SLOPES = {"slope": (5.0, 12.0)}
# Where the quick grid is not that of the registry.
_QUICK_VALUES: dict[tuple[str, str], dict[str, tuple]] = {
    ("features", "glvq"): _QUICK_SLOPES,
    ("features", "kglvq"): {"slope": (10,)},
    ("rvfl", "glvq"): _QUICK_SLOPES,
    ("features", "rls"): {"alpha": PENALTIES},
    ("rvfl", "rls"): {"alpha": PENALTIES},
    ("intrvfl", "rls"): {"n_units": (100, 300, 1000), "alpha": PENALTIES},
    ("intrvfl", "glvq"): {"n_units": (1000,), **_QUICK_SLOPES},
}
# GLVQ on real activations in the paper; what the recipes have is better.
_PUBLISHED_START = {"prototypes_per_class": 1, "init_noise": 1.0}
# KGLVQ starts without noise in the paper.
_PUBLISHED_KERNEL_START = {"init": "published"}
# The published figures agree with this solver alone: see docs/decisions.
_SINGLE_PRECISION = {"solver": "pinv"}
# Settings of models whose time grows fast with the samples are compared on so many of them.
_TUNING_ROWS = 1500
# Where training takes longest, searches compare settings before it has ended.
_QUICK_LIMITS = {"quick": {"max_iter": 50}}
_LIMITS = {**_QUICK_LIMITS, "full": {"max_iter": 300}}
_HDC_READOUTS: dict[ReadoutName, str] = {
    "centroids": "centroids",
    "perceptron": "perceptron",
    "lvq1": "LVQ1",
}
_TITLES = {"rvfl": "RVFL", "intrvfl": "intRVFL", "rls": "RLS", "glvq": "GLVQ"}
_ONE_EACH = _tuned(
    *("intrvfl_glvq_p1", "intrvfl", "glvq", "intRVFL + GLVQ, P = 1"),
    fixed={"prototypes_per_class": 1},
    limits=_QUICK_LIMITS,
)
_PROPOSED = _tuned("intrvfl_glvq", "intrvfl", "glvq", "intRVFL + GLVQ (proposed)", limits=_LIMITS)

_MODELS = (
    _tuned("rls_features", "features", "rls", as_published=_SINGLE_PRECISION, is_random=False),
    _tuned("glvq_features", "features", "glvq", as_published=_PUBLISHED_START),
    _tuned("rvfl_rls", "rvfl", "rls", as_published=_SINGLE_PRECISION),
    _tuned("rvfl_glvq", "rvfl", "glvq", as_published=_PUBLISHED_START, limits=_LIMITS),
    _tuned("intrvfl_rls", "intrvfl", "rls", as_published=_SINGLE_PRECISION),
    _ONE_EACH,
    _ten_iterations(_ONE_EACH, "intRVFL + GLVQ, P = 1, 10 iterations", 0.80),
    _PROPOSED,
    _ten_iterations(_PROPOSED, "intRVFL + GLVQ (proposed), 10 iterations", 0.81),
    _tuned("kglvq", "features", "kglvq", "KGLVQ", as_published=_PUBLISHED_KERNEL_START),
    *(
        Model(
            f"intrvfl_{readout}",
            f"intRVFL + {title}",
            ("intrvfl", readout),
            defaults={"n_units": 1000, "clip": 3},
            columns=_columns("intrvfl_rls", LAYER_PARAMETERS),
        )
        for readout, title in _HDC_READOUTS.items()
    ),
    _with_settings_of(_PROPOSED, "intrvfl_glvq_votes", "ten votes of intRVFL + GLVQ", n_voters=10),
    Model("recipe_glvq", "intRVFL + GLVQ, defaults", ("intrvfl", "glvq")),
    Model("recipe_rls", "intRVFL + RLS, defaults", ("intrvfl", "rls")),
    Model("hyperlvq", "HyperLVQ", "hyperlvq"),
    Model("hyperlvq_one", "HyperLVQ, one network", "hyperlvq", fixed={"n_networks": 1}),
    Model("forest", "random forest", "forest", fixed={"n_estimators": 500}),
    Model("boosting", "gradient boosting", "boosting"),
    Model(
        "svm",
        "RBF SVM",
        "svm",
        defaults={"C": 128.0, "gamma": 0.125},
        columns={"C": "svm_c", "gamma": "svm_gamma"},
        grid={"C": _powers_of_two(-5, 15), "gamma": _powers_of_two(-15, 3)},
        quick_grid={"C": _powers_of_two(-3, 11), "gamma": _powers_of_two(-9, 3)},
        limits={grid: {"calibration_rows": 0} for grid in ("full", "quick")},
        tuning_rows=_TUNING_ROWS,
        is_random=False,
    ),
    Model(
        "mlp",
        "MLP",
        "mlp",
        defaults={"alpha": 0.01, "learning_rate_init": 0.01},
        fixed={"hidden_layer_sizes": 200},
        columns={"alpha": "mlp_alpha", "learning_rate_init": "mlp_rate"},
        grid={
            "alpha": (1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0),
            "learning_rate_init": (3e-4, 1e-3, 3e-3, 0.01, 0.03),
        },
        quick_grid={"alpha": (1e-4, 0.01, 1.0), "learning_rate_init": (1e-3, 0.01)},
        tuning_rows=_TUNING_ROWS,
    ),
    Model(
        "knn",
        "k nearest neighbours",
        "knn",
        defaults={"n_neighbors": 5},
        columns={"n_neighbors": "knn_k"},
        grid={"n_neighbors": (1, 3, 5, 7, 9, 11, 15, 21, 31)},
        quick_grid={"n_neighbors": (1, 3, 5, 9, 15)},
        tuning_rows=_TUNING_ROWS,
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

MODEL_PAIRS = (
    ModelPair("rls_features", "glvq_features", "RLS and GLVQ on the features", 2),
    ModelPair("rvfl_rls", "rvfl_glvq", "RLS and GLVQ on RVFL", 3, 0.78),
    ModelPair("rvfl_rls", "intrvfl_rls", "RVFL and intRVFL", 4, 0.88),
    ModelPair("intrvfl_rls", "intrvfl_glvq_p1", "RLS and GLVQ on intRVFL", 5, 0.87),
    ModelPair("intrvfl_rls", "intrvfl_glvq_p1_10", "RLS and 10 iterations of GLVQ on intRVFL"),
    ModelPair("intrvfl_rls", "intrvfl_glvq", "intRVFL + RLS and the proposed", 6, 0.86, 0.005),
    ModelPair("intrvfl_rls", "intrvfl_glvq_10", "intRVFL + RLS and 10 iterations of the proposed"),
    ModelPair("kglvq", "intrvfl_glvq", "KGLVQ and the proposed", 7, 0.94),
)
