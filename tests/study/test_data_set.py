import numpy as np
import pytest
from fuzzing import mutated, read_or_refused
from hypothesis import given
from hypothesis import strategies as st
from small_set import ROWS, SPLITS, TABLE, TUNING

from hyperlvq.checks import InputError
from hyperlvq.study.data_set import parse_splits, parse_table, stratified_folds, stratified_part


def table_with(row, text):
    """Return the small table with one of its samples written anew."""
    rows = [*ROWS]
    rows[row] = text
    return "\n".join(["\tf1\tf2\tclase", *rows, ""]).encode()


PIECES = st.text("0123456789.eE+-_ \t\r\n\x0b\x1cnaif", max_size=8).map(str.encode)


def is_one_sentence(text):
    return "\n" not in text and text.startswith("a.dat")


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_table_gives_features_and_classes(line_end):
    X, y = parse_table(TABLE.replace(b"\n", line_end), "a.dat")

    assert X.dtype == np.float64
    assert X.shape == (8, 2)
    assert X[1].tolist() == [0.25, -2]
    assert y.tolist() == [0, 1] * 4


def test_splits_are_pairs_of_lines():
    splits = parse_splits(SPLITS, "a.dat", n_rows=8, n_splits=4)

    assert [split.test.tolist() for split in splits] == [[6, 7], [0, 1], [2, 3], [4, 5]]
    assert splits[1].train.tolist() == [2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.dat is empty"),
        (b"\tf1\tf2\tclase\n", "a.dat has a header but no samples"),
        (TABLE.replace(b"clase", b"class"), r"line 1: the header must be a tab, the feature names"),
        (TABLE[1:], "line 1: the header must be a tab.*, got 'f1"),
        (b"clase\n1\n", "line 1: the header must be a tab.*, got 'clase'"),
        (b"\tclase\n1\t0\n", "line 1: the header must be a tab"),
        (table_with(2, "3\t3\t\xe9\t0"), "a.dat, line 4: not ASCII text"),
        (b"\n\xe9", "a.dat, line 2: not ASCII text"),
        (table_with(2, "3\t3\t0"), "a.dat, line 4: 3 columns, expected 4"),
        (table_with(2, ""), "a.dat, line 4: 1 columns, expected 4"),
        (table_with(2, " "), "a.dat, line 4: 1 columns, expected 4"),
        (b"\t" * 2**23, "a.dat, line 1: longer than 4194304 characters"),
        (table_with(2, "\t" * 2**23), "a.dat, line 4: longer than 4194304 characters"),
        (b"\n" * 10**6, "a.dat, line 1: the header must be a tab.*, got ''"),
        (table_with(2, "3\t3\tred\t0"), "a.dat, line 4: f2 is 'red', not a finite number"),
        (table_with(2, "3\t\t0\t0"), "a.dat, line 4: f1 is '', not a finite number"),
        (table_with(2, "3\tnan\t0\t0"), "a.dat, line 4: f1 is 'nan', not a finite number"),
        (table_with(2, "3\t1e999\t0\t0"), "a.dat, line 4: f1 is '1e999', not a finite"),
        (table_with(2, "4\t3\t0\t0"), "a.dat, line 4: sample number 4, expected 3"),
        (table_with(2, "3\t3\t0\t0.5"), "line 4: class 0.5 is not a whole number from 0 to 7"),
        (table_with(2, "3\t3\t0\t-1"), "line 4: class -1 is not a whole number from 0 to 7"),
        (table_with(2, "3\t3\t0\t1e300"), r"line 4: class 1e\+300 is not a whole number"),
        (table_with(2, "3\t3\t0\t4"), "a.dat: class 2 has no samples, but class 4 has"),
    ],
)
def test_wrong_table_is_refused_by_line(content, message):
    with pytest.raises(InputError, match=message):
        parse_table(content, "a.dat")


def test_test_table_may_lack_a_class_but_have_no_other():
    content = b"\tf1\tf2\tclase\n1\t0\t0\t1\n"

    assert parse_table(content, "a.dat", n_classes=2)[1].tolist() == [1]
    with pytest.raises(InputError, match="line 2: class 1 is not a whole number from 0 to 0"):
        parse_table(content, "a.dat", n_classes=1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.dat is empty"),
        (b"0 1 \n", "a.dat has 1 lines, expected 2"),
        (b"0 1 \n2 3 \n4 5 \n", "a.dat has 3 lines, expected 2"),
        (b"0 1 \n \n", "a.dat, line 2: no row numbers"),
        (b"0 1.0 \n2 3 \n", "a.dat, line 1: '1.0' is not a row number"),
        (b"0 -1 \n2 3 \n", "a.dat, line 1: '-1' is not a row number"),
        (b"0 " + b"9" * 19 + b"\n2 3 \n", f"a.dat, line 1: '{'9' * 19}' is not a row number"),
        (b"0 \xb2\n2 3 \n", "a.dat, line 1: not ASCII text"),
        (b"0 1 \n2 8 \n", "a.dat, line 2: row number 8, but the last row is 7"),
        (b"0 " + b"9" * 5000 + b"\n2 3 \n", "a.dat, line 1: '9+...9+' is not a row number"),
        (b"0 1 0\n2 3 \n", "a.dat, line 1: row number 0 occurs twice"),
        (b"0 " * 9 + b"\n2 3 \n", "a.dat, line 1: more than 8 row numbers, the number of rows"),
        (b"0 1 \n2 1 \n", "a.dat, line 2: row number 1 is also a training row"),
    ],
)
def test_wrong_row_numbers_are_refused_by_line(content, message):
    with pytest.raises(InputError, match=message):
        parse_splits(content, "a.dat", n_rows=8, n_splits=1)


@given(st.one_of(st.binary(max_size=60), mutated(TABLE, PIECES)))
def test_any_table_is_read_or_refused(content):
    table, refusal = read_or_refused(parse_table, content, "a.dat")

    if refusal:
        assert is_one_sentence(refusal)
    else:
        X, y = table
        assert np.isfinite(X).all()
        assert len(X) == len(y) > 0
        assert np.unique(y).tolist() == list(range(y.max() + 1))


@given(st.one_of(st.binary(max_size=40), mutated(TUNING, PIECES)))
def test_any_row_numbers_are_read_or_refused(content):
    splits, refusal = read_or_refused(parse_splits, content, "a.dat", n_rows=8, n_splits=1)

    if refusal:
        assert is_one_sentence(refusal)
    else:
        together = np.concatenate(splits[0])
        assert np.unique(together).size == together.size
        assert together.max() < 8


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
