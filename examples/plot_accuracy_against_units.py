"""
Accuracy and the number of hidden units
=======================================

Accuracy grows with the number of random hidden units. A trained readout needs fewer of them.
That matters on a microcontroller, where every unit takes memory and time.
"""

# %%
# Three readouts of the same integer layer on scikit-learn's digits. Bands show one standard
# deviation over five random layers.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hyperlvq import make_classifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
units = np.array([20, 50, 100, 200, 500, 1000])
readouts = {
    "centroids": ("class means", {}),
    "rls": ("least squares", {}),
    "glvq": ("GLVQ, 1 prototype per class", {"prototypes_per_class": 1}),
}

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
markers = iter("so^")
for readout, (title, parameters) in readouts.items():
    accuracies = [
        [
            make_classifier(
                "intrvfl", readout, n_units=n_units, clip=7, random_state=seed, **parameters
            )
            .fit(X_train, y_train)
            .score(X_test, y_test)
            for n_units in units.tolist()
        ]
        for seed in range(5)
    ]
    mean, deviation = np.mean(accuracies, axis=0), np.std(accuracies, axis=0)
    ax.plot(units, mean, marker=next(markers), label=title)
    ax.fill_between(units, mean - deviation, mean + deviation, alpha=0.2)
ax.set(xscale="log", xlabel="hidden units", ylabel="accuracy on test samples")
ax.set_xticks(units, units)
ax.minorticks_off()
ax.grid(alpha=0.3)
ax.legend()
plt.show()
