"""Every public estimator keeps scikit-learn's contract, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hyperlvq import (
    CentroidClassifier,
    GLVQClassifier,
    IntRVFLLayer,
    KGLVQClassifier,
    LVQ1Classifier,
    PerceptronClassifier,
    RLSClassifier,
    RVFLLayer,
    make_classifier,
)

ESTIMATORS = [
    RVFLLayer(n_units=30),
    IntRVFLLayer(n_units=30),
    RLSClassifier(),
    CentroidClassifier(),
    PerceptronClassifier(),
    LVQ1Classifier(),
    GLVQClassifier(),
    KGLVQClassifier(),
]
RECIPES = [
    make_classifier("features", "glvq", random_state=0),
    make_classifier("rvfl", "rls", n_units=50, random_state=0),
    make_classifier("intrvfl", "glvq", n_units=50, random_state=0),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([*ESTIMATORS, *RECIPES])
def test_estimator_keeps_the_contract(estimator, check):
    check(estimator)
