"""
Learning on a microcontroller
=============================

A model exported by ``to_c`` with ``trainable=True`` keeps learning on the device.
``make_learner`` simulates this in Python.
"""

# %%
# The factory trains the model on digits of many people. The owner of a device uses another pen,
# and every image is faint in the same places.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hyperlvq import make_classifier
from hyperlvq.export import make_learner

X, y = load_digits(return_X_y=True)
X_factory, X_owner, y_factory, y_owner = train_test_split(X, y, test_size=900, random_state=0)
pen = np.random.default_rng(0).uniform(0.1, 1.0, size=64)
X_owner = np.round(X_owner * pen)
X_new, y_new, X_test, y_test = X_owner[:500], y_owner[:500], X_owner[500:], y_owner[500:]

# %%
# The perceptron rule moves two integer prototypes after each mistake. GLVQ moves two float
# prototypes after each image.

choices = {
    "class means, perceptron rule in int16": ("centroids", "perceptron", 0.02),
    "GLVQ, GLVQ rule in float32": ("glvq", "glvq", None),  # None: the rate of the readout
}
corrected = np.arange(0, 501, 25)

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for (name, (readout, rule, rate)), marker in zip(choices.items(), "os", strict=True):
    model = make_classifier("intrvfl", readout, n_units=256, clip=7, random_state=0)
    model.fit(X_factory, y_factory)
    learner = make_learner(model, input="int16", rule=rule, learning_rate=rate)
    accuracies = [(learner.predict(X_test) == y_test).mean()]
    for first in corrected[:-1]:
        learner.learn(X_new[first : first + 25], y_new[first : first + 25])
        accuracies.append((learner.predict(X_test) == y_test).mean())
    ax.plot(corrected, accuracies, marker=marker, label=name)
ax.set(xlabel="images corrected by the owner", ylabel="accuracy on 400 other images")
ax.grid(alpha=0.3)
ax.legend(loc="lower right")
plt.show()
