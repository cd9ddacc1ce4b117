"""The integer model: what a device computes, as plain data that predicts by itself.

Every exporter writes out a `Plan` and adds nothing to it, so what `Plan.predict` returns is what
the device returns.
"""

import re
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from hyperlvq.checks import InputError, check_choice
from hyperlvq.export.fitted import PREPARATION, fitted_parts
from hyperlvq.export.quantise import quantised_outputs
from hyperlvq.export.scaling import FloatScaling, IntegerScaling, make_scaling
from hyperlvq.prediction import encode

INPUTS = ("float", "int16", "int32")
#: Most units, features and outputs: an int of 16 bits counts them.
LARGEST_SIZE = 2**15 - 1
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


@dataclass(frozen=True, eq=False)
class Plan:
    """An integer model: K features, N units, outputs that score, the best one's class wins.

    A sample x goes through four steps. Its features become levels v (`scaling`). Unit n sums
    over features i the sign `signs[i, n]`, negated where n < v_i, and clips the sum h to ±clip.
    Output j scores factor · h·q_j - b_j, with q `weights` and b `biases`. The first output of
    the highest score gives the class. All arrays are read-only.
    """

    name: str
    readout: str  # as for `make_classifier`
    input: str
    bits: int
    feature_names: tuple[str, ...]
    feature_ranges: np.ndarray  # smallest and largest training value (n_features × 2, float64)
    class_names: tuple[str, ...]
    classes: np.ndarray  # the labels as the float model has them
    n_units: int  # N, and the largest level
    clip: int  # largest activation κ, as the layer has it; sums never exceed K
    packed_keys: np.ndarray  # of bytes: bit n % 8 of byte n // 8 is 1 where unit n has a sign of +1
    scaling: FloatScaling | IntegerScaling
    weights: np.ndarray  # prototypes or coefficients, less a vector common to all (int8 or int16)
    weight_scale: float  # what one unit of `weights` stands for
    biases: np.ndarray  # one per output (int64)
    factor: int  # 2 for prototypes, as ‖h - w‖² = ‖h‖² - 2 h·w + ‖w‖²; 1 for least squares
    output_classes: np.ndarray  # of each output, an index into `classes` (int64)
    notes: tuple[str, ...]  # sentences on what the integer form loses beyond rounding

    def __post_init__(self):
        for part in (self, self.scaling):
            for field in fields(part):
                value = getattr(part, field.name)
                if isinstance(value, np.ndarray):
                    value.setflags(write=False)

    @property
    def n_features(self) -> int:
        """Number of features K."""
        return len(self.feature_names)

    @property
    def n_outputs(self) -> int:
        """Number of prototypes, or of classes for least squares."""
        return len(self.weights)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @property
    def limit(self) -> int:
        """The largest activation there can be: clip, or K where it is smaller."""
        return min(self.clip, self.n_features)

    @property
    def signs(self) -> np.ndarray:
        """The keys unpacked, of -1 and +1 (n_features × n_units, int8)."""
        bits = np.unpackbits(self.packed_keys, axis=1, count=self.n_units, bitorder="little")
        return bits.astype(np.int8) * 2 - 1

    def key_words(self, n_bits: int) -> np.ndarray:
        """Return the keys as words of 32 or 64 units (n_features × words, unsigned)."""
        n_bytes = n_bits // 8
        missing = -self.packed_keys.shape[1] % n_bytes
        return np.pad(self.packed_keys, ((0, 0), (0, missing))).view(f"<u{n_bytes}")

    def values(self, X) -> np.ndarray:
        """Return raw features in the type in which the device receives them."""
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise InputError(
                f"the plan {self.name!r} takes samples × {self.n_features} features, "
                f"got an array of shape {X.shape}"
            )
        if np.isnan(X).any():
            row, column = np.argwhere(np.isnan(X))[0]
            raise InputError(
                f"sample {row} has no value of feature {self.feature_names[column]!r}: "
                "exported models take no missing values"
            )
        return self.scaling.values(X)

    def activations(self, X) -> np.ndarray:
        """Return the activations h of raw features (samples × units)."""
        levels = self.scaling.levels(self.values(X))
        # The kernel multiplies by N and rounds, which returns the very levels.
        return encode(levels / self.n_units, self.signs, self.clip)

    def scores(self, X) -> np.ndarray:
        """Return the integer score of every output (samples × outputs, int64)."""
        # Every product and sum is an integer far below 2⁵³, so float64 is exact, and fast.
        products = self.activations(X).astype(np.float64) @ self.weights.T.astype(np.float64)
        return self.factor * products.astype(np.int64) - self.biases

    def predict_index(self, X) -> np.ndarray:
        """Return the index of each sample's class, as the device does."""
        return self.output_classes[self.scores(X).argmax(axis=1)]

    def predict(self, X) -> np.ndarray:
        """Return each sample's label."""
        return self.classes[self.predict_index(X)]


def make_plan(model: Any, *, name: str = "model", input: str = "float", bits: int = 8) -> Plan:  # noqa: A002
    """Return the integer form of a fitted pipeline.

    Parameters
    ----------
    model : Pipeline or ModelFile
        Fitted, with the steps scale (`MinMaxScaler`), hidden (`IntRVFLLayer`) and readout (of
        prototypes, or `RLSClassifier`), as `make_classifier` returns it. A step "columns" before
        them stays outside: the plan begins with its output.
    name : str, default="model"
        The prefix of every name in C.
    input : {"float", "int16", "int32"}, default="float"
        The type of raw feature values. With integers there is no floating point at all.
    bits : {8, 16}, default=8
        Width of a quantised weight.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hyperlvq import make_classifier
    >>> from hyperlvq.export import compare, make_plan
    >>> X, y = load_digits(return_X_y=True)
    >>> model = make_classifier("intrvfl", "centroids", n_units=64, random_state=0).fit(X, y)
    >>> plan = make_plan(model, name="digits", input="int16")
    >>> plan.weights.shape, plan.weights.dtype, plan.packed_keys.shape
    ((10, 64), dtype('int8'), (64, 8))
    >>> compare(model, plan, X, y).agreement > 0.99
    True
    """
    _check_name(name)
    check_choice("input", input, INPUTS, InputError)
    if isinstance(bits, bool) or bits not in (8, 16):
        raise InputError(f"bits must be 8 or 16, got {bits!r}")
    parts = fitted_parts(model)
    scale, keys, rows = parts.scale.learnt, parts.hidden.learnt["keys_"], parts.output_rows
    classes = parts.readout.learnt["classes_"]
    has_prototypes = parts.record.output_rows == "prototypes_"
    n_features, n_units = keys.shape
    for what, number in {"units": n_units, "features": n_features, "outputs": len(rows)}.items():
        if number > LARGEST_SIZE:
            raise InputError(f"cannot export {number} {what}: at most {LARGEST_SIZE}")
    minimum = np.asarray(scale["data_min_"], dtype=np.float64)
    # MinMaxScaler takes the range of a constant feature, or of one that almost is, for 1.
    spans = np.where(scale["scale_"] == 1, 1, scale["data_max_"] - minimum)
    maximum = minimum + spans
    scaling, notes = make_scaling(minimum, maximum, n_units, parts.feature_names, input)
    weights, weight_scale, biases = quantised_outputs(rows, bits, has_prototypes)
    output_classes = parts.readout.learnt.get("prototype_classes_", np.arange(len(classes)))
    return Plan(
        name=name,
        readout=str(parts.record.recipe_name),
        input=input,
        bits=int(bits),
        feature_names=parts.feature_names,
        feature_ranges=np.column_stack([scale["data_min_"], scale["data_max_"]]),
        class_names=tuple(map(str, classes.tolist())),
        classes=classes.copy(),
        n_units=n_units,
        clip=int(parts.hidden.parameters["clip"]),
        packed_keys=np.packbits(keys > 0, axis=1, bitorder="little"),
        scaling=scaling,
        weights=weights,
        weight_scale=weight_scale,
        biases=biases,
        factor=2 if has_prototypes else 1,
        output_classes=output_classes.astype(np.int64),
        notes=tuple(notes),
    )


def _check_name(name):
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name):
        raise InputError(
            f"name must be a C identifier of at most 31 ASCII letters, digits and underscores "
            f"that begins with a letter, got {name!r}"
        )
    if name in RESERVED_WORDS.split():
        raise InputError(f"name must not be a word that C or its library reserves, got {name!r}")


class Comparison(NamedTuple):
    """How a float model and its exported form do on the same samples; None: labels unknown."""

    float_accuracy: float | None
    exported_accuracy: float | None
    agreement: float


def compare(model: Any, exported: Any, X: Any, y: Any = None) -> Comparison:
    """Return the accuracy of a model, of its exported form, and how often their labels agree.

    Parameters
    ----------
    model : Pipeline
        The fitted model the exported form was made of.
    exported : Plan, PerceptronLearner or GLVQLearner
        What `to_c` writes: a learner for a trainable model, which has other prototypes.
    X : array-like of shape (n_samples, n_features), or what the model's first step takes
    y : array-like of shape (n_samples,), optional
        The true labels; there are no accuracies without them.
    """
    expected, columns = np.asarray(model.predict(X)), model.named_steps.get(PREPARATION)
    predicted = exported.predict(X if columns is None else columns.transform(X))
    return compare_labels(expected, predicted, y)


def compare_labels(expected: np.ndarray, predicted: np.ndarray, y: Any = None) -> Comparison:
    """Return what `compare` returns where a model and its exported form predicted these labels."""
    agreement = float(np.mean(expected == predicted))
    if y is None:
        return Comparison(None, None, agreement)
    before, after = (np.mean(labels == np.asarray(y)) for labels in (expected, predicted))
    return Comparison(float(before), float(after), agreement)
