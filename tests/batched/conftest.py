import numpy as np
import pytest

from hyperlvq.batched.backend import Backend, backend_of


@pytest.fixture(params=["numpy", "torch"])
def backend(request):
    """Return every backend that can compute here."""
    if request.param == "numpy":
        return Backend(np)
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'hyperlvq[torch]'")
    return backend_of(torch.zeros(0))
