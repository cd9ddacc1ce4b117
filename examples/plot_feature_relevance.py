"""
Feature relevances
==================

``relevances_`` of ``HyperLVQClassifier`` measures how much the scores change when the values of
a feature are permuted. scikit-learn's ``permutation_importance`` measures how much accuracy
depends on a feature, for every model.
"""

# %%
# The wines have 13 measurements. The five added columns of noise should be ignored.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

from hyperlvq import HyperLVQClassifier, make_classifier

X, y = load_wine(return_X_y=True, as_frame=True)
rng = np.random.default_rng(0)
X = X.assign(**{f"noise {number}": rng.normal(size=len(X)) for number in range(1, 6)})
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
vote = HyperLVQClassifier(random_state=0).fit(X_train, y_train)
recipe = make_classifier("intrvfl", "glvq", random_state=0).fit(X_train, y_train)


def accuracy_lost(model):
    """Compute the mean loss of accuracy by permuting each feature."""
    found = permutation_importance(model, X_test, y_test, n_repeats=10, random_state=0)
    return found.importances_mean


order = vote.relevances_.argsort()
columns = {
    "relevances_ of the vote": vote.relevances_,
    "accuracy lost by the vote": accuracy_lost(vote),
    "accuracy lost by intRVFL + GLVQ": accuracy_lost(recipe),
}

figure, panels = plt.subplots(1, 3, figsize=(11, 5), layout="constrained", sharey=True)
colours = ["#999999" if name.startswith("noise") else "#0072B2" for name in X.columns[order]]
for ax, (title, values) in zip(panels, columns.items(), strict=True):
    ax.barh(X.columns[order], values[order], color=colours)
    ax.set_title(title)
plt.show()

# %%
# Negative values are chance, a few of the 72 test samples. Many measurements are redundant, so
# losing one costs little accuracy even where it influences the scores. To select features, use
# ``SelectFromModel(HyperLVQClassifier(), importance_getter="relevances_")``.
