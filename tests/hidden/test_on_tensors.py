import numpy as np
import pytest

from hyperlvq import IntRVFLLayer, RVFLLayer

pytestmark = pytest.mark.usefixtures("dispatch")


@pytest.mark.parametrize("clip", [1, 3, 200])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_integer_activations_equal_those_on_numpy(rng, on_device, clip, dtype):
    X = np.concatenate([rng.uniform(-0.1, 1.1, size=(50, 7)), np.arange(28).reshape(4, 7) / 40])
    X = X.astype(dtype)  # 40 units: the last rows have levels, and float32 has them inexactly
    X[3, 2] = X[10] = np.nan
    (tensor,) = on_device(X)
    layer = IntRVFLLayer(40, clip=clip, random_state=0)
    found = layer.fit(tensor).transform(tensor)
    expected = IntRVFLLayer(40, clip=clip, random_state=0).fit(X).transform(X)

    assert found.device == tensor.device
    assert str(found.dtype) == f"torch.{expected.dtype}"
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sigmoids_are_those_on_numpy(rng, on_device, dtype):
    X = rng.uniform(size=(30, 5)).astype(dtype)
    (tensor,) = on_device(X)
    found = RVFLLayer(20, random_state=0).fit(tensor).transform(tensor)
    expected = RVFLLayer(20, random_state=0).fit(X).transform(X)

    assert str(found.dtype) == f"torch.{dtype}"
    np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=1e-5)
