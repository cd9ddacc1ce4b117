"""How long a run will take, roughly: long runs start first, and progress knows what is left."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hyperlvq.registry import PARTS, readouts
from hyperlvq.study.experiments import Model

FLOPS_PER_SECOND = 5e9
START_SECONDS = 0.005
TREE_FLOPS = 2000
SUPPORT_FLOPS = 50
LARGEST_SIZE = 10**6

Item = TypeVar("Item")


def estimated_seconds(
    model: Model, parameters: dict[str, Any], n_samples: int, n_features: int, n_classes: int
) -> float:
    """Return about how many seconds one training takes."""
    chosen = {**model.fixed, **parameters}
    sizes = n_samples, _bounded(chosen.get("n_units", n_features)), n_classes
    if isinstance(model.recipe, str):
        flops = _outside_flops(model.recipe, n_samples, n_features)
    else:
        flops = _readout_flops(model.recipe[1], chosen, sizes)
    return START_SECONDS + model.n_voters * flops / FLOPS_PER_SECOND


def longest_first(items: Sequence[Item], seconds: Callable[[Item], float]) -> list[Item]:
    """Return the items so that cores that take them in order stay busy until the end."""
    return sorted(items, key=seconds, reverse=True)


def _outside_flops(name: str, n_samples: int, n_features: int) -> float:
    if name == "forest":
        return TREE_FLOPS * 500 * n_samples
    return SUPPORT_FLOPS * n_samples**2 if name == "svm" else n_samples * n_features**2


def _readout_flops(readout: str, chosen: dict[str, Any], sizes: tuple[int, int, int]) -> float:
    record = PARTS[readouts()[readout]]
    if record.output_rows == "coef_":  # solved at once
        return record.training_flops(*sizes)
    n_iter = min(record.usual_iterations, chosen.get("max_iter", 2500))
    prototypes = _bounded(chosen.get("prototypes_per_class", 1))
    return record.training_flops(*sizes, prototypes, n_iter)


def _bounded(size: float) -> int:
    """Return a size of a settings file that the formulas can take, be it ever so absurd."""
    return int(min(max(size, 1), LARGEST_SIZE))
