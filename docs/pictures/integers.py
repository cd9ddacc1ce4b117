"""Plot the size of models in floating point and in integers."""

import matplotlib.pyplot as plt
import numpy as np
from shared import BLUE, GREEN, GREY, ORANGE

from hyperlvq.costs import prediction_cost

N_FEATURES, N_PROTOTYPES = 64, 30
units = np.array([64, 128, 256, 512, 1024])


def kilobytes(hidden, form):
    """Compute sizes for 64 features, 10 classes and 3 prototypes per class."""
    costs = [prediction_cost(hidden, N_FEATURES, int(n), N_PROTOTYPES, form=form) for n in units]
    return [cost.bytes / 1024 for cost in costs]


figure, ax = plt.subplots(figsize=(5.6, 3.8))
for label, hidden, form, colour in (
    ("RVFL: 32-bit weights and prototypes", "rvfl", "float", GREY),
    ("intRVFL: 8-bit keys, 32-bit prototypes", "intrvfl", "float", BLUE),
    ("exported: 1-bit keys, 8-bit prototypes", "intrvfl", "integer", ORANGE),
):
    ax.plot(units, kilobytes(hidden, form), "o-", color=colour, label=label)
ax.axhline(32, color=GREEN, linestyle="--", label="flash of an Arduino Uno")
ax.set_xscale("log", base=2)
ax.set_yscale("log", base=2)
ax.set_xticks(units, units)
ax.set_yticks([2, 8, 32, 128, 512], [2, 8, 32, 128, 512])
ax.set(xlabel="hidden units", ylabel="model size in KB", ylim=(2, 2500))
ax.legend()
