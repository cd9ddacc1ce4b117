"""The recipes: every hidden layer with every readout, as a scikit-learn Pipeline."""

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from hyperlvq.checks import check_choice
from hyperlvq.hidden import IntRVFLLayer, RVFLLayer
from hyperlvq.readouts import (
    CentroidClassifier,
    GLVQClassifier,
    KGLVQClassifier,
    LVQ1Classifier,
    PerceptronClassifier,
    RLSClassifier,
)

HIDDEN_LAYERS: dict[str, type[BaseEstimator] | None] = {
    "features": None,
    "rvfl": RVFLLayer,
    "intrvfl": IntRVFLLayer,
}
READOUTS: dict[str, type[BaseEstimator]] = {
    "rls": RLSClassifier,
    "centroids": CentroidClassifier,
    "perceptron": PerceptronClassifier,
    "lvq1": LVQ1Classifier,
    "glvq": GLVQClassifier,
    "kglvq": KGLVQClassifier,
}


def make_classifier(hidden: str = "intrvfl", readout: str = "glvq", **parameters: Any) -> Pipeline:
    """Return a pipeline that scales features to [0, 1], encodes and classifies them.

    Parameters
    ----------
    hidden : {"features", "rvfl", "intrvfl"}, default="intrvfl"
        The hidden layer: none, `RVFLLayer` or `IntRVFLLayer`.
    readout : {"rls", "centroids", "perceptron", "lvq1", "glvq", "kglvq"}, default="glvq"
        The classifier of its activations.
    **parameters : dict
        Parameters of the hidden layer and of the readout by their own names; each goes to the
        step that has it, `random_state` to both.

    Returns
    -------
    model : sklearn.pipeline.Pipeline
        With the steps "scale", "hidden" and "readout".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import make_classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_classifier("intrvfl", "glvq", n_units=200, clip=3, random_state=0)
    >>> round(model.fit(X, y).score(X, y), 2)
    0.99
    """
    layer = HIDDEN_LAYERS[check_choice("hidden", hidden, HIDDEN_LAYERS)]
    classifier = READOUTS[check_choice("readout", readout, READOUTS)]
    steps = [step() for step in (layer, classifier) if step is not None]
    known = [step.get_params(deep=False) for step in steps]
    for name in parameters:
        if not any(name in names for names in known):
            existing = ", ".join(sorted(set().union(*known))) or "none"
            raise TypeError(
                f"make_classifier({hidden!r}, {readout!r}) has no parameter {name!r}; "
                f"those that exist: {existing}"
            )
    for step, names in zip(steps, known, strict=True):
        step.set_params(**{name: parameters[name] for name in parameters if name in names})
    return Pipeline(
        [
            ("scale", MinMaxScaler(clip=True)),
            ("hidden", steps[0] if layer is not None else "passthrough"),
            ("readout", steps[-1]),
        ]
    )
