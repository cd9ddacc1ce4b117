"""Plot reliability diagrams of three models."""

import matplotlib.pyplot as plt
import numpy as np
from shared import BLUE, GREEN, GREY, ORANGE
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from hyperlvq import HyperLVQClassifier, make_classifier

X, y = make_classification(
    6000, 12, n_informative=6, n_classes=3, flip_y=0.1, class_sep=0.9, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=600, random_state=0)
edges = np.linspace(1 / 3, 1, 8)

figure, ax = plt.subplots(figsize=(5.6, 4))
ax.plot([1 / 3, 1], [1 / 3, 1], color=GREY, linestyle="--", label="calibrated")
for name, model, colour in (
    ("HyperLVQClassifier", HyperLVQClassifier(n_units=2000, random_state=0), ORANGE),
    ("intRVFL with GLVQ", make_classifier("intrvfl", "glvq", random_state=0), BLUE),
    ("random forest", RandomForestClassifier(random_state=0), GREEN),
):
    probabilities = model.fit(X_train, y_train).predict_proba(X_test)
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y_test
    bins = np.digitize(sure, edges[1:-1])
    filled = [number for number in range(len(edges) - 1) if (bins == number).sum() >= 30]
    ax.plot(
        [sure[bins == number].mean() for number in filled],
        [right[bins == number].mean() for number in filled],
        "o-",
        color=colour,
        label=f"{name}, log loss {log_loss(y_test, probabilities):.2f}",
    )
ax.set(xlabel="probability of the predicted class", ylabel="share of correct predictions")
ax.legend(loc="upper left")
