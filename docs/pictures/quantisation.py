"""Plot prototypes as integers, and margins of both models."""

import matplotlib.pyplot as plt
import numpy as np
from shared import BLUE, GREY, ORANGE
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hyperlvq import make_classifier
from hyperlvq.export import compare, make_plan

X_train, X_test, y_train, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
model = make_classifier("intrvfl", "glvq", n_units=256, random_state=0).fit(X_train, y_train)
plan = make_plan(model, input="int16")
found = compare(model, plan, X_test, y_test)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.3))
left.hist(plan.weights.ravel(), bins=np.arange(-128, 129, 4), color=BLUE)
left.set(
    xlabel=f"entry, in units of {plan.weight_scale:.2g}",
    ylabel="entries of all prototypes",
    title=f"Prototypes as {plan.weights.dtype}",
)

distances = -model.decision_function(X_test)
scores = plan.scores(X_test).reshape(len(X_test), 10, -1).max(axis=2)
closest = np.sort(distances, axis=1)
ranked = np.sort(scores, axis=1)[:, ::-1] * plan.weight_scale
right.scatter(closest[:, 1] - closest[:, 0], ranked[:, 0] - ranked[:, 1], s=10, color=ORANGE)
right.axline((0, 0), slope=1, color=GREY, linestyle="--")
right.set(
    xlabel="margin in floating point",
    ylabel="margin in integers",
    title=f"{len(X_test)} test samples, {found.agreement:.1%} same label",
)
