"""Plot one unit of each kind over two features."""

import matplotlib.pyplot as plt
from shared import BLUE_TO_ORANGE, grid_over, moons, show_samples, show_values

from hyperlvq import ComparisonLayer

X, y = moons()
points, extent = grid_over(X)

figure, axes = plt.subplots(1, 3, figsize=(8, 2.7))
for ax, kind in zip(axes, ("conjunction", "majority", "parity"), strict=True):
    # Show the unit that separates the classes best, of forty.
    layer = ComparisonLayer(n_units=40, kinds=kind, random_state=3).fit(X)
    activations = layer.transform(X).astype(float)
    gaps = abs(activations[y == 0].mean(axis=0) - activations[y == 1].mean(axis=0))
    over_points = layer.transform(points)[:, gaps.argmax()]
    picture = show_values(ax, over_points, extent, cmap=BLUE_TO_ORANGE)
    show_samples(ax, X, y)
    ax.set_title(kind)
    figure.colorbar(picture, ax=ax, ticks=sorted(set(over_points.tolist())), shrink=0.7)
