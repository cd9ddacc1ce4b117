"""
Prototypes moving while GLVQ learns
===================================

GLVQ starts with all prototypes of a class near the class's mean. Each sample then pulls the
closest prototype of its own class towards itself and pushes the closest one of another class
away, most strongly where the two are about equally close. Here the samples come in small
batches to ``partial_fit``, so that every step can be watched.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from hyperlvq import GLVQClassifier, LossCurveDisplay, PrototypeDisplay

centres = [[-4, 2], [0, -3], [4, 2], [-4, -3], [0, 3], [4, -3]]
X, blob = make_blobs(1200, centers=centres, cluster_std=0.9, random_state=0)
y = np.array(["blue", "orange"])[blob // 3]

readout = GLVQClassifier(prototypes_per_class=3, slope=5, learning_rate=0.5, random_state=0)
positions = []
for rows in np.array_split(np.tile(np.arange(len(X)), 3), 60):  # three times all samples
    readout.partial_fit(X[rows], y[rows], classes=["blue", "orange"])
    positions.append(readout.prototypes_.copy())

# %%
# The lines on the left are the ways that the six prototypes have taken; they end at the diamonds.
# Each class has three heaps of samples, and each heap gets a prototype. On the right is the mean
# cost of each batch while it was learnt.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
PrototypeDisplay.from_estimator(readout, X, y, ax=left)
for way in np.stack(positions, axis=1):
    left.plot(*way.T, color="black", linewidth=1)
left.set_title("ways of the prototypes")
LossCurveDisplay.from_estimator(readout, ax=right)
right.set(title="cost of each batch", xlabel="batch")
plt.show()
