"""
Missing values
==============

``HyperLVQClassifier`` takes NaN as it comes: a missing value lies below all others, so that a
comparison can tell it from the rest. The integer layer of the paper leaves a missing feature
out of its sum. Neither needs an imputer; filling the gaps with medians first makes little
difference.
"""

# %%
# Values get lost in two ways here: at random, or more often in one of the two classes, as where a
# test is ordered only for those who seem to be ill. In the second case *that* a value is missing
# tells something, and accuracy falls little or even rises.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from hyperlvq import HyperLVQClassifier, make_classifier

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :8]  # few enough to miss what is lost
luck = np.random.default_rng(0).random(X.shape)
favour = np.where(y == 1, 1.4, 0.6)[:, np.newaxis]
ways = {"lost at random": luck, "lost more often in one class": luck / favour}
network = HyperLVQClassifier(n_networks=1, n_units=400, random_state=0)
models = {
    "one network, gaps as they are": network,
    "one network, gaps filled": make_pipeline(SimpleImputer(strategy="median"), network),
    "intRVFL + GLVQ, gaps as they are": make_classifier(
        "intrvfl", "glvq", n_units=200, random_state=0
    ),
}
shares = [0.0, 0.3, 0.6]

figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
for ax, (title, order) in zip(panels, ways.items(), strict=True):
    for (name, model), marker in zip(models.items(), "os^", strict=True):
        accuracies = [
            cross_val_score(model, np.where(order < share, np.nan, X), y, cv=3).mean()
            for share in shares
        ]
        ax.plot(shares, accuracies, marker=marker, label=name)
    ax.set(title=title, xlabel="share of values that are missing")
    ax.grid(alpha=0.3)
panels[0].set_ylabel("cross-validated accuracy")
panels[1].legend(loc="lower left")
plt.show()
