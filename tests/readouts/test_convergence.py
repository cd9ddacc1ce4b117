import pytest
from sklearn.exceptions import ConvergenceWarning

from hyperlvq import (
    GLVQClassifier,
    KGLVQClassifier,
    PerceptronClassifier,
    RLSClassifier,
    make_classifier,
)


def test_warning_is_that_of_the_code_that_called(iris):
    readouts = [
        GLVQClassifier(max_iter=1),
        GLVQClassifier(solver="sgd", max_iter=1),
        KGLVQClassifier(max_iter=1),
        PerceptronClassifier(max_iter=1),
        RLSClassifier(solver="fista", max_iter=1),
        make_classifier("features", "glvq", max_iter=1),
    ]
    for readout in readouts:
        with pytest.warns(ConvergenceWarning, match="limit of 1") as caught:
            readout.fit(*iris)
        assert [warning.filename for warning in caught] == [__file__]
