"""
Training on a Dask cluster
==========================

``hyperlvq.distributed.fit`` trains on data larger than the memory of one machine. Workers send
sums, never rows. Here the cluster runs in threads of this program. Connect to a real one with
``Client("tcp://scheduler:8786")``. The extra ``dask`` of hyperlvq installs Dask.
"""

# %%

import dask.array as da
import matplotlib.pyplot as plt
from distributed import Client
from sklearn.datasets import make_classification

from hyperlvq import LossCurveDisplay, make_classifier
from hyperlvq.distributed import fit, predict

X, y = make_classification(2000, 10, n_informative=5, n_classes=3, random_state=0)
recipe = make_classifier("intrvfl", "glvq", n_units=200, random_state=0)
partitions = da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500)

options = {"processes": False, "n_workers": 2, "threads_per_worker": 1}
with Client(dashboard_address=":0", **options):
    on_cluster = fit(recipe, *partitions)
    labels = predict(on_cluster, partitions[0]).compute()  # lazy, one task per partition
in_memory = recipe.fit(X, y)
same = (labels == in_memory.predict(X)).mean()
print(f"{same:.1%} of the predictions equal those of the fit in memory")

# %%
# Both fits minimise the same cost. Sums over partitions are rounded differently, so the results
# differ slightly.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
LossCurveDisplay.from_estimator(in_memory, ax=ax, name="in memory", linewidth=5, alpha=0.4)
LossCurveDisplay.from_estimator(on_cluster, ax=ax, name="four partitions on two workers")
plt.show()

# %%
# ``Client()`` starts processes on this machine, which import the program. A script then needs
# ``if __name__ == "__main__":``.
