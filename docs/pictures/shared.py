"""Share colours and samples among the pictures."""

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from sklearn.datasets import make_moons

#: Readable on white and black, and for colour-blind readers.
BLUE, ORANGE, GREEN, PINK, GREY = "#3b8bd0", "#e08a1e", "#2aa876", "#c86fa5", "#808890"
CLASS_COLOURS = [BLUE, ORANGE, GREEN]
MINUS_PLUS = ListedColormap([BLUE, ORANGE])
#: Pale, because samples and text are drawn on top.
BLUE_TO_ORANGE = LinearSegmentedColormap.from_list("", ["#a9cdec", "#f0f2f4", "#f5cf9d"])


def moons(n_samples=200, noise=0.25):
    """Draw two classes that no line separates."""
    return make_moons(n_samples, noise=noise, random_state=0)


def grid_over(X, n_points=120, margin=0.3):
    """Return a grid of points around samples, and its extent for `imshow`."""
    (left, bottom), (right, top) = X.min(axis=0) - margin, X.max(axis=0) + margin
    across, up = np.meshgrid(np.linspace(left, right, n_points), np.linspace(bottom, top, n_points))
    return np.column_stack([across.ravel(), up.ravel()]), (left, right, bottom, top)


def show_values(ax, values, extent, **options):
    """Show values on a grid as an image."""
    n_points = int(len(values) ** 0.5)
    picture = values.reshape(n_points, n_points)
    return ax.imshow(picture, extent=extent, origin="lower", aspect="auto", **options)


def show_samples(ax, X, y, **options):
    """Plot samples in the colours of their classes."""
    colours = [CLASS_COLOURS[label] for label in y]
    ax.scatter(*X.T, c=colours, s=14, edgecolors="white", linewidths=0.5, **options)
    ax.set(xticks=[], yticks=[])
