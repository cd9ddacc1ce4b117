"""The only registry: one record for each part that models are made of.

A record says once what all others need to know: `make_classifier` and the command line how to build
a part and what to search, estimators and model files what is valid in it, exporters, clusters and
the study what they can do with it. numpy is not imported, so that `hyperlvq --help` is quick.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from math import inf
from numbers import Integral
from typing import Any, Literal, NamedTuple

from hyperlvq.checks import check_boolean, check_choice, check_integer, check_real, to_float
from hyperlvq.costs import glvq_flops, kglvq_flops, rls_flops

LARGEST_CLIP = 2**15 - 1
#: Of the perceptron rule and of GLVQ, on devices as well.
USUAL_RATE, USUAL_SLOPE = 0.0005, 10.0
#: With learning_rate="auto", how far a sample on the boundary moves its winners, twice.
AUTO_STEP = 0.02
MOST_PROTOTYPES = 2**31
#: Squares of larger features, or of prototypes that start so far away, may not be finite.
LARGEST_FEATURE = 1e140
#: Kinds of units that count comparisons: the activation for each number of them that hold.
UNIT_KINDS: dict[str, tuple[int, ...]] = {
    "conjunction": (0, 0, 0, 1, 2),
    "majority": (-1, -1, -1, 1, 1, 1),
    "parity": (1, -1, 1, -1, 1),
    "constant": (1,),
}
#: Those of `sklearn.metrics.pairwise.kernel_metrics`.
KERNELS = (
    *("additive_chi2", "chi2", "cosine", "laplacian", "linear"),
    *("poly", "polynomial", "rbf", "sigmoid"),
)
#: What a date has that may be a feature.
DATE_PARTS = ("year", "month", "weekday", "hour")
#: They describe how to use a machine, not what a model is: model files do not hold them.
MACHINE_PARAMETERS = frozenset({"n_jobs", "max_kernel_bytes", "copy", "time_limit", "verbose"})

#: The names of hidden layers and of readouts in recipes.
HiddenName = Literal["features", "rvfl", "intrvfl", "comparisons"]
ReadoutName = Literal["rls", "centroids", "perceptron", "lvq1", "glvq", "kglvq"]
Recipe = tuple[HiddenName, ReadoutName]
Check = Callable[[str, Any], object]


class Parameter(NamedTuple):
    """A constructor parameter: a check of its name and value, and its option of `hyperlvq fit`.

    `option` is the type of the option's value, a tuple of words to choose from, or None where there
    is no option; `largest` is the largest value that the option takes, `word` what it takes instead
    of a number; `shown` tells whether it is one of the parameters that `hyperlvq show` names.
    `file_check` is the check of a value in a model file, where older versions allowed more.
    """

    check: Check
    option: type | tuple[str, ...] | None = None
    help: str = ""
    largest: int | None = None
    shown: bool = True
    word: str | None = None
    file_check: Check | None = None


class Learnt(NamedTuple):
    """An attribute that `fit` sets; `type` is one of `hyperlvq.learnt.VALUE_TYPES`.

    `sizes` names the sizes of an array: one name is one number throughout a part. A count with a
    size must be that number. Indices lie between `least` and the size that `below` names.
    """

    type: str
    sizes: tuple[str, ...] = ()
    required: bool = True
    below: str | None = None
    least: int = 0


@dataclass(frozen=True)
class PartRecord:
    """What is known about a part."""

    #: Where its class is imported from.
    module: str
    #: What `fit` sets; the first of it tells where the part was fitted: numpy, or a torch device.
    learnt: Mapping[str, Learnt]
    #: Constructor parameters.
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    #: Sizes that a parameter gives: its value, or its length.
    given_sizes: Mapping[str, str] = field(default_factory=dict)
    #: Parameters that predictions need. `fit` keeps them under these names with an underscore, and
    #: model files hold the values of `fit`.
    kept: tuple[str, ...] = ()
    #: Takes parameters and learnt attributes, and raises if they contradict each other.
    check: Callable[[Mapping[str, Any], Mapping[str, Any]], None] | None = None
    #: Whether it makes something of a missing value.
    takes_missing: bool = False
    #: The size of what it passes on to the next part; None for a classifier.
    output: str | None = None
    #: What `make_classifier` and the command line call it; None if it is no choice there.
    recipe_name: str | None = None
    #: What a readout is called in text.
    title: str = ""
    #: Of a readout: the parameters that a recipe starts from, by the name of its hidden layer.
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: The values that a short search tries.
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    #: Takes samples, units, classes, prototypes per class and iterations; None without a formula.
    training_flops: Callable[..., float] | None = None
    #: The solver that goes from sample to sample, which partitions cannot do side by side.
    online_solver: str | None = None
    #: How many iterations training takes most of the time.
    usual_iterations: int = 1
    #: Where it can be trained besides numpy: on torch "tensors", on "partitions" of Dask, or in
    #: "batches" on the study's device.
    runs_on: frozenset[str] = frozenset()
    #: Why it cannot be exported; None if it can.
    export_refusal: str | None = "it has no integer form"
    #: How an exported model goes on learning.
    device_rule: str | None = None

    @property
    def role(self) -> str | None:
        """The step of a recipe that it can be."""
        if self.recipe_name is None:
            return None
        return "readout" if self.output is None else "hidden"

    @property
    def output_rows(self) -> str | None:
        """The learnt array of which scores are products with the rows, or distances to them."""
        return next((name for name in ("coef_", "prototypes_") if name in self.learnt), None)

    @property
    def saved_parameters(self) -> list[str]:
        """The names of the parameters that a model file holds."""
        return [name for name in self.parameters if name not in MACHINE_PARAMETERS]

    def learnt_of_type(self, kind: str) -> set[str]:
        """Return the names of what is learnt of a type."""
        return {name for name, each in self.learnt.items() if each.type == kind}


def check_parameters(record: PartRecord, values: Mapping[str, Any], in_file: bool = False) -> None:
    """Raise TypeError or ValueError for the first parameter that is wrong."""
    for name, parameter in record.parameters.items():
        if name in values:
            check = (in_file and parameter.file_check) or parameter.check
            check(name, values[name])


def estimator_class(kind: str) -> Any:
    """Return the class of a part by its name."""
    return getattr(import_module(PARTS[kind].module), kind)


def record_of(estimator: Any) -> PartRecord | None:
    """Return the record of an estimator; None for other classes, subclasses too."""
    kind = type(estimator)
    is_known = kind.__name__ in PARTS and estimator_class(kind.__name__) is kind
    return PARTS[kind.__name__] if is_known else None


def hidden_layers() -> dict[str, str | None]:
    """Return the classes of hidden layers by their names in recipes; None for bare features."""
    return {"features": None, **_names_of("hidden")}


def readouts() -> dict[str, str]:
    """Return the classes of readouts by their names in recipes."""
    return _names_of("readout")


def _names_of(role: str) -> dict[str, str]:
    return {str(each.recipe_name): kind for kind, each in PARTS.items() if each.role == role}


def recipe_classes(hidden: str, readout: str) -> list[str]:
    """Return the classes of a recipe: of its hidden layer, where there is one, and its readout."""
    layer = hidden_layers()[check_choice("hidden", hidden, hidden_layers())]
    classifier = readouts()[check_choice("readout", readout, readouts())]
    return [kind for kind in (layer, classifier) if kind is not None]


def recipe_records(hidden: str, readout: str) -> list[PartRecord]:
    """Return the records of a recipe's classes."""
    return [PARTS[kind] for kind in recipe_classes(hidden, readout)]


def recipe_defaults(hidden: str, readout: str) -> Mapping[str, Any]:
    """Return the parameters that a recipe starts from, where they are not those of its parts."""
    return recipe_records(hidden, readout)[-1].defaults.get(hidden, {})


def search_grid(hidden: str, readout: str) -> dict[str, tuple]:
    """Return the values that a short search tries for each parameter of a recipe."""
    records = recipe_records(hidden, readout)
    return {name: values for record in records for name, values in record.grid.items()}


def _check_random_state(name: str, value: Any) -> None:
    """Let the kinds pass that `sklearn.utils.check_random_state` takes."""
    import numpy as np

    if value is None or value is np.random or isinstance(value, np.random.RandomState):
        return
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(
            f"{name} must be None, an integer or a numpy.random.RandomState, got {value!r}"
        )
    check_integer(name, value, minimum=0, maximum=2**32 - 1)


def _check_n_jobs(name: str, value: Any) -> None:
    """Check a number of threads. As in joblib, negative numbers leave processors free."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be None or an integer, got {value!r}")
    if value == 0:
        raise ValueError(f"{name} must be None or an integer other than 0, got {value!r}")


def _check_verbose(name: str, value: Any) -> None:
    """Let True and False stand for 1 and 0, as in scikit-learn."""
    if type(value).__name__ not in ("bool", "bool_"):
        check_integer(name, value, minimum=0)


def _check_counts(name: str, value: Any) -> None:
    """Check one number, a sequence of numbers, or a mapping from labels to numbers."""
    value = value.tolist() if hasattr(value, "tolist") else value
    counts = value.values() if isinstance(value, Mapping) else value
    for count in counts if isinstance(value, list | tuple | Mapping) else [value]:
        check_integer(name, count, minimum=1, maximum=MOST_PROTOTYPES)


def _check_class_weight(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be a dict, 'balanced' or None, got {value!r}")
    for weight in value.values():
        check_real(name, weight, positive=True)


def _check_kernel(name: str, value: Any) -> None:
    if not callable(value):
        check_choice(name, value, KERNELS)


def _check_range(name: str, value: Any) -> None:
    if not (isinstance(value, tuple) and len(value) == 2):
        raise ValueError(f"{name} must be a pair of numbers, got {value!r}")
    low, high = map(to_float, value)
    if not -inf < low < high < inf:
        raise ValueError(f"{name} must be two finite numbers in increasing order, got {value!r}")


def _check_column_names(name: str, value: Any) -> None:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{name} must be a list of strings, got {value!r}")
    if len(set(value)) < len(value):
        raise ValueError(f"{name} must be distinct names, got {value!r}")


def _one_of(*choices: str) -> Parameter:
    return Parameter(partial(check_choice, choices=choices))


def _unless(special: str | None, check: Check) -> Check:
    """Return a check of all values but a special one."""

    def check_others(name: str, value: Any) -> None:
        if not (isinstance(value, type(special)) and value == special):
            check(name, value)

    return check_others


def _or(word: str, parameter: Parameter) -> Parameter:
    return parameter._replace(check=_unless(word, parameter.check), word=word)


def _check_vectorizer(parameters: Mapping[str, Any], learnt: Mapping[str, Any]) -> None:
    """Check that features of levels stand behind those of numbers and dates, without a gap."""
    n_columns = sum(len(parameters[kind]) for kind in ("numbers", "dates", "text"))
    if not 0 < learnt["n_features_in_"] == n_columns:
        raise ValueError("n_features_in_ must equal the number of columns")
    n_numbers = len(parameters["numbers"]) + len(learnt["date_parts_"])
    if len(learnt["medians_"]) != n_numbers:
        raise ValueError("medians_ must have one entry per column of numbers and part of dates")
    of_missing = learnt["missing_features_"]
    features = {*learnt["level_features_"].tolist(), *of_missing[of_missing >= 0].tolist()}
    has_gaps = len(features) != learnt["n_features_out_"] - n_numbers
    if has_gaps or min(features, default=n_numbers) < n_numbers:
        raise ValueError(
            "level_features_ must follow the features of numbers and dates without gaps"
        )


def _check_scaler(parameters: Mapping[str, Any], learnt: Mapping[str, Any]) -> None:
    """Check that the attributes of a scaler follow from the extremes and the range."""
    import numpy as np

    low, high = parameters["feature_range"]
    smallest, largest, scale = learnt["data_min_"], learnt["data_max_"], learnt["scale_"]
    with np.errstate(all="ignore"):
        extent = largest - smallest
        # MinMaxScaler takes any tiny range for none, and RangeScaler some
        is_tiny = (extent < 10 * np.finfo(extent.dtype).eps) & (scale == high - low)
        target = np.where(np.isnan(extent), np.nan, high - low)
        follows = (
            not (smallest > largest).any()
            and _are_close(learnt["data_range_"], extent)
            and _are_close(scale * np.where(is_tiny, 1, extent), target)
            and _are_close(learnt["min_"], low - smallest * scale)
        )
    if not follows:
        raise ValueError("scale_ and min_ must agree with data_min_ and data_max_")


def _are_close(found: Any, expected: Any) -> bool:
    """Return whether numbers are equal within the roundings of their type; NaN equals itself."""
    import numpy as np

    rounding = 16 * np.finfo(found.dtype).eps
    return np.allclose(found, expected, rtol=rounding, atol=rounding, equal_nan=True)


def _check_centroids(parameters: Mapping[str, Any], learnt: Mapping[str, Any]) -> None:
    weights, seen = learnt["class_weights_"], learnt["prototype_classes_"]
    if weights.min() < 0 or weights.nonzero()[0].tolist() != seen.tolist():
        raise ValueError("class_weights_ must agree with prototype_classes_")
    sums = learnt["prototypes_"] * weights[seen, None]
    if not _are_close(sums, learnt["_class_sums"][seen]):
        raise ValueError("prototypes_ must be the class means")


def _check_prior(parameters: Mapping[str, Any], learnt: Mapping[str, Any]) -> None:
    prior = learnt.get("class_prior_")
    if prior is not None and not (prior.min() >= 0 and _are_close(prior.sum(), 1.0)):
        raise ValueError("class_prior_ must be shares that add up to 1")


def _check_kinds(name: str, value: Any) -> None:
    for kind in value if isinstance(value, list | tuple) else [value]:
        check_choice(name, kind, [each for each in UNIT_KINDS if each != "constant"])
    if not value:
        raise ValueError(f"{name} must name at least one kind of units")


_above_zero = partial(check_real, positive=True)
_at_least_one = partial(check_integer, minimum=1)

_N_UNITS = Parameter(_at_least_one, int, "Number of hidden units", largest=100_000)
_TOL = Parameter(check_real, float, "Tolerance for stopping the training", shown=False)
_LEARNING_RATE = Parameter(_above_zero, float, "Learning rate")
#: For rules that add a share of a sample.
_SHARE_RATE = _LEARNING_RATE._replace(check=partial(_above_zero, maximum=1))

#: Constructor parameters by their names, as most parts have them.
PARAMETERS = {
    **dict.fromkeys(("numbers", "text", "dates"), Parameter(_check_column_names)),
    "fill": Parameter(check_boolean),
    "min_rows": Parameter(_at_least_one),
    "max_levels": Parameter(partial(check_integer, minimum=2)),
    "feature_range": Parameter(_check_range),
    "copy": Parameter(check_boolean),
    "n_networks": Parameter(_at_least_one, int, "Number of networks", 1000),
    "n_units": _N_UNITS,
    "clip": Parameter(
        partial(check_integer, minimum=1, maximum=LARGEST_CLIP), int, "Largest absolute activation"
    ),
    "kinds": Parameter(_check_kinds),
    "time_limit": Parameter(
        _unless(None, _above_zero),
        float,
        "Time limit for training in seconds. It also skips slow cross-validation, unless --cv is "
        "given",
    ),
    "alpha": _or(
        "loo",
        Parameter(check_real, float, "Regularisation strength; loo chooses it by leave-one-out"),
    ),
    "penalty": _one_of("variance", "identity"),
    "prototypes_per_class": Parameter(_check_counts, int, "Number of prototypes per class", 1000),
    "slope": _or("auto", Parameter(_above_zero, float, "Slope of the sigmoid")),
    "kernel": Parameter(_check_kernel),
    "gamma": _or("scale", Parameter(_above_zero, float, "Kernel coefficient")),
    "learning_rate": _LEARNING_RATE,
    "max_iter": Parameter(_at_least_one, int, "Maximum number of iterations", shown=False),
    "tol": _TOL,
    "init_noise": Parameter(
        partial(check_real, maximum=LARGEST_FEATURE),
        float,
        "Noise added to the initial prototypes",
        shown=False,
    ),
    "max_kernel_bytes": Parameter(_at_least_one),
    "shuffle": Parameter(check_boolean),
    "warm_start": Parameter(check_boolean),
    "class_weight": Parameter(
        _unless(None, _unless("balanced", _check_class_weight)),
        ("balanced",),
        "Give all classes the same total weight",
    ),
    "random_state": Parameter(_check_random_state),
    "n_jobs": Parameter(_unless(None, _check_n_jobs)),
    "verbose": Parameter(_check_verbose),
}
#: What `fit` sets, by its names, as most parts have it.
LEARNT = {
    "level_names_": Learnt("text", ("levels",)),
    "level_columns_": Learnt("indices", ("levels",), below="text"),
    "level_features_": Learnt("indices", ("levels",), below="outputs"),
    "missing_features_": Learnt("indices", ("text",), below="outputs", least=-1),
    "date_columns_": Learnt("indices", ("parts",), below="dates"),
    "date_parts_": Learnt("parts of dates", ("parts",)),
    "medians_": Learnt("numbers", ("medians",)),
    **dict.fromkeys(
        ("scale_", "min_", "data_min_", "data_max_", "data_range_"),
        Learnt("numbers or nan", ("features",)),
    ),
    "weights_": Learnt("numbers", ("units", "features")),
    "biases_": Learnt("numbers", ("units",)),
    "features_": Learnt("indices", ("comparisons",), below="features"),
    "thresholds_": Learnt("numbers", ("comparisons",)),
    "keys_": Learnt("signs", ("comparisons",)),
    "kinds_": Learnt("kinds", ("units",)),
    "coef_": Learnt("numbers", ("classes", "features")),
    "relevances_": Learnt("numbers", ("features",)),
    "class_prior_": Learnt("numbers", ("classes",), required=False),
    "prototypes_": Learnt("numbers", ("prototypes", "features")),
    "prototype_classes_": Learnt("indices", ("prototypes",), below="classes"),
    "X_fit_": Learnt("samples", ("fitted", "features")),
    "dual_coef_": Learnt("numbers", ("prototypes", "fitted")),
    "prototype_norms_": Learnt("numbers", ("prototypes",)),
    "class_weights_": Learnt("numbers", ("classes",)),
    "_class_sums": Learnt("numbers", ("classes", "features")),
    "loss_curve_": Learnt("losses", ("iterations",)),
    "slope_": Learnt("positive"),
    **dict.fromkeys(("distance_scale_", "gamma_"), Learnt("number")),
    **dict.fromkeys(("alpha_", "learning_rate_"), Learnt("number", required=False)),
    **dict.fromkeys(("uniform_share_", "_carried_weight"), Learnt("share")),
    **dict.fromkeys(("n_iter_", "n_samples_seen_"), Learnt("count")),
    "classes_": Learnt("labels", ("classes",)),
    "n_features_in_": Learnt("count", ("features",)),
    "n_features_out_": Learnt("count", ("outputs",)),
    "feature_names_in_": Learnt("names", ("features",), required=False),
}
_FEATURES = "n_features_in_ feature_names_in_"
#: Not in model files of earlier versions.
_TRAINING_MEDIANS = Learnt("numbers or nan", ("features",), required=False)
_UNITS = "features_ thresholds_ keys_ kinds_"
_PROTOTYPES = f"prototypes_ prototype_classes_ distance_scale_ classes_ {_FEATURES}"
_ONLINE = f"{_PROTOTYPES} loss_curve_ n_iter_ _carried_weight"


def _by_name(usual: Mapping[str, Any], names: str, **others: Any) -> dict[str, Any]:
    """Return what has these names, which is as usual unless it is given."""
    return {name: {**usual, **others}[name] for name in names.split()}


_learnt, _parameters = partial(_by_name, LEARNT), partial(_by_name, PARAMETERS)
_ANYWHERE = frozenset({"tensors", "partitions"})
_layer = partial(PartRecord, "hyperlvq.hidden", given_sizes={"units": "n_units"}, output="units")
_readout = partial(PartRecord, "hyperlvq.readouts")
_scaler = partial(
    PartRecord,
    learnt=_learnt(f"scale_ min_ data_min_ data_max_ data_range_ n_samples_seen_ {_FEATURES}"),
    parameters=_parameters("feature_range copy clip", clip=Parameter(check_boolean)),
    check=_check_scaler,
    output="features",
)
#: The scalers of recipes, of which the second one made all models up to version 0.1.
SCALERS = ("RangeScaler", "MinMaxScaler")

#: The record of each part, by the name of its class.
PARTS: dict[str, PartRecord] = {
    "FrameVectorizer": PartRecord(
        "hyperlvq.frames",
        learnt=_learnt(
            "level_names_ level_columns_ level_features_ missing_features_ date_columns_ "
            "date_parts_ medians_ n_features_in_ n_features_out_",
            n_features_in_=Learnt("count"),
        ),
        parameters=_parameters("numbers text dates fill min_rows max_levels"),
        kept=("numbers", "text", "dates", "fill"),
        given_sizes={"numbers": "numbers", "text": "text", "dates": "dates"},
        check=_check_vectorizer,
        output="outputs",
    ),
    "MinMaxScaler": _scaler("sklearn.preprocessing"),
    "RangeScaler": _scaler("hyperlvq.scaling", kept=("feature_range", "clip")),
    "RVFLLayer": _layer(
        recipe_name="rvfl",
        learnt=_learnt(f"weights_ biases_ {_FEATURES}"),
        parameters=_parameters("n_units random_state"),
        grid={"n_units": (100, 300, 1000)},
        runs_on=_ANYWHERE,
        export_refusal="its real weights and sigmoids have no integer form; use IntRVFLLayer",
    ),
    "IntRVFLLayer": _layer(
        takes_missing=True,
        recipe_name="intrvfl",
        learnt=_learnt(f"keys_ {_FEATURES}", keys_=Learnt("signs", ("features", "units"))),
        parameters=_parameters("n_units clip n_jobs random_state"),
        kept=("clip",),
        grid={"n_units": (300, 1000), "clip": (1, 3, 7)},
        runs_on=_ANYWHERE,
        export_refusal=None,
    ),
    "ComparisonLayer": _layer(
        takes_missing=True,
        recipe_name="comparisons",
        learnt=_learnt(f"{_UNITS} medians_ {_FEATURES}", medians_=_TRAINING_MEDIANS),
        parameters=_parameters("n_units kinds n_jobs random_state"),
        grid={"n_units": (1000, 4000)},
        runs_on=frozenset({"tensors"}),
        export_refusal=None,
    ),
    "HyperLVQClassifier": PartRecord(
        "hyperlvq.classifier",
        takes_missing=True,
        title="networks of random comparisons",
        learnt=_learnt(
            f"coef_ {_UNITS} medians_ class_prior_ uniform_share_ relevances_ classes_ {_FEATURES}",
            coef_=Learnt("numbers", ("classes", "units")),
            medians_=_TRAINING_MEDIANS,
        ),
        check=_check_prior,
        parameters=_parameters(
            "n_networks n_units time_limit class_weight n_jobs random_state verbose",
            n_units=_N_UNITS._replace(check=_unless("auto", _at_least_one)),
        ),
        export_refusal=None,
    ),
    "RLSClassifier": _readout(
        recipe_name="rls",
        title="regularised least squares",
        export_refusal=None,
        learnt=_learnt(f"coef_ alpha_ n_iter_ classes_ {_FEATURES}"),
        parameters=_parameters(
            "alpha penalty solver max_iter tol",
            solver=_one_of("auto", "cholesky", "qr", "eigen", "pinv", "fista", "lms"),
        ),
        online_solver="lms",
        defaults={
            "features": {"alpha": 4.0},
            "rvfl": {"n_units": 1000, "alpha": 16.0},
            "intrvfl": {"n_units": 1000, "clip": 3, "alpha": 512.0},
        },
        grid={"alpha": (0.0625, 1.0, 16.0, 128.0, 1024.0)},
        training_flops=lambda *sizes: rls_flops(*sizes[:3]),  # solved at once
        runs_on=_ANYWHERE | {"batches"},
    ),
    "CentroidClassifier": _readout(
        recipe_name="centroids",
        title="class means",
        export_refusal=None,
        learnt=_learnt(f"{_PROTOTYPES} class_weights_ _class_sums"),
        check=_check_centroids,
        runs_on=_ANYWHERE,
        device_rule="perceptron",
    ),
    "PerceptronClassifier": _readout(
        recipe_name="perceptron",
        title="class means corrected by mistakes",
        export_refusal=None,
        learnt=_learnt(_ONLINE),
        parameters=_parameters(
            "learning_rate max_iter tol shuffle random_state",
            learning_rate=_SHARE_RATE._replace(file_check=_above_zero),
        ),
        grid={"learning_rate": (0.0001, 0.0005, 0.0025)},
        usual_iterations=50,
        device_rule="perceptron",
    ),
    "LVQ1Classifier": _readout(
        recipe_name="lvq1",
        title="LVQ1 prototypes",
        export_refusal=None,
        learnt=_learnt(_ONLINE),
        parameters=_parameters(
            "prototypes_per_class learning_rate max_iter init_noise shuffle class_weight "
            "random_state",
            learning_rate=_SHARE_RATE,
        ),
        grid={"prototypes_per_class": (1, 3), "learning_rate": (0.02, 0.05)},
        usual_iterations=30,
        device_rule="perceptron",
    ),
    "GLVQClassifier": _readout(
        recipe_name="glvq",
        title="GLVQ prototypes",
        export_refusal=None,
        learnt=_learnt(f"{_ONLINE} slope_ learning_rate_"),
        parameters=_parameters(
            "prototypes_per_class slope solver max_iter tol learning_rate init_noise shuffle "
            "warm_start class_weight random_state verbose",
            solver=_one_of("lbfgs", "sgd"),
            tol=_or("auto", _TOL),
            learning_rate=Parameter(_unless("auto", _above_zero)),
        ),
        defaults={
            "features": {"slope": "auto", "prototypes_per_class": 3, "init_noise": 0.1},
            "rvfl": {"n_units": 300, "slope": "auto", "prototypes_per_class": 3, "init_noise": 0.1},
            "intrvfl": {"n_units": 1000, "clip": 7, "slope": "auto", "prototypes_per_class": 3},
        },
        online_solver="sgd",
        grid={"slope": ("auto", 40.0), "prototypes_per_class": (1, 3)},
        training_flops=glvq_flops,
        usual_iterations=200,
        runs_on=_ANYWHERE | {"batches"},
        device_rule="glvq",
    ),
    "KGLVQClassifier": _readout(
        recipe_name="kglvq",
        title="kernel GLVQ prototypes",
        learnt=_learnt(
            "X_fit_ dual_coef_ prototype_classes_ prototype_norms_ distance_scale_ gamma_ slope_ "
            f"loss_curve_ n_iter_ classes_ {_FEATURES}"
        ),
        parameters=_parameters(
            "prototypes_per_class slope kernel gamma max_iter tol init init_noise "
            "max_kernel_bytes class_weight random_state verbose",
            tol=_or("auto", _TOL),
            init=_one_of("means", "published"),
        ),
        kept=("kernel",),
        grid={"prototypes_per_class": (1, 3), "gamma": (0.1, 0.3, 1.0)},
        training_flops=kglvq_flops,
        usual_iterations=1000,
        export_refusal="its prototypes depend on all training samples",
    ),
}
