"""Draw the paper's approach with a fitted model: `python docs/pictures/approach.py`.

Write `docs/approach.svg`, which the README and the site show.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import TwoSlopeNorm
from shared import BLUE, BLUE_TO_ORANGE, CLASS_COLOURS, GREY, MINUS_PLUS, ORANGE
from sklearn.datasets import load_iris

from hyperlvq import make_classifier

N_UNITS, CLIP = 24, 3
SAMPLE = 100
iris = load_iris()
model = make_classifier(
    "intrvfl", "glvq", n_units=N_UNITS, clip=CLIP, prototypes_per_class=2, random_state=0
).fit(iris.data, iris.target)
scaled = model[0].transform(iris.data[[SAMPLE]])
keys, activations = model[1].keys_, model[1].transform(scaled)
levels = np.rint(scaled[0] * N_UNITS)
thermometers = np.where(np.arange(N_UNITS) < levels[:, np.newaxis], -1, 1)
distances = model[2].prototype_distances(activations)[0]
winner = int(distances.argmin())

plt.rcParams.update({"font.size": 10, "svg.hashsalt": "hyperlvq", "svg.fonttype": "none"})
figure = plt.figure(figsize=(10, 4.1), layout="constrained")
grid = figure.add_gridspec(3, 3, width_ratios=(1, 3.2, 1.3), height_ratios=(4, 4, 1.1))
inputs = figure.add_subplot(grid[0, 0])
codes, keys_ax, hidden = (figure.add_subplot(grid[row, 1]) for row in range(3))
outputs = figure.add_subplot(grid[:, 2])
figure.suptitle("One iris, from four features to a class", x=0.01, ha="left", weight="bold")

names = [name.removesuffix(" (cm)") for name in iris.feature_names]
inputs.barh(range(4), scaled[0], color=GREY)
for row, value in enumerate(scaled[0]):
    inputs.text(0.03, row, f"{value:.2f}", va="center")
inputs.set(title="1  features x in [0, 1]", yticks=range(4), yticklabels=names, xticks=[])
inputs.set(xlim=(0, 1), ylim=(3.5, -0.5))

options = {"edgecolors": "white", "linewidth": 0.6}
for ax, rows, title in (
    (codes, thermometers, "2  thermometer codes F, one per feature"),
    (keys_ax, keys, "⊙ random keys W, drawn once and never trained"),
):
    ax.pcolormesh(rows, cmap=MINUS_PLUS, vmin=-1, vmax=1, **options)
    ax.set(title=title, xticks=[], yticks=[], ylim=(4, 0))
norm = TwoSlopeNorm(0, -CLIP, CLIP)
hidden.pcolormesh(activations, cmap=BLUE_TO_ORANGE, norm=norm, **options)
for unit, activation in enumerate(activations[0]):
    hidden.text(unit + 0.5, 0.5, f"{activation}".replace("-", "−"), ha="center", va="center")
hidden.set(title=f"3  hidden units h: sum over features, clipped to ±{CLIP}", xticks=[], yticks=[])

places = np.arange(len(distances))
classes = model[2].prototype_classes_
outputs.barh(places, distances, color=[CLASS_COLOURS[each] for each in classes])
outputs.barh(winner, distances[winner], fill=False, edgecolor="black", linewidth=2)
labels = [f"{iris.target_names[each]}" for each in classes]
outputs.set(title="4  distances to prototypes", yticks=places, yticklabels=labels, xticks=[])
outputs.set(ylim=(len(places) - 0.5, -0.5))
outputs.set_xlabel(f"closest: {labels[winner]}", weight="bold")
legend = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in (BLUE, ORANGE)]
inputs_legend = figure.add_subplot(grid[1, 0])
inputs_legend.legend(legend, ["−1", "+1"], loc="center", frameon=False)
inputs_legend.axis("off")
for ax in (inputs, codes, keys_ax, hidden, outputs):
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(ax.get_title(), loc="left", fontsize=10)
    ax.set_title("")

figure.savefig(Path(__file__).parents[1] / "approach.svg", metadata={"Date": None})
