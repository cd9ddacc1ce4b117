"""Integer random networks with prototype readouts, as scikit-learn estimators."""

from importlib.metadata import version

from hyperlvq.hidden import IntRVFLLayer, RVFLLayer
from hyperlvq.models import make_classifier
from hyperlvq.readouts import (
    CentroidClassifier,
    GLVQClassifier,
    KGLVQClassifier,
    LVQ1Classifier,
    PerceptronClassifier,
    RLSClassifier,
    rls_path,
)

__all__ = [
    "CentroidClassifier",
    "GLVQClassifier",
    "IntRVFLLayer",
    "KGLVQClassifier",
    "LVQ1Classifier",
    "PerceptronClassifier",
    "RLSClassifier",
    "RVFLLayer",
    "make_classifier",
    "rls_path",
]
__version__ = version("hyperlvq")
