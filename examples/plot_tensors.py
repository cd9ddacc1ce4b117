"""
Training on a GPU
=================

With scikit-learn's ``array_api_dispatch``, models take torch tensors and stay on their device:
scaling, hidden layer, training and predictions. ``to_numpy`` brings a trained model back. This
example uses a GPU if there is one, else torch on the CPU. It needs torch, which
``pip install 'hyperlvq[torch]'`` brings.
"""

# %%

import os
from time import perf_counter

os.environ["SCIPY_ARRAY_API"] = "1"  # before scipy is imported: its condition for the dispatch

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
    torch.set_num_threads(1)  # of so small arrays, threads would wait for each other
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tensors = torch.as_tensor(X, device=device), torch.as_tensor(y, device=device)
    with sklearn.config_context(array_api_dispatch=True):
        train(f"torch on {device}", *tensors)
        print("predictions are on", models[f"torch on {device}"].predict(tensors[0]).device)

# %%
# Training takes the same way down wherever it is. So small a table is no work for a GPU, and
# torch on the CPU is slower than numpy with compiled loops; on large tables a GPU is a hundred
# times as fast, as the page on scaling shows.

for place, model in models.items():
    same = (to_numpy(model).predict(X) == models["numpy"].predict(X)).mean()
    print(f"{place}: {seconds[place]:.1f} s, {same:.3f} of the predictions are those of numpy")
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (place, model), style in zip(
    models.items(), [{"linewidth": 5, "alpha": 0.4}, {}], strict=False
):
    LossCurveDisplay.from_estimator(model, ax=ax, name=place, **style)
plt.show()
