from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from hyperlvq import GLVQClassifier, make_classifier
from hyperlvq.batched.glvq import (
    GLVQBatch,
    Samples,
    cut_into_batches,
    objective_of,
    predicted_classes,
    starting_prototypes,
    train_glvq,
)
from hyperlvq.kernels.glvq import cost_and_gradient
from hyperlvq.study.protocol import scale_file

BATCH = GLVQBatch(
    np.array([[2.0, 5.0, 11.0], [3.0, 7.0, 15.0]]),
    np.array([[1, 2, 3], [3, 1, 2]]),
    np.array([[0, 0, 1], [2, 2, 2]]),
)
SETTINGS = BATCH.slopes, BATCH.counts[:, :, np.newaxis]
HIDDEN = {
    "features": {},
    "rvfl": {"n_units": 100},
    "intrvfl": {"n_units": 200, "clip": 3},
}


@pytest.fixture
def samples(activations, backend):
    X, y = activations
    both = np.stack([X, X[:, ::-1]])
    return Samples(backend.array(both, "float64"), backend.array(y), 3)


@pytest.mark.parametrize("block_bytes", [10**7, 10_000])
def test_cost_and_gradient_are_those_of_one_problem_after_the_other(
    samples, activations, backend, block_bytes
):
    start = starting_prototypes(samples, BATCH, backend)
    positions, shape = start.reshape(BATCH.slopes.size, -1), start.shape
    in_blocks = replace(backend, block_bytes=block_bytes)
    costs, gradients = objective_of(samples, *SETTINGS, in_blocks)(positions)

    prototypes = backend.numpy(positions).reshape(shape)
    gradients = backend.numpy(gradients).reshape(shape)
    for index, count in np.ndenumerate(BATCH.counts):
        X = backend.numpy(samples.activations[index[0]])
        cost, gradient = cost_and_gradient(
            prototypes[index][:, :count].reshape(-1, X.shape[1]),
            np.repeat(np.arange(3), count),
            X,
            activations[1],
            BATCH.slopes[index],
            np.full(len(X), 1 / len(X)),
        )
        place = np.ravel_multi_index(index, BATCH.slopes.shape)
        assert float(costs[place]) == pytest.approx(cost, rel=1e-12)
        np.testing.assert_allclose(
            gradients[index][:, :count].reshape(gradient.shape), gradient, atol=1e-12
        )
        assert not gradients[index][:, count:].any()


@pytest.mark.parametrize("init_noise", [1.0, 0.1])
def test_start_is_that_of_the_classifier(samples, activations, backend, init_noise):
    batch = replace(BATCH, init_noise=init_noise)
    start = backend.numpy(starting_prototypes(samples, batch, backend))

    for index, count in np.ndenumerate(BATCH.counts):
        X = backend.numpy(samples.activations[index[0]])
        seed = int(BATCH.seeds[index])
        readout = GLVQClassifier(int(count), init_noise=init_noise, tol=1e9, random_state=seed)
        expected = readout.fit(X, activations[1]).prototypes_
        found = start[index][:, :count].reshape(expected.shape)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_sample_on_both_its_winners_pulls_nobody(backend):
    X = backend.array(np.zeros((1, 2, 3)))
    samples = Samples(X, backend.array(np.array([0, 1])), 2)
    objective = objective_of(samples, np.array([[5.0]]), np.array([[[1]]]), backend)
    cost, gradient = objective(backend.zeros((1, 6), "float64"))

    assert float(cost[0]) == 0.5
    assert not backend.numpy(gradient).any()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"small_flops": 10**12}, [[[0, 1, 2], [3, 4, 5]]]),
        ({"small_flops": 0}, [[[1], [4]], [[0, 2], [3, 5]]]),
        ({"small_flops": 0, "batch_bytes": 1}, [[[1], [4]], [[0], [3]], [[2], [5]]]),
    ],
)
def test_settings_are_trained_together_if_little_work_else_by_prototypes(
    samples, backend, changes, expected
):
    batches = cut_into_batches(samples, np.array([3, 1, 3]), 2, replace(backend, **changes))

    assert [places.tolist() for places in batches] == expected


def test_seeds_that_share_their_activations_are_one_group(samples, backend):
    shared = samples._replace(activations=samples.activations[:1])
    (places,) = cut_into_batches(shared, np.array([3, 3]), 2, backend)

    assert places.tolist() == [[0, 1, 2, 3]]


def train_both_ways(X, y, X_test, hidden, backend, slopes, counts=(1, 2), n_seeds=2):
    """Return costs and predictions one by one and batched (problems; problems × samples)."""
    settings = [(slope, count) for slope in slopes for count in counts]
    pipelines = [
        make_classifier(
            hidden,
            "glvq",
            slope=slope,
            prototypes_per_class=count,
            init_noise=1.0,
            random_state=seed,
            **HIDDEN[hidden],
        )
        .set_params(scale="passthrough")
        .fit(X, y)
        for seed in range(n_seeds)
        for slope, count in settings
    ]
    layers = [pipeline[:-1] for pipeline in pipelines[:: len(settings)]]
    is_integer = hidden == "intrvfl"
    train, test = (
        backend.array(
            np.stack([layer.transform(part) for layer in layers]),
            "float32" if is_integer else "float64",
        )
        for part in (X, X_test)
    )
    shape = n_seeds, len(settings)
    batch = GLVQBatch(
        np.broadcast_to(np.array([float(slope) for slope, _ in settings]), shape),
        np.broadcast_to(np.array([count for _, count in settings]), shape),
        np.broadcast_to(np.arange(n_seeds)[:, np.newaxis], shape),
    )
    classes, index = np.unique(y, return_inverse=True)
    samples = Samples(train, backend.array(index), len(classes))
    trained = train_glvq(samples, batch, backend)
    predicted = classes[backend.numpy(predicted_classes(trained, test, backend))]
    return (
        np.array([pipeline[-1].loss_curve_[-1] for pipeline in pipelines]),
        np.array([pipeline.predict(X_test) for pipeline in pipelines]),
        backend.numpy(trained.costs).ravel(),
        predicted.reshape(len(pipelines), -1),
    )


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_built_in_sets_end_as_one_by_one(load, hidden, backend):
    if backend.is_torch and load is load_breast_cancer:
        pytest.skip("slow, and says nothing that the smaller sets don't")
    X, y = load(return_X_y=True)
    X = scale_file(X)
    train, test = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
    costs, predicted, batched_costs, batched = train_both_ways(
        X[train], y[train], X[test], hidden, backend, slopes=(2, 9)
    )

    # A cost has many minima, and rounding may decide between them.
    assert batched_costs.mean() == pytest.approx(costs.mean(), rel=1e-3)
    assert np.mean(batched == y[test]) == pytest.approx(np.mean(predicted == y[test]), abs=0.01)
