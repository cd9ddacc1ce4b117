"""The recipes: every hidden layer with every readout, as a scikit-learn Pipeline."""

from typing import Any

from sklearn.pipeline import Pipeline

from hyperlvq.registry import (
    HiddenName,
    ReadoutName,
    estimator_class,
    recipe_classes,
    recipe_defaults,
)
from hyperlvq.scaling import RangeScaler


def make_classifier(
    hidden: HiddenName = "intrvfl", readout: ReadoutName = "glvq", **parameters: Any
) -> Pipeline:
    """Return a pipeline that scales features to [0, 1], encodes and classifies them.

    Parameters
    ----------
    hidden : {"features", "rvfl", "intrvfl", "comparisons"}, default="intrvfl"
        The hidden layer: none, `RVFLLayer`, `IntRVFLLayer` or `ComparisonLayer`.
    readout : str, default="glvq"
        The classifier of its activations: "rls", "centroids", "perceptron", "lvq1", "glvq" or
        "kglvq".
    **parameters : dict
        Parameters of the hidden layer and of the readout by their own names; each goes to the
        step that has it, `random_state` to both. Those not given are what the study found best for
        the pair (`hyperlvq.registry.recipe_defaults`), or else the defaults of the step.

    Returns
    -------
    model : Pipeline
        A scikit-learn Pipeline with the steps "scale", "hidden" and "readout". Weights of samples
        go to its `fit` as `readout__sample_weight`, or by scikit-learn's metadata routing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import make_classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_classifier("intrvfl", "glvq", n_units=200, clip=3, random_state=0)
    >>> round(model.fit(X, y).score(X, y), 2)
    1.0
    """
    steps = [estimator_class(kind)() for kind in recipe_classes(hidden, readout)]
    known = [step.get_params(deep=False) for step in steps]
    for name in parameters:
        if not any(name in names for names in known):
            existing = ", ".join(sorted(set().union(*known))) or "none"
            raise TypeError(
                f"{hidden!r} with {readout!r} has no parameter {name!r}; "
                f"those that exist: {existing}"
            )
    chosen = {**recipe_defaults(hidden, readout), **parameters}
    for step, names in zip(steps, known, strict=True):
        step.set_params(**{name: chosen[name] for name in chosen if name in names})
    return Pipeline(
        [
            ("scale", RangeScaler(clip=True)),
            ("hidden", steps[0] if len(steps) > 1 else "passthrough"),
            ("readout", steps[-1]),
        ]
    )
