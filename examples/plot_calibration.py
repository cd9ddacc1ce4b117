"""
Calibrated probabilities
========================

In a calibrated model eight in ten samples with a probability of 0.8 belong to the class.
``HyperLVQClassifier`` calibrates its probabilities by leave-one-out. GLVQ derives probabilities
from distances, which are not calibrated. scikit-learn's ``CalibratedClassifierCV`` fixes that.
"""

# %%
# A tenth of the labels is wrong, so no probability should exceed 0.9.

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from hyperlvq import HyperLVQClassifier, make_classifier

X, y = make_classification(5000, 10, n_informative=5, flip_y=0.2, class_sep=0.7, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=800, random_state=0)
recipe = make_classifier("intrvfl", "glvq", n_units=300, random_state=0)
models = {
    "HyperLVQClassifier": HyperLVQClassifier(random_state=0),
    "intRVFL + GLVQ": recipe,
    "intRVFL + GLVQ, calibrated": CalibratedClassifierCV(recipe, cv=3),
}

figure, ax = plt.subplots(figsize=(6.5, 6), layout="constrained")
for (name, model), marker in zip(models.items(), "s^o", strict=True):
    found = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    label = f"{name} (log loss {log_loss(y_test, found):.2f})"
    CalibrationDisplay.from_predictions(y_test, found, n_bins=10, name=label, ax=ax, marker=marker)
ax.set(xlabel="predicted probability", ylabel="share of samples in the class")
plt.show()

# %%
# Overconfident models lie above the diagonal on the left and below it on the right.
