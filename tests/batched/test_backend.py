from types import SimpleNamespace

import pytest

from hyperlvq.batched.backend import Backend, open_backend
from hyperlvq.checks import InputError


def test_products_are_precise_whatever_a_program_wants(monkeypatch):
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'hyperlvq[torch]'")
    on_gpu = Backend(torch, SimpleNamespace(type="cuda"))
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
        product = on_gpu.multiply(torch.ones(1, 2, 3), torch.ones(1, 3, 2))
        assert getattr(switch, name) in ("tf32", True)
    finally:
        torch.set_float32_matmul_precision("highest")
    assert seen in (["ieee"], [False])
    assert product.tolist() == [[[3.0, 3.0], [3.0, 3.0]]]


def test_wrong_device_is_refused():
    with pytest.raises(ValueError, match="device must be one of 'cpu', 'cuda', got 'tpu'"):
        open_backend("tpu")


def test_missing_gpu_is_one_sentence():
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'hyperlvq[torch]'")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")

    with pytest.raises(InputError, match="needs an NVIDIA GPU that torch can use; there is none"):
        open_backend("cuda")
