from importlib import import_module

import pytest
import sklearn

from hyperlvq.trusted_types import BY_MODULE

BEFORE_1_8 = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)
SINCE_1_8 = {"_TemperatureScaling", "d2_brier_score"}


@pytest.mark.parametrize(
    "path",
    [(module, name) for module, names in BY_MODULE.items() for name in names],
    ids=".".join,
)
def test_what_is_trusted_of_scikit_learn_is_there(path):
    module, name = path
    if BEFORE_1_8 and name in SINCE_1_8:
        pytest.skip("new in 1.8")

    assert getattr(import_module(module), name).__module__ == module
