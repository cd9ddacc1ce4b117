"""Show thermometer codes of a feature, its key, and their products."""

import matplotlib.pyplot as plt
import numpy as np
from shared import BLUE, MINUS_PLUS, ORANGE

from hyperlvq import IntRVFLLayer

N_UNITS = 32
values = np.array([[0.0], [0.25], [0.5], [0.75], [1.0]])
layer = IntRVFLLayer(n_units=N_UNITS, clip=1, random_state=0).fit(values)
products = layer.transform(values)  # with one feature, the code times the key
key = layer.keys_
codes = products * key  # since key · key = 1

figure, axes = plt.subplots(
    3, 1, figsize=(8, 4.4), sharex=True, height_ratios=[len(values), 1, len(values)]
)
titles = (
    "Thermometer codes: the first round(x N) entries are -1, the others +1",
    "The feature's random key, drawn once",
    "Code × key: added to the units",
)
labels = [f"x = {value:g}" for value in values.ravel()]
for ax, rows, title, names in zip(
    axes, (codes, key, products), titles, (labels, ["key"], labels), strict=True
):
    ax.pcolormesh(rows[::-1], cmap=MINUS_PLUS, vmin=-1, vmax=1, edgecolors="white", linewidth=0.4)
    ax.set_title(title, loc="left")
    ax.set_yticks(np.arange(len(rows)) + 0.5, names[::-1])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
axes[-1].set(xlabel=f"unit (N = {N_UNITS})", xticks=[])
figure.legend(
    handles=[plt.Rectangle((0, 0), 1, 1, color=colour) for colour in (BLUE, ORANGE)],
    labels=["-1", "+1"],
    loc="outside right center",
)
