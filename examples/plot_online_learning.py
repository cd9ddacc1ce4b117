"""
Learning from a stream with partial_fit
=======================================

Online learning follows data that drift. scikit-learn's ``Pipeline`` has no ``partial_fit``. It
needs none if the ranges of features are known in advance, as with sensors. Then only the
readout learns from data.
"""

# %%
# Fit scaling and hidden layer once, on the two ends of the ranges. Then pass each batch through
# them to ``partial_fit`` of the readout. This works for the layers ``"rvfl"`` and ``"intrvfl"``.
# ``"comparisons"`` takes its thresholds from samples.

from copy import deepcopy

import matplotlib.pyplot as plt
import numpy as np

from hyperlvq import make_classifier

recipe = make_classifier("intrvfl", "glvq", n_units=200, prototypes_per_class=2, random_state=0)
ranges = [[-4, -4], [4, 4]]  # minimum and maximum of each feature
front, readout = recipe[:-1].fit(ranges), recipe[-1]
rng = np.random.default_rng(0)


def draw_batch(angle, n_samples=50):
    """Draw three classes with centres on a rotating circle."""
    y = rng.integers(3, size=n_samples)
    angles = angle + 2 * np.pi * y / 3
    centres = 2 * np.column_stack([np.cos(angles), np.sin(angles)])
    return centres + rng.normal(scale=0.7, size=(n_samples, 2)), y


# %%
# The circle rotates once. One copy of the model stops learning after 20 batches. Each batch is
# used for testing first, then for learning.

accuracies = {"keeps learning": [], "stopped after 20 batches": []}
for number, angle in enumerate(np.linspace(0, 2 * np.pi, 200)):
    X, y = draw_batch(angle)
    activations = front.transform(X)
    if number == 20:
        stopped = deepcopy(readout)
    if number >= 20:
        accuracies["stopped after 20 batches"].append(stopped.score(activations, y))
    if number > 0:
        accuracies["keeps learning"].append(readout.score(activations, y))
    readout.partial_fit(activations, y, classes=[0, 1, 2])

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for (name, found), style in zip(accuracies.items(), ["-", "--"], strict=True):
    smooth = np.convolve(found, np.ones(5) / 5, mode="valid")
    ax.plot(np.arange(200 - len(smooth), 200), smooth, style, label=name)
ax.axhline(1 / 3, color="0.6", linestyle=":", label="guessing")
ax.set(
    xlabel="batch",
    ylabel="accuracy before learning the batch\n(mean of five batches)",
    ylim=(0, 1.02),
)
ax.legend(loc="center")
plt.show()
