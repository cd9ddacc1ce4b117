import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperlvq.study.folds import stratified_folds, stratified_part


@given(
    labels=st.lists(st.integers(0, 4), min_size=1, max_size=50),
    n_folds=st.integers(2, 5),
)
def test_folds_part_the_rows_and_deal_out_the_classes(labels, n_folds):
    y = np.array(labels)
    rows = 100 + 3 * np.arange(len(y))
    folds, again = (list(stratified_folds(rows, y, n_folds)) for _ in range(2))

    assert len(folds) == n_folds
    assert [fold.test.tolist() for fold in folds] == [fold.test.tolist() for fold in again]
    assert sorted(np.concatenate([fold.test for fold in folds])) == rows.tolist()
    for fold in folds:
        assert sorted([*fold.train, *fold.test]) == rows.tolist()
    counts = np.array([np.bincount(y[(fold.test - 100) // 3], minlength=5) for fold in folds])
    assert np.ptp(counts, axis=0).max() <= 1
    assert np.ptp(counts.sum(axis=1)) <= 1


@pytest.mark.parametrize("n_rows", [1, 10, 19, 20, 50])
def test_a_part_has_of_each_class_its_share_in_the_order_of_the_rows(n_rows):
    rows, y = np.arange(100, 120), np.repeat([0, 1], [15, 5])
    part = stratified_part(rows, y, n_rows)

    assert len(part) == min(n_rows, 20)
    assert (np.diff(part) > 0).all()
    assert abs((part < 115).sum() - 0.75 * len(part)) <= 1
