"""Plot μ over two features, and the cost as a function of μ."""

import matplotlib.pyplot as plt
import numpy as np
from shared import (
    BLUE,
    BLUE_TO_ORANGE,
    CLASS_COLOURS,
    GREEN,
    ORANGE,
    grid_over,
    moons,
    show_samples,
    show_values,
)

from hyperlvq import GLVQClassifier

X, y = moons()
model = GLVQClassifier(prototypes_per_class=3, init_noise=0.3, random_state=0).fit(X, y)
points, extent = grid_over(X)


def squared_distances(of_class):
    """Compute squared distances to the closest prototype of a class."""
    prototypes = model.prototypes_[model.prototype_classes_ == of_class]
    return np.square(points[:, np.newaxis] - prototypes).sum(axis=2).min(axis=1)


own, other = squared_distances(0), squared_distances(1)
mu = (own - other) / (own + other)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), width_ratios=[1.25, 1])
picture = show_values(left, mu, extent, cmap=BLUE_TO_ORANGE, vmin=-1, vmax=1)
side = int(len(points) ** 0.5)
left.contour(mu.reshape(side, side), levels=[0], extent=extent, colors="#5c636a", linewidths=1.5)
show_samples(left, X, y)
left.scatter(
    *model.prototypes_.T,
    c=[CLASS_COLOURS[label] for label in model.prototype_classes_],
    marker="*",
    s=260,
    edgecolors="black",
)
left.set_title("μ for the blue class, prototypes as stars")
figure.colorbar(picture, ax=left, ticks=[-1, 0, 1])

values = np.linspace(-1, 1, 200)
for slope, colour in ((6, BLUE), (12, ORANGE), (60, GREEN)):
    right.plot(values, 1 / (1 + np.exp(-slope * values)), color=colour, label=f"slope β = {slope}")
right.set(
    xlabel="μ (negative: correct, positive: mistake)",
    ylabel="cost g(μ) of a sample",
    title="A differentiable error rate",
)
right.legend()
