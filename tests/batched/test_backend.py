from types import SimpleNamespace

import numpy as np
import pytest

from hyperlvq.batched.backend import Backend, open_backend, split
from hyperlvq.checks import InputError


def test_halves_of_a_number_add_up_and_fit_tensor_cores(rng):
    numbers = (rng.normal(size=1000) * 10.0 ** rng.integers(-6, 7, size=1000)).astype(np.float32)
    high, low = split(numbers)

    np.testing.assert_array_equal(high + low, numbers)
    for half in (high, low):
        mantissas = np.frexp(half)[0] * 2**12
        np.testing.assert_array_equal(mantissas, np.rint(mantissas))


@pytest.mark.parametrize("products", ["float32", "split"])
def test_tensor_cores_are_as_the_product_needs_them_whatever_a_program_wants(monkeypatch, products):
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'hyperlvq[torch]'")
    on_gpu = Backend(torch, SimpleNamespace(type="cuda"), products)
    switch = torch.backends.cuda.matmul
    name = "fp32_precision" if hasattr(switch, "fp32_precision") else "allow_tf32"
    seen = []
    original = torch.Tensor.__matmul__

    def noting(left, right):
        seen.append(getattr(switch, name))
        return original(left, right)

    monkeypatch.setattr(torch.Tensor, "__matmul__", noting)
    torch.set_float32_matmul_precision("high")
    try:
        product = on_gpu.multiply(torch.ones(1, 2, 3), torch.ones(1, 3, 2), right_is_exact=True)
        assert getattr(switch, name) in ("tf32", True)
    finally:
        torch.set_float32_matmul_precision("highest")
    assert seen[0] in (("ieee", False) if products == "float32" else ("tf32", True))
    assert product.tolist() == [[[3.0, 3.0], [3.0, 3.0]]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "tpu"}, "device must be one of 'cpu', 'cuda', got 'tpu'"),
        ({"products": "half"}, "products must be one of 'float32', 'split', got 'half'"),
    ],
)
def test_wrong_option_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        open_backend(**options)


def test_missing_gpu_is_one_sentence():
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'hyperlvq[torch]'")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")

    with pytest.raises(InputError, match="needs an NVIDIA GPU that torch can use; there is none"):
        open_backend("cuda")
