"""The samples of a fit, spread over the workers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from distributed import Client

from hyperlvq.distributed import cluster, passes


class PartitionedSamples:
    """The samples of a fit, on the workers, and what is summed over them."""

    def __init__(self, client: Client, parts: list, front: Any, classes: np.ndarray):
        self.classes = classes
        self._client = client
        self._parts = parts
        self._front = cluster.send(client, front)

    def total(self, function: Callable, *arguments: Any, merge: Callable = passes.add_up) -> Any:
        """Return the sum of function(samples, front, *arguments) over all partitions."""
        return cluster.total(
            self._client, function, self._parts, self._front, *arguments, merge=merge
        )

    def class_totals(self) -> passes.ClassTotals:
        """Return the sums and counts of each class."""
        n_classes = len(self.classes)
        return self.total(passes.class_totals, n_classes, merge=passes.merge_class_totals)
