import numpy as np
import pytest

from hyperlvq.batched.backend import Backend, torch_backend


@pytest.fixture(params=["numpy", "torch"])
def backend(request):
    """Return every backend that can compute here."""
    if request.param == "numpy":
        return Backend(np)
    pytest.importorskip("torch", reason="needs torch: pip install 'hyperlvq[torch]'")
    return torch_backend()
