"""Predictions from the parts of a model file, without scikit-learn.

Importing scikit-learn takes longer than most predictions of the command line, and loading compiled
code longer than a few. The arithmetic is that of the estimators, and so is every digit.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from hyperlvq.kernels import scores, units
from hyperlvq.kernels.features import columns_to_features, level_lookups
from hyperlvq.kernels.missing import fill_missing, score_empty_rows
from hyperlvq.kernels.scores import activation_dtype, project, winners_of
from hyperlvq.learnt import SAMPLE_DTYPES
from hyperlvq.model_files import Part
from hyperlvq.registry import SCALERS, USUAL_SLOPE

#: So few rows are done before compiled code would be loaded; the result is the same.
FEW_ROWS = 64
#: Numbers of one step's result for one block of rows, about 32 megabytes of float64.
BLOCK_NUMBERS = 2**22
#: Products of blocks whose rows are a multiple of this give the same digits as one over all rows.
ROWS_MULTIPLE = 512


class Predictor:
    """The predictions of a model by its parts, of which the last one is a classifier."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.before, self.readout = parts[:-1], parts[-1]
        self.classes: np.ndarray = self.readout.learnt["classes_"]

    def decide(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return what `decision_function` returns; columns go by their names, or in their order."""
        n_rows = len(next(iter(columns.values())))
        decisions = []
        for start in range(0, max(n_rows, 1), self._n_at_once):
            rows = slice(start, start + self._n_at_once)
            block = {name: each[rows] for name, each in columns.items()}
            decisions.append(self._decisions(self.transform(block, self.before)))
        return np.concatenate(decisions)

    @property
    def has_probabilities(self) -> bool:
        """Whether there are probabilities of the classes."""
        return not {"uniform_share_", "distance_scale_"}.isdisjoint(self.readout.learnt)

    def probabilities(self, decisions: np.ndarray) -> np.ndarray:
        """Return what `predict_proba` returns where `decide` returned `decisions`."""
        learnt = self.readout.learnt
        if "uniform_share_" in learnt:
            return scores.softmax_probabilities(decisions, learnt["uniform_share_"])
        distances = -decisions
        if decisions.ndim == 1:  # only differences of distances matter
            distances = np.stack([decisions, np.zeros_like(decisions)], axis=1)
        slope = learnt.get("slope_", USUAL_SLOPE)
        given = winners_of(decisions), slope, learnt["distance_scale_"]
        return scores.prototype_probabilities(distances, *given)

    def labels(self, decisions: np.ndarray) -> np.ndarray:
        """Return the labels that `predict` returns where `decide` returned `decisions`."""
        return self.classes[winners_of(decisions)]

    def transform(self, columns: Mapping[str, np.ndarray], parts: Sequence[Part]) -> np.ndarray:
        """Return what the first parts make of columns."""
        X: Any = columns
        if self.parts[0].kind != "FrameVectorizer":
            X = np.column_stack(list(columns.values()))
            n_expected = self.parts[0].learnt["n_features_in_"]
            if X.shape[1] != n_expected:
                raise ValueError(f"the model expects {n_expected} features, got {X.shape[1]}")
        for part in parts:
            X = self._transformed(part, X)
        return X

    def _transformed(self, part: Part, X: Any) -> np.ndarray:
        learnt, parameters = part.learnt, part.parameters
        if part.kind == "FrameVectorizer":
            kinds = ("numbers", "text", "dates")
            columns = [[X[name] for name in parameters[kind]] for kind in kinds]
            return columns_to_features(columns, learnt, self._lookups, parameters["fill"])
        if part.kind in SCALERS:
            features = X * learnt["scale_"] + learnt["min_"]
            limits = parameters["feature_range"]
            return np.clip(features, *limits) if parameters["clip"] else features
        if part.kind == "IntRVFLLayer":
            return encode(X, learnt["keys_"], parameters["clip"])
        if part.kind == "ComparisonLayer":
            return compare(fill_missing(X, learnt.get("medians_"))[0], _units(learnt))
        _check_no_missing(X, part.kind)
        from hyperlvq.kernels.threads import block_threads

        with block_threads() as map_blocks:
            return project(X, learnt["weights_"], learnt["biases_"], map_blocks)

    @cached_property
    def _lookups(self) -> list[dict[str | None, int]]:
        return level_lookups(self.before[0].learnt)

    def _decisions(self, X: np.ndarray) -> np.ndarray:
        learnt = self.readout.learnt
        if self.readout.kind == "HyperLVQClassifier":
            filled, _ = fill_missing(X, learnt.get("medians_"))
            found = _comparison_kernels(filled).score_rows(filled, _units(learnt), learnt["coef_"])
            prior = learnt.get("class_prior_"), learnt["uniform_share_"]
            return scores.compared(score_empty_rows(found, X, *prior))
        _check_no_missing(X, self.readout.kind)
        if X.dtype.name not in SAMPLE_DTYPES:
            X = X.astype(np.float64)
        kernels = _score_kernels(X)
        if "coef_" in learnt:
            return scores.compared(kernels.linear_scores(X, learnt["coef_"]))
        if "prototypes_" in learnt:
            prototypes = learnt["prototypes_"], learnt["prototype_classes_"]
            return scores.compared(kernels.prototype_scores(X, *prototypes, len(self.classes)))
        from hyperlvq.saving import estimator_of  # kernel functions are scikit-learn's

        return estimator_of(self.readout).decision_function(X)

    @cached_property
    def _n_at_once(self) -> int:
        """The number of rows whose features, activations and scores take a bounded memory."""
        widths = [part.learnt["n_features_in_"] for part in self.parts]
        widths += [len(part.learnt.get("kinds_", ())) for part in self.before]
        n_outputs = len(self.readout.learnt.get("prototype_classes_", ()))
        rows = BLOCK_NUMBERS // max(n_outputs, len(self.classes), *widths)
        return rows // ROWS_MULTIPLE * ROWS_MULTIPLE or max(rows, 1)


def encode(X: np.ndarray, keys: np.ndarray, clip: int) -> np.ndarray:
    """Return the activations of intRVFL."""
    if len(X) > FEW_ROWS:
        from hyperlvq.kernels.encoding import encode_rows

        return encode_rows(X, keys, clip)
    activations = np.empty((len(X), keys.shape[1]), activation_dtype(clip))
    scores.encode_rows(X, keys, clip, activations)
    return activations


def compare(X: np.ndarray, compared: units.Units) -> np.ndarray:
    """Return the activations of units of comparisons."""
    return _comparison_kernels(X).compare_rows(X, compared)


def _units(learnt: Mapping[str, Any]) -> units.Units:
    return units.Units(*(learnt[f"{name}_"] for name in units.Units._fields))


def _comparison_kernels(X: np.ndarray) -> ModuleType:
    """Return what computes units of comparisons: of few rows plain numpy."""
    if len(X) <= FEW_ROWS:
        return units
    from hyperlvq.kernels import comparisons

    return comparisons


def _score_kernels(X: np.ndarray) -> ModuleType:
    """Return what computes scores: of few integers, whose sums are exact, plain numpy."""
    if len(X) <= FEW_ROWS and X.dtype.kind != "f":
        return scores
    from hyperlvq.kernels import distances

    return distances


def _check_no_missing(X: np.ndarray, kind: str) -> None:
    if X.dtype.kind == "f" and not np.isfinite(X).all():
        raise ValueError(f"{kind} does not support missing or infinite values")
