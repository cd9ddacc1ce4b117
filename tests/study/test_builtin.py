import numpy as np
import pytest

from hyperlvq.checks import InputError
from hyperlvq.study.builtin import BuiltinCollection

NAMES = ["iris", "wine", "breast-cancer", "digits"]


def test_there_are_four_sets():
    assert BuiltinCollection().names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_splits_have_the_shape_of_the_public_ones(name):
    data_set = BuiltinCollection().load(name)

    assert len(data_set.splits) == 4
    for rows, share in [(data_set.tuning, 0.5), *((split, 0.25) for split in data_set.splits)]:
        assert np.sort(np.concatenate(rows)).tolist() == list(range(len(data_set.X)))
        assert len(rows.test) / len(data_set.X) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_splits_are_stratified(name):
    data_set = BuiltinCollection().load(name)

    shares = np.bincount(data_set.y) / len(data_set.y)
    for rows in (data_set.tuning, *data_set.splits):
        tested = np.bincount(data_set.y[rows.test]) / len(rows.test)
        np.testing.assert_allclose(tested, shares, atol=0.02)


def test_the_four_splits_differ():
    tests = [frozenset(split.test) for split in BuiltinCollection().load("iris").splits]

    assert len(set(tests)) == 4


def test_unknown_name_is_refused():
    with pytest.raises(InputError, match="'trees': iris, wine, breast-cancer, digits are"):
        BuiltinCollection().load("trees")
