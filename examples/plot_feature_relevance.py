"""
Which features matter
=====================

``HyperLVQClassifier`` keeps ``relevances_``, the share of each feature in how much its scores
change when the feature's values are permuted: what the model looks at. How much accuracy
depends on a feature is another question, which scikit-learn's ``permutation_importance``
answers for every model, recipes included.
"""

# %%
# The wines have 13 measurements; five columns of noise are added, and all models should ignore
# them.

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
    """Return how much accuracy each feature's permutation costs, on average."""
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
# Less than 0 is luck: a few of the 72 test samples. Many of the measurements tell the same, so
# that a model which loses one of them loses little accuracy: the vote looks at many features
# and depends on few. A selector can use what it looks at:
# ``SelectFromModel(HyperLVQClassifier(), importance_getter="relevances_")``.
