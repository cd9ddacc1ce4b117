"""
Class weights for rare classes
==============================

If only one sample in twenty belongs to the rare class, a model that never predicts it is 95 %
accurate. ``class_weight="balanced"`` gives every class the same total weight. A dict sets other
weights, and ``sample_weight`` of ``fit`` weights single samples.
"""

# %%

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.metrics import ConfusionMatrixDisplay, balanced_accuracy_score
from sklearn.model_selection import train_test_split

from hyperlvq import HyperLVQClassifier, make_classifier

X, y = make_classification(
    6000, 8, n_informative=4, weights=[0.95], class_sep=0.8, flip_y=0.01, random_state=3
)
y = ["rare" if label else "usual" for label in y]
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=800, random_state=0)

# %%
# Each row is normalised. The row of the rare class shows the share of its samples that are found.

figure, grid = plt.subplots(2, 2, figsize=(8, 7.5), layout="constrained")
for row, class_weight in zip(grid, [None, "balanced"], strict=True):
    models = {
        "HyperLVQClassifier": HyperLVQClassifier(class_weight=class_weight, random_state=0),
        "intRVFL + GLVQ": make_classifier(class_weight=class_weight, n_units=300, random_state=0),
    }
    for ax, (name, model) in zip(row, models.items(), strict=True):
        found = model.fit(X_train, y_train).predict(X_test)
        style = {"colorbar": False, "cmap": "Blues", "im_kw": {"vmin": 0, "vmax": 1}}
        ConfusionMatrixDisplay.from_predictions(
            y_test, found, normalize="true", values_format=".2f", ax=ax, **style
        )
        score = balanced_accuracy_score(y_test, found)
        ax.set_title(f"{name}\nclass_weight={class_weight!r}\nbalanced accuracy {score:.2f}")
plt.show()

# %%
# Class weights also change probabilities, which then assume equally frequent classes.
