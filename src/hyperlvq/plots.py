"""Plots of fitted models, in the manner of scikit-learn's displays. They need matplotlib."""

from itertools import takewhile
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import pairwise_distances_argmin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from hyperlvq.engines import on_host, to_numpy
from hyperlvq.registry import record_of

#: Okabe and Ito's colours, which the colour-blind can tell apart.
CLASS_COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7"),
    *("#56B4E9", "#D55E00", "#F0E442", "#000000"),
)
#: More features than this are numbered, not named.
MOST_NAMES = 30


class PrototypeDisplay:
    """Prototypes as pictures, among the samples of two features, or as lines over the features.

    Create it by `from_estimator`. All parameters are kept as attributes.

    Parameters
    ----------
    prototypes : ndarray of shape (n_prototypes, n_features)
        What is drawn.
    prototype_classes : ndarray of shape (n_prototypes,)
        The class of each prototype, as an index into `classes`.
    classes : ndarray of shape (n_classes,)
        The labels.
    image_shape : tuple of two ints, optional
        The rows and columns of the picture that the features are.
    feature_names : sequence of str, optional
        The names of the features.
    X : ndarray of shape (n_samples, n_features), optional
        Samples to draw behind prototypes of two features.
    y : ndarray of shape (n_samples,), optional
        The labels of these samples, for their colours.
    are_samples : bool, default=False
        Whether samples that are closest to the prototypes stand for them.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.

    See Also
    --------
    LossCurveDisplay : How the training of a model went.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import PrototypeDisplay, make_classifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = make_classifier("features", "glvq", random_state=0).fit(X, y)
    >>> display = PrototypeDisplay.from_estimator(model)
    >>> display.prototypes.shape
    (9, 4)
    """

    def __init__(
        self,
        prototypes: Any,
        prototype_classes: Any,
        classes: Any,
        *,
        image_shape: Any = None,
        feature_names: Any = None,
        X: Any = None,
        y: Any = None,
        are_samples: bool = False,
    ) -> None:
        self.prototypes = prototypes
        self.prototype_classes = prototype_classes
        self.classes = classes
        self.image_shape = image_shape
        self.feature_names = feature_names
        self.X = X
        self.y = y
        self.are_samples = are_samples

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Any = None,
        y: Any = None,
        *,
        image_shape: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the prototypes of a fitted model.

        Prototypes of pictures and of two features are drawn in the units of X, if all steps before
        the readout can be inverted. Others are drawn as the readout sees them, where a recipe
        has scaled the features to [0, 1]: two features as points, more as lines.

        Behind a hidden layer prototypes have one number per unit, which nobody can look at.
        Instead of each, the sample of X is drawn whose activations are closest to it.

        Parameters
        ----------
        estimator : estimator
            A fitted readout with `prototypes_`, or a Pipeline that ends with one.
        X : array-like of shape (n_samples, n_features), optional
            Samples: drawn where there are two features, needed where there is a hidden layer.
        y : array-like of shape (n_samples,), optional
            Their labels.
        image_shape : tuple of two ints, optional
            The rows and columns of the picture that the features are.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **kwargs : dict
            Passed to matplotlib's `imshow`, `scatter` or `plot` of the prototypes.

        Returns
        -------
        display : PrototypeDisplay
        """
        check_is_fitted(estimator)
        estimator = to_numpy(estimator)
        readout: Any = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        if not hasattr(readout, "prototypes_"):
            raise ValueError(
                f"PrototypeDisplay needs a model with prototypes_, got {type(readout).__name__}"
            )
        X, y = on_host(X), on_host(y)
        prototypes, names = readout.prototypes_, getattr(readout, "feature_names_in_", None)
        are_samples = False
        if isinstance(estimator, Pipeline):
            prototypes, X, names, are_samples = _drawable(estimator, X, image_shape)
        display = cls(
            prototypes,
            readout.prototype_classes_,
            readout.classes_,
            image_shape=image_shape,
            feature_names=names,
            X=None if X is None else check_array(X, ensure_all_finite="allow-nan"),
            y=y,
            are_samples=are_samples,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the prototypes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **kwargs : dict
            Passed to matplotlib's `imshow`, `scatter` or `plot` of the prototypes.

        Returns
        -------
        display : PrototypeDisplay
        """
        n_features = self.prototypes.shape[1]
        if self.image_shape is not None and np.prod(self.image_shape) != n_features:
            raise ValueError(
                f"image_shape {tuple(self.image_shape)} is for {np.prod(self.image_shape)} "
                f"features, the prototypes have {n_features}"
            )
        self.ax_: Any = _axes(ax, type(self).__name__)
        self.figure_: Any = self.ax_.figure
        if self.image_shape is not None:
            self._plot_pictures(**kwargs)
        elif n_features == 2:
            self._plot_points(**kwargs)
        else:
            self._plot_lines(**kwargs)
        return self

    def _plot_pictures(self, **kwargs):
        """Draw a column of pictures for each class."""
        height, width = self.image_shape
        members = [np.flatnonzero(self.prototype_classes == k) for k in range(len(self.classes))]
        n_rows = max(map(len, members))
        mosaic = np.full((n_rows * (height + 1) - 1, len(members) * (width + 1) - 1), np.nan)
        for column, indices in enumerate(members):
            for row, index in enumerate(indices):
                top, left = row * (height + 1), column * (width + 1)
                picture = self.prototypes[index].reshape(height, width)
                mosaic[top : top + height, left : left + width] = picture
        self.ax_.imshow(mosaic, **{"cmap": "gray_r", **kwargs})
        middles = np.arange(len(members)) * (width + 1) + (width - 1) / 2
        self.ax_.set_xticks(middles, [str(label) for label in self.classes])
        self.ax_.set(xlabel="class", yticks=[])
        self.ax_.tick_params(length=0)
        self.ax_.spines[:].set_visible(False)

    def _plot_points(self, **kwargs):
        """Draw prototypes among the samples."""
        if self.X is not None:
            colours = "0.7" if self.y is None else self._colours(self._index_of(self.y))
            self.ax_.scatter(*self.X.T, c=colours, s=12, alpha=0.5, linewidths=0)
        style = {"marker": "D", "s": 70, "edgecolors": "black", "linewidths": 1.2, **kwargs}
        for index, members in self._by_class():
            colour = self._colours([index])
            label = str(self.classes[index])
            self.ax_.scatter(*members.T, **{"c": colour, "label": label, "zorder": 3, **style})
        names = ["feature 0", "feature 1"] if self.feature_names is None else self.feature_names
        self.ax_.set(xlabel=names[0], ylabel=names[1])
        self.ax_.legend(title=self._legend_title())

    def _plot_lines(self, **kwargs):
        """Draw one line per prototype over the features."""
        for index, members in self._by_class():
            labels = [str(self.classes[index])] + ["_"] * (len(members) - 1)
            style = {"color": self._colours([index])[0], "marker": ".", **kwargs}
            self.ax_.plot(members.T, label=labels, **style)
        if self.feature_names is not None and len(self.feature_names) <= MOST_NAMES:
            places = range(len(self.feature_names))
            self.ax_.set_xticks(places, self.feature_names, rotation=45, ha="right")
        else:
            self.ax_.set_xlabel("feature")
        self.ax_.set_ylabel("value as the readout sees it")
        self.ax_.legend(title=self._legend_title())

    def _legend_title(self):
        return "closest to prototypes of" if self.are_samples else "prototypes of"

    def _by_class(self):
        """Return the index of each class that has prototypes, and these."""
        indices = np.unique(self.prototype_classes)
        return [(index, self.prototypes[self.prototype_classes == index]) for index in indices]

    def _index_of(self, y):
        y = np.asarray(y)
        unknown = np.setdiff1d(y, self.classes).tolist()
        if unknown:
            raise ValueError(f"y has a label that the model does not know: {unknown[0]!r}")
        return np.searchsorted(self.classes, y)

    def _colours(self, class_indices):
        if len(self.classes) <= len(CLASS_COLOURS):
            return np.array(CLASS_COLOURS)[class_indices]
        import matplotlib

        shades = np.asarray(class_indices) / (len(self.classes) - 1)
        return matplotlib.colormaps["turbo"](shades)


class LossCurveDisplay:
    """The loss of each iteration of training.

    Create it by `from_estimator`. All parameters are kept as attributes.

    Parameters
    ----------
    loss_curve : sequence of float
        The loss of each iteration or pass.
    name : str, optional
        What the legend calls the model; without it there is no legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.

    See Also
    --------
    PrototypeDisplay : What was learnt.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import GLVQClassifier, LossCurveDisplay
    >>> readout = GLVQClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> display = LossCurveDisplay.from_estimator(readout)
    >>> len(display.loss_curve) == readout.n_iter_
    True
    """

    def __init__(self, loss_curve: Any, *, name: Any = None) -> None:
        self.loss_curve = loss_curve
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, name: Any = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the loss curve of a fitted model.

        Parameters
        ----------
        estimator : estimator
            A fitted readout with `loss_curve_`, which says what its loss is, or a Pipeline that
            ends with one.
        name : str, optional
            What the legend calls the model; without it there is no legend.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        display : LossCurveDisplay
        """
        check_is_fitted(estimator)
        readout: Any = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        if not hasattr(readout, "loss_curve_"):
            raise ValueError(
                f"LossCurveDisplay needs a model with loss_curve_, got {type(readout).__name__}"
            )
        return cls(readout.loss_curve_, name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        display : LossCurveDisplay
        """
        self.ax_: Any = _axes(ax, type(self).__name__)
        self.figure_: Any = self.ax_.figure
        iterations = np.arange(1, len(self.loss_curve) + 1)
        (self.line_,) = self.ax_.plot(
            iterations, self.loss_curve, **{"label": self.name or "_", **kwargs}
        )
        self.ax_.set(xlabel="iteration", ylabel="training loss")
        if self.name is not None:
            self.ax_.legend()
        return self


def _axes(ax, caller):
    """Return the axes given, or new ones."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"{caller} needs matplotlib: pip install matplotlib") from error
    return pyplot.subplots()[1] if ax is None else ax


def _drawable(pipeline, X, image_shape):
    """Return prototypes and samples in the space where they are to be drawn, and its names.

    Behind a hidden layer, samples stand for prototypes; whether they do is returned as well.
    """
    steps = [step for _, step in pipeline.steps[:-1] if step not in (None, "passthrough")]
    front_steps = list(takewhile(lambda step: not _is_hidden_layer(step), steps))
    front, prototypes = make_pipeline(*front_steps, "passthrough"), pipeline[-1].prototypes_
    samples = None if X is None else np.asarray(front.transform(X))
    are_samples = len(front_steps) < len(steps)
    if are_samples:
        if samples is None:
            layer = type(steps[len(front_steps)]).__name__
            raise ValueError(
                f"prototypes behind {layer} cannot be drawn themselves: give X, of which the "
                "closest samples are drawn"
            )
        prototypes = samples[pairwise_distances_argmin(prototypes, pipeline[:-1].transform(X))]
    is_small = image_shape is not None or prototypes.shape[1] == 2
    if is_small and all(map(_has_inverse, front_steps)):
        inverted = front.inverse_transform(prototypes)
        if image_shape is not None or inverted.shape[1] == 2:
            return inverted, X, getattr(pipeline, "feature_names_in_", None), are_samples
    has_names = front_steps and all(hasattr(step, "get_feature_names_out") for step in front_steps)
    return prototypes, samples, front.get_feature_names_out() if has_names else None, are_samples


def _has_inverse(step):
    """Return whether a step can be inverted; some have a method that does not do it."""
    if isinstance(step, FunctionTransformer):
        return step.func is None or step.inverse_func is not None
    has_indicator = getattr(step, "add_indicator", True)  # without which SimpleImputer refuses
    return has_indicator and hasattr(step, "inverse_transform")


def _is_hidden_layer(step):
    record = record_of(step)
    return record is not None and record.role == "hidden"
