"""
Decision boundaries of least squares and GLVQ
=============================================

Two half moons, two readouts, and what a random hidden layer changes. On the bare features,
least squares (``"rls"``) can only draw a straight line. GLVQ puts three prototypes into each
class, and its boundary is made of the lines halfway between them. Behind a hidden layer of 1000
small integers both bend around the moons.
"""

# %%
# Every model is a scikit-learn Pipeline, so scikit-learn's own display draws its decisions.

import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import train_test_split

from hyperlvq import make_classifier

X, y = make_moons(400, noise=0.25, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
colours = ListedColormap(["#0072B2", "#E69F00"])

figure, grid = plt.subplots(2, 2, figsize=(8, 6), layout="constrained", sharex=True, sharey=True)
for axes_of_layer, hidden in zip(grid, ["features", "intrvfl"], strict=True):
    for ax, readout in zip(axes_of_layer, ["rls", "glvq"], strict=True):
        seed = {} if (hidden, readout) == ("features", "rls") else {"random_state": 0}
        model = make_classifier(hidden, readout, **seed).fit(X_train, y_train)
        DecisionBoundaryDisplay.from_estimator(
            model, X, response_method="predict", eps=0.2, ax=ax, cmap=colours, alpha=0.3
        )
        ax.scatter(*X_test.T, c=y_test, cmap=colours, s=14, edgecolors="black", linewidths=0.3)
        accuracy = model.score(X_test, y_test)
        ax.set_title(f"{hidden} + {readout}: {accuracy:.2f} of the points right")
        if readout == "glvq" and hidden == "features":
            prototypes = model["scale"].inverse_transform(model["readout"].prototypes_)
            ax.scatter(*prototypes.T, c="black", marker="D", s=45, label="prototypes")
            ax.legend(loc="upper right")
plt.show()

# %%
# The hidden layer was drawn at random and never trained; only the readout was. Corners come from
# thermometer codes: a unit changes where a feature crosses a threshold of its own.
