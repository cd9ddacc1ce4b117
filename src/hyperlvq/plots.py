"""Displays of fitted models, in the manner of scikit-learn. They need matplotlib."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
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


class _Display:
    """Base class of the displays."""

    _draw: Callable[..., None]

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. By default a new figure is created.
        **kwargs : dict
            Keyword arguments for matplotlib, as in `from_estimator`.

        Returns
        -------
        display : object
            The display itself.
        """
        try:
            from matplotlib import pyplot
        except ImportError as error:
            name = type(self).__name__
            raise ImportError(f"{name} needs matplotlib: pip install matplotlib") from error
        self.ax_: Any = pyplot.subplots()[1] if ax is None else ax
        self.figure_: Any = self.ax_.figure
        self._draw(**kwargs)
        return self

    @classmethod
    def _readout_with(cls, attribute, estimator):
        """Return the fitted readout of an estimator, which must have learnt an attribute."""
        check_is_fitted(estimator)
        readout = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        if not hasattr(readout, attribute):
            name = type(readout).__name__
            raise ValueError(f"{cls.__name__} needs a model with {attribute}, got {name}")
        return readout


@dataclass(repr=False, eq=False)
class PrototypeDisplay(_Display):
    """Plot prototypes as images, points or lines.

    Prototypes of images are drawn as images. Prototypes of two features are drawn as points among
    the samples, all others as lines over the features. Use `from_estimator` to create a display.
    All parameters are stored as attributes.

    Parameters
    ----------
    prototypes : ndarray of shape (n_prototypes, n_features)
        The prototypes to draw.
    prototype_classes : ndarray of shape (n_prototypes,)
        The class of each prototype, as an index into `classes`.
    classes : ndarray of shape (n_classes,)
        The labels.
    image_shape : tuple of two ints, optional
        Height and width, if the features are the pixels of an image.
    feature_names : sequence of str, optional
        Names of the features.
    X : ndarray of shape (n_samples, n_features), optional
        Samples to draw behind prototypes of two features.
    y : ndarray of shape (n_samples,), optional
        Labels of the samples, used to colour them.
    are_samples : bool, default=False
        Whether `prototypes` holds the samples closest to the prototypes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure with the plot.

    See Also
    --------
    LossCurveDisplay : Plot the training loss.

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

    prototypes: Any
    prototype_classes: Any
    classes: Any
    _: KW_ONLY
    image_shape: Any = None
    feature_names: Any = None
    X: Any = None
    y: Any = None
    are_samples: bool = False

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

        Images and points are drawn in the units of X if all steps before the readout have an
        inverse. Otherwise prototypes are drawn as the readout sees them, with features scaled to
        [0, 1] in a recipe.

        After a hidden layer a prototype has one entry per hidden unit. In this case the display
        shows the sample of X whose activations are closest to each prototype.

        Parameters
        ----------
        estimator : estimator
            A fitted readout with `prototypes_`, or a Pipeline that ends with one.
        X : array-like of shape (n_samples, n_features), optional
            Samples. Drawn if there are two features, and required after a hidden layer.
        y : array-like of shape (n_samples,), optional
            Labels of the samples.
        image_shape : tuple of two ints, optional
            Height and width, if the features are the pixels of an image.
        ax : matplotlib Axes, optional
            Axes to draw on. By default a new figure is created.
        **kwargs : dict
            Keyword arguments for matplotlib's `imshow`, `scatter` or `plot`.

        Returns
        -------
        display : PrototypeDisplay
        """
        estimator = to_numpy(estimator)
        readout = cls._readout_with("prototypes_", estimator)
        pipeline = estimator if isinstance(estimator, Pipeline) else make_pipeline(readout)
        prototypes, X, names, are_samples = _drawable(pipeline, on_host(X), image_shape)
        display = cls(
            prototypes,
            readout.prototype_classes_,
            readout.classes_,
            image_shape=image_shape,
            feature_names=names,
            X=None if X is None else check_array(X, ensure_all_finite="allow-nan"),
            y=on_host(y),
            are_samples=are_samples,
        )
        return display.plot(ax, **kwargs)

    def __post_init__(self):
        n_features = self.prototypes.shape[1]
        if self.image_shape is not None and np.prod(self.image_shape) != n_features:
            raise ValueError(
                f"image_shape {tuple(self.image_shape)} is for {np.prod(self.image_shape)} "
                f"features, the prototypes have {n_features}"
            )

    def _draw(self, **kwargs):
        if self.image_shape is not None:
            self._draw_pictures(**kwargs)
            return
        draw = self._draw_points if self.prototypes.shape[1] == 2 else self._draw_lines
        draw(**kwargs)
        self.ax_.legend(title=f"{'closest to ' if self.are_samples else ''}prototypes of")

    def _draw_pictures(self, **kwargs):
        """Draw a column of pictures for each class."""
        height, width = self.image_shape
        pictures = self.prototypes.reshape(-1, height, width)
        members = [pictures[self.prototype_classes == k] for k in range(len(self.classes))]
        n_rows, n_columns = max(map(len, members)), len(members)
        mosaic = np.full((n_rows, height + 1, n_columns, width + 1), np.nan)  # with gaps between
        for column, of_class in enumerate(members):
            mosaic[: len(of_class), :height, column, :width] = of_class
        mosaic = mosaic.reshape(n_rows * (height + 1), n_columns * (width + 1))[:-1, :-1]
        self.ax_.imshow(mosaic, **{"cmap": "gray_r", **kwargs})
        middles = np.arange(n_columns) * (width + 1) + (width - 1) / 2
        self.ax_.set_xticks(middles, [str(label) for label in self.classes])
        self.ax_.set(xlabel="class", yticks=[])
        self.ax_.tick_params(length=0)
        self.ax_.spines[:].set_visible(False)

    def _draw_points(self, **kwargs):
        """Draw prototypes among the samples."""
        if self.X is not None:
            colours = "0.7" if self.y is None else self._colours(self._index_of(self.y))
            self.ax_.scatter(*self.X.T, c=colours, s=12, alpha=0.5, linewidths=0)
        style = {"marker": "D", "s": 70, "edgecolors": "black", "linewidths": 1.2, **kwargs}
        for label, colour, members in self._by_class():
            self.ax_.scatter(*members.T, **{"c": colour, "label": label, "zorder": 3, **style})
        names = ["feature 0", "feature 1"] if self.feature_names is None else self.feature_names
        self.ax_.set(xlabel=names[0], ylabel=names[1])

    def _draw_lines(self, **kwargs):
        """Draw one line per prototype over the features."""
        for label, colour, members in self._by_class():
            style = {"color": colour[0], "marker": ".", **kwargs}
            self.ax_.plot(members.T, label=[label] + ["_"] * (len(members) - 1), **style)
        if self.feature_names is not None and len(self.feature_names) <= MOST_NAMES:
            places = range(len(self.feature_names))
            self.ax_.set_xticks(places, self.feature_names, rotation=45, ha="right")
        else:
            self.ax_.set_xlabel("feature")
        self.ax_.set_ylabel("value as the readout sees it")

    def _by_class(self):
        """Return the label, the colour and the prototypes of each class that has some."""
        return [
            (str(self.classes[k]), self._colours([k]), self.prototypes[self.prototype_classes == k])
            for k in np.unique(self.prototype_classes)
        ]

    def _index_of(self, y):
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


@dataclass(repr=False, eq=False)
class LossCurveDisplay(_Display):
    """Plot the loss of each training iteration.

    Use `from_estimator` to create a display. All parameters are stored as attributes.

    Parameters
    ----------
    loss_curve : sequence of float
        Loss of each iteration or pass.
    name : str, optional
        Name of the model in the legend. By default there is no legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The loss curve.
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure with the plot.

    See Also
    --------
    PrototypeDisplay : Plot the prototypes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import GLVQClassifier, LossCurveDisplay
    >>> readout = GLVQClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> display = LossCurveDisplay.from_estimator(readout)
    >>> len(display.loss_curve) == readout.n_iter_
    True
    """

    loss_curve: Any
    _: KW_ONLY
    name: Any = None

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, name: Any = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the loss curve of a fitted model.

        Parameters
        ----------
        estimator : estimator
            A fitted readout with `loss_curve_`, or a Pipeline that ends with one.
        name : str, optional
            Name of the model in the legend. By default there is no legend.
        ax : matplotlib Axes, optional
            Axes to draw on. By default a new figure is created.
        **kwargs : dict
            Keyword arguments for matplotlib's `plot`.

        Returns
        -------
        display : LossCurveDisplay
        """
        readout = cls._readout_with("loss_curve_", estimator)
        return cls(readout.loss_curve_, name=name).plot(ax, **kwargs)

    def _draw(self, **kwargs):
        iterations = np.arange(1, len(self.loss_curve) + 1)
        style = {"label": self.name or "_", **kwargs}
        (self.line_,) = self.ax_.plot(iterations, self.loss_curve, **style)
        self.ax_.set(xlabel="iteration", ylabel="training loss")
        if self.name is not None:
            self.ax_.legend()


def _drawable(pipeline, X, image_shape):
    """Return prototypes and samples in the space where they are to be drawn, and its names.

    Behind a hidden layer, samples stand for prototypes; whether they do is returned as well.
    """
    steps = [step for _, step in pipeline.steps[:-1] if step not in (None, "passthrough")]
    roles = [getattr(record_of(step), "role", None) for step in steps]
    are_samples = "hidden" in roles
    front_steps = steps[: roles.index("hidden")] if are_samples else steps
    front, prototypes = make_pipeline(*front_steps, "passthrough"), pipeline[-1].prototypes_
    samples = None if X is None else np.asarray(front.transform(X))
    if are_samples:
        if samples is None:
            layer = type(steps[len(front_steps)]).__name__
            raise ValueError(
                f"prototypes behind {layer} cannot be drawn themselves: give X, of which the "
                "closest samples are drawn"
            )
        prototypes = samples[pairwise_distances_argmin(prototypes, pipeline[:-1].transform(X))]
    in_units_of_X = image_shape is not None or not front_steps
    if (in_units_of_X or prototypes.shape[1] == 2) and all(map(_has_inverse, front_steps)):
        inverted = front.inverse_transform(prototypes)
        if in_units_of_X or inverted.shape[1] == 2:
            return inverted, X, getattr(pipeline, "feature_names_in_", None), are_samples
    has_names = all(hasattr(step, "get_feature_names_out") for step in front_steps)
    return prototypes, samples, front.get_feature_names_out() if has_names else None, are_samples


def _has_inverse(step):
    """Return whether a step can be inverted; some have a method that does not do it."""
    if isinstance(step, FunctionTransformer):
        return step.func is None or step.inverse_func is not None
    has_indicator = getattr(step, "add_indicator", True)  # without which SimpleImputer refuses
    return has_indicator and hasattr(step, "inverse_transform")
