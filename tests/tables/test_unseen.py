import pytest
from small_tables import train_table

from hyperlvq.prediction import Predictor
from hyperlvq.tables.batches import Unseen
from hyperlvq.tables.columns import to_arrays
from hyperlvq.tables.training import Task


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        ("20,x\n50,z\n", None),
        ("19.9,x\n", "'age' is far outside of training's 30 to 40 in 1 row: 19.9"),
        ("50.1,x\n", "'age' is far outside of training's 30 to 40 in 1 row: 50.1"),
        (",x\n,x\n", "'age' has no value in 2 rows, and always had one in training"),
        ("35,\n", "'kind' has no value in 1 row, and always had one in training"),
        ("35,w\n35,w\n", "'kind' has a value not seen in training in 2 rows: w"),
        ("35,w\n35,v\n35,w\n", "'kind' has values not seen in training in 3 rows: w, v"),
    ],
)
def test_what_is_new_is_noted_by_column(read, rows, note):
    table = read("age,kind,y\n" + "30,x,u\n40,z,v\n" * 5)
    task = Task("y", ("intrvfl", "centroids"), {"n_units": 10}, n_folds=0)
    trained = train_table(table, task)
    columns, later = trained.about["columns"], read(f"age,kind\n{rows}")

    unseen = Unseen(Predictor(trained.parts.parts), columns)
    unseen.look_at(later, to_arrays(later, columns))

    assert unseen.notes == ([note] if note else [])
