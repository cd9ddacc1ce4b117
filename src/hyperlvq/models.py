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
    """Create a pipeline of scaling, hidden layer and readout.

    Parameters
    ----------
    hidden : {"features", "rvfl", "intrvfl", "comparisons"}, default="intrvfl"
        Hidden layer: none, `RVFLLayer`, `IntRVFLLayer` or `ComparisonLayer`.
    readout : {"rls", "centroids", "perceptron", "lvq1", "glvq", "kglvq"}, default="glvq"
        Classifier of the activations.
    **parameters : dict
        Parameters of the hidden layer and the readout. `random_state` is passed to both. Other
        parameters have the defaults of this combination (`hyperlvq.registry.recipe_defaults`) if
        there are any, otherwise those of the estimators.

    Returns
    -------
    model : Pipeline
        Pipeline with the steps "scale", "hidden" and "readout". Pass sample weights to `fit` as
        `readout__sample_weight`, or by metadata routing.

    Notes
    -----
    scikit-learn's Pipeline fits its steps in place. If a second `fit` of the pipeline fails, the
    steps before the failing one stay fitted to the new data. Fit the pipeline again before use.

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
                f"{hidden!r} with {readout!r} has no parameter {name!r} (parameters: {existing})"
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
