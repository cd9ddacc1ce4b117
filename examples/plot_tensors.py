"""
Training on a GPU
=================

With scikit-learn's ``array_api_dispatch``, recipes train and predict on the device of a torch
tensor. ``to_numpy`` converts a trained model. This example uses a GPU if available, else torch
on the CPU. The extra ``torch`` of hyperlvq installs torch.
"""

# %%

import os
from time import perf_counter

os.environ["SCIPY_ARRAY_API"] = "1"  # required before scipy is imported

import matplotlib.pyplot as plt
import sklearn
from sklearn.datasets import make_classification

from hyperlvq import LossCurveDisplay, make_classifier, to_numpy

try:
    import torch
except ImportError:
    torch = None
    print("torch is not installed: only numpy is shown.")

X, y = make_classification(600, 10, n_informative=5, n_classes=3, random_state=0)
recipe = make_classifier("intrvfl", "glvq", n_units=200, random_state=0)
models, seconds = {}, {}


def train(place, X, y):
    """Fit the recipe on arrays of numpy or torch."""
    started = perf_counter()
    models[place] = sklearn.clone(recipe).fit(X, y)
    seconds[place] = perf_counter() - started


train("numpy", X, y)
if torch is not None:
    torch.set_num_threads(1)  # threads only slow such small arrays
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tensors = torch.as_tensor(X, device=device), torch.as_tensor(y, device=device)
    with sklearn.config_context(array_api_dispatch=True):
        train(f"torch on {device}", *tensors)
        print("predictions are on", models[f"torch on {device}"].predict(tensors[0]).device)

# %%
# This table is too small to benefit from a GPU. The first fit with numpy may include compilation.
# The page on scaling has times for a large table.

for place, model in models.items():
    same = (to_numpy(model).predict(X) == models["numpy"].predict(X)).mean()
    print(f"{place}: {seconds[place]:.1f} s, {same:.1%} of the predictions equal those of numpy")
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (place, model), style in zip(
    models.items(), [{"linewidth": 5, "alpha": 0.4}, {}], strict=False
):
    LossCurveDisplay.from_estimator(model, ax=ax, name=place, **style)
plt.show()
