"""The parts that models are made of: the parameters of each, and what it learns.

A part's record says everything once: estimators check their parameters by it, and their arrays
before compiled code follows them; model files are written and read by it. scikit-learn is not
needed here, so that a model file is read without it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState

from hyperlvq.checks import check_boolean, check_choice, check_integer, check_real

LARGEST_CLIP = np.iinfo(np.int16).max
#: Those of `sklearn.metrics.pairwise.kernel_metrics`.
KERNELS = (
    *("additive_chi2", "chi2", "cosine", "laplacian", "linear"),
    *("poly", "polynomial", "rbf", "sigmoid"),
)
FLOATS = ("float64", "float32")
#: What readouts learn from as it is.
SAMPLES = (*FLOATS, "int8", "int16", "uint8")
LABEL_KINDS = "biufUO"
#: Sizes that may be 0.
POSSIBLY_EMPTY = frozenset({"numbers", "text", "levels", "iterations"})
#: They say how to use a machine, not what a model is: model files do not hold them.
MACHINE_PARAMETERS = frozenset({"n_jobs", "max_kernel_bytes", "copy"})


class Learnt(NamedTuple):
    """An attribute that `fit` sets.

    `sizes` names the sizes of an array: one name is one number throughout a part. A count with a
    size must be that number. An index lies below the size that `below` names.
    """

    kind: str
    sizes: tuple[str, ...] = ()
    required: bool = True
    below: str | None = None


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
    output : str or None
        The size of what the part passes on to the next one; None for a classifier.
    recipe_name : str or None
        What `make_classifier` and the command line call it.
    """

    learnt: Mapping[str, Learnt]
    parameters: Mapping[str, Callable[[str, Any], object]] = field(default_factory=dict)
    given_sizes: Mapping[str, str] = field(default_factory=dict)
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


def check_learnt(
    record: Record,
    values: Mapping[str, Any],
    parameters: Mapping[str, Any] | None = None,
    every_number: bool = True,
) -> dict[str, int]:
    """Return the sizes of a fitted part; raise ValueError for what cannot be used.

    Shapes, types and indices are always looked at. With `every_number`, numbers must also be finite
    and labels be in order, which costs a look at all of them; with `parameters`, sizes must be as
    they say.
    """
    sizes = {} if parameters is None else _given_sizes(record, parameters)
    found = {name: learnt for name, learnt in record.learnt.items() if name in values}
    for name, learnt in record.learnt.items():
        if learnt.required and name not in found:
            raise ValueError(f"{name} is missing")
    for name, learnt in found.items():
        _check_sizes(name, values[name], learnt, sizes)
    for name, learnt in found.items():
        _check_values(name, values[name], learnt, sizes, every_number)
    return sizes


def _given_sizes(record: Record, parameters: Mapping[str, Any]) -> dict[str, int]:
    values = {size: parameters[name] for size, name in record.given_sizes.items()}
    return {
        size: int(value) if isinstance(value, Integral) else len(value)
        for size, value in values.items()
    }


def _check_sizes(name: str, value: Any, learnt: Learnt, sizes: dict[str, int]) -> None:
    """Compare an attribute's sizes with those known, and note the others."""
    if learnt.kind in ("count", "number"):
        _check_scalar(name, value, learnt.kind)
        shape = (value,) if learnt.sizes else ()
    else:
        shape = (len(value),) if isinstance(value, list) else getattr(value, "shape", ())
    if len(shape) != len(learnt.sizes):
        raise ValueError(f"{name} must have {len(learnt.sizes)} dimensions, got {len(shape)}")
    for size, length in zip(learnt.sizes, shape, strict=True):
        if length == 0 and size not in POSSIBLY_EMPTY:
            raise ValueError(f"{name} must have at least one of its {size}, got shape {shape}")
        if length != sizes.setdefault(size, length):
            raise ValueError(
                f"{name} must be for {sizes[size]} {size}, as the rest of the model is, "
                f"got {length}"
            )


def _check_scalar(name: str, value: Any, kind: str) -> None:
    if kind == "count":
        check_integer(name, value, minimum=0)
    else:
        check_real(name, value)


def _check_values(
    name: str, value: Any, learnt: Learnt, sizes: Mapping[str, int], every_number: bool
) -> None:
    if learnt.kind in ("count", "number"):
        return
    if learnt.kind == "losses":
        if every_number:
            _check_losses(name, value)
        return
    if not hasattr(value, "dtype"):
        raise ValueError(f"{name} must be an array")
    if not isinstance(value, np.ndarray):  # a tensor, whose indices torch looks at
        return
    _check_type(name, value, learnt.kind)
    if learnt.kind == "index":
        _check_indices(name, value, sizes[learnt.below or ""])
    elif learnt.kind == "index or -1":
        _check_indices(name, value, sizes[learnt.below or ""], least=-1)
    elif every_number:
        _VALUE_CHECKS.get(learnt.kind, _check_finite)(name, value)


def _check_type(name: str, value: np.ndarray, kind: str) -> None:
    if kind == "labels":
        if value.dtype.kind not in LABEL_KINDS:
            raise ValueError(f"{name} must be numbers, truth values or text, got {value.dtype}")
        return
    allowed = _TYPES[kind]
    if value.dtype.name not in allowed:
        raise ValueError(f"{name} must be of type {' or '.join(allowed)}, got {value.dtype}")


def _check_indices(name: str, value: np.ndarray, limit: int, least: int = 0) -> None:
    if value.size and not (value.min() >= least and value.max() < limit):
        raise ValueError(f"{name} must lie between {least} and {limit - 1}")


def _check_finite(name: str, value: np.ndarray) -> None:
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        raise ValueError(f"{name} must be finite numbers")


def _check_losses(name: str, value: Any) -> None:
    if not isinstance(value, list) or not all(isinstance(each, float) for each in value):
        raise ValueError(f"{name} must be a list of numbers")
    _check_finite(name, np.array(value))


def _check_not_infinite(name: str, value: np.ndarray) -> None:
    if np.isinf(value).any():
        raise ValueError(f"{name} must not be infinite")


def _check_signs(name: str, value: np.ndarray) -> None:
    if value.min() < -1 or value.max() > 1 or not value.all():  # no temporary array
        raise ValueError(f"{name} must be -1 and 1 only")


def _check_text(name: str, value: np.ndarray) -> None:
    if value.dtype.kind == "O" and not all(isinstance(each, str) for each in value):
        raise ValueError(f"{name} must be text")


def _check_labels(name: str, value: np.ndarray) -> None:
    _check_text(name, value)
    _check_finite(name, value)
    if len(value) < 2 or not (value[:-1] < value[1:]).all():
        raise ValueError(f"{name} must be two or more different labels in order")


_TYPES: Mapping[str, Sequence[str]] = {
    "signs": ("int8",),
    "numbers": FLOATS,
    "numbers or NaN": FLOATS,
    "samples": SAMPLES,
    "index": ("int64", "int32"),
    "index or -1": ("int64", "int32"),
    "text": ("object",),
}
_VALUE_CHECKS: Mapping[str, Callable[[str, np.ndarray], None]] = {
    "signs": _check_signs,
    "numbers or NaN": _check_not_infinite,
    "text": _check_text,
    "labels": _check_labels,
}


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
        check_integer(name, count, minimum=1)


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


def _check_range(name: str, value: Any) -> None:
    if not (isinstance(value, tuple) and len(value) == 2):
        raise ValueError(f"{name} must be a pair of numbers, got {value!r}")
    low, high = value
    numbers = all(isinstance(each, int | float) and np.isfinite(each) for each in value)
    if not numbers or not low < high:
        raise ValueError(f"{name} must be two finite numbers in order, got {value!r}")


def check_names(name: str, value: Any) -> None:
    """Check a list of different names."""
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{name} must be a list of names, got {value!r}")
    if len(set(value)) < len(value):
        raise ValueError(f"{name} must be different names, got {value!r}")


def _number_or(word: str) -> Callable[[str, Any], object]:
    """Return a check of a number above 0 that lets one word pass."""

    def check(name: str, value: Any) -> None:
        if not (isinstance(value, str) and value == word):
            _above_zero(name, value)

    return check


_above_zero = partial(check_real, positive=True)
_at_least_one = partial(check_integer, minimum=1)

_FEATURES = {
    "n_features_in_": Learnt("count", ("features",)),
    "feature_names_in_": Learnt("text", ("features",), required=False),
}
_CLASSES = {"classes_": Learnt("labels", ("classes",)), **_FEATURES}
_PROTOTYPES = {
    "prototypes_": Learnt("numbers", ("prototypes", "features")),
    "prototype_classes_": Learnt("index", ("prototypes",), below="classes"),
    **_CLASSES,
}
_ITERATIONS = {
    "loss_curve_": Learnt("losses", ("iterations",)),
    "n_iter_": Learnt("count"),
}
_ONLINE = {**_PROTOTYPES, **_ITERATIONS, "_carried_weight": Learnt("number", required=False)}
_RANDOM = {"random_state": _check_random_state}
_WEIGHTED = {"class_weight": _check_class_weight}

#: The record of each part, by the name of its class.
PARTS: Mapping[str, Record] = {
    "FrameVectorizer": Record(
        learnt={
            "level_names_": Learnt("text", ("levels",)),
            "level_columns_": Learnt("index", ("levels",), below="text"),
            "level_features_": Learnt("index", ("levels",), below="outputs"),
            "missing_features_": Learnt("index or -1", ("text",), below="outputs"),
            "medians_": Learnt("numbers", ("numbers",)),
            "n_features_in_": Learnt("count"),
            "n_features_out_": Learnt("count", ("outputs",)),
        },
        parameters={
            "numbers": check_names,
            "text": check_names,
            "fill": check_boolean,
            "min_rows": _at_least_one,
            "max_levels": partial(check_integer, minimum=2),
        },
        given_sizes={"numbers": "numbers", "text": "text"},
        output="outputs",
    ),
    "MinMaxScaler": Record(
        learnt={
            **{
                name: Learnt("numbers or NaN", ("features",))
                for name in ("scale_", "min_", "data_min_", "data_max_", "data_range_")
            },
            "n_samples_seen_": Learnt("count"),
            **_FEATURES,
        },
        parameters={"feature_range": _check_range, "clip": check_boolean},
        output="features",
    ),
    "RVFLLayer": Record(
        recipe_name="rvfl",
        learnt={
            "weights_": Learnt("numbers", ("units", "features")),
            "biases_": Learnt("numbers", ("units",)),
            **_FEATURES,
        },
        parameters={"n_units": _at_least_one, **_RANDOM},
        given_sizes={"units": "n_units"},
        output="units",
    ),
    "IntRVFLLayer": Record(
        recipe_name="intrvfl",
        learnt={"keys_": Learnt("signs", ("features", "units")), **_FEATURES},
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
            "coef_": Learnt("numbers", ("classes", "features")),
            "n_iter_": Learnt("count"),
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
            "class_weights_": Learnt("numbers", ("classes",)),
            "_class_sums": Learnt("numbers", ("classes", "features")),
        },
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
        learnt={**_ONLINE, "learning_rate_": Learnt("number", required=False)},
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
            "X_fit_": Learnt("samples", ("fitted", "features")),
            "dual_coef_": Learnt("numbers", ("prototypes", "fitted")),
            "prototype_classes_": Learnt("index", ("prototypes",), below="classes"),
            "prototype_norms_": Learnt("numbers", ("prototypes",)),
            "gamma_": Learnt("number"),
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
    ),
}
