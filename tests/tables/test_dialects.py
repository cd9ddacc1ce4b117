"""One table in thirty dialects: whichever a model learns from, all others mean the same to it."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from small_tables import train_table

from hyperlvq.checks import InputError
from hyperlvq.prediction import Predictor
from hyperlvq.tables.batches import Unseen, margins_of, predict_batches
from hyperlvq.tables.read import open_table, read_table
from hyperlvq.tables.training import Task

#: Delimiter, decimal mark, mark between thousands.
MARKS = [
    (",", ".", ""),
    (",", ".", ","),
    (",", ",", ""),
    (";", ",", ""),
    (";", ",", "."),
    (";", ".", "'"),
    ("\t", ".", " "),
    ("\t", ",", "\u202f"),
    ("|", ".", ""),
    ("|", ",", " "),
]
#: Encoding, words for true and false, whether all cells are quoted, line end, missing value.
MANNERS = [
    ("utf-8", ("True", "False"), False, "\n", ""),
    ("utf-16", ("yes", "no"), True, "\r\n", "NA"),
    ("utf-8-sig", ("1", "0"), False, "\r\n", "-"),
]
DIALECTS = [*product(MARKS, MANNERS)]


def people(n_rows=60):
    """Return a table whose classes follow from all of its columns."""
    rng = np.random.default_rng(0)
    income = rng.integers(400, 20_000, n_rows)
    share = rng.random(n_rows).round(3)
    married = rng.random(n_rows) < 0.5
    town = rng.choice(["Köln", "Rio, Brazil", "Bath"], n_rows)
    born = pd.Timestamp("1999-01-31 06:30") + pd.to_timedelta(rng.integers(0, 9999, n_rows), "h")
    score = income / 20_000 + share + married + (town == "Bath") + (born.month > 6)
    share = share.astype(object)
    share[3] = None
    y = np.where(score > np.median(score), "high", "low")
    columns = {"income": income, "share": share, "born": born, "married": married, "town": town}
    return pd.DataFrame({**columns, "y": y})


def written(frame, dialect):
    """Return the text of a table in a dialect."""
    (delimiter, decimal, grouping), (encoding, truths, quotes_all, end, missing) = dialect

    def cell(value):
        if value is None:
            text = missing
        elif isinstance(value, bool):
            text = truths[0] if value else truths[1]
        elif isinstance(value, pd.Timestamp):
            text = value.strftime("%d.%m.%Y %H:%M" if decimal == "," else "%Y-%m-%dT%H:%M:%S")
        elif isinstance(value, str):
            text = value
        else:
            swapped = {",": grouping, ".": decimal}
            text = "".join(swapped.get(each, each) for each in f"{value:,}")
        return f'"{text}"' if quotes_all or delimiter in text else text

    rows = [frame.columns, *frame.astype(object).itertuples(index=False)]
    return "".join(delimiter.join(map(cell, row)) + end for row in rows).encode(encoding)


def predictions(trained, path):
    """Return the classes and margins of a table; what is not seen in training is refused."""
    model, columns = Predictor(trained.parts.parts), trained.about["columns"]
    with open_table(path) as reader:
        strict = Unseen(model, columns, strict=True)
        ((_, decisions),) = predict_batches(model, columns, reader, strict)
    return [*zip(model.labels(decisions), margins_of(decisions), strict=True)]


def is_readable(met, learnt):
    """Return whether a table has no other marks than the one that a model learnt from."""
    (_, decimal, grouping), _ = met
    (_, learnt_decimal, learnt_grouping), _ = learnt
    return decimal == learnt_decimal and (grouping not in ".," or grouping in ("", learnt_grouping))


@pytest.mark.parametrize("learnt", DIALECTS)
def test_a_model_of_one_dialect_reads_all_others_alike_or_refuses_them(learnt, write):
    frame = people()
    paths = [write(written(frame, each), f"{i}.csv") for i, each in enumerate(DIALECTS)]
    frame.assign(share=frame["share"].astype(float)).to_parquet("stored.parquet")
    task = Task("y", ("intrvfl", "centroids"), {"n_units": 50}, n_folds=0)
    trained = train_table(read_table(paths[DIALECTS.index(learnt)]), task)

    income, share, *_ = trained.about["columns"]
    assert (income.minimum, income.maximum) == (frame["income"].min(), frame["income"].max())
    assert (share.minimum, share.n_missing) == (frame["share"].min(), 1)
    expected = predictions(trained, "stored.parquet")
    for path, dialect in zip(paths, DIALECTS, strict=True):
        if is_readable(dialect, learnt):
            assert predictions(trained, path) == expected
        else:
            with pytest.raises(InputError, match=rf"^{path}, row 1, column '(income|share)': '"):
                predictions(trained, path)
