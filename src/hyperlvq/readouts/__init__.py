"""Readouts: classifiers of activations, or of features as they are."""

from hyperlvq.readouts.centroid import CentroidClassifier
from hyperlvq.readouts.glvq import GLVQClassifier
from hyperlvq.readouts.kglvq import KGLVQClassifier
from hyperlvq.readouts.online import LVQ1Classifier, PerceptronClassifier
from hyperlvq.readouts.rls import RLSClassifier, rls_path

__all__ = [
    "CentroidClassifier",
    "GLVQClassifier",
    "KGLVQClassifier",
    "LVQ1Classifier",
    "PerceptronClassifier",
    "RLSClassifier",
    "rls_path",
]
