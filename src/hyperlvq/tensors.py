"""torch tensors in estimators: when they stay what they are, and how a model leaves them behind.

With scikit-learn's `array_api_dispatch` a model is fitted on tensors where they are, a GPU say, and
what it learns are tensors there. Without it scikit-learn makes arrays of them, as of any input.
"""

import sys
from collections.abc import Sequence
from copy import copy
from typing import Any, TypeVar

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

#: Where torch has all that estimators need, double precision for one.
DEVICES = ("cpu", "cuda")

Estimator = TypeVar("Estimator", bound=BaseEstimator)


def is_tensor(X: Any) -> bool:
    """Say whether X is a torch tensor that has to stay one; raise if X is of another namespace."""
    if not get_config()["array_api_dispatch"] or isinstance(X, np.ndarray | np.generic):
        return False
    if _is_torch(X):
        return True
    if hasattr(X, "__array_namespace__"):
        raise TypeError(
            f"hyperlvq computes on numpy arrays and torch tensors, got {type(X).__module__} "
            "with array_api_dispatch"
        )
    return False


def refuse_tensor(name: str, X: Any) -> None:
    """Raise if X is a tensor that would have to stay one."""
    if is_tensor(X):
        raise TypeError(f"{name} takes numpy arrays, no torch tensors")


def validate(estimator: BaseEstimator, X: Any, dtypes: Sequence[type], **options: Any) -> Any:
    """Return X, validated, as an array or tensor of one of numpy's dtypes, else of the first."""
    wanted: list[Any] = list(dtypes)
    if is_tensor(X):
        if X.device.type not in DEVICES:
            raise ValueError(f"tensors must be on a device cpu or cuda, got {X.device.type}")
        wanted = [getattr(sys.modules["torch"], np.dtype(dtype).name) for dtype in dtypes]
        X = X.detach()
    return validate_data(estimator, X, dtype=wanted, **options)


def beside(X: Any, array: np.ndarray) -> Any:
    """Return an array where X is."""
    return sys.modules["torch"].as_tensor(array, device=X.device) if is_tensor(X) else array


def check_same_place(estimator: BaseEstimator, attribute: str, X: Any) -> None:
    """Raise if X is not where what the estimator has learnt is."""
    learnt, given = place_of(getattr(estimator, attribute)), place_of(X)
    if given != "numpy" and not is_tensor(X):
        # scikit-learn would make an array of it
        given = "numpy" if learnt == "numpy" else f"{given} without array_api_dispatch"
    if learnt != given:
        advice = "" if learnt == "numpy" else "; hyperlvq.to_numpy brings a model to numpy"
        raise ValueError(
            f"{type(estimator).__name__} was fitted on {learnt} and got {given}: inputs must use "
            f"the same namespace and device as those of fit{advice}"
        )


def place_of(array: Any) -> str:
    """Return where an array lives, in words."""
    return f"torch on {array.device}" if _is_torch(array) else "numpy"


def on_host(values: Any) -> Any:
    """Return a tensor as a numpy array, anything else as it is."""
    return values.detach().cpu().numpy() if _is_torch(values) else values


def to_numpy(model: Estimator) -> Estimator:
    """Return a copy of a model with all its tensors as numpy arrays, to use it without torch.

    Parameters
    ----------
    model : estimator
        A model of hyperlvq, or any scikit-learn estimator, fitted on torch tensors.

    Returns
    -------
    model : estimator
        The same on numpy. It shares no array with the model given.

    Examples
    --------
    >>> import hyperlvq
    >>> model = hyperlvq.CentroidClassifier().fit([[0.0], [1.0]], [0, 1])
    >>> hyperlvq.to_numpy(model).prototypes_
    array([[0.],
           [1.]])
    """
    return _copied_to_host(model)


def _copied_to_host(value: Any) -> Any:
    """Return a copy of a value whose estimators and containers hold no tensors."""
    if isinstance(value, np.ndarray) or _is_torch(value):
        return np.array(on_host(value))
    if type(value) in (list, tuple):
        return type(value)(map(_copied_to_host, value))
    moved = value
    if isinstance(value, dict):
        moved = copy(value)
        moved.update({name: _copied_to_host(part) for name, part in value.items()})
    elif isinstance(value, BaseEstimator):
        moved = copy(value)
        moved.__dict__.update(_copied_to_host(vars(value)))
    return moved


def _is_torch(X: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)
