from dataclasses import replace

import numpy as np
import pytest

from hyperlvq import IntRVFLLayer, RVFLLayer
from hyperlvq.batched.encoding import encode_integers, encode_sigmoids


@pytest.fixture
def features(rng):
    edges = np.array([[0.0, 1.0, 0.5, 0.25, 0.125], [1.0, 0.0, 1.0, 1.0, -0.5]])
    return np.concatenate([edges, rng.uniform(size=(40, 5)), edges + 0.01])


@pytest.mark.parametrize("block_bytes", [10**6, 5000])
def test_integers_are_those_of_the_layers(features, backend, block_bytes):
    layers = [
        IntRVFLLayer(36, clip=clip, random_state=seed).fit(features)
        for seed in (0, 1)
        for clip in (1, 3)
    ]
    short = replace(backend, block_bytes=block_bytes)
    keys, clips = [layer.keys_ for layer in layers], [layer.clip for layer in layers]
    found = backend.numpy(encode_integers(features, keys, clips, "float32", short))

    np.testing.assert_array_equal(found, [layer.transform(features) for layer in layers])


def test_sigmoids_are_those_of_the_layers(features, backend):
    layers = [RVFLLayer(30, random_state=seed).fit(features) for seed in (0, 1, 2)]
    weights, biases = [layer.weights_ for layer in layers], [layer.biases_ for layer in layers]
    found = backend.numpy(encode_sigmoids(features, weights, biases, backend))

    np.testing.assert_allclose(found, [layer.transform(features) for layer in layers], rtol=1e-12)
