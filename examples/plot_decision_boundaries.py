"""
Decision boundaries of least squares and GLVQ
=============================================

On plain features, least squares (``"rls"``) can only draw a straight line. GLVQ has three
prototypes per class, and its boundary consists of the lines halfway between them. Behind a
hidden layer of 1000 small integers both follow the two half moons.
"""

# %%
# Every model is a scikit-learn Pipeline, so scikit-learn draws its decisions.

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
        ax.set_title(f"{hidden} + {readout}: accuracy {accuracy:.2f}")
        if readout == "glvq" and hidden == "features":
            prototypes = model["scale"].inverse_transform(model["readout"].prototypes_)
            ax.scatter(*prototypes.T, c="black", marker="D", s=45, label="prototypes")
            ax.legend(loc="upper right")
plt.show()

# %%
# Only the readout is trained. Corners come from thermometer codes, because each unit changes
# where a feature crosses a threshold.
