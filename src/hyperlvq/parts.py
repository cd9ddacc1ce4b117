"""The parts that models are made of: the parameters of each, and what it learns.

A part's record says everything once: estimators check their parameters by it, and their arrays
before compiled code follows them; model files are written and read by it. scikit-learn is not
needed here, so that a model file is read without it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState

from hyperlvq.checks import check_boolean, check_choice, check_integer, check_real

LARGEST_CLIP = np.iinfo(np.int16).max
#: Floats hold all integers up to here.
LARGEST_COUNT = 2**53
MOST_PROTOTYPES = 2**31
#: Of a model file: every row that is predicted takes the room of the longest label.
LONGEST_LABEL = 1000
#: Those of `sklearn.metrics.pairwise.kernel_metrics`.
KERNELS = (
    *("additive_chi2", "chi2", "cosine", "laplacian", "linear"),
    *("poly", "polynomial", "rbf", "sigmoid"),
)
FLOATS = ("float64", "float32")
#: What readouts learn from as it is.
SAMPLE_DTYPES = (*FLOATS, "int8", "int16", "uint8")
#: numpy's letters for truth values, integers, floats of any length, and text.
LABEL_KINDS = "biufUO"
#: Sizes that may be 0.
POSSIBLY_EMPTY = frozenset({"numbers", "text", "levels", "iterations"})
#: They say how to use a machine, not what a model is: model files do not hold them.
MACHINE_PARAMETERS = frozenset({"n_jobs", "max_kernel_bytes", "copy"})

Check = Callable[[str, Any], object]


def _accept(name: str, value: Any) -> None:
    """Check nothing."""


class ValueType(NamedTuple):
    """What the values of a learnt attribute are.

    Arrays have one of `dtypes`. A `check` that is not `quick` looks at every number of a large
    array, and is left out where an estimator only makes sure that its arrays can be used.
    """

    dtypes: tuple[str, ...] = ()
    check: Check = _accept
    quick: bool = False
    scalar: bool = False


class Learnt(NamedTuple):
    """An attribute that `fit` sets.

    `sizes` names the sizes of an array: one name is one number throughout a part. A count with a
    size must be that number. Indices lie between `least` and the size that `below` names.
    """

    type: ValueType
    sizes: tuple[str, ...] = ()
    required: bool = True
    below: str | None = None
    least: int = 0


@dataclass(frozen=True)
class Record:
    """What is known about a part.

    Attributes
    ----------
    learnt : mapping of str to Learnt
        What `fit` sets; the first of it tells where the part was fitted: numpy, or a torch device.
    parameters : mapping of str to callable
        Constructor parameters, each with a check that takes its name and value.
    given_sizes : mapping of str to str
        Sizes that a parameter gives: its value, or its length.
    check : callable or None
        Takes parameters and learnt attributes, and raises if they contradict each other.
    output : str or None
        The size of what the part passes on to the next one; None for a classifier.
    recipe_name : str or None
        What `make_classifier` and the command line call it.
    """

    learnt: Mapping[str, Learnt]
    parameters: Mapping[str, Check] = field(default_factory=dict)
    given_sizes: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[Mapping[str, Any], Mapping[str, Any]], None] | None = None
    output: str | None = None
    recipe_name: str | None = None

    @property
    def saved_parameters(self) -> list[str]:
        """The names of the parameters that a model file holds."""
        return [name for name in self.parameters if name not in MACHINE_PARAMETERS]


def check_parameters(record: Record, values: Mapping[str, Any]) -> None:
    """Raise TypeError or ValueError for the first parameter that is wrong."""
    for name, check in record.parameters.items():
        if name in values:
            check(name, values[name])


def check_usable(
    record: Record, learnt: Mapping[str, Any], parameters: Mapping[str, Any] | None = None
) -> dict[str, int]:
    """Return the sizes of a fitted part; raise ValueError if they or its indices are wrong.

    This is quick. With `parameters`, sizes must be as they say.
    """
    sizes = {} if parameters is None else _given_sizes(record, parameters)
    found = {name: spec for name, spec in record.learnt.items() if name in learnt}
    for name, spec in record.learnt.items():
        if spec.required and name not in found:
            raise ValueError(f"{name} is missing")
    for name, spec in found.items():
        _check_type(name, learnt[name], spec.type)
        if spec.type.quick:
            spec.type.check(name, learnt[name])
        _check_sizes(name, learnt[name], spec, sizes)
    for name, spec in found.items():
        if spec.below is not None:
            _check_indices(name, learnt[name], spec.least, sizes[spec.below])
    return sizes


def check_whole(
    record: Record, learnt: Mapping[str, Any], parameters: Mapping[str, Any]
) -> dict[str, int]:
    """Return the sizes of a fitted part; raise ValueError for anything that `fit` does not set."""
    sizes = check_usable(record, learnt, parameters)
    for name, spec in record.learnt.items():
        if name in learnt and not spec.type.quick:
            spec.type.check(name, learnt[name])
        if spec.type is LABELS:
            _check_label_lengths(name, learnt[name])
    if record.check is not None:
        record.check(parameters, learnt)
    return sizes


def _given_sizes(record: Record, parameters: Mapping[str, Any]) -> dict[str, int]:
    values = {size: parameters[name] for size, name in record.given_sizes.items()}
    return {
        size: int(value) if isinstance(value, Integral) else len(value)
        for size, value in values.items()
    }


def _check_sizes(name: str, value: Any, spec: Learnt, sizes: dict[str, int]) -> None:
    """Compare an attribute's sizes with those known, and note the others."""
    if spec.type.scalar:
        shape = (value,) if spec.sizes else ()
    else:
        shape = (len(value),) if isinstance(value, list) else getattr(value, "shape", ())
    if len(shape) != len(spec.sizes):
        raise ValueError(f"{name} must have {len(spec.sizes)} dimensions, got {len(shape)}")
    for size, length in zip(spec.sizes, shape, strict=True):
        if length == 0 and size not in POSSIBLY_EMPTY:
            raise ValueError(f"{name} must have at least one of its {size}, got shape {shape}")
        if length != sizes.setdefault(size, length):
            raise ValueError(
                f"{name} must be for {sizes[size]} {size}, as the rest of the model is, "
                f"got {length}"
            )


def _check_type(name: str, value: Any, expected: ValueType) -> None:
    if not expected.dtypes:
        return
    if not hasattr(value, "dtype"):
        raise ValueError(f"{name} must be an array")
    if not isinstance(value, np.ndarray):  # a tensor, whose indices torch looks at
        return
    dtype = value.dtype
    is_expected = dtype.name in expected.dtypes and dtype.isnative
    if not (dtype.kind in LABEL_KINDS if expected is LABELS else is_expected):
        raise ValueError(f"{name} must be of type {' or '.join(expected.dtypes)}, got {dtype}")


def _check_indices(name: str, value: Any, least: int, limit: int) -> None:
    is_array = isinstance(value, np.ndarray) and value.size
    if is_array and not (value.min() >= least and value.max() < limit):
        raise ValueError(f"{name} must lie between {least} and {limit - 1}")


def _check_finite(name: str, value: np.ndarray) -> None:
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        raise ValueError(f"{name} must be finite numbers")


def _check_not_infinite(name: str, value: np.ndarray) -> None:
    if np.isinf(value).any():
        raise ValueError(f"{name} must not be infinite")


def _check_signs(name: str, value: np.ndarray) -> None:
    if value.min() < -1 or value.max() > 1 or not value.all():  # no temporary array
        raise ValueError(f"{name} must be -1 and 1 only")


def _check_losses(name: str, value: Any) -> None:
    if not isinstance(value, list) or not all(isinstance(each, float) for each in value):
        raise ValueError(f"{name} must be a list of numbers")
    _check_finite(name, np.array(value))


def _check_text(name: str, value: np.ndarray) -> None:
    if value.dtype.kind == "O" and not all(isinstance(each, str) for each in value):
        raise ValueError(f"{name} must be text")


def _check_names(name: str, value: np.ndarray) -> None:
    _check_text(name, value)
    if len({*value}) < len(value):
        raise ValueError(f"{name} must be different names")


def _check_labels(name: str, value: Any) -> None:
    if not isinstance(value, np.ndarray) or value.ndim != 1:  # a tensor, or of a wrong size
        return
    _check_text(name, value)
    _check_finite(name, value)
    if len(value) < 2 or not (value[:-1] < value[1:]).all():
        raise ValueError(f"{name} must be two or more different labels in order")


def _check_label_lengths(name: str, value: np.ndarray) -> None:
    longest = value.dtype.itemsize // 4 if value.dtype.kind == "U" else 0
    if value.dtype.kind == "O":
        longest = max(map(len, value), default=0)
    if longest > LONGEST_LABEL:
        raise ValueError(f"{name} must have at most {LONGEST_LABEL} characters each")


def _check_share(name: str, value: Any) -> None:
    if not 0 <= check_real(name, value) < 1:
        raise ValueError(f"{name} must be less than 1, got {value!r}")


COUNT = ValueType(
    check=partial(check_integer, minimum=0, maximum=LARGEST_COUNT), quick=True, scalar=True
)
NUMBER = ValueType(check=check_real, quick=True, scalar=True)
SHARE = ValueType(check=_check_share, quick=True, scalar=True)
LOSSES = ValueType(check=_check_losses)
SIGNS = ValueType(("int8",), _check_signs)
NUMBERS = ValueType(FLOATS, _check_finite)
NUMBERS_OR_NAN = ValueType((*FLOATS, "float16"), _check_not_infinite)
SAMPLES = ValueType(SAMPLE_DTYPES, _check_finite)
INDICES = ValueType(("int64", "int32"))
TEXT = ValueType(("object",), _check_text)
NAMES = ValueType(("object",), _check_names)
LABELS = ValueType(("bool", "integer", "float", "str", "object"), _check_labels, quick=True)


def _check_random_state(name: str, value: Any) -> None:
    """Let the kinds pass that `sklearn.utils.check_random_state` takes; integers are looked at."""
    if value is not None and value is not np.random and not isinstance(value, RandomState):
        check_integer(name, value, minimum=0, maximum=2**32 - 1)


def _check_counts(name: str, value: Any) -> None:
    """Check one number, a sequence of numbers, or a mapping from labels to numbers."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    counts = value.values() if isinstance(value, Mapping) else value
    for count in counts if isinstance(value, list | tuple | Mapping) else [value]:
        check_integer(name, count, minimum=1, maximum=MOST_PROTOTYPES)


def _check_class_weight(name: str, value: Any) -> None:
    if value is None or (isinstance(value, str) and value == "balanced"):
        return
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be a dict, 'balanced' or None, got {value!r}")
    for weight in value.values():
        check_real(name, weight, positive=True)


def _check_rate_of_one(name: str, value: Any) -> None:
    if _above_zero(name, value) > 1:
        raise ValueError(f"{name} must be at most 1, got {value!r}")


def _check_kernel(name: str, value: Any) -> None:
    if not callable(value):
        check_choice(name, value, KERNELS)


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, Real) and isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def _check_range(name: str, value: Any) -> None:
    if not (isinstance(value, tuple) and len(value) == 2):
        raise ValueError(f"{name} must be a pair of numbers, got {value!r}")
    low, high = value
    if not all(map(_is_finite, value)) or not low < high:
        raise ValueError(f"{name} must be two finite numbers in order, got {value!r}")


def _check_column_names(name: str, value: Any) -> None:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{name} must be a list of names, got {value!r}")
    if len(set(value)) < len(value):
        raise ValueError(f"{name} must be different names, got {value!r}")


def _number_or(word: str) -> Check:
    """Return a check of a number above 0 that lets one word pass."""

    def check(name: str, value: Any) -> None:
        if not (isinstance(value, str) and value == word):
            _above_zero(name, value)

    return check


def _check_vectorizer(parameters: Mapping[str, Any], learnt: Mapping[str, Any]) -> None:
    """Check that features of levels stand behind those of numbers, without a gap."""
    n_numbers, n_text = len(parameters["numbers"]), len(parameters["text"])
    if not 0 < learnt["n_features_in_"] == n_numbers + n_text:
        raise ValueError("n_features_in_ must be the number of columns")
    of_missing = learnt["missing_features_"]
    features = np.unique([*learnt["level_features_"], *of_missing[of_missing >= 0]])
    has_gaps = len(features) != learnt["n_features_out_"] - n_numbers
    if has_gaps or features.min(initial=n_numbers) < n_numbers:
        raise ValueError("level_features_ must be the features behind those of numbers")


def _check_scaler(parameters: Mapping[str, Any], learnt: Mapping[str, Any]) -> None:
    """Check that the attributes of a MinMaxScaler follow from the extremes and the range."""
    low, high = parameters["feature_range"]
    smallest, largest = learnt["data_min_"], learnt["data_max_"]
    scale, extent = learnt["scale_"], learnt["data_range_"]
    is_missing = np.isnan(smallest)
    with np.errstate(all="ignore"):
        # scikit-learn takes a tiny range for none, and leaves its features as they are
        is_scaled = _close(scale * extent, high - low) | _close(scale, high - low)
        follows = (
            not (smallest > largest).any()
            and (np.isnan(scale) == is_missing).all()
            and (is_scaled | is_missing).all()
            and _close(extent, largest - smallest).all()
            and _close(learnt["min_"], low - smallest * scale).all()
        )
    if not follows:
        raise ValueError("scale_ and min_ must follow from data_min_ and data_max_")


def _close(found: np.ndarray, expected: Any) -> np.ndarray:
    """Return where numbers are equal within the roundings of their type; NaN equals itself."""
    rounding = 16 * np.finfo(found.dtype).eps
    return np.isclose(found, expected, rtol=rounding, atol=rounding, equal_nan=True)


def _check_centroids(parameters: Mapping[str, Any], learnt: Mapping[str, Any]) -> None:
    weights, seen = learnt["class_weights_"], learnt["prototype_classes_"]
    if weights.min() < 0 or not np.array_equal(np.flatnonzero(weights), seen):
        raise ValueError("class_weights_ must be those of the prototypes")
    sums = learnt["prototypes_"] * weights[seen, np.newaxis]
    if not _close(sums, learnt["_class_sums"][seen]).all():
        raise ValueError("prototypes_ must be the means of the classes")


def _check_width(parameters: Mapping[str, Any], learnt: Mapping[str, Any]) -> None:
    if parameters["gamma"] not in ("scale", learnt["gamma_"]):
        raise ValueError("gamma_ must be gamma")


_above_zero = partial(check_real, positive=True)
_at_least_one = partial(check_integer, minimum=1)

_FEATURES = {
    "n_features_in_": Learnt(COUNT, ("features",)),
    "feature_names_in_": Learnt(NAMES, ("features",), required=False),
}
_CLASSES = {"classes_": Learnt(LABELS, ("classes",)), **_FEATURES}
_PROTOTYPES = {
    "prototypes_": Learnt(NUMBERS, ("prototypes", "features")),
    "prototype_classes_": Learnt(INDICES, ("prototypes",), below="classes"),
    **_CLASSES,
}
_ITERATIONS = {
    "loss_curve_": Learnt(LOSSES, ("iterations",)),
    "n_iter_": Learnt(COUNT),
}
_ONLINE = {**_PROTOTYPES, **_ITERATIONS, "_carried_weight": Learnt(SHARE)}
_RANDOM = {"random_state": _check_random_state}
_WEIGHTED = {"class_weight": _check_class_weight}

#: The record of each part, by the name of its class.
PARTS: Mapping[str, Record] = {
    "FrameVectorizer": Record(
        learnt={
            "level_names_": Learnt(TEXT, ("levels",)),
            "level_columns_": Learnt(INDICES, ("levels",), below="text"),
            "level_features_": Learnt(INDICES, ("levels",), below="outputs"),
            "missing_features_": Learnt(INDICES, ("text",), below="outputs", least=-1),
            "medians_": Learnt(NUMBERS, ("numbers",)),
            "n_features_in_": Learnt(COUNT),
            "n_features_out_": Learnt(COUNT, ("outputs",)),
        },
        parameters={
            "numbers": _check_column_names,
            "text": _check_column_names,
            "fill": check_boolean,
            "min_rows": _at_least_one,
            "max_levels": partial(check_integer, minimum=2),
        },
        given_sizes={"numbers": "numbers", "text": "text"},
        check=_check_vectorizer,
        output="outputs",
    ),
    "MinMaxScaler": Record(
        learnt={
            **{
                name: Learnt(NUMBERS_OR_NAN, ("features",))
                for name in ("scale_", "min_", "data_min_", "data_max_", "data_range_")
            },
            "n_samples_seen_": Learnt(COUNT),
            **_FEATURES,
        },
        parameters={"feature_range": _check_range, "clip": check_boolean},
        check=_check_scaler,
        output="features",
    ),
    "RVFLLayer": Record(
        recipe_name="rvfl",
        learnt={
            "weights_": Learnt(NUMBERS, ("units", "features")),
            "biases_": Learnt(NUMBERS, ("units",)),
            **_FEATURES,
        },
        parameters={"n_units": _at_least_one, **_RANDOM},
        given_sizes={"units": "n_units"},
        output="units",
    ),
    "IntRVFLLayer": Record(
        recipe_name="intrvfl",
        learnt={"keys_": Learnt(SIGNS, ("features", "units")), **_FEATURES},
        parameters={
            "n_units": _at_least_one,
            "clip": partial(check_integer, minimum=1, maximum=LARGEST_CLIP),
            **_RANDOM,
        },
        given_sizes={"units": "n_units"},
        output="units",
    ),
    "RLSClassifier": Record(
        recipe_name="rls",
        learnt={
            "coef_": Learnt(NUMBERS, ("classes", "features")),
            "n_iter_": Learnt(COUNT),
            **_CLASSES,
        },
        parameters={
            "alpha": check_real,
            "penalty": partial(check_choice, choices=("variance", "identity")),
            "solver": partial(
                check_choice,
                choices=("auto", "cholesky", "qr", "eigen", "pinv", "fista", "lms"),
            ),
            "max_iter": _at_least_one,
            "tol": check_real,
        },
    ),
    "CentroidClassifier": Record(
        recipe_name="centroids",
        learnt={
            **_PROTOTYPES,
            "class_weights_": Learnt(NUMBERS, ("classes",)),
            "_class_sums": Learnt(NUMBERS, ("classes", "features")),
        },
        check=_check_centroids,
    ),
    "PerceptronClassifier": Record(
        recipe_name="perceptron",
        learnt=_ONLINE,
        parameters={
            "learning_rate": _above_zero,
            "max_iter": _at_least_one,
            "tol": check_real,
            "shuffle": check_boolean,
            **_RANDOM,
        },
    ),
    "LVQ1Classifier": Record(
        recipe_name="lvq1",
        learnt=_ONLINE,
        parameters={
            "prototypes_per_class": _check_counts,
            "learning_rate": _check_rate_of_one,
            "max_iter": _at_least_one,
            "init_noise": check_real,
            "shuffle": check_boolean,
            **_WEIGHTED,
            **_RANDOM,
        },
    ),
    "GLVQClassifier": Record(
        recipe_name="glvq",
        learnt={**_ONLINE, "learning_rate_": Learnt(NUMBER, required=False)},
        parameters={
            "prototypes_per_class": _check_counts,
            "slope": _above_zero,
            "solver": partial(check_choice, choices=("lbfgs", "sgd")),
            "max_iter": _at_least_one,
            "tol": check_real,
            "learning_rate": _number_or("auto"),
            "init_noise": check_real,
            "shuffle": check_boolean,
            "warm_start": check_boolean,
            **_WEIGHTED,
            **_RANDOM,
        },
    ),
    "KGLVQClassifier": Record(
        recipe_name="kglvq",
        learnt={
            "X_fit_": Learnt(SAMPLES, ("fitted", "features")),
            "dual_coef_": Learnt(NUMBERS, ("prototypes", "fitted")),
            "prototype_classes_": Learnt(INDICES, ("prototypes",), below="classes"),
            "prototype_norms_": Learnt(NUMBERS, ("prototypes",)),
            "gamma_": Learnt(NUMBER),
            **_ITERATIONS,
            **_CLASSES,
        },
        parameters={
            "prototypes_per_class": _check_counts,
            "slope": _above_zero,
            "kernel": _check_kernel,
            "gamma": _number_or("scale"),
            "max_iter": _at_least_one,
            "tol": check_real,
            "init_noise": check_real,
            "max_kernel_bytes": _at_least_one,
            **_WEIGHTED,
            **_RANDOM,
        },
        check=_check_width,
    ),
}
