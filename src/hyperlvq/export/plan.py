"""The integer model: what a device computes, as plain data that predicts by itself.

Every exporter writes out a `Plan` and adds nothing to it, so what `Plan.predict` returns is what
the device returns.
"""

import re
from dataclasses import dataclass, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from hyperlvq.checks import InputError, check_choice
from hyperlvq.export.encoders import (
    ComparingUnits,
    Thermometer,
    check_size,
    device_medians,
    make_encoder,
)
from hyperlvq.export.fitted import PREPARATION, fitted_parts
from hyperlvq.export.scaling import INPUT_DTYPES, to_input
from hyperlvq.kernels.missing import empty_rows, fill_missing, prior_scores
from hyperlvq.kernels.scores import row_slices

RESERVED_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while main "
    "asm bool catch class delete explicit export false friend mutable namespace new operator "
    "private protected public template this throw true try typename using virtual "
    # Headers of the standard library, which NAME.h must not hide.
    "assert complex ctype errno fenv inttypes iso646 limits locale math memory setjmp signal "
    "stdarg stdbool stddef stdint stdio stdlib string tgmath time wchar wctype"
)
#: Scales tried, as shares of the one that clips nothing.
SHARES = np.linspace(0.2, 1, 161)
#: Differences below this share of the prototypes are roundings.
ROUNDING = 1e-9
#: Scores stay exact in float64 up to here, with room for what is added to a bias.
LARGEST_BIAS = 2.0**52
#: The largest bias where all weights are 0.
LARGEST_ALONE = 2.0**20


@dataclass(frozen=True, eq=False)
class Plan:
    """Integer form of a fitted model.

    The `encoder` turns a sample into small integers h, the activations. The score of output j is
    `factor` · (h·q_j) - b_j, where q_j is row j of `weights` and b_j is entry j of `biases`. The
    class of the first output with the highest score is predicted. All arrays are read-only. Use
    `make_plan` to create a plan.

    Attributes
    ----------
    name : str
        Prefix of all names in C.
    readout : str
        Name of the readout in `make_classifier`, or else the name of its class.
    input : {"float", "int16", "int32"}
        Type of raw feature values.
    bits : {8, 16}
        Width of a weight in bits.
    feature_names, class_names : tuple of str
        Names of the features and classes.
    feature_ranges : ndarray of shape (n_features, 2)
        Smallest and largest training value. For comparison units, the smallest and largest
        threshold, or NaN for unused features.
    classes : ndarray of shape (n_classes,)
        Labels of the float model.
    encoder : object
        Function that computes activations from features.
    weights : ndarray of shape (n_outputs, n_units), of int8 or int16
        Prototypes or coefficients, after subtraction of a vector common to all of them.
    weight_scale : float
        Size of one integer step of `weights`.
    biases : ndarray of shape (n_outputs,), of int64
        Bias subtracted from each score.
    factor : int
        2 for prototypes, because ‖h - w‖² = ‖h‖² - 2 h·w + ‖w‖², and 1 for least squares.
    output_classes : ndarray of shape (n_outputs,), of int64
        Class of each output, as an index into `classes`.
    notes : tuple of str
        Differences from the float model other than rounding.
    medians : ndarray of shape (n_features,), of float32, or None
        Value that replaces NaN in each feature. If the entry is NaN, or `medians` is None, a
        missing value is below all thresholds.
    empty_scores : ndarray of shape (n_outputs,), of int64, or None
        Scores of a sample without any value, or None if they are computed as usual.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import HyperLVQClassifier
    >>> from hyperlvq.export import make_plan
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HyperLVQClassifier(n_networks=1, n_units=100, random_state=0).fit(X, y)
    >>> plan = make_plan(model, name="iris")
    >>> plan.n_features, plan.n_classes, plan.weights.dtype
    (4, 3, dtype('int8'))
    >>> plan.predict(X[:2])
    array([0, 0])
    """

    name: str
    readout: str
    input: str
    bits: int
    feature_names: tuple[str, ...]
    feature_ranges: np.ndarray
    class_names: tuple[str, ...]
    classes: np.ndarray
    encoder: Thermometer | ComparingUnits
    weights: np.ndarray
    weight_scale: float
    biases: np.ndarray
    factor: int
    output_classes: np.ndarray
    notes: tuple[str, ...]
    medians: np.ndarray | None = None
    empty_scores: np.ndarray | None = None

    def __post_init__(self) -> None:
        _make_read_only(vars(self).values())

    @property
    def n_features(self) -> int:
        """Number of features K."""
        return len(self.feature_names)

    @property
    def n_units(self) -> int:
        """Number of units N that have weights."""
        return self.encoder.n_units

    @property
    def n_outputs(self) -> int:
        """Number of prototypes, or of classes for least squares."""
        return len(self.weights)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @property
    def takes_missing(self) -> bool:
        """Whether missing values (NaN) are supported."""
        return self.input == "float" and isinstance(self.encoder, ComparingUnits)

    def values(self, X: Any) -> np.ndarray:
        """Convert raw features to the input type of the device."""
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise InputError(
                f"X must have the shape (n_samples, {self.n_features}) for the plan {self.name!r}, "
                f"got {X.shape}"
            )
        if not self.takes_missing and np.isnan(X).any():
            row, column = np.argwhere(np.isnan(X))[0]
            raise InputError(
                f"sample {row}: feature {self.feature_names[column]!r} is missing, but this "
                "exported model does not support missing values"
            )
        return to_input(X, INPUT_DTYPES[self.input])

    def activations(self, X: Any) -> np.ndarray:
        """Compute the activations of raw features (samples × units)."""
        return self.encoder.activations(fill_missing(self.values(X), self.medians)[0])

    def scores(self, X: Any) -> np.ndarray:
        """Compute the integer scores (samples × outputs, int64)."""
        given = self.values(X)
        values, _ = fill_missing(given, self.medians)
        weights = self.weights.T.astype(np.float64)
        scores = np.empty((len(values), self.n_outputs), dtype=np.int64)
        for rows in row_slices(len(values)):
            # Every product and sum is an integer far below 2⁵³, so float64 is exact, and fast.
            products = self.encoder.activations(values[rows]).astype(np.float64) @ weights
            scores[rows] = self.factor * products.astype(np.int64) - self.biases
        if self.empty_scores is not None:
            scores[empty_rows(given)] = self.empty_scores
        return scores

    def predict_index(self, X: Any) -> np.ndarray:
        """Predict class indices, as the device does."""
        return self.output_classes[self.scores(X).argmax(axis=1)]

    def predict(self, X: Any) -> np.ndarray:
        """Predict class labels."""
        return self.classes[self.predict_index(X)]


def make_plan(model: Any, *, name: str = "model", input: str = "float", bits: int = 8) -> Plan:  # noqa: A002
    """Convert a fitted model to its integer form.

    Parameters
    ----------
    model : HyperLVQClassifier, Pipeline or ModelFile
        A fitted classifier, or a pipeline with the steps scale (`RangeScaler`), hidden
        (`IntRVFLLayer` or `ComparisonLayer`) and readout (prototypes or `RLSClassifier`), as
        created by `make_classifier`. A preceding step "columns", as in models of `hyperlvq fit`, is
        not exported. The exported code takes the output of that step.
    name : str, default="model"
        Prefix of all names in C.
    input : {"float", "int16", "int32"}, default="float"
        Type of raw feature values. With an integer type the exported code uses no floating point.
    bits : {8, 16}, default=8
        Width of a quantised weight in bits.

    Returns
    -------
    plan : Plan
        The integer model. Its predictions equal those of the device.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hyperlvq import make_classifier
    >>> from hyperlvq.export import compare, make_plan
    >>> X, y = load_digits(return_X_y=True)
    >>> model = make_classifier("intrvfl", "centroids", n_units=64, random_state=0).fit(X, y)
    >>> plan = make_plan(model, name="digits", input="int16")
    >>> plan.weights.shape, plan.weights.dtype, plan.encoder.packed_keys.shape
    ((10, 64), dtype('int8'), (64, 8))
    >>> compare(model, plan, X, y).agreement > 0.99
    True
    """
    _check_name(name)
    check_choice("input", input, INPUT_DTYPES, InputError)
    if isinstance(bits, bool) or bits not in (8, 16):
        raise InputError(f"bits must be 8 or 16, got {bits!r}")
    parts = fitted_parts(model)
    classes = parts.readout.learnt["classes_"]
    has_prototypes = parts.record.output_rows == "prototypes_"
    check_size("features", len(parts.feature_names))
    check_size("outputs", len(parts.output_rows))
    encoder, rows, constants, feature_ranges, notes = make_encoder(parts, input)
    weights, weight_scale, biases = quantised_outputs(rows, bits, has_prototypes, constants)
    if isinstance(encoder, ComparingUnits):
        # Units without weights add nothing to any score.
        used = np.flatnonzero(weights.any(axis=0)) if weights.any() else np.array([0])
        encoder, weights = encoder.take(used), weights[:, used]
    output_classes = parts.readout.learnt.get("prototype_classes_", np.arange(len(classes)))
    takes_missing = input == "float" and isinstance(encoder, ComparingUnits)
    medians = device_medians(parts) if takes_missing else None
    return Plan(
        name=name,
        readout=parts.record.recipe_name or parts.readout.kind,
        input=input,
        bits=int(bits),
        feature_names=parts.feature_names,
        feature_ranges=feature_ranges,
        class_names=tuple(map(str, classes.tolist())),
        classes=classes.copy(),
        encoder=encoder,
        weights=weights,
        weight_scale=weight_scale,
        biases=biases,
        factor=2 if has_prototypes else 1,
        output_classes=output_classes.astype(np.int64),
        notes=tuple(notes),
        medians=medians,
        empty_scores=_empty_scores(parts.readout.learnt, takes_missing, weight_scale),
    )


def _empty_scores(learnt, takes_missing, scale):
    """Round the scores of the class frequencies, or return None if no sample gets them."""
    if not takes_missing or "class_prior_" not in learnt:
        return None
    wanted = prior_scores(learnt["class_prior_"], learnt["uniform_share_"])
    scores = np.rint(np.clip(wanted / scale, -LARGEST_BIAS, LARGEST_BIAS)).astype(np.int64)
    scores[wanted.argmax()] += 1  # the same class wins where rounding makes two equal
    return scores


def _make_read_only(values):
    """Make all arrays among values read-only, and those of tuples and dataclasses."""
    for value in values:
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        elif isinstance(value, tuple) or is_dataclass(value):
            _make_read_only(value if isinstance(value, tuple) else vars(value).values())


def _check_name(name):
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name):
        raise InputError(
            f"name must be a C identifier of at most 31 ASCII letters, digits and underscores "
            f"that begins with a letter, got {name!r}"
        )
    if name in RESERVED_WORDS.split():
        raise InputError(
            f"name must not be a reserved word or a standard header of C, got {name!r}"
        )


def quantise(weights: np.ndarray, bits: int) -> tuple[np.ndarray, float]:
    """Return q (int8 or int16) and the scale s that give the least Σ (w - s·q)²."""
    dtype = np.int8 if bits == 8 else np.int16
    limit = np.iinfo(dtype).max
    largest = np.abs(weights).max()
    if largest < np.finfo(np.float64).tiny:  # a scale of it may be zero
        return np.zeros(weights.shape, dtype), 1.0
    # Smaller scales than the largest clip a few outliers and round all others more finely.
    scales = largest / limit * SHARES
    losses = [np.square(weights - s * round_to(weights, s, limit)).sum() for s in scales]
    scale = float(scales[np.argmin(losses)])
    return round_to(weights, scale, limit).astype(dtype), scale


def quantised_outputs(
    rows: np.ndarray, bits: int, has_prototypes: bool, constants: Any = ()
) -> tuple[np.ndarray, float, np.ndarray]:
    """Return weights, their scale and the biases, rounded to it, one for each of `rows`.

    `constants` are further columns of the rows, of units that are always 1: they become biases.
    """
    constants = np.reshape(constants, (len(rows), -1))
    # A term h·v that is the same for all outputs changes no winner. Without the middle between
    # the largest and the smallest of each unit, weights span less and are rounded more finely.
    wanted = rows - (rows.max(axis=0) + rows.min(axis=0)) / 2
    size = np.abs(rows if has_prototypes else constants).max(initial=0)
    if np.abs(wanted).max() <= ROUNDING * size:
        wanted = np.zeros_like(wanted)
    weights, scale = quantise(wanted, bits)
    if has_prototypes:
        # What rounding adds to the score of a typical sample, the mean prototype, is taken off.
        excess = 2 * (scale * weights - wanted) @ rows.mean(axis=0)
        biases = np.square(rows).sum(axis=1) + excess
        biases += (np.square(constants) - 2 * constants).sum(axis=1)
    else:
        biases = -constants.sum(axis=1)
        if not weights.any() and biases.any():
            scale = np.abs(biases).max() / LARGEST_ALONE
    biases = np.rint(biases / scale)
    if np.abs(biases).max() >= LARGEST_BIAS:
        raise InputError("cannot export outputs that are nearly equal: their scores would overflow")
    return weights, scale, biases.astype(np.int64)


def round_to(weights: np.ndarray, scale: float, limit: int) -> np.ndarray:
    """Return the integers nearest to w/s within ±limit, as floats."""
    return np.clip(np.rint(weights / scale), -limit, limit)


class Comparison(NamedTuple):
    """Accuracies of a float model and its exported form.

    Attributes
    ----------
    float_accuracy, exported_accuracy : float or None
        Accuracy of each form, or None if the true labels are unknown.
    agreement : float
        Fraction of samples for which both predict the same label.

    Examples
    --------
    >>> from hyperlvq.export import Comparison
    >>> Comparison(float_accuracy=0.98, exported_accuracy=0.97, agreement=0.99).agreement
    0.99
    """

    float_accuracy: float | None
    exported_accuracy: float | None
    agreement: float


def compare(model: Any, exported: Any, X: Any, y: Any = None) -> Comparison:
    """Compare a fitted model with its exported form.

    Parameters
    ----------
    model : Pipeline or HyperLVQClassifier
        The fitted model.
    exported : Plan, PerceptronLearner or GLVQLearner
        Its exported form. For a model that learns on the device, its learner.
    X : array-like of shape (n_samples, n_features) or data frame
        Samples, in the form that the fitted model accepts.
    y : array-like of shape (n_samples,), optional
        True labels, required for the accuracies.

    Returns
    -------
    comparison : Comparison
        Both accuracies and the agreement.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import make_classifier
    >>> from hyperlvq.export import compare, make_plan
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_classifier("intrvfl", "glvq", n_units=64, random_state=0).fit(X, y)
    >>> compare(model, make_plan(model), X, y).agreement > 0.98
    True
    """
    steps = getattr(model, "named_steps", {})
    expected, columns = np.asarray(model.predict(X)), steps.get(PREPARATION)
    predicted = exported.predict(X if columns is None else columns.transform(X))
    return compare_labels(expected, predicted, y)


def compare_labels(expected: np.ndarray, predicted: np.ndarray, y: Any = None) -> Comparison:
    """Return what `compare` returns where a model and its exported form predicted these labels."""
    agreement = float(np.mean(expected == predicted))
    if y is None:
        return Comparison(None, None, agreement)
    before, after = (np.mean(labels == np.asarray(y)) for labels in (expected, predicted))
    return Comparison(float(before), float(after), agreement)
