"""Plot the scores of four networks and their vote over two features."""

import matplotlib.pyplot as plt
from shared import BLUE_TO_ORANGE, grid_over, moons, show_samples, show_values

from hyperlvq import ComparisonLayer, HyperLVQClassifier

N_UNITS = 1000
X, y = moons()
points, extent = grid_over(X)
model = HyperLVQClassifier(n_units=N_UNITS, random_state=0).fit(X, y)
layer = ComparisonLayer().fit(X)
for name in ("features_", "thresholds_", "keys_", "kinds_"):
    setattr(layer, name, getattr(model, name))
activations = layer.transform(points).astype(float)


def margins(first, last):
    """Compute the margin of the second class from some units."""
    scores = activations[:, first:last] @ model.coef_[:, first:last].T
    return scores[:, 1] - scores[:, 0]


weights = model.settings_["weight"]
titles = [
    f"{kind}\n{weight / sum(weights):.0%} of the vote"
    for kind, weight in zip(model.settings_["kind"], weights, strict=True)
]
shown = [margins(k * N_UNITS, (k + 1) * N_UNITS) for k in range(len(titles))]
titles.append(f"the vote\nleft-out accuracy {model.left_out_accuracy_:.2f}")
shown.append(margins(0, len(model.kinds_)))

figure, axes = plt.subplot_mosaic([[0, 1, 4, 4], [2, 3, 4, 4]], figsize=(8, 4))
for ax, values, title in zip((axes[k] for k in range(len(shown))), shown, titles, strict=True):
    limit = abs(values).max()
    show_values(ax, values, extent, cmap=BLUE_TO_ORANGE, vmin=-limit, vmax=limit)
    show_samples(ax, X, y)
    ax.set_title(title)
