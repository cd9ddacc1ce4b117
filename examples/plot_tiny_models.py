"""
Accuracy of models in 3 to 16 KB of flash
=========================================

``device_settings`` and ``device_units`` return the largest models that fit into a given flash.
``predict_budget`` predicts the resources of a trained model without a compiler.
"""

# %%
# Two kinds of models on scikit-learn's digits: intRVFL with GLVQ, and one network of comparisons.
# Accuracies are means over three random layers, measured on the integer model with 8-bit weights,
# which the C code computes.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hyperlvq import HyperLVQClassifier, make_classifier
from hyperlvq.export import device_settings, device_units, make_plan, predict_budget

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
sizes = ["3k", "4k", "6k", "8k", "12k", "16k"]


def on_the_chip(model, seed_name):
    """Compute the mean flash in KB and accuracy of three models."""
    found = []
    for seed in range(3):
        model.set_params(**{seed_name: seed}).fit(X_train, y_train)
        plan = make_plan(model, input="int16")
        flash = predict_budget(plan, "cortex-m3").flash / 1024
        found.append((flash, (plan.predict(X_test) == y_test).mean()))
    return np.mean(found, axis=0)


prototypes, comparisons = [], []
for size in sizes:
    # The first settings have one prototype per class and the most units.
    settings = device_settings(64, 10, max_flash=size, input="int16", clip=7)[0]
    model = make_classifier(clip=7, random_state=0, **settings)
    prototypes.append(on_the_chip(model, "hidden__random_state"))
    n_units = device_units(64, 10, max_flash=size, input="int16")
    comparisons.append(on_the_chip(HyperLVQClassifier(1, n_units=n_units), "random_state"))

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.plot(*zip(*prototypes, strict=True), marker="o", label="intRVFL + GLVQ")
ax.plot(*zip(*comparisons, strict=True), marker="s", label="HyperLVQClassifier(n_networks=1)")
ax.set(xlabel="flash of a Cortex-M3 in KB", ylabel="accuracy on test samples")
ax.grid(alpha=0.3)
ax.legend()
plt.show()

# %%
# On the command line use ``hyperlvq fit --max-flash 8k --input int16``.
