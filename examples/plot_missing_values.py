"""
Missing values
==============

``HyperLVQClassifier`` treats NaN as smaller than all other values, so comparisons can detect
it. The paper's integer layer leaves missing features out of its sums. Neither needs imputation,
and imputing medians makes little difference.
"""

# %%
# Values are missing at random, or more often in one class, as with a medical test that is ordered
# only for suspected illness. In the second case a missing value is informative, and accuracy
# falls little or even rises.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from hyperlvq import HyperLVQClassifier, make_classifier

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :8]  # few features, so each missing value matters
luck = np.random.default_rng(0).random(X.shape)
favour = np.where(y == 1, 1.4, 0.6)[:, np.newaxis]
ways = {"missing at random": luck, "missing more often in one class": luck / favour}
network = HyperLVQClassifier(n_networks=1, n_units=400, random_state=0)
models = {
    "one network, NaN": network,
    "one network, medians imputed": make_pipeline(SimpleImputer(strategy="median"), network),
    "intRVFL + GLVQ, NaN": make_classifier("intrvfl", "glvq", n_units=200, random_state=0),
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
    ax.set(title=title, xlabel="share of missing values")
    ax.grid(alpha=0.3)
panels[0].set_ylabel("cross-validated accuracy")
panels[1].legend(loc="lower left")
plt.show()
