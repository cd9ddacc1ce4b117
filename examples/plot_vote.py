"""
One network or a vote
=====================

``HyperLVQClassifier`` trains four networks with different kinds of units and weights them by
leave-one-out. Here four have a smaller log loss than one on every table and are more accurate
on average.
"""

# %%
# Ten tables with 200 training samples and many test samples. One in ten labels is wrong.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from hyperlvq import HyperLVQClassifier

numbers = [1, 2, 4]
losses, accuracies = np.empty((2, 10, len(numbers)))
for seed in range(10):
    X, y = make_classification(
        3000, 12, n_informative=6, n_clusters_per_class=3, flip_y=0.2, random_state=seed
    )
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=200, random_state=0)
    for column, n_networks in enumerate(numbers):
        model = HyperLVQClassifier(n_networks, n_units=1000, random_state=0).fit(X_train, y_train)
        losses[seed, column] = log_loss(y_test, model.predict_proba(X_test))
        accuracies[seed, column] = model.score(X_test, y_test)

figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, values, title in zip(panels, [accuracies, losses], ["accuracy", "log loss"], strict=True):
    ax.plot(numbers, values.T, color="0.75", label=["ten tables", *"_________"])
    ax.plot(numbers, values.mean(axis=0), marker="o", color="#0072B2", label="mean")
    ax.set(xlabel="number of networks", ylabel=f"{title} on test samples")
    ax.set_xticks(numbers)
figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2)
plt.show()
