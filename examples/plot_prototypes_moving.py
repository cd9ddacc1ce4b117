"""
How GLVQ moves prototypes
=========================

All prototypes of a class start near the class mean. Each sample pulls the closest prototype of
its own class and pushes away the closest prototype of another class, most strongly if both are
about equally close. Small batches with ``partial_fit`` show every step.
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
for rows in np.array_split(np.tile(np.arange(len(X)), 3), 60):  # three epochs
    readout.partial_fit(X[rows], y[rows], classes=["blue", "orange"])
    positions.append(readout.prototypes_.copy())

# %%
# Left: paths of the six prototypes, which end at the diamonds. Each cluster gets a prototype.
# Right: the mean cost of each batch while it was learnt.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
PrototypeDisplay.from_estimator(readout, X, y, ax=left)
for way in np.stack(positions, axis=1):
    left.plot(*way.T, color="black", linewidth=1)
left.set_title("paths of the prototypes")
LossCurveDisplay.from_estimator(readout, ax=right)
right.set(title="cost of each batch", xlabel="batch")
plt.show()
