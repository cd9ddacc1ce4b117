"""Integer random networks with prototype readouts, as scikit-learn estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hyperlvq.version import __version__ as __version__

if TYPE_CHECKING:
    from hyperlvq.classifier import HyperLVQClassifier
    from hyperlvq.engines import to_numpy
    from hyperlvq.frames import FrameVectorizer
    from hyperlvq.hidden import ComparisonLayer, IntRVFLLayer, RVFLLayer
    from hyperlvq.models import make_classifier
    from hyperlvq.plots import LossCurveDisplay, PrototypeDisplay
    from hyperlvq.readouts import (
        CentroidClassifier,
        GLVQClassifier,
        KGLVQClassifier,
        LVQ1Classifier,
        PerceptronClassifier,
        RLSClassifier,
        rls_path,
    )
    from hyperlvq.saving import load, save
    from hyperlvq.scaling import RangeScaler

# Loaded when first asked for: importing scikit-learn and numba takes longer than many a command.
_MODULES = {
    "ComparisonLayer": "hidden",
    "FrameVectorizer": "frames",
    "HyperLVQClassifier": "classifier",
    "IntRVFLLayer": "hidden",
    "LossCurveDisplay": "plots",
    "PrototypeDisplay": "plots",
    "RVFLLayer": "hidden",
    "RangeScaler": "scaling",
    "load": "saving",
    "make_classifier": "models",
    "save": "saving",
    "to_numpy": "engines",
}
__all__ = [
    "CentroidClassifier",
    "ComparisonLayer",
    "FrameVectorizer",
    "GLVQClassifier",
    "HyperLVQClassifier",
    "IntRVFLLayer",
    "KGLVQClassifier",
    "LVQ1Classifier",
    "LossCurveDisplay",
    "PerceptronClassifier",
    "PrototypeDisplay",
    "RLSClassifier",
    "RVFLLayer",
    "RangeScaler",
    "load",
    "make_classifier",
    "rls_path",
    "save",
    "to_numpy",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'readouts')}"), name)
    globals()[name] = value
    return value


def __dir__() -> Any:
    return sorted({*globals(), *__all__})
