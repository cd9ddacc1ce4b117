import re
import signal
from operator import add
from threading import Timer

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from hyperlvq import CentroidClassifier, make_classifier
from hyperlvq.checks import InputError
from hyperlvq.distributed import cluster, fit
from hyperlvq.distributed.samples import PartitionedRows

N_ROWS = 600
QUICK = {"n_units": 50, "random_state": 0}
FEW = {"n_units": 12, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore:L-BFGS stopped")


@pytest.fixture(scope="module")
def table():
    """Three classes that overlap, as numpy arrays."""
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=N_ROWS)
    X = rng.normal(size=(N_ROWS, 4)) + y[:, np.newaxis] + 10
    return X, y


def cut(X, y, n_rows=170):
    """Return the table in partitions, the last one smaller."""
    return da.from_array(X, chunks=(n_rows, -1)), da.from_array(y, chunks=n_rows)


def assert_same_model(model, expected, rtol=1e-9):
    """Compare everything that both have learnt, step by step."""
    for (_, step), (_, other) in zip(model.steps, expected.steps, strict=True):
        assert type(step) is type(other)
        if isinstance(step, str):
            continue
        assert vars(step).keys() == vars(other).keys()
        for name, value in vars(other).items():
            if name.endswith("_") and np.asarray(value).dtype.kind in "iuf":
                atol = rtol * np.nanmax(np.abs(value))
                np.testing.assert_allclose(vars(step)[name], value, rtol=0, atol=atol, err_msg=name)
            elif name.endswith("_"):
                np.testing.assert_array_equal(vars(step)[name], value)


@pytest.mark.parametrize(
    ("recipe", "parameters", "rtol"),
    [
        (("intrvfl", "centroids"), QUICK, 1e-14),
        (("features", "centroids"), {}, 1e-14),
        (("intrvfl", "rls"), QUICK, 1e-9),
        (("rvfl", "rls"), QUICK, 1e-9),
        (("features", "rls"), {"penalty": "identity"}, 1e-11),
        # Float32 products of other blocks of rows: rounding of 1e-7, grown by ten iterations.
        (("intrvfl", "glvq"), {**QUICK, "max_iter": 10}, 1e-5),
        (("rvfl", "glvq"), {**QUICK, "max_iter": 10, "prototypes_per_class": 2}, 1e-11),
        (("features", "glvq"), {"max_iter": 10, "random_state": 0}, 1e-11),
        (("intrvfl", "rls"), {**QUICK, "alpha": "loo"}, 1e-9),
        (("rvfl", "rls"), {**FEW, "alpha": 0.0}, 1e-6),
        (("rvfl", "rls"), {**FEW, "alpha": 0.0, "penalty": "identity"}, 1e-6),
        (("rvfl", "rls"), {**FEW, "alpha": 1.0, "solver": "eigen"}, 1e-6),
        (("rvfl", "rls"), {**FEW, "alpha": 1.0, "solver": "qr"}, 1e-6),
        (("rvfl", "rls"), {**FEW, "alpha": 1e-9, "solver": "pinv"}, 1e-6),
        (("rvfl", "rls"), {**FEW, "alpha": 100.0, "solver": "fista"}, 1e-6),
    ],
)
def test_model_is_that_of_one_memory(client, table, recipe, parameters, rtol):
    X, y = table
    X = np.column_stack([X, np.zeros(N_ROWS)])  # no variance, and no feature either
    model = make_classifier(*recipe, **parameters)
    distributed = fit(model, *cut(X, y), client)

    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert_same_model(distributed, model.fit(X, y), rtol)


def test_converged_model_has_the_cost_of_one_memory(client, table):
    model = make_classifier("features", "glvq", tol=1e-3, random_state=0)
    distributed = fit(model, *cut(*table), client)[-1]

    in_memory = model.fit(*table)[-1]
    assert len(distributed.loss_curve_) < model.get_params()["readout__max_iter"]
    assert distributed.loss_curve_[-1] == pytest.approx(in_memory.loss_curve_[-1], rel=1e-6)


def test_constant_columns_act_as_an_intercept(client, table):
    X, y = table
    X = np.column_stack([X, np.full(N_ROWS, 2.0)])
    model = make_classifier("features", "rls", alpha=1.0).set_params(scale="passthrough")

    distributed = fit(model, *cut(X, y), client)[-1]
    np.testing.assert_allclose(distributed.coef_, model.fit(X, y)[-1].coef_, atol=1e-11)
    assert np.abs(distributed.coef_[:, -1]).max() > 0.01


@pytest.mark.parametrize("room", [0, 40 * N_ROWS, float("inf")])
def test_model_is_the_same_whatever_workers_keep(client, table, monkeypatch, room):
    model = make_classifier("intrvfl", "glvq", **QUICK, max_iter=10)
    expected = fit(model, *cut(*table), client)[-1].prototypes_
    monkeypatch.setattr(cluster, "memory_for_data", lambda client: room)

    np.testing.assert_array_equal(fit(model, *cut(*table), client)[-1].prototypes_, expected)


def test_memory_for_data_is_a_share_of_the_workers_limits(client):
    assert cluster.memory_for_data(client) == pytest.approx(0.4 * 2e9)


def test_frames_give_names_and_text_labels(client, table):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=np.array(["x", "yy", "zzz"])[y])
    parts = dd.from_pandas(frame, npartitions=3)
    model = make_classifier("intrvfl", "centroids", **QUICK)
    distributed = fit(model, parts[list("abcd")], parts["label"], client)

    in_memory = model.fit(frame[list("abcd")], frame["label"])
    assert_same_model(distributed, in_memory)
    assert distributed.feature_names_in_.tolist() == list("abcd")
    assert distributed.classes_.tolist() == ["x", "yy", "zzz"]


def test_chunks_of_unknown_size_some_of_them_empty(client, table):
    X, y = table
    dask_X, dask_y = cut(X, y, 100)
    is_kept = np.arange(N_ROWS) // 100 != 2
    mask = da.from_array(is_kept, chunks=100)
    model = make_classifier("intrvfl", "glvq", **QUICK, max_iter=5)

    distributed = fit(model, dask_X[mask], dask_y[mask], client)
    assert_same_model(distributed, model.fit(X[is_kept], y[is_kept]), rtol=1e-5)


@pytest.mark.parametrize(("dtype", "n_columns"), [(float, 3), (np.float32, 4), (np.int64, 4)])
def test_features_of_other_types_and_chunks_of_columns(client, table, dtype, n_columns):
    X, y = (10 * table[0]).astype(dtype), table[1]
    model = make_classifier("intrvfl", "centroids", **QUICK)

    chunked = da.from_array(X, chunks=(200, n_columns)), da.from_array(y, chunks=200)
    assert_same_model(fit(model, *chunked, client), model.fit(X, y))


@pytest.mark.parametrize(("factor", "dtype"), [(1e-9, np.float32), (1e-100, np.float64)])
def test_features_of_small_units_are_scaled_as_in_one_memory(client, table, factor, dtype):
    X, y = (table[0] * factor).astype(dtype), table[1]
    model = make_classifier("intrvfl", "rls", **QUICK)
    distributed = fit(model, *cut(X, y), client)

    assert_same_model(distributed, model.fit(X, y), 1e-9)
    assert model.score(X, y) > 0.5


def test_dates_are_refused_by_the_name_of_their_column(client, table):
    frame = pd.DataFrame(table[0], columns=["a", "b", "c", "d"])
    frame["c"] = pd.Timestamp("2020-01-01")
    parts = (dd.from_pandas(each, npartitions=2) for each in (frame, pd.Series(table[1])))

    with pytest.raises(
        InputError, match=r"^partition \d: column 'c' has values of type datetime64"
    ):
        fit(make_classifier(), *parts, client)


@pytest.mark.filterwarnings("ignore:All-NaN slice")  # scikit-learn, of the column that is missing
def test_missing_values_are_left_out(client, table):
    X, y = table[0].copy(), table[1]
    X[::7, 0] = np.nan
    X[:, 2] = np.nan
    X[:170] = np.nan
    model = make_classifier("intrvfl", "centroids", **QUICK)

    assert_same_model(fit(model, *cut(X, y), client), model.fit(X, y))


def test_fitted_model_learns_on_from_batches(client, table):
    model = make_classifier("features", "glvq", max_iter=3, random_state=0)
    readout, expected = fit(model, *cut(*table), client)[-1], model.fit(*table)[-1]

    batch = table[0][:10] / 20, table[1][:10]
    for each in (readout, expected):
        each.partial_fit(*batch)
    np.testing.assert_allclose(readout.prototypes_, expected.prototypes_, rtol=1e-9)


X_DASK, Y_DASK = da.zeros((6, 2), chunks=3), da.arange(6, chunks=3) % 2


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((6, 2)), Y_DASK, "X must be a Dask array or dataframe, got ndarray"),
        (X_DASK, [0] * 6, "y must be a Dask array or series, got list"),
        (X_DASK[:, 0], Y_DASK, "X must have two dimensions, got 1"),
        (X_DASK, X_DASK, "y must have one dimension, got 2"),
        (X_DASK, Y_DASK.rechunk(2), "X has 2 partitions and y has 3: they must be cut alike"),
        (
            X_DASK,
            Y_DASK.rechunk(((2, 4),)),
            "partition [01] has 3 rows of X and [24] of y: they must",
        ),
        (X_DASK, Y_DASK * 0, "a classifier needs samples of at least two classes, got one class"),
        (X_DASK[:0], Y_DASK[:0], "X has no rows"),
        (X_DASK / 0 + 1, Y_DASK, "X has missing values, which only the hidden layer 'intrvfl'"),
        (X_DASK + np.inf, Y_DASK, "partition [01]: Input X contains infinity or a value too large"),
        (X_DASK.astype(str) + "a", Y_DASK, "partition [01]: could not convert string to float"),
        (X_DASK, Y_DASK / 7, "Unknown label type: continuous"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_table_that_cannot_be_used_is_one_sentence(client, X, y, message):
    with pytest.raises(ValueError, match=f"^{message}") as raised:
        fit(make_classifier("features", "centroids"), X, y, client)

    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("glvq", "model must be a pipeline from make_classifier, got str"),
        (make_classifier()[-1:], "model must be a pipeline from make_classifier, got Pipeline"),
        (make_classifier()[:-1], "IntRVFLLayer cannot be trained on partitions"),
        (
            make_classifier().set_params(hidden=CentroidClassifier()),
            "the hidden layer on partitions must be intrvfl, rvfl or none, got Centroid",
        ),
        (make_classifier(readout="lvq1"), "LVQ1Classifier cannot be trained on partitions: use"),
        (make_classifier(readout="perceptron"), "PerceptronClassifier cannot be trained on"),
        (make_classifier(readout="kglvq"), "KGLVQClassifier cannot be trained on partitions"),
        (make_classifier(solver="sgd"), "solver='sgd' trains sample by sample and cannot be"),
        (make_classifier(readout="rls", solver="lms"), "solver='lms' trains sample by sample"),
        (make_classifier(class_weight="balanced"), "class_weight is not supported on partitions"),
        (make_classifier(warm_start=True), "warm_start=True is not supported on partitions"),
        (
            make_classifier().set_params(scale=StandardScaler()),
            "the scaling on partitions must be RangeScaler or none, got StandardScaler()",
        ),
        (
            make_classifier().set_params(hidden=PCA()),
            "the hidden layer on partitions must be intrvfl, rvfl or none, got PCA()",
        ),
        (make_classifier(slope=-1), "slope must be a finite number above 0, got -1"),
        (make_classifier(readout="rls", alpha=-1), "alpha must be a finite number of at least 0"),
        (make_classifier(prototypes_per_class=[1]), "prototypes_per_class has 1 entries for 2"),
    ],
)
def test_model_that_cannot_be_trained_is_one_sentence(client, model, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        fit(model, X_DASK, Y_DASK, client)


def test_many_classes_are_no_warning(client, rng):
    y = np.arange(400) % 25
    X = rng.normal(size=(400, 3)) + y[:, np.newaxis]

    for readout in ("centroids", "rls"):
        fit(make_classifier("features", readout), *cut(X, y), client)  # warnings are errors


def test_scheduler_that_dies_is_one_sentence(mortal_scheduler):
    scheduler, its_client = mortal_scheduler
    Timer(0.2, scheduler.kill).start()

    with pytest.raises(InputError, match="the connection to the Dask scheduler was lost"):
        cluster.total(its_client, len, [X_DASK], merge=add)


def test_without_a_client_there_is_one_sentence():
    with pytest.raises(InputError, match="there is no Dask client: make one first"):
        fit(make_classifier(), X_DASK, Y_DASK)


def table_of_workers():
    """Return features and labels that workers make from a seed."""
    rng = da.random.default_rng(1)
    X = rng.random((20_000, 10), chunks=(1000, 10))
    return X, (da.sin(6 * X[:, :5]).sum(axis=1) > 0).astype(int)


@pytest.mark.parametrize("room", [float("inf"), 2_000_000])
def test_worker_killed_in_mid_fit_changes_nothing(client, one_more_worker, monkeypatch, room):
    monkeypatch.setattr(cluster, "memory_for_data", lambda client: room)
    model = make_classifier("intrvfl", "glvq", n_units=200, max_iter=6, random_state=0)
    undisturbed = fit(model, *table_of_workers(), client)
    passes, original = [], PartitionedRows.total

    def kill_in_mid_pass(*arguments, **options):
        passes.append(arguments)
        if len(passes) == 3:
            assert all(client.has_what().values())  # the worker's samples go with it
            Timer(0.05, one_more_worker.send_signal, [signal.SIGKILL]).start()
        return original(*arguments, **options)

    monkeypatch.setattr(PartitionedRows, "total", kill_in_mid_pass)
    disturbed = fit(model, *table_of_workers(), client)

    assert one_more_worker.wait(timeout=10) == -signal.SIGKILL
    assert len(passes) > 3
    assert len(client.nthreads()) == 2
    np.testing.assert_array_equal(disturbed[-1].prototypes_, undisturbed[-1].prototypes_)
