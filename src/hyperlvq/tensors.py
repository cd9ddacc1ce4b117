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
        wanted = [getattr(sys.modules["torch"], np.dtype(dtype).name) for dtype in dtypes]
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
        raise ValueError(
            f"{type(estimator).__name__} was fitted on {learnt} and got {given}: inputs must use "
            "the same namespace and device as those of fit, or hyperlvq.to_numpy brings a model "
            "back to numpy"
        )


def place_of(array: Any) -> str:
    """Return where an array lives, in words."""
    return f"torch on {array.device}" if _is_torch(array) else "numpy"


def on_host(values: Any) -> Any:
    """Return a tensor as a numpy array, anything else as it is."""
    return values.detach().cpu().numpy() if _is_torch(values) else values


def to_numpy(model: Estimator) -> Estimator:
    """Return a copy of a model with all its tensors as numpy arrays, to save or export it.

    Parameters
    ----------
    model : estimator
        A model of hyperlvq, or any scikit-learn estimator, fitted on torch tensors.

    Returns
    -------
    model : estimator
        The same on numpy; parts without tensors are shared with the model given.

    Examples
    --------
    >>> import hyperlvq
    >>> model = hyperlvq.CentroidClassifier().fit([[0.0], [1.0]], [0, 1])
    >>> hyperlvq.to_numpy(model).prototypes_
    array([[0.],
           [1.]])
    """
    return _moved(model)


def _moved(value: Any) -> Any:
    if isinstance(value, BaseEstimator):
        moved = copy(value)
        moved.__dict__.update({name: _moved(part) for name, part in vars(value).items()})
        return moved
    if type(value) in (list, tuple):
        return type(value)(map(_moved, value))
    return on_host(value)


def _is_torch(X: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)
