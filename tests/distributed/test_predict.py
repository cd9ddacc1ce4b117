import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from hyperlvq import make_classifier
from hyperlvq.distributed import predict

X = np.random.default_rng(3).normal(size=(90, 3))
LABELS = np.where(X.sum(axis=1) > 0, "above", "below")


@pytest.fixture(scope="module")
def model():
    return make_classifier("intrvfl", "centroids", n_units=40, random_state=0).fit(X, LABELS)


def test_array_is_mapped_partition_by_partition(model, client):
    labels = predict(model, da.from_array(X, chunks=(40, 2)))

    assert labels.chunks == ((40, 40, 10),)
    assert labels.dtype == model.classes_.dtype
    for found in (labels.compute(scheduler="sync"), client.compute(labels).result()):
        np.testing.assert_array_equal(found, model.predict(X))


def test_nothing_is_computed_before_it_is_asked_for(model):
    def fail(block):
        raise AssertionError("computed")

    predict(model, da.from_array(X, chunks=(40, 3)).map_blocks(fail, meta=X[:0]))


def test_chunks_of_unknown_size_may_be_empty(model):
    mask = np.arange(90) >= 45
    parts = da.from_array(X, chunks=(45, 3))[da.from_array(mask, chunks=45)]

    labels = predict(model, parts).compute(scheduler="sync")
    np.testing.assert_array_equal(labels, model.predict(X[mask]))


def test_frame_gives_a_series_with_its_index():
    frame = pd.DataFrame(X, columns=list("abc"), index=np.arange(90) + 1000)
    model = make_classifier("features", "centroids").fit(frame, LABELS)
    parts = dd.from_pandas(frame, npartitions=2)

    labels = predict(model, parts).compute(scheduler="sync")
    assert labels.index.equals(frame.index)
    np.testing.assert_array_equal(labels.to_numpy(), model.predict(frame))


@pytest.mark.parametrize(
    ("is_fitted", "rows", "message"),
    [
        (True, X, "X must be a Dask array or dataframe, got ndarray$"),
        (True, da.zeros((4, 2)), "the model expects 3 features, got 2$"),
        (False, da.zeros((4, 2)), "This Pipeline instance is not fitted yet"),
    ],
)
def test_what_cannot_be_predicted_is_one_sentence(model, is_fitted, rows, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        predict(model if is_fitted else make_classifier(), rows)
