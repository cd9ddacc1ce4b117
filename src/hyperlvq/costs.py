"""Costs of training and prediction: flops, integer operations and bytes.

Symbols of the paper: T training samples, K features, N hidden units, L classes, P prototypes
per class, I iterations.

The paper's relative costs, 79 % for RLS by QR and 21 % for GLVQ, are means over its 121 data sets
of the ratio to straightforward RLS, with P = 1 and I = 10. They come out (0.7911 and 0.2084) where
T is the number of all samples of a data set that is split, its test samples included, and the size
of the training file where there is a test file. With T training samples of a split, as its text
says, they are 0.8359 and 0.2043.
"""

from typing import NamedTuple

from hyperlvq.checks import check_choice, check_integer

WORD_BYTES = 4
FORMS = ("float", "integer")
#: Hidden layers with a cost formula.
LAYERS = ("features", "rvfl", "intrvfl")
# Negate, exponentiate, add and divide.
SIGMOID_FLOPS = 4


def rls_steps(n_samples: int, n_units: int, n_classes: int) -> dict[str, float]:
    """Count the flops of straightforward RLS step by step.

    The steps are the Gram matrix A = HᵀH + λI, its inverse A⁻¹ and the product A⁻¹HᵀY.

    Parameters
    ----------
    n_samples, n_units, n_classes : int
        The sizes T, N and L.

    Returns
    -------
    flops : dict of str to float
        The flops by step, as in the paper's Table I.

    Examples
    --------
    >>> from hyperlvq.costs import rls_steps
    >>> rls_steps(n_samples=100, n_units=30, n_classes=3)
    {'Gram matrix': 179160, 'inverse': 18000.0, 'product': 194910}
    """
    T, N, L = n_samples, n_units, n_classes
    return {
        "Gram matrix": N * (2 * T * N - N + 2),
        "inverse": 2 * N**3 / 3,
        "product": T * N * (2 * N - 1) + L * N * (2 * T - 1),
    }


def rls_qr_steps(n_samples: int, n_units: int, n_classes: int) -> dict[str, float]:
    """Count the flops of RLS by QR step by step.

    The steps are the product Z = HᵀY, the factorisation of HᵀH + λI into QR and the solution of
    QRw = z for each class.

    Parameters
    ----------
    n_samples, n_units, n_classes : int
        The sizes T, N and L.

    Returns
    -------
    flops : dict of str to float
        The flops by step, as in the paper's Table I.

    Examples
    --------
    >>> from hyperlvq.costs import rls_qr_steps
    >>> rls_qr_steps(n_samples=100, n_units=30, n_classes=3)
    {'product': 17910, 'factorisation': 215160.0, 'solution': 7920}
    """
    T, N, L = n_samples, n_units, n_classes
    return {
        "product": L * N * (2 * T - 1),
        "factorisation": N * (2 * T * N - N + 2) + 4 * N**3 / 3,
        "solution": 2 * L * N * (N - 1) + L * N**2,
    }


def glvq_steps(
    n_samples: int, n_units: int, n_classes: int, prototypes_per_class: float = 1, n_iter: int = 10
) -> dict[str, float]:
    """Count the flops of GLVQ step by step.

    The steps are the initialisation at class means, the distances and the prototype updates.

    Parameters
    ----------
    n_samples, n_units, n_classes : int
        The sizes T, N and L.
    prototypes_per_class : float, default=1
        Number of prototypes P per class.
    n_iter : int, default=10
        Number of iterations I.

    Returns
    -------
    flops : dict of str to float
        The flops by step, as in the paper's Table I.

    Examples
    --------
    >>> from hyperlvq.costs import glvq_steps
    >>> glvq_steps(n_samples=100, n_units=30, n_classes=3)
    {'initialisation': 3000, 'distances': 267000, 'updates': 202000}
    """
    T, N, L, P = n_samples, n_units, n_classes, prototypes_per_class
    return {
        "initialisation": T * N,
        "distances": n_iter * T * P * L * (3 * N - 1),
        "updates": n_iter * T * (6 * N + P * L + 19),
    }


def rls_flops(n_samples: int, n_units: int, n_classes: int) -> float:
    """Count the flops of straightforward RLS.

    The total is N(2N²/3 + 4TN + 2TL - N - T - L + 2).

    Parameters
    ----------
    n_samples, n_units, n_classes : int
        Sizes T, N and L.

    Examples
    --------
    >>> from hyperlvq.costs import rls_flops
    >>> rls_flops(n_samples=100, n_units=30, n_classes=3)
    392070.0
    """
    return sum(rls_steps(n_samples, n_units, n_classes).values())


def rls_qr_flops(n_samples: int, n_units: int, n_classes: int) -> float:
    """Count the flops of RLS by QR.

    The total is N(4N²/3 + 2TN + 2TL + 3LN - N - 3L + 2).

    Parameters
    ----------
    n_samples, n_units, n_classes : int
        Sizes T, N and L.

    Examples
    --------
    >>> from hyperlvq.costs import rls_qr_flops
    >>> rls_qr_flops(n_samples=100, n_units=30, n_classes=3)
    240990.0
    """
    return sum(rls_qr_steps(n_samples, n_units, n_classes).values())


def glvq_flops(
    n_samples: int, n_units: int, n_classes: int, prototypes_per_class: float = 1, n_iter: int = 10
) -> float:
    """Count the flops of GLVQ.

    The total is I·T(3PLN + 6N + 19) + TN.

    Parameters
    ----------
    n_samples, n_units, n_classes : int
        Sizes T, N and L.
    prototypes_per_class : float, default=1
        Number of prototypes P per class.
    n_iter : int, default=10
        Number of iterations I.

    Examples
    --------
    >>> from hyperlvq.costs import glvq_flops
    >>> glvq_flops(n_samples=100, n_units=30, n_classes=3)
    472000
    """
    steps = glvq_steps(n_samples, n_units, n_classes, prototypes_per_class, n_iter)
    return sum(steps.values())


def kglvq_flops(
    n_samples: int, n_units: int, n_classes: int, prototypes_per_class: float = 1, n_iter: int = 10
) -> float:
    """Estimate the flops of KGLVQ.

    The estimate is 2I(P + 2)T², independent of the number of features.

    Parameters
    ----------
    n_samples, n_units, n_classes : int
        Sizes T, N and L.
    prototypes_per_class : float, default=1
        Number of prototypes P per class.
    n_iter : int, default=10
        Number of iterations I.

    Examples
    --------
    >>> from hyperlvq.costs import kglvq_flops
    >>> kglvq_flops(n_samples=100, n_units=30, n_classes=3)
    600000
    """
    return 2 * n_iter * (prototypes_per_class + 2) * n_samples**2


def steps_by_method(
    n_samples: int, n_units: int, n_classes: int, prototypes_per_class: float = 1, n_iter: int = 10
) -> dict[str, dict[str, float]]:
    """Count the flops of each step in the paper's Table I.

    Parameters
    ----------
    n_samples, n_units, n_classes : int
        The sizes T, N and L.
    prototypes_per_class : float, default=1
        Number of prototypes P per class.
    n_iter : int, default=10
        Number of iterations I.

    Returns
    -------
    flops : dict of str to dict
        The flops by step of "rls", "rls_qr" and "glvq".

    Examples
    --------
    >>> from hyperlvq.costs import steps_by_method
    >>> steps_by_method(n_samples=100, n_units=30, n_classes=3)["rls_qr"]
    {'product': 17910, 'factorisation': 215160.0, 'solution': 7920}
    """
    sizes = n_samples, n_units, n_classes
    return {
        "rls": rls_steps(*sizes),
        "rls_qr": rls_qr_steps(*sizes),
        "glvq": glvq_steps(*sizes, prototypes_per_class, n_iter),
    }


def flops_by_method(
    n_samples: int, n_units: int, n_classes: int, prototypes_per_class: float = 1, n_iter: int = 10
) -> dict[str, float]:
    """Count the flops of each method in Table I.

    Parameters
    ----------
    n_samples, n_units, n_classes : int
        Sizes T, N and L.
    prototypes_per_class : float, default=1
        Number of prototypes P per class.
    n_iter : int, default=10
        Number of iterations I.

    Returns
    -------
    flops : dict of str to float
        Of "rls", "rls_qr" and "glvq".

    Examples
    --------
    >>> from hyperlvq.costs import flops_by_method
    >>> flops_by_method(n_samples=100, n_units=30, n_classes=3)
    {'rls': 392070.0, 'rls_qr': 240990.0, 'glvq': 472000}
    """
    steps = steps_by_method(n_samples, n_units, n_classes, prototypes_per_class, n_iter)
    return {method: sum(flops.values()) for method, flops in steps.items()}


class PredictionCost(NamedTuple):
    """Size of a model and operations of one prediction.

    Attributes
    ----------
    bytes : int
        Size of the model.
    operations : int
        Number of additions, subtractions, multiplications and comparisons.

    Examples
    --------
    >>> from hyperlvq.costs import prediction_cost
    >>> prediction_cost("intrvfl", n_features=4, n_units=64, n_outputs=3, form="integer").bytes
    268
    """

    bytes: int
    operations: int


def prediction_cost(
    hidden: str,
    n_features: int,
    n_units: int,
    n_outputs: int,
    *,
    linear: bool = False,
    form: str = "float",
    bits: int = 8,
) -> PredictionCost:
    """Compute the size and operations of a model.

    The float form stores numbers in 32 bits and integer keys in 8 bits. The integer form stores a
    key in one bit, an entry of the readout in `bits`, and scaling factors and squared norms in
    32 bits. Additions, subtractions, multiplications and comparisons count one operation each.

    Parameters
    ----------
    hidden : {"features", "rvfl", "intrvfl"}
        Hidden layer.
    n_features : int
        Number of features K.
    n_units : int
        Number of hidden units N. Ignored for "features", where N = K.
    n_outputs : int
        Number of prototypes, or of classes for a linear readout.
    linear : bool, default=False
        Whether the readout computes dot products (RLS) instead of squared distances.
    form : {"float", "integer"}, default="float"
        Arithmetic. "rvfl" has no integer form.
    bits : {8, 16}, default=8
        Width of a readout entry in the integer form, in bits.

    Examples
    --------
    >>> from hyperlvq.costs import prediction_cost
    >>> prediction_cost("intrvfl", n_features=64, n_units=256, n_outputs=20, form="integer")
    PredictionCost(bytes=7760, operations=27411)
    """
    is_integer = check_choice("form", form, FORMS) == "integer"
    for name, value in (("n_features", n_features), ("n_units", n_units), ("n_outputs", n_outputs)):
        check_integer(name, value, minimum=1)
    if bits not in (8, 16):
        raise ValueError(f"bits must be 8 or 16, got {bits!r}")
    if is_integer and hidden == "rvfl":
        raise ValueError("the conventional RVFL layer has no integer form")
    weight_bytes = WORD_BYTES * n_units * (n_features + 1)
    key_bytes = n_features * (-(-n_units // 8) if is_integer else n_units)
    layers = {
        "features": (0, 0),
        "rvfl": (weight_bytes, n_units * (2 * n_features + SIGMOID_FLOPS)),
        # A level is one product and one rounding; a unit sums its features and is clipped twice.
        "intrvfl": (key_bytes, 2 * n_features + n_units * (n_features + 2)),
    }
    layer = layers[check_choice("hidden", hidden, LAYERS)]
    width = n_features if hidden == "features" else n_units
    scaling = 2 * WORD_BYTES * n_features, 2 * n_features
    readout = _readout_cost(width, n_outputs, linear, bits if is_integer else None)
    return PredictionCost(*map(sum, zip(scaling, layer, readout, strict=True)))


def comparison_cost(
    n_comparisons: int, n_units: int, n_outputs: int, *, linear: bool = True
) -> PredictionCost:
    """Compute the size and operations of a comparison network.

    Each comparison stores a feature index and a threshold, and each unit its kind, with 32 bits
    each. Each comparison takes two operations. Each unit takes one more to look up its activation.
    Features are not scaled.

    Examples
    --------
    >>> from hyperlvq.costs import comparison_cost
    >>> comparison_cost(n_comparisons=400, n_units=100, n_outputs=3)
    PredictionCost(bytes=4800, operations=1499)
    """
    sizes = {"n_comparisons": n_comparisons, "n_units": n_units, "n_outputs": n_outputs}
    for name, value in sizes.items():
        check_integer(name, value, minimum=1)
    units = WORD_BYTES * (2 * n_comparisons + n_units), 2 * n_comparisons + n_units
    readout = _readout_cost(n_units, n_outputs, linear, None)
    return PredictionCost(*map(sum, zip(units, readout, strict=True)))


def _readout_cost(width: int, n_outputs: int, linear: bool, bits: int | None) -> tuple[int, int]:
    """Return the cost of the scores and of the search for the best; `bits` is None for floats."""
    search = n_outputs - 1
    dot_products = n_outputs * (2 * width - 1)
    entries = n_outputs * width * (WORD_BYTES if bits is None else bits // 8)
    if linear:
        return entries, dot_products + search
    if bits is None:
        return entries, n_outputs * (3 * width - 1) + search
    # ‖x - w‖² is compared as ‖w‖² - 2 x·w, with ‖w‖² stored.
    return entries + n_outputs * WORD_BYTES, dot_products + n_outputs + search
