"""
Which probabilities can be believed?
====================================

Of all samples that a model gives a probability of 0.8, eight in ten should belong to the class.
``HyperLVQClassifier`` chooses how sure it may be by samples that are left out of training, so
its probabilities are calibrated. Those of GLVQ follow from distances: they tell close calls
from clear ones, no more. scikit-learn's ``CalibratedClassifierCV`` mends that.
"""

# %%
# A tenth of the labels is wrong here, so nobody can rightly be surer than 0.9.

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
ax.set(xlabel="probability that the model gives", ylabel="share that belongs to the class")
plt.show()

# %%
# A curve that lies above the diagonal on the left and below it on the right is that of a model that
# is too sure of itself.
