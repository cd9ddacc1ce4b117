"""The recipes: every hidden layer with every readout, as a scikit-learn Pipeline."""

import warnings
from copy import deepcopy
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples

from hyperlvq.checks import check_choice
from hyperlvq.defaults import RECIPE_DEFAULTS
from hyperlvq.engines import on_host, stays_tensor
from hyperlvq.hidden import IntRVFLLayer, RVFLLayer
from hyperlvq.readouts import (
    CentroidClassifier,
    GLVQClassifier,
    KGLVQClassifier,
    LVQ1Classifier,
    PerceptronClassifier,
    RLSClassifier,
)
from hyperlvq.readouts.base import drop_weightless

WEIGHTS_OF_READOUT = "readout__sample_weight"
#: A feature that takes less than this share of the range to scale to was not scaled.
SMALLEST_SHARE = 1e-3

HIDDEN_LAYERS: dict[str, type[BaseEstimator] | None] = {
    "features": None,
    "rvfl": RVFLLayer,
    "intrvfl": IntRVFLLayer,
}
READOUTS: dict[str, type[BaseEstimator]] = {
    "rls": RLSClassifier,
    "centroids": CentroidClassifier,
    "perceptron": PerceptronClassifier,
    "lvq1": LVQ1Classifier,
    "glvq": GLVQClassifier,
    "kglvq": KGLVQClassifier,
}


class ClassifierPipeline(Pipeline):
    """A scikit-learn Pipeline that fits clones of its steps.

    `fit` leaves the parameters alone, as scikit-learn asks of every estimator and Pipeline
    itself does not do. After it, `steps`, `named_steps` and indexing give the fitted clones;
    what is set on those is lost at the next `fit`, so set parameters on the pipeline.

    Attributes
    ----------
    fitted_steps_ : list of (str, estimator)
        The fitted steps.
    """

    @property
    def steps(self):
        """The fitted steps, or before `fit` the steps given."""
        return self.__dict__.get("fitted_steps_", self.__dict__["steps"])

    @steps.setter
    def steps(self, steps):
        self.__dict__["steps"] = steps
        self.__dict__.pop("fitted_steps_", None)

    def get_params(self, deep=True):
        """Return the parameters, those of the unfitted steps included.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the steps.

        Returns
        -------
        params : dict
        """
        return self._unfitted().get_params(deep)

    def fit(self, X, y=None, sample_weight=None, **params) -> Self:
        """Fit clones of the steps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts for the readout, as `readout__sample_weight`. Samples of
            weight zero count nowhere, for the scaling neither.
        **params : dict
            Passed on as `sklearn.pipeline.Pipeline.fit` does.

        Returns
        -------
        self : ClassifierPipeline
        """
        fresh = clone(self._unfitted())
        if getattr(fresh.steps[-1][1], "warm_start", False) and "fitted_steps_" in self.__dict__:
            self._hand_on_readout(fresh)
        name = "sample_weight" if get_config()["enable_metadata_routing"] else WEIGHTS_OF_READOUT
        if sample_weight is not None and name in params:
            raise TypeError(f"fit takes sample_weight or {name}, not both")
        weights = params.pop(name, None) if sample_weight is None else sample_weight
        if weights is not None:
            X, y, params[name] = without_weightless(X, y, weights)
        fresh.fit(X, y, **params)
        warn_of_lost_features(fresh.named_steps.get("scale"))
        self.fitted_steps_ = fresh.steps
        return self

    def set_output(self, *, transform=None):
        """Set the container of the transformers' output, for this fit and later ones.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            The container; None leaves it as it is.

        Returns
        -------
        self : ClassifierPipeline
        """
        self._unfitted().set_output(transform=transform)
        return super().set_output(transform=transform)

    def _hand_on_readout(self, fresh):
        """Let a fresh pipeline start from a copy of the fitted readout, on the same activations."""
        for (step, new), (_, old) in zip(fresh.steps[:-1], self.steps[:-1], strict=True):
            if repr(new) != repr(old):
                raise ValueError(
                    f"warm_start needs the step {step!r} of the last fit, {old!r}, got {new!r}"
                )
        layer_parameters = fresh.named_steps["hidden"].get_params() if _has_layer(fresh) else {}
        seed = layer_parameters.get("random_state", 0)
        if not isinstance(seed, Integral):
            raise ValueError(
                f"warm_start needs an integer random_state, got {seed!r}: "
                "the hidden layer would be drawn anew"
            )
        name, readout = fresh.steps[-1]
        fitted = deepcopy(self.steps[-1][1])
        fresh.steps[-1] = (name, fitted.set_params(**readout.get_params(deep=False)))

    def _unfitted(self):
        return Pipeline(
            self.__dict__["steps"],
            transform_input=self.transform_input,
            memory=self.memory,
            verbose=self.verbose,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = (
            _has_layer(self) and get_tags(self.named_steps["hidden"]).input_tags.allow_nan
        )
        return tags


def without_weightless(X, y, weights):
    """Return samples and weights without those of weight zero."""
    rows = np.arange(_num_samples(X))
    kept, _, kept_weights = drop_weightless(rows, rows, weights)
    if len(kept) == len(rows):
        return X, y, weights
    X, y = (
        values[kept] if stays_tensor(values) else _safe_indexing(values, kept) for values in (X, y)
    )
    return X, y, kept_weights


def warn_of_lost_features(scale):
    """Warn of features that vary by so little that scikit-learn takes them for constant."""
    if not isinstance(scale, MinMaxScaler):
        return
    ranges = np.asarray(on_host(scale.data_range_))
    low, high = scale.feature_range
    shares = np.asarray(on_host(scale.scale_)) * ranges / (high - low)
    is_lost = (ranges > 0) & (shares < SMALLEST_SHARE)
    if is_lost.any():
        first = np.flatnonzero(is_lost)[0]
        names = getattr(scale, "feature_names_in_", [f"x{i}" for i in range(len(ranges))])
        others = f" (and {is_lost.sum() - 1} more)" if is_lost.sum() > 1 else ""
        warnings.warn(
            f"feature {names[first]!r}{others} varies by {ranges[first]:.1e} only, "
            f"which MinMaxScaler takes for constant in {ranges.dtype}: give it in another unit",
            UserWarning,
            stacklevel=3,
        )


def _has_layer(pipeline):
    return pipeline.named_steps.get("hidden") not in (None, "passthrough")


def make_classifier(
    hidden: str = "intrvfl", readout: str = "glvq", **parameters: Any
) -> ClassifierPipeline:
    """Return a pipeline that scales features to [0, 1], encodes and classifies them.

    Parameters
    ----------
    hidden : {"features", "rvfl", "intrvfl"}, default="intrvfl"
        The hidden layer: none, `RVFLLayer` or `IntRVFLLayer`.
    readout : {"rls", "centroids", "perceptron", "lvq1", "glvq", "kglvq"}, default="glvq"
        The classifier of its activations.
    **parameters : dict
        Parameters of the hidden layer and of the readout by their own names; each goes to the
        step that has it, `random_state` to both. Those not given are as
        `hyperlvq.defaults.RECIPE_DEFAULTS` has them, which the study found best for the pair, or
        else the defaults of the step.

    Returns
    -------
    model : ClassifierPipeline
        A scikit-learn Pipeline with the steps "scale", "hidden" and "readout".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import make_classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_classifier("intrvfl", "glvq", n_units=200, clip=3, random_state=0)
    >>> round(model.fit(X, y).score(X, y), 2)
    1.0
    """
    layer = HIDDEN_LAYERS[check_choice("hidden", hidden, HIDDEN_LAYERS)]
    classifier = READOUTS[check_choice("readout", readout, READOUTS)]
    steps = [step() for step in (layer, classifier) if step is not None]
    known = [step.get_params(deep=False) for step in steps]
    for name in parameters:
        if not any(name in names for names in known):
            existing = ", ".join(sorted(set().union(*known))) or "none"
            raise TypeError(
                f"{hidden!r} with {readout!r} has no parameter {name!r}; "
                f"those that exist: {existing}"
            )
    chosen = {**RECIPE_DEFAULTS.get((hidden, readout), {}), **parameters}
    for step, names in zip(steps, known, strict=True):
        step.set_params(**{name: chosen[name] for name in chosen if name in names})
    return ClassifierPipeline(
        [
            ("scale", MinMaxScaler(clip=True)),
            ("hidden", steps[0] if layer is not None else "passthrough"),
            ("readout", steps[-1]),
        ]
    )
